//! Data within script elements: JSON, as it is or packed.

use std::io::{self, Write};

use base64::prelude::BASE64_STANDARD;
use base64::write::EncoderStringWriter;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

use crate::error::{Error, Result};

/// Appends a script element with JSON, in which nothing could end the element or a line of script.
pub(in crate::html) fn plain(out: &mut String, id: &str, data: &impl Serialize) -> Result<()> {
    out.push_str(&format!("<script type=\"application/json\" id=\"{id}\">"));
    serde_json::to_writer(Escaped(out), data).map_err(|error| Error::Html(error.to_string()))?;
    out.push_str("</script>\n");
    Ok(())
}

/// Appends a script element with JSON, deflated and as base64.
pub(in crate::html) fn packed(out: &mut String, id: &str, data: &impl Serialize) -> Result<()> {
    out.push_str(&format!("<script type=\"text/plain\" id=\"{id}\">"));
    let mut deflated = ZlibEncoder::new(
        EncoderStringWriter::from_consumer(&mut *out, &BASE64_STANDARD),
        Compression::best(),
    );
    serde_json::to_writer(&mut deflated, data).map_err(|error| Error::Html(error.to_string()))?;
    deflated.finish().map_err(|error| Error::Html(error.to_string()))?.into_inner();
    out.push_str("</script>\n");
    Ok(())
}

/// Appends JSON, and escapes characters that can only occur within its strings.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        // serde_json writes whole characters.
        let json = std::str::from_utf8(json).map_err(io::Error::other)?;
        for part in json.split_inclusive(['<', '\u{2028}', '\u{2029}']) {
            let (text, special) = match part.char_indices().next_back() {
                Some((at, special @ ('<' | '\u{2028}' | '\u{2029}'))) => (part.get(..at), Some(special)),
                _ => (Some(part), None),
            };
            self.0.push_str(text.unwrap_or_default());
            self.0.extend(special.map(|special| format!("\\u{:04x}", u32::from(special))));
        }
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine as _;
    use flate2::read::ZlibDecoder;

    use super::*;

    #[test]
    fn no_text_ends_the_script_element() {
        let text = "</script><!--\u{2028}\u{2029}\"";
        let mut html = String::new();
        plain(&mut html, "x", &text).unwrap();
        let json = html.strip_prefix("<script type=\"application/json\" id=\"x\">").unwrap();
        let json = json.strip_suffix("</script>\n").unwrap();
        assert!(!json.contains(['<', '\u{2028}', '\u{2029}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
    }

    #[test]
    fn packed_data_can_be_unpacked() {
        let data: Vec<u32> = (0..5000).map(|at| at % 77).collect();
        let mut html = String::new();
        packed(&mut html, "x", &data).unwrap();
        let text = html.split(['>', '<']).nth(2).unwrap();
        assert!(text.len() < 1000, "{} bytes", text.len());
        let deflated = BASE64_STANDARD.decode(text).unwrap();
        let mut json = String::new();
        ZlibDecoder::new(&deflated[..]).read_to_string(&mut json).unwrap();
        assert_eq!(serde_json::from_str::<Vec<u32>>(&json).unwrap(), data);
    }
}
