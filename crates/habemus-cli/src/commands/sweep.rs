//! `habemus sweep`: the same scenario under thousands of seeds.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use habemus_report::RunError;
use habemus_scenario::{Scenario, to_toml};
use habemus_sim::{Failure, Shrunk, SweepReport, Sweeping, shrink, sweep};
use serde_json::json;

use crate::args::{Described, RunFlags};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Run the same scenario under thousands of seeds, on all cores.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus sweep bully --processes 5 --crash-rate 2/s --seeds 10000
  habemus sweep exhibits/s4-timeout-hurts.toml --seeds 1000
  habemus sweep coordinator --entries 3 --loss 1% --seeds 100

The first failing seed is shrunk to fewer faults and written as a scenario file.
Exit codes: 0 all as expected, 1 some not, 2 bad input, 3 interrupted.")]
pub(crate) struct Sweep {
    #[command(flatten)]
    flags: RunFlags,
    /// How many seeds.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Sweep"
    )]
    seeds: u64,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "N", help_heading = "Sweep")]
    threads: Option<NonZeroUsize>,
    /// Where to write the shrunk failing run [default: failing-ALGORITHM-SEED.toml].
    #[arg(long, value_name = "FILE", help_heading = "Sweep")]
    out: Option<PathBuf>,
    /// Do not shrink a failing run.
    #[arg(long, help_heading = "Sweep")]
    no_shrink: bool,
    /// The report as JSON.
    #[arg(long, help_heading = "Sweep")]
    json: bool,
}

impl Sweep {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let Described { scenario, parsed } = self.flags.describe()?;
        let report = self.sweep(&scenario).map_err(|error| CliError::from_run(error, parsed.as_ref()))?;
        let shrunk = match &report.first_failure {
            Some(failure) if !self.no_shrink => self.shrink(&scenario, failure)?,
            _ => None,
        };
        let replay = shrunk.as_ref().map(|(path, _)| format!("habemus run {}", output::shell_word(path)));
        if self.json {
            output::print_json(&json!({ "sweep": report, "replay": replay }))?;
        } else {
            let shrunk = shrunk.as_ref().map(|(_, shrunk)| shrunk);
            output::print(&show::sweep(&scenario, &report, shrunk, replay.as_deref()))?;
        }
        Ok(match (report.failures, report.runs < report.asked) {
            (0, false) => Outcome::Holds,
            (0, true) => Outcome::Incomplete,
            _ => Outcome::Fails,
        })
    }

    fn sweep(&self, scenario: &Scenario) -> Result<SweepReport, RunError> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        let sweeping = Arc::new(Sweeping { stop: interrupt::flag(), ..Sweeping::default() });
        let watched = Arc::clone(&sweeping);
        let seeds = self.seeds;
        let _progress = output::Progress::new("runs", move || {
            let failed = watched.failed.load(Ordering::Relaxed);
            let remark = if failed == 0 { String::new() } else { format!("{failed} not as expected") };
            (watched.done.load(Ordering::Relaxed), seeds, remark)
        });
        sweep(scenario, scenario.seed, seeds, threads.map_or(1, NonZeroUsize::get), &sweeping)
    }

    fn shrink(&self, scenario: &Scenario, failure: &Failure) -> Result<Option<(PathBuf, Shrunk)>, CliError> {
        let failing = Scenario { seed: failure.seed, ..scenario.clone() };
        let _progress = output::Progress::new("", || (0, 0, "looking for a smaller failing run".to_owned()));
        let Some(shrunk) = shrink(&failing) else { return Ok(None) };
        let default = || PathBuf::from(format!("failing-{}-{}.toml", scenario.algorithm, failure.seed));
        let path = self.out.clone().unwrap_or_else(default);
        output::write_file(&path, |file| file.write_all(to_toml(&shrunk.scenario).as_bytes()))?;
        Ok(Some((path, shrunk)))
    }
}
