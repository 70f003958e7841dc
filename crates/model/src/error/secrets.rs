//! Hides tokens and passwords in what others say, since servers repeat what they were sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// The replacement of a secret.
const HIDDEN: &str = "(secret)";

/// The minimum length of a secret, in bytes: a shorter one would be found in any text.
const SHORTEST: usize = 4;

/// The maximum length of what a server said, in characters.
const LONGEST: usize = 1000;

/// How many encodings within each other are decoded: a URL in JSON in a page is three.
const LAYERS: usize = 3;

/// How the code of a character begins: `%41`, `&#65;`, `&#x41;` and `&amp;`, `\x41`, `\u0041`, `\u{41}` and `\"`.
const CODES: [u8; 3] = [b'%', b'&', b'\\'];

/// Tokens and passwords, to be found in the forms in which they may be repeated.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Found in any case, and in any encoding of single characters.
    plain: Vec<Vec<u8>>,
    /// Found as they are: parts of base64.
    exact: Vec<Vec<u8>>,
}

/// A byte of a text, maybe decoded, and where in the text it is.
#[derive(Clone, Copy)]
struct Byte {
    value: u8,
    begin: usize,
    end: usize,
}

impl Secrets {
    /// Adds a secret.
    pub fn add(&mut self, secret: &str) {
        // A server may trim what it repeats.
        for secret in [secret, secret.trim()] {
            let hex = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            let plain = [secret.to_owned(), hex].map(|form| form.bytes().map(folded).collect());
            self.plain.extend(plain);
            for before in 0..3 {
                let within = in_base64(secret.as_bytes(), before);
                self.exact.push(within.replace('+', "-").replace('/', "_").into());
                self.exact.push(within.into());
            }
        }
        for forms in [&mut self.plain, &mut self.exact] {
            forms.retain(|form| form.len() >= SHORTEST);
            forms.sort_unstable();
            forms.dedup();
        }
    }

    /// Returns what a server said without the secrets, and without its end if it is long.
    pub fn said(&self, text: &str) -> String {
        // Only what may be shown is looked at, with what could begin within it: six characters a byte, such as `\u0041`.
        let longest = self.plain.iter().chain(&self.exact).map(Vec::len).max().unwrap_or_default();
        let looked_at = text.floor_char_boundary(LONGEST * 4 + longest * 6);
        let hidden = self.hidden(text.get(..looked_at).unwrap_or_default());
        match hidden.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", hidden.get(..end).unwrap_or_default()),
            None => hidden,
        }
    }

    /// Returns a text without the secrets.
    pub fn hidden(&self, text: &str) -> String {
        if self.plain.is_empty() && self.exact.is_empty() {
            return text.to_owned();
        }
        let mut found = Vec::new();
        let raw = text.bytes().enumerate();
        let raw: Vec<Byte> = raw.map(|(at, value)| Byte { value, begin: at, end: at + 1 }).collect();
        self.find(&raw, LAYERS, &mut found);
        found.sort_unstable();
        let (mut hidden, mut shown) = (String::with_capacity(text.len()), 0);
        for (begin, end) in found {
            // After the last one, or within it.
            if begin >= shown {
                hidden += text.get(shown..begin).unwrap_or_default();
                hidden += HIDDEN;
            }
            shown = shown.max(end);
        }
        hidden + text.get(shown..).unwrap_or_default()
    }

    /// Adds where in the text secrets are that are found in a layer of it, or in what it encodes in up to `layers` more.
    fn find(&self, layer: &[Byte], layers: usize, found: &mut Vec<(usize, usize)>) {
        found_in(layer, &self.exact, |value| value, found);
        found_in(layer, &self.plain, folded, found);
        for begin in CODES {
            if layers > 0 && layer.iter().any(|byte| byte.value == begin) {
                self.find(&decoded(layer, begin), layers - 1, found);
            }
        }
    }
}

/// Adds where in the text the forms are that are found in a layer of it, each byte seen as `fold` says.
fn found_in(layer: &[Byte], forms: &[Vec<u8>], fold: fn(u8) -> u8, found: &mut Vec<(usize, usize)>) {
    let values: Vec<u8> = layer.iter().map(|byte| fold(byte.value)).collect();
    for form in forms {
        found.extend(memchr::memmem::find_iter(&values, form).filter_map(|at| {
            let (first, last) = (layer.get(at)?, layer.get(at + form.len() - 1)?);
            Some((first.begin, last.end))
        }));
    }
}

/// A byte without its case; a plus sign may stand for a blank in a form's answer.
fn folded(byte: u8) -> u8 {
    if byte == b'+' { b' ' } else { byte.to_ascii_lowercase() }
}

/// Decodes the codes of a layer that begin with this byte.
fn decoded(layer: &[Byte], begin: u8) -> Vec<Byte> {
    let mut decoded = Vec::with_capacity(layer.len());
    let mut rest = layer;
    while let Some(first) = rest.first() {
        let code = if first.value == begin { character(rest) } else { None };
        let (bytes, length) = code.unwrap_or_else(|| (vec![first.value], 1));
        let (from, behind) = rest.split_at(length.min(rest.len()));
        let end = from.last().map_or(first.end, |last| last.end);
        decoded.extend(bytes.into_iter().map(|value| Byte { value, begin: first.begin, end }));
        rest = behind;
    }
    decoded
}

/// Returns the bytes of the encoded character that a text begins with, and the length of its code.
fn character(text: &[Byte]) -> Option<(Vec<u8>, usize)> {
    let code: String = text.iter().take(10).map(|byte| char::from(byte.value)).collect();
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok();
    let utf8 = |number: u32| Some(char::from_u32(number)?.to_string().into_bytes());
    if let Some(digits) = code.strip_prefix('%').or_else(|| code.strip_prefix("\\x")) {
        let byte = u8::try_from(number(digits.get(..2)?, 16)?).ok()?;
        return Some((vec![byte], code.len() - digits.len() + 2));
    }
    if let Some(entity) = code.strip_prefix('&') {
        let (name, _) = entity.split_once(';')?;
        let bytes = match name.strip_prefix('#') {
            Some(digits) => match digits.strip_prefix(['x', 'X']) {
                Some(digits) => utf8(number(digits, 16)?)?,
                None => utf8(number(digits, 10)?)?,
            },
            None => match name {
                "amp" => vec![b'&'],
                "lt" => vec![b'<'],
                "gt" => vec![b'>'],
                "quot" => vec![b'"'],
                "apos" => vec![b'\''],
                _ => return None,
            },
        };
        return Some((bytes, name.len() + 2));
    }
    if let Some(braced) = code.strip_prefix("\\u{") {
        let (digits, _) = braced.split_once('}')?;
        return Some((utf8(number(digits, 16)?)?, digits.len() + 4));
    }
    if let Some(digits) = code.strip_prefix("\\u") {
        return Some((utf8(number(digits.get(..4)?, 16)?)?, 6));
    }
    let escaped = match text.get(1)?.value {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    };
    Some((vec![escaped], 2))
}

/// Returns the letters that are the same wherever a text is, in base64, after `before` bytes beyond a multiple of three.
fn in_base64(text: &[u8], before: usize) -> String {
    let encoded = STANDARD_NO_PAD.encode([&vec![0; before], text].concat());
    // The first letters have bits of what is before, and the last one perhaps of what is after.
    let begin = (before * 8).div_ceil(6);
    let end = (before + text.len()) * 8 / 6;
    encoded.get(begin..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    use super::*;

    fn of(secrets: &[&str]) -> Secrets {
        let mut of = Secrets::default();
        secrets.iter().for_each(|secret| of.add(secret));
        of
    }

    #[test]
    fn secrets_are_hidden_in_every_form_in_which_servers_repeat_them() {
        for secret in ["hunter2-geheim", "pässwörd \"x\\ /?&", "TOKEN+SECRET/123=="] {
            let secrets = of(&[secret]);
            let login = format!("Admin:{secret}");
            let bytes = |code: fn(u8) -> String| secret.bytes().map(code).collect::<String>();
            let characters = |code: fn(char) -> String| secret.chars().map(code).collect::<String>();
            let some = secret.bytes().map(|byte| match byte.is_ascii_alphanumeric() {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            });
            let some = some.collect::<String>();
            for text in [
                secret.to_owned(),
                secret.to_ascii_uppercase(),
                secret.replace(' ', "+"),
                some.clone(),
                some.replace('%', "%25"),
                bytes(|byte| format!("%{byte:02x}")),
                bytes(|byte| format!("{byte:02X}")),
                bytes(|byte| format!("\\x{byte:02x}")),
                characters(|one| format!("&#{};", u32::from(one))),
                characters(|one| format!("&#x{:x};", u32::from(one))),
                characters(|one| format!("\\u{:04x}", u32::from(one))),
                characters(|one| one.escape_unicode().to_string()),
                secret.replace('&', "&amp;").replace('"', "&quot;"),
                format!("{secret:?}"),
                serde_json::Value::from(secret).to_string(),
                format!("Basic {}", STANDARD.encode(&login)),
                URL_SAFE.encode(&login),
                STANDARD.encode(format!("u:{secret}")),
                STANDARD.encode(format!("ab:{secret} and more")),
            ] {
                let said = secrets.said(&format!("no: {text}."));
                assert!(said.contains(HIDDEN) && !said.contains(secret), "{text}: {said}");
                // At most the letters that also depend on what is beside it are left.
                assert!(said.len() < "no: Basic .".len() + HIDDEN.len() + 24, "{text}: {said}");
            }
        }
    }

    #[test]
    fn one_secret_may_be_within_another() {
        assert_eq!(of(&["geheim", "sehr-geheim-ja"]).hidden("sehr-geheim-ja geheim"), "(secret) (secret)");
        assert_eq!(of(&["", "abc"]).hidden("abc"), "abc", "too short to be one");
    }

    #[test]
    fn what_a_server_says_is_cut() {
        let said = of(&["hunter2-geheim"]).said(&format!("{}hunter2-geheim", "ä".repeat(995)));
        assert_eq!(said, format!("{}(secr…", "ä".repeat(995)));
        assert!(of(&[]).said(&"x".repeat(1 << 20)).len() < 1010);
    }
}
