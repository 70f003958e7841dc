//! A font for tests, which has two characters that the shipped font lacks.

/// Groups of the shipped font's table of characters: those of another script, and what stands in their place.
const GROUPS: [([u32; 3], [u32; 3]); 2] =
    [([0xa4d0, 0xa4ff, 4767], [0x914d, 0x917c, 4767]), ([0xa644, 0xa647, 4815], [0x989d, 0x98a0, 4815])];

/// The shipped font with letters of another script in the places of 配 and 额.
pub(crate) fn with_two_more() -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../plot/font/DejaVuSans.ttf");
    let mut bytes = std::fs::read(path).unwrap();
    for (old, new) in GROUPS {
        let [old, new] = [old, new].map(|group| group.map(u32::to_be_bytes).concat());
        let at = bytes.windows(old.len()).position(|part| part == old).unwrap();
        bytes[at..at + new.len()].copy_from_slice(&new);
    }
    bytes
}
