//! `habemus draw`: pictures of a recorded trace.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use habemus_check::Steps;
use habemus_report::Report;
use habemus_scenario::units;
use habemus_trace::draw::Window;
use habemus_trace::{Happening, Record, Trace, draw};

use crate::error::CliError;
use crate::{Outcome, output};

/// How a trace is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A space-time diagram for a terminal.
    Text,
    /// A Mermaid sequence diagram.
    Mermaid,
    /// A space-time diagram as a picture.
    Svg,
    /// A log for ShiViz.
    Shiviz,
}

/// Draw a recorded trace.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus run bully --crash 5@20ms --trace bully.jsonl
  habemus draw bully.jsonl
  habemus draw bully.jsonl --format svg --out bully.svg
  habemus draw bully.jsonl --from 20ms --to 50ms
  habemus draw broken.jsonl --around violation
  habemus draw bully.jsonl --show state")]
pub(crate) struct Draw {
    /// The trace, as `habemus run --trace FILE` wrote it.
    trace: PathBuf,
    /// How.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    style: Style,
}

/// What a picture is drawn around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Around {
    /// The first violation of a property.
    Violation,
}

/// What a picture shows besides events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// The variables that each step changed.
    State,
}

/// What a picture shows and where it goes.
#[derive(Args, Debug, Clone)]
pub(crate) struct Style {
    /// Write the picture to a file instead of the terminal.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Show the heartbeats of detectors, too.
    #[arg(long)]
    pub(crate) background: bool,
    /// Draw only what happened from this time on: 20ms.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Draw only what happened until this time.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Draw only the first violation, 30 events before it and 5 after it.
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with_all = ["from", "to"])]
    pub(crate) around: Option<Around>,
    /// Show the variables of the processes, too, where they change; the run is repeated to find them.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) show: Option<Show>,
    /// Columns of a text diagram.
    #[arg(long, value_name = "N", default_value_t = 80)]
    pub(crate) width: usize,
}

impl Draw {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        self.style.draw(&read(&self.trace)?, self.format)?;
        Ok(Outcome::Holds)
    }
}

/// The trace in a file.
pub(crate) fn read(path: &Path) -> Result<Trace, CliError> {
    let name = path.display();
    let file = File::open(path).map_err(|e| CliError::new(format!("cannot read {name}: {e}")))?;
    Trace::read(BufReader::new(file)).map_err(|e| CliError::new(format!("{name}: {e}")))
}

impl Style {
    /// Writes the traces of a report, and draws them: that of the run, or one for each lock that has a name.
    pub(crate) fn publish(
        &self,
        report: &Report,
        file: Option<&Path>,
        draw: Option<Format>,
    ) -> Result<(), CliError> {
        let locks = report.locks.iter().map(|(name, report)| (name.as_str(), report));
        for (name, report) in std::iter::once(("", report)).chain(locks) {
            let Some(trace) = &report.trace else { continue };
            if let Some(path) = file {
                output::write_file(&path_of(path, name), |file| trace.write(file))?;
            }
            if let Some(format) = draw {
                let out = self.out.as_ref().map(|path| path_of(path, name));
                if !name.is_empty() && out.is_none() {
                    output::print("\n")?;
                }
                Style { out, ..self.clone() }.draw(trace, format)?;
            }
        }
        Ok(())
    }

    /// The part of the run that is asked for.
    fn window(&self, trace: &Trace) -> Result<Window, CliError> {
        if self.around == Some(Around::Violation) {
            let is_violation = |record: &Record| matches!(record.what, Happening::Violation { .. });
            if !trace.records.iter().any(is_violation) {
                let help = "leave --around out, or cut by time: --from 20ms --to 50ms";
                return Err(CliError::help("nothing is violated in this run", help));
            }
            return Ok(Window::Violation);
        }
        let time = |name: &str, text: &Option<String>| match text {
            Some(text) => match units::parse_duration(text) {
                Ok(time) => Ok(Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))),
                Err(error) => Err(CliError::new(format!("--{name}: {error}"))),
            },
            None => Ok(None),
        };
        let (from, to) = (time("from", &self.from)?, time("to", &self.to)?);
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(CliError::help("--from is later than --to", "exchange them"));
        }
        Ok(if from.is_none() && to.is_none() { Window::All } else { Window::Between { from, to } })
    }

    pub(crate) fn draw(&self, trace: &Trace, format: Format) -> Result<(), CliError> {
        let options = draw::Options {
            background: self.background,
            width: self.width.clamp(40, 400),
            color: self.out.is_none() && output::coloured(),
            window: self.window(trace)?,
            ..draw::Options::default()
        };
        let told;
        let trace = if self.show == Some(Show::State) {
            let steps = if self.background { Steps::All } else { Steps::Foreground };
            told = habemus_check::with_states(trace, steps)?;
            &told
        } else {
            trace
        };
        let picture = match format {
            Format::Text => draw::text(trace, &options),
            Format::Mermaid => draw::mermaid(trace, &options),
            Format::Svg => draw::svg(trace, &options),
            Format::Shiviz => draw::shiviz(trace, &options),
        };
        match &self.out {
            Some(path) => output::write_file(path, |file| file.write_all(picture.as_bytes())),
            None => output::print(&picture),
        }
    }
}

/// Where to write what belongs to the lock of this name: `run.svg` becomes `run.orders.svg`.
fn path_of(path: &Path, lock: &str) -> PathBuf {
    if lock.is_empty() {
        return path.to_owned();
    }
    match path.extension() {
        Some(extension) => path.with_extension(format!("{lock}.{}", extension.display())),
        None => path.with_extension(lock),
    }
}
