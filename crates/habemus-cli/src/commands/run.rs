//! `habemus run`: one run, its report, its trace, its picture.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use habemus_report::{Conclusion, Report};
use habemus_scenario::Scenario;
use habemus_sim::{Control, run_controlled};

use super::draw::{Format, Style};
use crate::args::{Described, LabFlag, RunFlags, Where};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Run an algorithm or a scenario file in the simulator.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus run chang-roberts --ids 3,17,24,1,28,15,9,4 --start 17 --draw text
  habemus run bully --processes 5 -o leader=5 --start none --crash 5@20ms --draw text
  habemus run coordinator --entries 3 -o timeout=20ms --at '10ms slow 2 by 100ms'
  habemus run ricart-agrawala -n 4 --resources orders,stock --entries 10
  habemus run exhibits/s4-timeout-hurts.toml --draw svg --out hurts.svg
  habemus run exhibits/s4-timeout-hurts.toml --lab
  habemus run --replay counterexample.jsonl --draw text")]
#[command(mut_arg("what", |what| what.required(false).required_unless_present("replay")))]
pub(crate) struct Run {
    #[command(flatten)]
    flags: RunFlags,
    /// Repeat a recorded run with the processes themselves, and judge it again.
    ///
    /// The file is what `habemus check --trace FILE` or `habemus run --trace FILE` wrote. It says itself
    /// which algorithm it is a run of; another one can be named, to see whether it behaves in the same way. A
    /// run that the processes would not make is refused.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    replay: Option<PathBuf>,
    /// Write a repeated run to a file, as a scenario in which a script calls every event.
    #[arg(long, value_name = "FILE", requires = "replay", help_heading = "Output")]
    scenario: Option<PathBuf>,
    /// Write what happened to a file, as JSON lines.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trace: Option<PathBuf>,
    /// Draw what happened.
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    draw: Option<Format>,
    #[command(flatten)]
    style: Style,
    #[command(flatten)]
    lab: LabFlag,
    /// The report as JSON.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Run {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        if let Some(path) = &self.replay {
            return self.repeat(path);
        }
        let Described { scenario, parsed } = self.flags.describe()?;
        let keep_trace = self.trace.is_some() || self.draw.is_some();
        let control = Arc::new(Control { stop: interrupt::flag(), ..Control::default() });
        let watched = Arc::clone(&control);
        let progress = output::Progress::new("events", move || {
            (watched.events.load(Ordering::Relaxed), 0, String::new())
        });
        let report = run_controlled(&scenario, keep_trace, &control);
        drop(progress);
        let report = report.map_err(|error| CliError::from_run(error, parsed.as_ref()))?;
        self.publish(&scenario, &report)?;
        self.lab.show(&scenario, self.beside_the_report())?;
        Ok(outcome(&report))
    }

    /// Where there is room for a line more.
    fn beside_the_report(&self) -> Where {
        if self.json || self.shows_picture_alone() { Where::Aside } else { Where::Output }
    }

    /// Whether the output is a picture for another program.
    fn shows_picture_alone(&self) -> bool {
        self.draw.is_some_and(|format| format != Format::Text) && self.style.out.is_none()
    }

    /// Repeats a recorded run.
    fn repeat(&self, path: &Path) -> Result<Outcome, CliError> {
        let trace = super::draw::read(path)?;
        let replay = if self.flags.is_given() {
            let Described { mut scenario, parsed } = self.flags.describe()?;
            if parsed.is_none() && !self.flags.names_processes() {
                scenario.ids.clone_from(&trace.header.processes);
            }
            let request = habemus_report::request(&scenario)
                .map_err(|error| CliError::from_run(error, parsed.as_ref()))?;
            habemus_check::replay(&trace, Some(&request))?
        } else {
            habemus_check::replay(&trace, None)?
        };
        if let Some(path) = &self.scenario {
            super::check::write_scenario(path, &replay)?;
        }
        let scenario = Scenario { title: trace.header.title.clone(), ..Scenario::default() };
        self.publish(&scenario, &replay.report)?;
        super::check::show_in_lab(&self.lab, &replay, self.beside_the_report())?;
        Ok(outcome(&replay.report))
    }

    fn publish(&self, scenario: &Scenario, report: &Report) -> Result<(), CliError> {
        // A picture on the terminal comes first: the report explains it.
        let draw = self.draw.filter(|_| self.style.out.is_some() || !self.json);
        self.style.publish(report, self.trace.as_deref(), draw)?;
        if self.json {
            output::print_json(report)
        } else if self.shows_picture_alone() {
            // Standard output is a picture for another program: the verdict goes beside it.
            anstream::eprint!("{}", show::report(scenario, report));
            Ok(())
        } else {
            output::print(&show::report(scenario, report))
        }
    }
}

/// How a run ended, for whoever called the program.
pub(super) fn outcome(report: &Report) -> Outcome {
    match report.conclusion() {
        Conclusion::NotAsExpected => Outcome::Fails,
        Conclusion::AsExpected => Outcome::Holds,
        Conclusion::Open => Outcome::Incomplete,
    }
}
