//! `habemus cost`: measured messages beside the theorem's figure.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use habemus::analysis::{Again, Arrangement, Start};
use habemus::catalogue::{self, Shape};
use habemus_scenario::{Network, TimeModel, units};
use habemus_sim::{CostCase, CostError, CostPoint, CostRequest, cost, cost_cases};

use crate::args::{OptionFlags, flag};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Measure messages beside the theorem's figure.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus cost chang-roberts --processes 2..65536
  habemus cost chang-roberts --processes 2..1024 --arrangement worst
  habemus cost bully --start one --arrangement worst --processes 2..512 --plot bully.svg
  habemus cost coordinator --processes 10,100,1000 --csv -
  habemus cost bully --again crash --processes 2..128
  habemus cost --all --processes 2..16")]
#[command(mut_arg("options", |arg| arg.help_heading(None::<&str>)))]
pub(crate) struct Cost {
    /// An algorithm of the catalogue.
    #[arg(required_unless_present = "all")]
    algorithm: Option<String>,
    /// Every algorithm in every case: the ordinary one, the best and the worst, one that starts and all.
    #[arg(long, conflicts_with_all = ["algorithm", "arrangement", "start", "again", "topology", "options"])]
    #[arg(conflicts_with_all = ["csv", "plot"])]
    all: bool,
    /// Sizes: 2..65536 (doubling), or 10,20,50 [default: 2..4096; 2..32 with --all].
    #[arg(short = 'n', long, value_name = "SIZES")]
    processes: Option<String>,
    /// How the identifiers lie.
    #[arg(long, value_enum, default_value = "random")]
    arrangement: Lie,
    /// Who starts.
    #[arg(long, value_enum, default_value = "all")]
    start: Who,
    /// Measure the election that is held again, on the oracle, when the leader has crashed or is back.
    #[arg(long, value_enum)]
    again: Option<Why>,
    /// Runs of each size.
    #[arg(long, value_name = "N", default_value_t = 20)]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How the processes are connected: ring, grid, complete, …
    #[arg(long, value_name = "SHAPE")]
    topology: Option<String>,
    #[command(flatten)]
    options: OptionFlags,
    /// Latency of messages.
    #[arg(long, value_name = "TIME")]
    latency: Option<String>,
    /// Write the figures as CSV to a file, or - for the terminal.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Plot the figures as SVG to a file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// The figures as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Lie {
    /// Anyhow.
    Random,
    /// As cheaply as can be.
    Best,
    /// As dearly as can be.
    Worst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Everybody at once.
    All,
    /// One process; the arrangement says which.
    One,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Why {
    /// The leader has crashed.
    Crash,
    /// It has come back.
    Recovery,
}

/// What came of one case of one algorithm.
#[derive(serde::Serialize)]
pub(crate) struct CaseReport {
    pub(crate) algorithm: String,
    pub(crate) case: String,
    pub(crate) points: Vec<CostPoint>,
}

impl Cost {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        if self.all {
            return self.measure_all();
        }
        let request = self.request(self.algorithm.as_deref().unwrap_or_default(), self.case())?;
        let stop = interrupt::flag();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let quiet = self.json || self.csv.as_deref().is_some_and(|path| path.as_os_str() == "-");
        let mut closed = false;
        let mut finished: Vec<CostPoint> = Vec::new();
        let result = cost(&request, threads, &stop, |point| {
            let heading = if finished.is_empty() { show::cost_heading(&request) } else { String::new() };
            if !quiet && output::print(&(heading + &show::cost_row(point))).is_err() {
                // Nobody reads any more: stop measuring.
                closed = true;
                stop.store(true, Ordering::Relaxed);
            }
            finished.push(point.clone());
        });
        let is_complete = result.is_ok();
        let points = match result {
            Ok(points) => points,
            Err(CostError::Interrupted) if closed => return Err(CliError::ClosedPipe),
            // What was measured until then is kept.
            Err(CostError::Interrupted) => finished,
            Err(error) => return Err(error.into()),
        };
        self.write(&request, &points)?;
        if !quiet {
            output::print(&show::cost_summary(&points))?;
        }
        Ok(if points.iter().any(|point| point.broken.is_some()) {
            Outcome::Fails
        } else if !is_complete {
            Outcome::Incomplete
        } else {
            Outcome::Holds
        })
    }

    /// The case that the flags describe.
    fn case(&self) -> CostCase {
        CostCase {
            arrangement: match self.arrangement {
                Lie::Random => Arrangement::Random,
                Lie::Best => Arrangement::Best,
                Lie::Worst => Arrangement::Worst,
            },
            start: match self.start {
                Who::All => Start::All,
                Who::One => Start::One,
            },
            again: self.again.map(|why| match why {
                Why::Crash => Again::Crash,
                Why::Recovery => Again::Recovery,
            }),
        }
    }

    /// Every algorithm in every case.
    fn measure_all(&self) -> Result<Outcome, CliError> {
        let stop = interrupt::flag();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let mut reports = Vec::new();
        let cases = catalogue::ENTRIES.iter().filter_map(|entry| Some((entry, entry.cost_model?)));
        for (entry, model) in cases {
            for case in cost_cases(&model) {
                let request = self.request(entry.name, case)?;
                let points = match cost(&request, threads, &stop, |_| {}) {
                    Err(CostError::Interrupted) => return Ok(Outcome::Incomplete),
                    // With so few nobody could be elected: there is nothing that could exceed its figure.
                    Err(CostError::NobodyLeft { .. }) => continue,
                    points => points?,
                };
                let case = show::cost_circumstances(&request);
                let report = CaseReport { algorithm: entry.name.to_owned(), case, points };
                if !self.json {
                    output::print(&show::cost_report(&report))?;
                }
                reports.push(report);
            }
        }
        if self.json {
            output::print_json(&reports)?;
        }
        let points: Vec<CostPoint> = reports.into_iter().flat_map(|report| report.points).collect();
        if !self.json {
            output::print(&show::cost_verdict(&points))?;
        }
        let failed = points.iter().any(|point| point.broken.is_some());
        Ok(if failed { Outcome::Fails } else { Outcome::Holds })
    }

    fn request(&self, algorithm: &str, case: CostCase) -> Result<CostRequest, CliError> {
        let CostCase { arrangement, start, again } = case;
        let mut network = Network::default();
        if catalogue::entry(algorithm)?.is_synchronous() {
            network.model = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
        }
        if let Some(latency) = &self.latency {
            let parsed: Result<_, units::UnitError> = latency.parse();
            network.latency = parsed.map_err(|error| flag("latency", &error))?;
        }
        if self.seeds == 0 {
            return Err(CliError::new("--seeds must be at least 1"));
        }
        Ok(CostRequest {
            algorithm: algorithm.to_owned(),
            options: self.options.read()?,
            topology: self.topology.clone().map(Shape::Named),
            sizes: sizes(self.processes.as_deref().unwrap_or(if self.all { "2..32" } else { "2..4096" }))?,
            arrangement,
            start,
            again,
            seeds: self.seeds,
            first_seed: self.seed,
            network,
        })
    }

    fn write(&self, request: &CostRequest, points: &[CostPoint]) -> Result<(), CliError> {
        if self.json {
            output::print_json(&points)?;
        }
        if let Some(path) = &self.csv {
            let csv = show::cost_csv(points);
            if path.as_os_str() == "-" {
                output::print(&csv)?;
            } else {
                output::write_file(path, |file: &mut dyn Write| file.write_all(csv.as_bytes()))?;
            }
        }
        if let Some(path) = &self.plot {
            let svg = show::cost_plot(request, points).map_err(CliError::new)?;
            output::write_file(path, |file: &mut dyn Write| file.write_all(svg.as_bytes()))?;
        }
        Ok(())
    }
}

/// Sizes: a doubling range or a list.
fn sizes(text: &str) -> Result<Vec<usize>, CliError> {
    let bad = || {
        CliError::help(
            format!("--processes: expected sizes, found '{text}'"),
            "write a doubling range such as 2..65536, or a list such as 10,20,50",
        )
    };
    let max = usize::try_from(habemus_scenario::MAX_PROCESSES).unwrap_or(usize::MAX);
    let number = |text: &str| {
        let number: usize = text.trim().parse().map_err(|_| bad())?;
        if number == 0 || number > max { Err(bad()) } else { Ok(number) }
    };
    if let Some((first, last)) = text.split_once("..") {
        let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
        if first > last {
            return Err(bad());
        }
        return Ok(std::iter::successors(Some(first), |size| size.checked_mul(2))
            .take_while(|size| *size <= last)
            .collect());
    }
    text.split(',').map(number).collect()
}
