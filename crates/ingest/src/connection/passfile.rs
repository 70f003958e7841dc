//! The password file `.pgpass`, which holds passwords by host, port, database and user.

use std::path::Path;

/// The usual folders of server sockets. The password file lists them as `localhost`.
pub(crate) const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The entries of a password file.
#[derive(Default, Clone)]
pub(crate) struct Passfile {
    entries: Vec<[String; 5]>,
}

/// The connection that a password is looked up for.
#[derive(Clone, Copy)]
pub(crate) struct Login<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) database: &'a str,
    pub(crate) user: &'a str,
}

/// The maximum size of a password file, in bytes.
const LARGEST: u64 = 1 << 20;

impl Passfile {
    /// Reads a password file. A missing file is empty. An unusable one is skipped, with a note.
    pub(crate) fn load(path: &Path) -> (Self, Option<String>) {
        let Ok(about) = std::fs::metadata(path) else { return Default::default() };
        let text = if !about.is_file() {
            Err("it is not a plain file".to_owned())
        } else if open_to_others(&about) {
            Err("others than its owner may read it (chmod 0600 helps)".to_owned())
        } else if about.len() > LARGEST {
            Err(format!("it is larger than {} MiB", LARGEST >> 20))
        } else {
            std::fs::read(path).map_err(|e| e.to_string())
        };
        match text {
            Ok(text) => (Self::parse(&String::from_utf8_lossy(&text)), None),
            Err(why) => {
                (Self::default(), Some(format!("the password file {} was ignored: {why}", path.display())))
            }
        }
    }

    /// Parses entries of the form `host:port:database:user:password`, in which `:` and `\` are escaped by `\`.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self { entries: lines.filter_map(|line| split_line(line).try_into().ok()).collect() }
    }

    /// Returns the password of the first matching line.
    pub(crate) fn password(&self, login: Login<'_>) -> Option<&str> {
        let port = login.port.to_string();
        let wanted = [passfile_host(login.host), &port, login.database, login.user];
        self.entries.iter().find_map(|[h, p, d, u, password]| {
            let fits = [h, p, d, u].into_iter().zip(wanted).all(|(has, wanted)| has == "*" || has == wanted);
            fits.then_some(password.as_str())
        })
    }
}

/// Returns `localhost` for sockets in a usual folder, as libpq does.
fn passfile_host(host: &str) -> &str {
    if SOCKET_FOLDERS.contains(&host) { "localhost" } else { host }
}

/// Splits a line into its fields. The password is everything after the fourth colon.
fn split_line(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        let c = match c {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => rest.next().unwrap_or('\\'),
            c => c,
        };
        fields.last_mut().into_iter().for_each(|field| field.push(c));
    }
    fields
}

#[cfg(unix)]
fn open_to_others(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(file: &'a Passfile, host: &str, port: u16, database: &str, user: &str) -> Option<&'a str> {
        file.password(Login { host, port, database, user })
    }

    #[test]
    fn first_line_that_fits_wins() {
        let file = Passfile::parse(
            "# h:1:d:u:comment\nh:1:d:u:one\nh:*:d:u:two\n\nlocalhost:5432:*:u:socket\nshort:1\n*:*:*:u:any\n",
        );
        assert_eq!(find(&file, "h", 1, "d", "u"), Some("one"));
        assert_eq!(find(&file, "h", 2, "d", "u"), Some("two"));
        assert_eq!(find(&file, "/tmp", 5432, "x", "u"), Some("socket"));
        assert_eq!(find(&file, "else", 9, "x", "u"), Some("any"));
        assert_eq!(find(&file, "h", 1, "d", "other"), None);
    }

    #[test]
    fn backslashes_take_the_meaning_from_colons_and_backslashes() {
        let file = Passfile::parse(r"\:\:1:1:d\\b:u:a\:b:c\\d");
        assert_eq!(find(&file, "::1", 1, r"d\b", "u"), Some(r"a:b:c\d"));
    }

    #[cfg(unix)]
    #[test]
    fn file_that_others_may_read_is_ignored_with_a_note() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "*:*:*:*:secret").unwrap();
        let load = |mode| {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            Passfile::load(file.path())
        };
        assert_eq!(find(&load(0o600).0, "h", 1, "d", "u"), Some("secret"));
        let (ignored, note) = load(0o640);
        assert_eq!(find(&ignored, "h", 1, "d", "u"), None);
        assert!(note.unwrap().contains("chmod 0600"));
    }
}
