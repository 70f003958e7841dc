//! Connecting: passwords, certificates, and servers that are not there.

use crate::example::try_connect;
use crate::support::{TestServer, Tls};

const TLS: Tls = Tls {
    certificate: include_str!("../support/tls/server.pem"),
    key: include_str!("../support/tls/server.key"),
};

#[tokio::test]
async fn passwords_come_from_the_url_or_the_password_file_and_are_never_shown() {
    let Some(server) = TestServer::start(Some(TLS)) else { return };
    server.psql("create role guarded login password 'hunter2: \\x'");
    let url = format!("host=127.0.0.1 port={} user=guarded dbname=postgres sslmode=require", server.port());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), r"127.0.0.1:*:postgres:guarded:hunter2\: \\x").unwrap();
    let good = [
        format!("{url} channel_binding=require passfile={}", file.path().display()),
        format!(r"{url} password='hunter2: \\x'"),
        format!("postgres://guarded:hunter2%3A%20%5Cx@127.0.0.1:{}/postgres?sslmode=require", server.port()),
    ];
    for url in good {
        assert!(try_connect(&url).await.is_ok(), "{url}");
    }
    for (url, why) in [
        (format!("{url} password=hunter3"), "password authentication failed"),
        (url.clone(), "asks for a password, and none is known"),
    ] {
        let error = try_connect(&url).await.err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter"));
    }
}

#[tokio::test]
async fn tls_verifies_what_sslmode_asks_for() {
    let Some(server) = TestServer::start(Some(TLS)) else { return };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tls");
    let url = |host: &str, mode: &str, ca: &str| {
        let port = server.port();
        format!(
            "host={host} hostaddr=127.0.0.1 port={port} user=postgres sslmode={mode} sslrootcert='{folder}/{ca}'"
        )
    };
    for (host, mode, ca) in [
        ("localhost", "verify-full", "ca.pem"),
        ("db.example", "verify-ca", "ca.pem"),
        ("db.example", "require", "ca.pem"),
        ("db.example", "prefer", "other-ca.pem"),
        ("db.example", "allow", "other-ca.pem"),
    ] {
        let store = try_connect(&url(host, mode, ca)).await;
        assert!(store.is_ok(), "{host} {mode} {ca}: {}", store.err().unwrap());
    }
    let any = format!("host=127.0.0.1 port={} user=postgres sslmode=require", server.port());
    assert!(try_connect(&any).await.is_ok());
    for (host, mode, ca, why) in [
        ("db.example", "verify-full", "ca.pem", "not valid for name"),
        ("localhost", "verify-full", "other-ca.pem", "UnknownIssuer"),
        ("localhost", "verify-ca", "other-ca.pem", "UnknownIssuer"),
        ("localhost", "require", "other-ca.pem", "UnknownIssuer"),
        ("localhost", "disable", "ca.pem", "no encryption"),
        ("localhost", "verify-full", "server.key", "sslrootcert"),
        ("localhost", "verify-full", "missing.pem", "trusted certificates"),
    ] {
        let error = try_connect(&url(host, mode, ca)).await.err().unwrap().to_string();
        assert!(error.contains(why), "{host} {mode} {ca}: {error}");
    }
}

/// Tries a server that shows this certificate, whose key all of them share, with each `sslmode`; gives its errors.
async fn tried(certificate: &'static str, file: &str, modes: &[(&str, &str)]) -> Option<Vec<Option<String>>> {
    let server = TestServer::start(Some(Tls { certificate, key: TLS.key }))?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/tls");
    let mut errors = Vec::new();
    for (host, mode) in modes {
        let port = server.port();
        let mut url = format!("host={host} hostaddr=127.0.0.1 port={port} user=postgres sslmode={mode}");
        if mode.starts_with("verify") {
            url += &format!(" sslrootcert='{folder}/{file}'");
        }
        errors.push(try_connect(&url).await.err().map(|error| error.to_string()));
    }
    Some(errors)
}

/// The server takes nothing that is not encrypted, so whoever comes in is.
#[tokio::test]
async fn certificates_of_any_form_encrypt_as_with_libpq() {
    const V1: &str = include_str!("../support/tls/v1.pem");
    const OWN: &str = include_str!("../support/tls/own-ca.pem");
    const NAMED: &str = include_str!("../support/tls/named-ca.pem");
    const EXPIRED: &str = include_str!("../support/tls/expired-ca.pem");
    let all = ["prefer", "require", "verify-ca", "verify-full"].map(|mode| ("localhost", mode));
    for (certificate, file) in [(V1, "v1.pem"), (OWN, "own-ca.pem")] {
        let Some(errors) = tried(certificate, file, &all).await else { return };
        assert_eq!(errors, [const { None::<String> }; 4], "{file}");
    }
    let elsewhere =
        [("db.example", "verify-ca"), ("db.example", "verify-full"), ("localhost", "verify-full")];
    for (certificate, file, right) in [(OWN, "own-ca.pem", 2), (NAMED, "named-ca.pem", 1)] {
        let errors = tried(certificate, file, &elsewhere).await.unwrap();
        for (at, error) in errors.into_iter().enumerate() {
            let wrong = at > 0 && at != right;
            assert_eq!(
                error.as_ref().map(|error| error.contains("not valid for name")),
                wrong.then_some(true),
                "{file}"
            );
        }
    }
    let errors = tried(EXPIRED, "expired-ca.pem", &all).await.unwrap();
    assert_eq!(errors[..2], [None, None]);
    for error in &errors[2..] {
        assert!(error.as_ref().unwrap().to_lowercase().contains("expired"), "{error:?}");
    }
    let strange = tried(OWN, "other-ca.pem", &[("localhost", "verify-ca"), ("localhost", "verify-full")])
        .await
        .unwrap();
    for error in strange {
        assert!(error.unwrap().contains("certificate"));
    }
}

#[tokio::test]
async fn server_that_is_not_there_is_named() {
    let error =
        try_connect("host=/nonexistent,127.0.0.1 port=1 user=u password=hunter2").await.err().unwrap();
    let sentence = error.to_string();
    assert!(sentence.contains("/nonexistent:1: ") && sentence.contains("127.0.0.1:1: "), "{sentence}");
    assert!(!format!("{sentence} {error:?}").contains("hunter2"));
}
