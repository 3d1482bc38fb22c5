//! `habemus compare`: two algorithms under the same circumstances, side by side.

use clap::Args;
use habemus::catalogue::{self, Entry};
use habemus_report::{Conclusion, Report};
use habemus_sim::{Control, run_controlled};
use serde::Serialize;

use crate::args::{Described, RunFlags};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Run two algorithms under the same circumstances, side by side: what they cost and promise.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus compare bully chang-roberts -n 8
  habemus compare chang-roberts hirschberg-sinclair -n 64 --latency 1ms..10ms
  habemus compare ricart-agrawala maekawa -n 9 --entries 5
  habemus compare bully majority -n 5 --crash 5@200ms --detector oracle")]
#[command(mut_arg("what", |what| what.index(1).value_name("ALGORITHM").help("An algorithm of the \
    catalogue")))]
pub(crate) struct Compare {
    #[command(flatten)]
    flags: RunFlags,
    /// The algorithm beside it, which solves the same problem.
    #[arg(value_name = "OTHER", index = 2)]
    other: String,
    /// The figures as JSON.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What came of one of the two.
#[derive(Serialize)]
pub(crate) struct Compared {
    #[serde(skip)]
    pub(crate) entry: &'static Entry,
    /// When the first process knew that it leads, was inside or had decided, in nanoseconds.
    pub(crate) first: Option<u64>,
    /// When the last process learned who leads, or decided.
    pub(crate) last: Option<u64>,
    pub(crate) report: Report,
}

impl Compare {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let first = self.flags.algorithm().unwrap_or_default();
        let pair = [catalogue::entry(first)?, catalogue::entry(&self.other)?];
        if pair[0].problem != pair[1].problem {
            let problems = pair.map(|entry| format!("{} solves {}", entry.name, entry.problem));
            let message = format!("{}, and {}", problems[0], problems[1]);
            return Err(CliError::help(message, "compare two that solve the same: see habemus list"));
        }
        let compared = [self.run(pair[0])?, self.run(pair[1])?];
        if self.json {
            output::print_json(&compared)?;
        } else {
            output::print(&show::comparison(&compared))?;
        }
        let conclusions = compared.map(|one| one.report.conclusion());
        Ok(if conclusions.contains(&Conclusion::NotAsExpected) {
            Outcome::Fails
        } else if conclusions.contains(&Conclusion::Open) {
            Outcome::Incomplete
        } else {
            Outcome::Holds
        })
    }

    fn run(&self, entry: &'static Entry) -> Result<Compared, CliError> {
        let Described { scenario, .. } = self.flags.of(entry.name).describe()?;
        let control = Control { stop: interrupt::flag(), ..Control::default() };
        let report =
            run_controlled(&scenario, true, &control).map_err(|error| CliError::from_run(error, None))?;
        let told = |wanted: fn(&habemus::Status) -> bool| {
            let records = report.trace.iter().flat_map(|trace| &trace.records);
            records.filter_map(move |record| match &record.what {
                habemus_trace::Happening::Output { status: Some(status), .. } if wanted(status) => {
                    Some(record.at)
                }
                _ => None,
            })
        };
        use habemus::Status::{Decided, Following, Inside, Leading};
        let first = told(|status| matches!(status, Leading | Inside | Decided)).next();
        let last = told(|status| matches!(status, Leading | Following(_) | Decided)).next_back();
        Ok(Compared { entry, first, last, report })
    }
}
