//! `habemus cost`: measured messages beside the theorem's figure.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use habemus::analysis::{Arrangement, Start};
use habemus::catalogue::{self, Shape};
use habemus_scenario::{Network, TimeModel, units};
use habemus_sim::{CostError, CostPoint, CostRequest, cost};

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

Exit codes: 0 theory holds, 1 a run contradicts it, 2 bad input, 3 interrupted.")]
#[command(mut_arg("options", |arg| arg.help_heading(None::<&str>)))]
pub(crate) struct Cost {
    /// An algorithm of the catalogue.
    algorithm: String,
    /// Sizes: 2..65536 (doubling), or 10,20,50.
    #[arg(short = 'n', long, value_name = "SIZES", default_value = "2..4096")]
    processes: String,
    /// How the identifiers lie.
    #[arg(long, value_enum, default_value = "random")]
    arrangement: Lie,
    /// Who starts.
    #[arg(long, value_enum, default_value = "all")]
    start: Who,
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

impl Cost {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let request = self.request()?;
        let stop = interrupt::flag();
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let quiet = self.json || self.csv.as_deref().is_some_and(|path| path.as_os_str() == "-");
        if !quiet {
            output::print(&show::cost_heading(&request))?;
        }
        let mut closed = false;
        let mut finished: Vec<CostPoint> = Vec::new();
        let result = cost(&request, threads, &stop, |point| {
            if !quiet && output::print(&show::cost_row(point)).is_err() {
                // Nobody reads any more: stop measuring.
                closed = true;
                stop.store(true, Ordering::Relaxed);
            }
            finished.push(point.clone());
        });
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
        } else if points.len() < request.sizes.len() {
            Outcome::Incomplete
        } else {
            Outcome::Holds
        })
    }

    fn request(&self) -> Result<CostRequest, CliError> {
        let mut network = Network::default();
        if catalogue::entry(&self.algorithm)?.is_synchronous() {
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
            algorithm: self.algorithm.clone(),
            options: self.options.read()?,
            topology: self.topology.clone().map(Shape::Named),
            sizes: sizes(&self.processes)?,
            arrangement: match self.arrangement {
                Lie::Random => Arrangement::Random,
                Lie::Best => Arrangement::Best,
                Lie::Worst => Arrangement::Worst,
            },
            start: match self.start {
                Who::All => Start::All,
                Who::One => Start::One,
            },
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
