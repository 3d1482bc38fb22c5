//! `habemus timeout`: the timeout with the least expected cost.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use habemus::analysis::delays::Delays;
use habemus::analysis::timeout::{Priced, TimeoutCost};
use habemus_scenario::{Latency, units};
use habemus_trace::{MessageDelays, Trace};
use serde::Serialize;

use crate::error::CliError;
use crate::{Outcome, output, show};

/// Find the timeout with the least expected cost.
#[derive(Args)]
#[command(
    after_help = "A timeout of T seconds costs K(T) = C * P(D > T) + E * T. D is the delay of an answer, so
P(D > T) is the probability that one is late, which is a mistake and costs C; E
is what each second costs by which the timeout is longer. With --crashed Q the
other has crashed with probability Q whenever one waits; then the first summand
is weighed with 1-Q, and the second with Q. An answer that is lost is always
late. S4's rule is to stop waiting when C * p < E; docs/analysis.md says more.

Examples:
  habemus timeout --mistake-cost 100 --waiting-cost 5 --delays 'log-normal 5ms 0.8'
  habemus timeout --mistake-cost 100 --waiting-cost 5/s --delays delays.txt --out cost.svg
  habemus run bully --detector heartbeat --until 60s --trace run.jsonl
  habemus timeout --mistake-cost 1 --waiting-cost 0.1/ms --trace run.jsonl --kind Heartbeat"
)]
pub(crate) struct Timeout {
    /// What a mistake costs: C, in any currency.
    #[arg(short = 'C', long, value_name = "C")]
    mistake_cost: String,
    /// What it costs to wait longer: E, in the same currency, per second (5) or per unit (5/ms).
    #[arg(short = 'E', long, value_name = "E")]
    waiting_cost: String,
    /// A file with one delay (12.5ms, or lost) per line, or a latency: 5ms, 1ms..10ms, "exponential 5ms",
    /// "log-normal 5ms 0.8" [default: the simulator's 1ms..10ms].
    #[arg(long, value_name = "FILE|LATENCY", conflicts_with = "trace", help_heading = "Delays")]
    delays: Option<String>,
    /// A trace, as `habemus run --trace FILE` writes it: from sending to delivery.
    #[arg(long, value_name = "FILE", help_heading = "Delays")]
    trace: Option<PathBuf>,
    /// Only messages of this kind of the trace: Heartbeat.
    #[arg(long, value_name = "KIND", requires = "trace", help_heading = "Delays")]
    kind: Option<String>,
    /// How many answers are lost, of those that would come: 1%.
    #[arg(long, value_name = "SHARE", help_heading = "Delays")]
    loss: Option<String>,
    /// How likely the other has really crashed when one waits: 1%.
    #[arg(long, value_name = "SHARE")]
    crashed: Option<String>,
    /// Plot the cost over the timeout as SVG to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// All of it as JSON.
    #[arg(long)]
    json: bool,
}

/// What there is to say.
#[derive(Serialize)]
pub(crate) struct TimeoutReport {
    pub(crate) mistake_cost: f64,
    /// Per second.
    pub(crate) waiting_cost: f64,
    pub(crate) crashed: Option<f64>,
    /// Where the delays come from, in words.
    pub(crate) delays: String,
    /// The share of answers that never come.
    pub(crate) lost: f64,
    pub(crate) best: Priced,
    pub(crate) rule_of_thumb: Priced,
    pub(crate) quantiles: Vec<Quantile>,
}

/// What a timeout costs within which this share of the answers comes.
#[derive(Serialize)]
pub(crate) struct Quantile {
    pub(crate) share: f64,
    #[serde(flatten)]
    pub(crate) priced: Priced,
}

const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

impl Timeout {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let mistake_cost = amount("mistake-cost", &self.mistake_cost)?;
        let waiting_cost = self.waiting_cost()?;
        let crashed = self.crashed.as_ref().map(|text| share("crashed", text)).transpose()?;
        let (mut delays, source) = self.delays()?;
        if let Some(loss) = &self.loss {
            delays = delays.with_loss(share("loss", loss)?);
        }
        let senseless = || {
            CliError::help(
                "no timeout would be the best",
                "--waiting-cost and --crashed must be above 0, and the costs of a like magnitude",
            )
        };
        let cost = TimeoutCost::new(mistake_cost, waiting_cost).ok_or_else(senseless)?;
        let cost = match crashed {
            Some(crashed) => cost.weighed(crashed).ok_or_else(senseless)?,
            None => cost,
        };
        let quantile = |share: f64| Quantile { share, priced: cost.of(&delays, delays.quantile(share)) };
        let report = TimeoutReport {
            mistake_cost,
            waiting_cost,
            crashed,
            delays: source,
            lost: delays.lost(),
            best: cost.best(&delays),
            rule_of_thumb: cost.rule_of_thumb(&delays),
            quantiles: QUANTILES.map(quantile).into(),
        };
        if let Some(path) = &self.out {
            let svg = show::timeout_plot(&report, |timeout| cost.of(&delays, timeout));
            output::write_file(path, |file| file.write_all(svg.as_bytes()))?;
        }
        if self.json {
            output::print_json(&report)?;
        } else {
            output::print(&show::timeout(&report))?;
        }
        Ok(Outcome::Holds)
    }

    /// Per second, whatever the unit.
    fn waiting_cost(&self) -> Result<f64, CliError> {
        let Some((number, unit)) = self.waiting_cost.split_once('/') else {
            return amount("waiting-cost", &self.waiting_cost);
        };
        let unit = unit.trim();
        let one = units::parse_duration(&format!("1{unit}")).map_err(|_| {
            CliError::help(format!("--waiting-cost: '{unit}' is no unit of time"), "such as 5/s or 5/ms")
        })?;
        Ok(amount("waiting-cost", number)? / one.as_secs_f64())
    }

    /// The delays, and where they come from.
    fn delays(&self) -> Result<(Delays, String), CliError> {
        if let Some(path) = &self.trace {
            return self.measured(path);
        }
        match &self.delays {
            None => Ok(from_latency(&habemus_scenario::Network::default().latency)),
            Some(text) if Path::new(text).exists() => from_file(Path::new(text)),
            Some(text) => match text.parse::<Latency>() {
                Ok(latency) => Ok(from_latency(&latency)),
                Err(error) => Err(CliError::help(
                    format!("--delays: there is no file '{text}', and as a latency: {error}"),
                    "give a file with a delay such as 12.5ms on each line, or a latency such as 'exponential \
                        5ms'",
                )),
            },
        }
    }

    /// The delays of a recorded run.
    fn measured(&self, path: &Path) -> Result<(Delays, String), CliError> {
        let name = path.display();
        let file = File::open(path).map_err(|error| CliError::new(format!("cannot read {name}: {error}")))?;
        let trace =
            Trace::read(BufReader::new(file)).map_err(|error| CliError::new(format!("{name}: {error}")))?;
        let MessageDelays { delays, lost, to_the_dead, under_way } =
            MessageDelays::of(&trace, self.kind.as_deref());
        let mut source = format!("{} in {name}", show::plural(delays.len() as u64, "message", "messages"));
        for (count, what) in [
            (lost, "lost"),
            (to_the_dead, "to the dead, not counted"),
            (under_way, "still on their way, not counted"),
        ] {
            if count > 0 {
                source += &format!(", {} {what}", show::grouped(count));
            }
        }
        match Delays::measured(delays.into_iter().map(Duration::from_nanos), lost) {
            Some(delays) => Ok((delays, source)),
            None => Err(CliError::new(match &self.kind {
                Some(kind) => format!("{name}: no message of the kind '{kind}' was delivered"),
                None => format!("{name}: no message was delivered"),
            })),
        }
    }
}

fn from_latency(latency: &Latency) -> (Delays, String) {
    let delays = match latency {
        Latency::Constant(delay) => Delays::constant(*delay),
        Latency::Uniform { min, max } => Delays::uniform(*min, *max),
        Latency::Exponential { mean } => Delays::exponential(*mean),
        Latency::LogNormal { median, sigma } => Delays::log_normal(*median, *sigma),
    };
    (delays, latency.to_string())
}

/// One delay per line, or a latency alone; empty lines and what follows a # do not count.
fn from_file(path: &Path) -> Result<(Delays, String), CliError> {
    let name = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| CliError::new(format!("cannot read {name}: {error}")))?;
    let lines: Vec<(usize, &str)> = (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if let [(_, only)] = lines.as_slice()
        && let Ok(latency) = only.parse()
    {
        let (delays, words) = from_latency(&latency);
        return Ok((delays, format!("{words} in {name}")));
    }
    let (mut delays, mut lost) = (Vec::new(), 0);
    for (number, line) in lines {
        if line == "lost" {
            lost += 1;
            continue;
        }
        let delay = units::parse_duration(line).map_err(|error| {
            CliError::help(format!("{name}:{number}: {error}"), "each line is a delay, or the word lost")
        })?;
        delays.push(delay);
    }
    let mut source = format!("{} in {name}", show::plural(delays.len() as u64, "delay", "delays"));
    if lost > 0 {
        source += &format!(", {} lost", show::grouped(lost));
    }
    let measured = Delays::measured(delays, lost);
    measured
        .map(|delays| (delays, source))
        .ok_or_else(|| CliError::new(format!("{name}: there is no delay in it")))
}

fn share(flag: &str, text: &str) -> Result<f64, CliError> {
    units::parse_probability(text).map_err(|error| CliError::new(format!("--{flag}: {error}")))
}

fn amount(flag: &str, text: &str) -> Result<f64, CliError> {
    const MAX: f64 = 1e15;
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| (0.0..=MAX).contains(number)).ok_or_else(|| {
        CliError::new(format!("--{flag}: expected a number from 0 to 1e15, found '{}'", text.trim()))
    })
}
