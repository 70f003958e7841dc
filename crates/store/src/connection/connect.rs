//! Opens connections: tries each server in turn, with and without TLS as `sslmode` allows.

use tokio_postgres::config::{SslMode as Wire, SslNegotiation};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, NoTls, Socket};

use perfpipe_model::error::secrets::Secrets;
use perfpipe_model::error::{Error, ErrorKind, Result};

use super::bounded::{EncryptedConnect, PlainConnect};
use super::config::{PostgresConfig, ServerAddress};
use super::session::{Session, sentence};
use super::tls::{SslMode, connector};

/// What to do where no server can be reached, and where each has as many connections as it allows.
const CHECK: &str = "Check that a server listens there, and what the URL, the PG* variables and .pgpass say.";
const FULL: &str = "Every connection that the server allows is in use: try again when others have ended theirs, use fewer at once, or \
                    raise its max_connections (or the limit of the role or the database).";

/// Connects to the first server that answers.
pub async fn open(config: &PostgresConfig) -> Result<Session> {
    let (mut problems, mut are_full) = (Vec::new(), true);
    for server in &config.servers {
        match reach(config, server).await? {
            Ok(session) => return Ok(session),
            Err(problem) => {
                are_full &= problem.is_full;
                problems.push(format!("{server}: {}", problem.sentence));
            }
        }
    }
    let remedy = if are_full { FULL } else { CHECK };
    let problem = format!("connecting to Postgres: {}", problems.join("; "));
    Err(Error::refused(ErrorKind::Unreachable, problem, remedy))
}

/// Tries one server. The inner error leaves other servers to be tried.
async fn reach(config: &PostgresConfig, server: &ServerAddress) -> Result<Result<Session, ConnectProblem>> {
    let (mut problems, mut is_full): (Vec<String>, bool) = (Vec::new(), false);
    for attempt in attempts(config.ssl, server) {
        let problem = match attempt_once(config, server, *attempt).await? {
            Ok(session) => return Ok(Ok(session)),
            Err(problem) => problem,
        };
        let again = problem.may_differ;
        is_full |= problem.is_full;
        // Who prefers encryption is not interested in a server's lack of it.
        let is_preferred = config.ssl == SslMode::Prefer && problem.sentence.contains(UNENCRYPTED);
        if !is_preferred && !problems.contains(&problem.sentence) {
            problems.push(problem.sentence);
        }
        if !again {
            break;
        }
    }
    Ok(Err(ConnectProblem { sentence: problems.join("; then "), may_differ: false, is_full }))
}

/// Returns whether to use TLS, in the order of trying. Sockets are never encrypted.
fn attempts(mode: SslMode, server: &ServerAddress) -> &'static [Wire] {
    if server.is_socket() {
        return &[Wire::Disable];
    }
    match mode {
        SslMode::Disable => &[Wire::Disable],
        SslMode::Allow => &[Wire::Disable, Wire::Require],
        // The client's own preference would leave messages without encryption unbounded.
        SslMode::Prefer => &[Wire::Require, Wire::Disable],
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Wire::Require],
    }
}

/// Start of the client's message about a failed TLS handshake. Trying without TLS then would send data unencrypted to a
/// server that supports encryption.
const HANDSHAKE: &str = "error performing TLS handshake";
/// What it says about a server without encryption.
const UNENCRYPTED: &str = "server does not support TLS";

/// The reason why an attempt failed. `may_differ` is true if it may succeed with the other choice of encryption.
struct ConnectProblem {
    sentence: String,
    may_differ: bool,
    /// True if the server has as many connections as it allows.
    is_full: bool,
}

async fn attempt_once(
    config: &PostgresConfig,
    server: &ServerAddress,
    wire: Wire,
) -> Result<Result<Session, ConnectProblem>> {
    let settings = settings(config, server, wire);
    let opened = async {
        if server.is_socket() {
            // The client gives no way to the stream of a socket, whose server is one of this machine.
            Ok(establish(&settings, secrets(server), NoTls).await)
        } else if wire == Wire::Disable {
            Ok(establish(&settings, secrets(server), PlainConnect).await)
        } else {
            let encrypted = EncryptedConnect(connector(config.ssl, &config.roots)?);
            Ok(establish(&settings, secrets(server), encrypted).await)
        }
    };
    let opened = match config.timeout {
        None => opened.await?,
        Some(limit) => match tokio::time::timeout(limit, opened).await {
            Ok(opened) => opened?,
            Err(_) => {
                let sentence = format!("no answer within {} s", limit.as_secs());
                return Ok(Err(ConnectProblem { sentence, may_differ: false, is_full: false }));
            }
        },
    };
    Ok(opened.map_err(|error| problem(&error, server)))
}

fn problem(error: &tokio_postgres::Error, server: &ServerAddress) -> ConnectProblem {
    let said = sentence(error);
    let handshake = said.starts_with(HANDSHAKE) && !said.contains(UNENCRYPTED);
    let refused = [&SqlState::INVALID_AUTHORIZATION_SPECIFICATION];
    let may_differ = !handshake && error.code().is_none_or(|code| refused.contains(&code));
    let mut sentence = secrets(server).said(&said);
    if handshake {
        sentence += " (the server offers encryption, so nothing was sent without it; sslmode=disable would \
                     allow that)";
    }
    if server.password.is_none() && sentence.contains("password missing") {
        sentence =
            "the server asks for a password, and none is known: set PGPASSWORD, or add it to ~/.pgpass"
                .into();
    }
    let is_full = error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS);
    ConnectProblem { sentence, may_differ, is_full }
}

/// What a server is sent that no message may show.
fn secrets(server: &ServerAddress) -> Secrets {
    let mut secrets = Secrets::default();
    server.password.iter().for_each(|password| secrets.add(password));
    secrets
}

fn settings(config: &PostgresConfig, server: &ServerAddress, wire: Wire) -> Config {
    let mut settings = Config::new();
    settings
        .host(&server.host)
        .user(&config.user)
        .dbname(&config.database)
        .application_name(&config.application)
        .port(server.port)
        .channel_binding(config.binding)
        .target_session_attrs(config.attributes);
    if wire == Wire::Disable && !server.is_socket() {
        settings.ssl_mode(Wire::Require).ssl_negotiation(SslNegotiation::Direct);
    } else {
        settings.ssl_mode(wire);
    }
    config.alive.apply(&mut settings);
    server.address.into_iter().for_each(|address| {
        settings.hostaddr(address);
    });
    config.options.iter().for_each(|options| {
        settings.options(options);
    });
    server.password.iter().for_each(|password| {
        settings.password(password);
    });
    settings
}

async fn establish<T>(
    settings: &Config,
    secrets: Secrets,
    tls: T,
) -> std::result::Result<Session, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    let (client, connection) = settings.connect(tls).await?;
    Ok(Session::drive(client, connection, secrets))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn handshake_that_fails_is_never_followed_by_plain_text() {
        for mode in ["prefer", "require"] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = tokio::spawn(async move {
                let (mut client, _) = listener.accept().await.unwrap();
                let mut request = [0; 8];
                client.read_exact(&mut request).await.unwrap();
                client.write_all(b"Snonsense that is no handshake").await.unwrap();
                drop(client);
                listener
            });
            let dsn = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode={mode}");
            let config = PostgresConfig::resolve(&dsn, &|_| None).unwrap();
            let error = open(&config).await.err().unwrap().to_string();
            assert!(error.contains("nothing was sent without"), "{error}");
            let again = tokio::time::timeout(std::time::Duration::from_millis(300), async {
                server.await.unwrap().accept().await
            });
            assert!(again.await.is_err(), "{mode}: a second connection was tried");
        }
    }
}
