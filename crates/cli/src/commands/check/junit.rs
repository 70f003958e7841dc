//! Verdicts as JUnit XML, which all CI services read: a suite per run, a case per rule.

use anyhow::Result;
use perfpipe_analyze::Verdict;
use perfpipe_analyze::format::one_line;
use quick_xml::Writer;

use super::sentence::sentence;

/// Returns the whole document.
pub(crate) fn document(verdicts: &[Verdict]) -> Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer
        .create_element("testsuites")
        .with_attributes(counts("perfpipe", verdicts).iter().map(|(name, value)| (*name, &**value)))
        .write_inner_content(|writer| {
            verdicts.chunk_by(|a, b| a.run == b.run).try_for_each(|run| suite(writer, run))
        })?;
    let mut document = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_vec();
    document.extend(writer.into_inner());
    document.push(b'\n');
    Ok(document)
}

fn suite(writer: &mut Writer<Vec<u8>>, verdicts: &[Verdict]) -> std::io::Result<()> {
    let run = verdicts.first().map(|verdict| text(&verdict.run)).unwrap_or_default();
    writer
        .create_element("testsuite")
        .with_attributes(counts(&run, verdicts).iter().map(|(name, value)| (*name, &**value)))
        .write_inner_content(|writer| verdicts.iter().try_for_each(|verdict| case(writer, verdict)))?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, verdict: &Verdict) -> std::io::Result<()> {
    let (run, rule) = (text(&verdict.run), text(&verdict.rule));
    let element = writer.create_element("testcase").with_attributes([("classname", &*run), ("name", &*rule)]);
    if verdict.holds {
        element.write_empty()?;
        return Ok(());
    }
    element.write_inner_content(|writer| {
        let message = text(&sentence(verdict));
        writer
            .create_element("failure")
            .with_attributes([("type", "rule"), ("message", &*message)])
            .write_empty()?;
        Ok(())
    })?;
    Ok(())
}

fn counts(name: &str, verdicts: &[Verdict]) -> [(&'static str, String); 3] {
    let broken = verdicts.iter().filter(|verdict| !verdict.holds).count();
    [("name", name.to_owned()), ("tests", verdicts.len().to_string()), ("failures", broken.to_string())]
}

/// Removes characters that XML can't contain.
fn text(text: &str) -> String {
    one_line(text).chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}
