//! `perfpipe attach-cpu`: other CPU readings for a stored run.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::View;
use perfpipe_ingest::{
    ClockGuess, CpuChoice, CpuExport, CpuJoin, Error, Inputs, SourceOptions, StoredRun, attach_cpu,
};

use super::inspect::second;
use crate::args::{CpuArgs, CpuScaleArg, StoreArgs};
use crate::input::left_out::LeftOut;
use crate::input::{cpu_scale, runs, store, view};
use crate::output::note;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  perfpipe attach-cpu go_2048 cpu.csv --cpu-offset -2")]
pub(crate) struct AttachArgs {
    /// The run, as `perfpipe list` names it: go_2048
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The CPU export, as of Zabbix
    #[arg(value_name = "FILE")]
    pub(crate) cpu: PathBuf,
    /// Zone of dates that name none: Europe/Warsaw, +01:00
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Zabbix item to take, where the export holds several
    #[arg(long, value_name = "ID")]
    pub(crate) cpu_item: Option<u64>,
    /// What the readings are measured in; stored is percent of one core [default: percent-of-core, with a word where
    /// another fits better]
    #[arg(long, value_enum, value_name = "SCALE")]
    pub(crate) cpu_scale: Option<CpuScaleArg>,
    /// Cores of the server, for --cpu-scale
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// Attach it even if it has readings for less of the run than there are now, or for nothing of it
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) join: CpuArgs,
}

/// Joins the samples of a run to another CPU export.
pub(crate) async fn run(args: &AttachArgs, at: &StoreArgs) -> Result<()> {
    let store = Arc::new(store::existing(at).await?);
    let mut left_out = LeftOut::default();
    let key = runs::named(&left_out.runs(&store).await?, &args.run)?;
    let export = read(args).await?;
    let run = store.read(&key).await?;
    let choice = choice(&args.join, &run);
    choice.note(&export.series).iter().for_each(|text| note(text));
    let join = choice.join(&export.series);
    let cover = Cover::of(&run, &export, join)?;
    if !args.replace {
        cover.check(&run, &export, join)?;
    }
    // It is read again where it is written: what is held of it here is in the way of that.
    drop(run);
    let readings = export.series.readings().len();
    let [scale, cores] = cpu_scale::noted(args.cpu_scale, args.cores);
    let noted = [(view::CPU_ITEM, args.cpu_item.map(|id| id.to_string())), scale, cores];
    let info = attach_cpu(&store, &key, export, join, &noted).await?;
    note(&format!("attached {readings} CPU readings to {key}: {} records joined anew", info.records()));
    note(&format!(
        "{} of the seconds have a reading, {} had one before",
        cover.share(cover.after),
        cover.share(cover.before)
    ));
    left_out.end()
}

/// How its readings are to be joined: by the shift of the clock that the run was told of, but with a look-back of their
/// own, which hangs on how often they come.
fn choice(args: &CpuArgs, run: &StoredRun) -> CpuChoice {
    let CpuChoice { lookback, .. } = view::cpu_choice(args);
    CpuChoice { offset: args.cpu_offset.unwrap_or(run.info.cpu_offset), lookback }
}

/// The export that is to be attached.
async fn read(args: &AttachArgs) -> Result<CpuExport> {
    let time_zone = args.time_zone.parse()?;
    let source = SourceOptions {
        time_zone,
        cpu_item: args.cpu_item,
        cpu_scale: cpu_scale::of(args.cpu_scale, args.cores)?,
        cores: args.cores,
        ..SourceOptions::default()
    };
    let (file, options) = (args.cpu.clone(), source.clone());
    let inputs = tokio::task::spawn_blocking(move || Inputs::recognise(&[file], &options)).await??;
    let cpu = match (inputs.cpu, inputs.logs.first()) {
        (Some(cpu), None) => cpu,
        _ => {
            let problem = format!("{} is not a CPU export alone", args.cpu.display());
            return Err(Error::usage(problem, "Name the export of the server that was tested.").into());
        }
    };
    let export = cpu.read(&source).await?;
    inputs.notes.iter().chain(&export.notes).for_each(|text| note(text));
    Ok(export)
}

/// How many seconds of a run have a reading.
struct Cover {
    seconds: u32,
    before: u32,
    after: u32,
}

impl Cover {
    fn of(run: &StoredRun, export: &CpuExport, join: CpuJoin) -> Result<Self> {
        Ok(Self {
            seconds: run.info.seconds,
            before: run.seconds_with_cpu(&run.cpu, View::of(&run.info).cpu)?,
            after: run.seconds_with_cpu(&export.series, join)?,
        })
    }

    fn share(&self, seconds: u32) -> String {
        format!("{:.1} %", f64::from(seconds) / f64::from(self.seconds.max(1)) * 100.0)
    }

    /// Refuses readings that say less of the run than those that it has, or nothing.
    fn check(&self, run: &StoredRun, export: &CpuExport, join: CpuJoin) -> Result<()> {
        let key = &run.info.key;
        let problem = if self.after == 0 {
            format!("no reading of the export is of the time of {key}: {}", times(run, export, join))
        } else if self.after < self.before {
            let (after, before) = (self.share(self.after), self.share(self.before));
            format!("the export has readings for {after} of the seconds of {key}, which has {before} now")
        } else {
            return Ok(());
        };
        let fitting = ClockGuess::of(&export.series, join, run.info.t0_ms, run.info.last_ms);
        let remedy = match fitting {
            Some(guess) => format!(
                "With --cpu-offset {}, {} of {} seconds have a reading; --replace attaches it as it is.",
                guess.cpu_offset, guess.covered, self.seconds
            ),
            None => "Look at --cpu-offset and --time-zone; --replace attaches it as it is.".to_owned(),
        };
        Err(Error::refused(problem, remedy).into())
    }
}

/// From when to when there are readings, and the run was.
fn times(run: &StoredRun, export: &CpuExport, join: CpuJoin) -> String {
    let moment = |reading: Option<&(i64, f64)>| {
        reading.map_or_else(String::new, |(clock, _)| second(clock.saturating_add(join.offset)))
    };
    let readings = export.series.readings();
    format!(
        "they go from {} to {}, the run from {} to {}",
        moment(readings.first()),
        moment(readings.last()),
        second(run.info.t0_ms.div_euclid(1000)),
        second(run.info.last_ms.div_euclid(1000)),
    )
}
