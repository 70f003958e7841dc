//! Generates JMeter logs for tests, of any size and with any awkward content: see `generate --help`.

mod load;
mod options;
mod output;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

use options::Options;

fn main() -> ExitCode {
    let message = match run(&Options::parse()) {
        Ok(summary) => summary,
        // The reader of the pipe has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(error) => {
            _ = writeln!(io::stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    _ = writeln!(io::stderr(), "{message}");
    ExitCode::SUCCESS
}

fn run(options: &Options) -> io::Result<String> {
    let plan = options.plan().map_err(io::Error::other)?;
    let mut cpu = options.cpu.as_ref().map(File::create).transpose()?.map(BufWriter::new);
    let tally = output::write(&plan, &options.out)?;
    if let Some(cpu) = &mut cpu {
        load::write_cpu(&plan, &tally, options.cpu_gaps, cpu)?;
        cpu.flush()?;
    }
    let seconds = tally.span_ms.map_or(0, |(first, last)| (last - first) / 1000 + 1);
    Ok(format!(
        "{} records: {} successes, {} failures, {} transactions in {seconds} s, {} threads",
        tally.records(),
        tally.successes,
        tally.failures,
        tally.transactions,
        plan.threads
    ))
}
