//! Errors on their way out: a sentence, a remedy, and an exit code.

use std::io::Write;
use std::process::ExitCode;

/// The exit code of wrong usage.
const USAGE: u8 = 2;
/// The exit code of input that is bad beyond the limits.
const BAD_INPUT: u8 = 3;

/// A signal that asked the command to end.
#[derive(Debug, thiserror::Error)]
#[error("stopped by {name}; nothing was stored of what was at work")]
pub(crate) struct Interrupted {
    name: &'static str,
    code: u8,
}

/// Waits for SIGINT or SIGTERM.
#[cfg(unix)]
pub(crate) async fn interrupted() -> Interrupted {
    use tokio::signal::unix::{SignalKind, signal};
    let term = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => _ = signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => Interrupted { name: "SIGINT", code: 130 },
        () = term => Interrupted { name: "SIGTERM", code: 143 },
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(crate) async fn interrupted() -> Interrupted {
    let _ = tokio::signal::ctrl_c().await;
    Interrupted { name: "Ctrl-C", code: 130 }
}

/// Says what went wrong and what to do about it, and gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        // Whoever read the output has seen enough.
        return ExitCode::SUCCESS;
    }
    let mut text = format!("perfpipe: {error}\n");
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(&format!("  because: {cause}\n"));
        }
    }
    if let Some(remedy) = remedy(error) {
        text.push_str(&format!("  {remedy}\n"));
    }
    // There is nowhere left to complain to.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::from(code(error))
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn remedy(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let ingest =
            cause.downcast_ref::<perfpipe_ingest::Error>().and_then(|e| e.remedy()).map(str::to_owned);
        ingest.or_else(|| cause.downcast_ref::<perfpipe_analyze::Error>().and_then(|e| e.remedy()))
    })
}

fn code(error: &anyhow::Error) -> u8 {
    use perfpipe_analyze::Error as Analyze;
    use perfpipe_ingest::Error as Ingest;
    let of_cause = |cause: &(dyn std::error::Error + 'static)| {
        if let Some(interrupted) = cause.downcast_ref::<Interrupted>() {
            return Some(interrupted.code);
        }
        match cause.downcast_ref::<Ingest>() {
            Some(Ingest::Usage { .. }) => return Some(USAGE),
            Some(Ingest::Input { .. } | Ingest::Rejects { .. }) => return Some(BAD_INPUT),
            _ => {}
        }
        match cause.downcast_ref::<Analyze>() {
            Some(
                Analyze::Percentile { .. }
                | Analyze::Window { .. }
                | Analyze::UnknownLabel { .. }
                | Analyze::TransactionLabel { .. },
            ) => Some(USAGE),
            _ => None,
        }
    };
    error.chain().find_map(of_cause).unwrap_or(1)
}
