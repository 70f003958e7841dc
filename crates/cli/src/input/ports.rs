//! The file of `--frameworks`, which names frameworks by port.

use std::path::Path;

use anyhow::Result;
use perfpipe_ingest::run::Frameworks;
use toml::de::{DeTable, DeValue};

use super::text_of;
use crate::error::CliError;
use crate::output::line_of;

/// Remedy that shows the format of the file.
const EXAMPLE: &str = "Write a port and a name on each line, as in: 8181 = \"perfectnio\"";

/// Reads the frameworks that a file names by port.
pub(crate) fn of_file(path: &Path) -> Result<Frameworks> {
    let text = text_of(path)?;
    let wrong = |at: usize, problem: &str| {
        let line = line_of(&text, at);
        CliError::usage(format!("{}, line {line}: {problem}", path.display()), EXAMPLE)
    };
    let table = DeTable::parse(&text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
    let named = table.get_ref().iter().map(|(key, value)| {
        let port = key.get_ref().parse::<u16>().ok().filter(|port| *port > 0);
        let port = port.ok_or_else(|| {
            wrong(key.span().start, &format!("{:?} is not a port, 1 to 65535", key.get_ref()))
        })?;
        match value.get_ref() {
            DeValue::String(name) if !name.trim().is_empty() => Ok((port, name.clone().into_owned())),
            _ => Err(wrong(value.span().start, &format!("port {port} has no name in quotes"))),
        }
    });
    Ok(named.collect::<Result<_, CliError>>()?)
}

#[cfg(test)]
mod tests {
    use super::of_file;

    fn read(text: &str) -> Result<perfpipe_ingest::run::Frameworks, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        of_file(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn ports_have_names() {
        let frameworks = read("# night\n8181 = \"perfectnio\"\n\"9000\" = 'go'\n").unwrap();
        assert_eq!((frameworks.on_port(8181), frameworks.on_port(9000)), (Some("perfectnio"), Some("go")));
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn invalid_port_or_name_is_refused_with_its_line() {
        for (text, line, part) in [
            ("8181 = \"a\"\nhttp = \"b\"", 2, "\"http\" is not a port"),
            ("70000 = \"a\"", 1, "\"70000\" is not a port"),
            ("0 = \"a\"", 1, "\"0\" is not a port"),
            ("\n8181 = 3", 2, "port 8181 has no name"),
            ("8181 = \" \"", 1, "port 8181 has no name"),
            ("8181 = \"a\"\n8181 = \"b\"", 2, "duplicate key"),
            ("8181 = \"a\"\n9000", 2, ""),
            ("8181.x = \"a\"", 1, "port 8181 has no name"),
        ] {
            let complaint = read(text).unwrap_err();
            assert!(
                complaint.contains(&format!(", line {line}: ")) && complaint.contains(part),
                "{complaint}"
            );
        }
    }
}
