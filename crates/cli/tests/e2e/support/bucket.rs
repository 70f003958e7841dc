//! A server of buckets for the tests, which answers as S3 does: moto, or where the environment asks for it versitygw, or
//! azurite, which answers as Azure does.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::command::wait_for;
use crate::postgres::required::skip;

/// What asks for versitygw or azurite, as `.ci/long bucket` and `.ci/long azure` do.
const WANTED: &str = "PERFPIPE_TEST_BUCKETS";

/// The key of the server, and its secret.
const KEY: &str = "key-of-the-tests";
const SECRET: &str = "secret-of-the-tests";

/// The account of azurite, and its key.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Makes a container by a signed request: the server's address, the account, its key, and the name of the container.
const NEW_CONTAINER: &str = r#"
import base64, email.utils, hashlib, hmac, sys, urllib.request
server, account, key, name = sys.argv[1:]
date = email.utils.formatdate(usegmt=True)
said = {"x-ms-date": date, "x-ms-version": "2021-08-06"}
lines = ["PUT"] + [""] * 11 + [f"{header}:{value}" for header, value in said.items()]
signed = "\n".join(lines + [f"/{account}/{account}/{name}", "restype:container"]).encode()
mark = base64.b64encode(hmac.new(base64.b64decode(key), signed, hashlib.sha256).digest()).decode()
said |= {"Authorization": f"SharedKey {account}:{mark}", "Content-Length": "0"}
url = f"http://{server}/{account}/{name}?restype=container"
urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=said))
"#;

/// Connections are kept for later requests, as providers do.
const LIKE_S3: &str = "--keep-alive --quiet";

/// A server that runs until the tests end.
pub(crate) struct BucketServer {
    pub(crate) host: String,
    buckets: AtomicU32,
    is_azure: bool,
    /// The folder whose folders are the buckets of versitygw.
    folder: Option<tempfile::TempDir>,
    /// The end of its standard input ends the server.
    _process: Child,
}

impl BucketServer {
    /// The server of this test program; `None`, with a note, where there is none.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<BucketServer>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    fn start() -> Option<Self> {
        match std::env::var(WANTED).as_deref() {
            Ok("versitygw") => return Some(Self::versitygw()),
            Ok("azurite") => return Some(Self::azurite()),
            _ => {}
        }
        if !is_there("moto_server") {
            skip("BUCKET", "moto is not installed (pip install 'moto[server]')");
            return None;
        }
        Some(Self::run("moto_server -H 127.0.0.1 -p $0", None))
    }

    /// Starts versitygw.
    pub(crate) fn versitygw() -> Self {
        assert!(
            is_there("versitygw"),
            "versitygw is not on the PATH: go install github.com/versity/versitygw/cmd/versitygw@latest"
        );
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        let script = format!(
            "versitygw --access {KEY} --secret {SECRET} --port 127.0.0.1:$0 {LIKE_S3} posix '{place}'"
        );
        Self::run(&script, Some(folder))
    }

    fn azurite() -> Self {
        assert!(is_there("azurite-blob"), "azurite is not on the PATH: npm install -g azurite");
        let script = "azurite-blob --blobPort $0 --inMemoryPersistence --silent --skipApiVersionCheck";
        Self { is_azure: true, ..Self::run(script, None) }
    }

    /// Runs the server of a script, whose first argument is the port.
    fn run(script: &str, folder: Option<tempfile::TempDir>) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = format!("{script} >/dev/null 2>&1 & read -r _; kill $!");
        let mut command = Command::new("sh");
        command.args(["-c", &script, &port.to_string()]).stdin(Stdio::piped());
        let process = command.spawn().unwrap();
        let host = format!("127.0.0.1:{port}");
        wait_for("the server of buckets answers", || TcpStream::connect(&host).is_ok());
        Self { host, buckets: AtomicU32::new(0), is_azure: false, folder, _process: process }
    }

    /// The folder in which versitygw keeps the objects of its buckets.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().unwrap().path()
    }

    /// Makes a bucket, and returns its name.
    pub(crate) fn new_bucket(&self) -> String {
        let name = format!("bucket-{}", self.buckets.fetch_add(1, Ordering::Relaxed));
        if let Some(folder) = &self.folder {
            std::fs::create_dir(folder.path().join(&name)).unwrap();
            return name;
        }
        if self.is_azure {
            let made = Command::new("python3")
                .args(["-c", NEW_CONTAINER, &self.host, ACCOUNT, ACCOUNT_KEY, &name])
                .output()
                .unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            return name;
        }
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let host = &self.host;
        write!(
            stream,
            "PUT /{name} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        name
    }

    /// How the URLs of buckets begin.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.is_azure { "az" } else { "s3" }
    }

    /// What a client needs to know.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        if !self.is_azure {
            return bucket_environment(&self.host);
        }
        vec![
            ("AZURE_ENDPOINT", format!("http://{}/{ACCOUNT}", self.host)),
            ("AZURE_ALLOW_HTTP", "true".to_owned()),
            ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT.to_owned()),
            ("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY.to_owned()),
        ]
    }
}

/// What a client of a server on this machine needs to know.
pub(crate) fn bucket_environment(host: &str) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT", format!("http://{host}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
    ]
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--help").output().is_ok_and(|done| done.status.success())
}
