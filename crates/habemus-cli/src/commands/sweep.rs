//! `habemus sweep`: the same scenario under thousands of seeds, here or in parts wherever there is room.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use habemus::catalogue;
use habemus_scenario::{Scenario, to_toml};
use habemus_sim::{
    Case, Failure, PartCase, Seeds, Shard, Shrunk, SweepPart, SweepReport, Sweeping, cases, merge_parts,
    shrink, sweep_part,
};
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
  habemus sweep --all --seeds 1000
  habemus sweep bully --all --seeds 100000 --shard 3/100 --out part-3.json
  habemus sweep --merge part-*.json

The first failing seed is shrunk to fewer faults and written as a scenario file.")]
#[command(mut_arg("what", |what| what.required(false).required_unless_present_any(["all", "merge"])))]
pub(crate) struct Sweep {
    #[command(flatten)]
    flags: RunFlags,
    /// All faults of the model of the algorithm, or of every algorithm if none is named.
    #[arg(long, help_heading = "Sweep")]
    #[arg(conflicts_with_all = ["SystemFlags", "OptionFlags", "ScriptFlags", "NetworkFlags", "RandomFlags"])]
    #[arg(conflicts_with_all = ["ClientFlags", "processes", "start"])]
    #[arg(conflicts_with_all = ["until", "time_limit", "within", "event_limit"])]
    all: bool,
    /// How many seeds; with --all: for each algorithm.
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
    /// Play only this part, and write what came of it to a file for --merge: 3/100.
    #[arg(long, value_name = "K/N", help_heading = "Sweep")]
    shard: Option<String>,
    /// Add up the parts of a sweep.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["what", "all", "shard"])]
    #[arg(help_heading = "Sweep")]
    merge: Vec<PathBuf>,
    /// Where to write the shrunk failing run [default: failing-NAME-SEED.toml], or what came of a part
    /// [default: sweep-K-of-N.json].
    #[arg(long, value_name = "FILE", help_heading = "Sweep")]
    out: Option<PathBuf>,
    /// Do not shrink a failing run.
    #[arg(long, help_heading = "Sweep")]
    no_shrink: bool,
    /// The report as JSON.
    #[arg(long, help_heading = "Sweep")]
    json: bool,
}

/// A scenario that was swept, what came of it, and what its first failure was shrunk to.
pub(crate) struct Swept {
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
    pub(crate) report: SweepReport,
    pub(crate) shrunk: Option<Shrunk>,
    pub(crate) replay: Option<String>,
}

impl Sweep {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        if !self.merge.is_empty() {
            return self.put_together();
        }
        if self.seeds == 0 {
            return Err(CliError::new("--seeds must be at least 1"));
        }
        let shard = self.shard.as_deref().map(shard).transpose()?;
        let cases = self.cases()?;
        let part = self.sweep(cases, shard.unwrap_or(Shard::WHOLE))?;
        match shard {
            Some(shard) => self.keep(shard, &part),
            None => self.publish(part, &[]),
        }
    }

    /// What to sweep.
    fn cases(&self) -> Result<Vec<(Case, Option<habemus_scenario::Parsed>, u64)>, CliError> {
        if !self.all {
            let Described { scenario, parsed } = self.flags.describe()?;
            let case = Case { name: scenario.algorithm.clone(), scenario };
            return Ok(vec![(case, parsed, self.seeds)]);
        }
        let entries = match self.flags.algorithm() {
            Some(name) => vec![catalogue::entry(name)?],
            None => catalogue::ENTRIES.iter().collect(),
        };
        let mut all = Vec::new();
        for entry in entries {
            let cases = cases(entry);
            let each = self.seeds.div_ceil(cases.len().max(1) as u64);
            all.extend(cases.into_iter().map(|mut case| {
                case.scenario.seed = self.flags.seed().unwrap_or(case.scenario.seed);
                (case, None, each)
            }));
        }
        Ok(all)
    }

    fn sweep(
        &self,
        cases: Vec<(Case, Option<habemus_scenario::Parsed>, u64)>,
        shard: Shard,
    ) -> Result<SweepPart, CliError> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get);
        let sweeping = Arc::new(Sweeping { stop: interrupt::flag(), ..Sweeping::default() });
        let watched = Arc::clone(&sweeping);
        let seeds_of = |case: &Case, count| Seeds { first: case.scenario.seed, count, shard };
        let runs = cases.iter().map(|(case, _, count)| seeds_of(case, *count).in_this_shard()).sum();
        let _progress = output::Progress::new("runs", move || {
            let failed = watched.failed.load(Ordering::Relaxed);
            let remark = if failed == 0 { String::new() } else { format!("{failed} not as expected") };
            (watched.done.load(Ordering::Relaxed), runs, remark)
        });
        let mut swept = Vec::new();
        for (case, parsed, count) in cases {
            let seeds = seeds_of(&case, count);
            let report = sweep_part(&case.scenario, &seeds, threads, &sweeping)
                .map_err(|error| CliError::from_run(error, parsed.as_ref()))?;
            let Case { name, scenario } = case;
            swept.push(PartCase { name, scenario: to_toml(&scenario), seeds, report });
        }
        Ok(SweepPart::new(shard, swept))
    }

    /// Writes what came of a part to a file.
    fn keep(&self, shard: Shard, part: &SweepPart) -> Result<Outcome, CliError> {
        let default = || PathBuf::from(format!("sweep-{}-of-{}.json", shard.number, shard.of));
        let path = self.out.clone().unwrap_or_else(default);
        let text = serde_json::to_string_pretty(part).map_err(|error| CliError::new(error.to_string()))?;
        output::write_file(&path, |file| file.write_all(text.as_bytes()))?;
        output::print(&show::sweep_part(part, &path))?;
        Ok(outcome(part.cases.iter().map(|case| &case.report), &[]))
    }

    /// Reads parts and adds them up.
    fn put_together(&self) -> Result<Outcome, CliError> {
        let mut parts = Vec::new();
        for path in &self.merge {
            let wrong = |why: String| CliError::new(format!("{}: {why}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            let part: SweepPart = serde_json::from_str(&text)
                .map_err(|error| wrong(format!("this is no part of a sweep ({error})")))?;
            parts.push((path.display().to_string(), part));
        }
        let merged = merge_parts(parts).map_err(|error| CliError::new(error.to_string()))?;
        self.publish(merged.whole, &merged.missing)
    }

    /// Shrinks what failed, and shows everything.
    fn publish(&self, part: SweepPart, missing: &[u64]) -> Result<Outcome, CliError> {
        let alone = part.cases.len() == 1;
        let mut all = Vec::new();
        for PartCase { name, scenario, report, .. } in part.cases {
            let scenario = habemus_scenario::parse(&name, &scenario)
                .map_err(|errors| CliError::File(Box::new(errors)))?
                .scenario;
            let shrunk = match &report.first_failure {
                Some(failure) if !self.no_shrink => self.shrink(&name, &scenario, failure, alone)?,
                _ => None,
            };
            let (path, shrunk) = shrunk.unzip();
            let replay = path.map(|path| format!("habemus run {}", output::shell_word(&path)));
            all.push(Swept { name, scenario, report, shrunk, replay });
        }
        if self.json {
            self.print_json(&all, missing)?;
        } else if let ([one], []) = (all.as_slice(), missing) {
            output::print(&show::sweep(one))?;
        } else {
            output::print(&show::sweep_all(&all, missing))?;
        }
        Ok(outcome(all.iter().map(|swept| &swept.report), missing))
    }

    fn print_json(&self, all: &[Swept], missing: &[u64]) -> Result<(), CliError> {
        if let ([one], []) = (all, missing) {
            return output::print_json(&json!({ "sweep": one.report, "replay": one.replay }));
        }
        let case =
            |swept: &Swept| json!({ "name": swept.name, "sweep": swept.report, "replay": swept.replay });
        let cases: Vec<serde_json::Value> = all.iter().map(case).collect();
        output::print_json(&json!({ "cases": cases, "missing": missing }))
    }

    fn shrink(
        &self,
        name: &str,
        scenario: &Scenario,
        failure: &Failure,
        alone: bool,
    ) -> Result<Option<(PathBuf, Shrunk)>, CliError> {
        let failing = Scenario { seed: failure.seed, ..scenario.clone() };
        let _progress = output::Progress::new("", || (0, 0, "looking for a smaller failing run".to_owned()));
        let Some(shrunk) = shrink(&failing) else { return Ok(None) };
        let default = || PathBuf::from(format!("failing-{name}-{}.toml", failure.seed));
        let path = self.out.clone().filter(|_| alone).unwrap_or_else(default);
        output::write_file(&path, |file| file.write_all(to_toml(&shrunk.scenario).as_bytes()))?;
        Ok(Some((path, shrunk)))
    }
}

fn outcome<'a>(reports: impl Iterator<Item = &'a SweepReport>, missing: &[u64]) -> Outcome {
    let mut outcome = if missing.is_empty() { Outcome::Holds } else { Outcome::Incomplete };
    for report in reports {
        if report.failures > 0 {
            return Outcome::Fails;
        }
        if report.open > 0 || report.runs < report.asked {
            outcome = Outcome::Incomplete;
        }
    }
    outcome
}

/// `3/100`.
fn shard(text: &str) -> Result<Shard, CliError> {
    let wrong = || {
        CliError::help(
            format!("--shard: expected a part such as 3/100, found '{text}'"),
            "the first part of a hundred is 1/100, the last 100/100",
        )
    };
    let (number, of) = text.split_once('/').ok_or_else(wrong)?;
    let number_of = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    let shard = Shard { number: number_of(number)?, of: number_of(of)? };
    if (1..=shard.of).contains(&shard.number) { Ok(shard) } else { Err(wrong()) }
}
