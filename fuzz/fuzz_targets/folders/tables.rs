#![no_main]

// The store catches panics of the parquet crate, but libFuzzer's hook would end the program first. Without the hook, a
// panic that is not caught still ends it.
libfuzzer_sys::fuzz_target!(
    init: std::panic::set_hook(Box::new(|_| {})),
    |data: &[u8]| perfpipe_ingest::fuzz::tables(data)
);
