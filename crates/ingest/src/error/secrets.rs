//! Hides tokens and passwords in what others say, since servers repeat what they were sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// What stands in place of a secret.
const HIDDEN: &str = "(secret)";

/// The minimum length of a secret, in bytes: a shorter one would be found in any text.
const SHORTEST: usize = 4;

/// The maximum length of what a server said, in characters.
const LONGEST: usize = 1000;

/// Tokens and passwords, in the forms in which they may be repeated.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// The longest first, since one may be within another.
    forms: Vec<String>,
}

impl Secrets {
    /// Adds a secret.
    pub(crate) fn add(&mut self, secret: &str) {
        // A server may trim what it repeats.
        let texts = [secret, secret.trim()];
        let forms = texts.into_iter().flat_map(forms).filter(|form| form.len() >= SHORTEST);
        self.forms.extend(forms);
        self.forms.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        self.forms.dedup();
    }

    /// Returns what a server said without the secrets, and without its end if it is long.
    pub(crate) fn said(&self, text: &str) -> String {
        // Only what may be shown is looked at, with what could begin within it.
        let longest = self.forms.first().map_or(0, String::len);
        let looked_at = text.floor_char_boundary(LONGEST * 4 + longest);
        let hidden = self.hidden(text.get(..looked_at).unwrap_or_default());
        match hidden.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", hidden.get(..end).unwrap_or_default()),
            None => hidden,
        }
    }

    /// Returns a text without the secrets.
    pub(crate) fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), HIDDEN);
            }
        }
        text
    }
}

/// A secret as it is, percent-encoded, within quotes, and within any text in base64.
fn forms(secret: &str) -> Vec<String> {
    let debug = format!("{secret:?}");
    let json = serde_json::Value::from(secret).to_string();
    let unquoted = |text: &str| text.trim_matches('"').to_owned();
    let mut forms = vec![secret.to_owned(), unquoted(&debug), unquoted(&json)];
    for plain in ["", "-._~", "-._~!$&'()*+,;=:@/?"] {
        let encoded = percent_encoded(secret, plain);
        forms.push(encoded.replace("%20", "+"));
        forms.push(lower_codes(&encoded));
        forms.push(encoded);
    }
    for before in 0..3 {
        let within = in_base64(secret.as_bytes(), before);
        forms.push(within.replace('+', "-").replace('/', "_"));
        forms.push(within);
    }
    forms
}

/// Returns a percent-encoded text with the codes in lower case.
fn lower_codes(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (code, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        format!("{text}%{}{rest}", code.to_ascii_lowercase())
    })
}

/// Returns a text with all but letters, digits and `plain` percent-encoded.
fn percent_encoded(text: &str, plain: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.as_bytes().contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

/// Returns the letters that are the same wherever a text stands, in base64, behind `before` bytes beyond a multiple of three.
fn in_base64(text: &[u8], before: usize) -> String {
    let encoded = STANDARD_NO_PAD.encode([&vec![0; before], text].concat());
    // The first letters have bits of what is before, and the last one perhaps of what is behind.
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
            let encoded = percent_encoded(secret, "");
            for text in [
                secret.to_owned(),
                encoded.clone(),
                lower_codes(&encoded),
                percent_encoded(secret, "-._~"),
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
