//! `habemus detectors`: how good failure detectors are, over the same network with the same crashes.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use habemus::catalogue::DETECTORS;
use habemus_report::RunError;
use habemus_scenario::{Processes, Scenario, units};
use habemus_sim::{MAX_WATCHED, Quality, QualityRequest, Sweeping, quality};
use serde_json::json;

use crate::args::{NetworkFlags, OptionFlags, RandomFlags, ScriptFlags, flag};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Measure how good failure detectors are, over the same network with the same crashes.
#[derive(Args)]
#[command(after_help = "Every process watches every other. Measured are, after Chen, Toueg and Aguilera: the
time from a crash until a process suspects for good (detection time), how often
one that is up becomes suspected (mistakes, and per hour that one watches
another), how long that lasts, and the share of the time in which one that is
up is rightly trusted. If neither --crash, --at nor --crash-rate is given, one
process crashes in each run: which, and when in the third quarter, the seed
decides.

Examples:
  habemus detectors --processes 5 --latency 'log-normal 20ms 0.8' --loss 1%
  habemus detectors --crash 5@10s --until 20s -o heartbeat-timeout=200ms
  habemus detectors --pause-rate 1/s --pause-for 200ms..600ms --json
  habemus detectors phi-accrual -o phi-threshold=3 --seeds 1000")]
#[command(mut_arg("options", |arg| {
    arg.help("An option of a detector: heartbeat-interval=50ms, phi-threshold=5").help_heading(None::<&str>)
}))]
pub(crate) struct Detectors {
    /// The detectors [default: all].
    #[arg(value_name = "DETECTOR", value_parser = clap::builder::PossibleValuesParser::new(DETECTORS))]
    detectors: Vec<String>,
    /// How many processes; their identifiers are 1 to N.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 5)]
    processes: usize,
    #[command(flatten)]
    options: OptionFlags,
    /// How long a run lasts, in virtual time.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    until: String,
    /// How many runs of each detector.
    #[arg(long, value_name = "N", default_value_t = 100)]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How many threads [default: all cores].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    script: ScriptFlags,
    #[command(flatten)]
    network: NetworkFlags,
    #[command(flatten)]
    random: RandomFlags,
    /// The figures as JSON.
    #[arg(long)]
    json: bool,
}

impl Detectors {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let request = self.request()?;
        let measured = self.measure(&request)?;
        if self.json {
            output::print_json(&as_json(&request, &measured))?;
        } else {
            output::print(&show::detectors(&request, &measured))?;
        }
        let complete = measured.iter().all(|quality| quality.runs == request.seeds);
        Ok(if complete { Outcome::Holds } else { Outcome::Incomplete })
    }

    fn request(&self) -> Result<QualityRequest, CliError> {
        if !(2..=MAX_WATCHED).contains(&self.processes) {
            return Err(CliError::new(format!("--processes must be from 2 to {MAX_WATCHED}")));
        }
        if self.seeds == 0 {
            return Err(CliError::new("--seeds must be at least 1"));
        }
        let until = units::parse_duration(&self.until).map_err(|error| flag("until", &error))?;
        if until.is_zero() || until > LONGEST {
            return Err(CliError::new("--until must be above 0 and at most 24h"));
        }
        let mut scenario = Scenario {
            ids: (1..=self.processes as u64).collect(),
            options: self.options.read()?,
            seed: self.seed,
            ..Scenario::default()
        };
        self.network.apply(&mut scenario)?;
        self.random.apply(&mut scenario)?;
        if let (Some(random), false) = (&mut scenario.random, self.random.ends()) {
            random.until = until;
        }
        let cues = self.script.cues(&Processes::new(&scenario.ids))?;
        let crashes = scenario.random.as_ref().is_some_and(|random| random.crashes > 0.0);
        let one_crash = !crashes && !self.script.crashes();
        scenario.script = cues;
        let detectors = match self.detectors.as_slice() {
            [] => DETECTORS.iter().map(|&name| name.to_owned()).collect(),
            chosen => chosen.to_vec(),
        };
        Ok(QualityRequest { scenario, detectors, until, one_crash, seeds: self.seeds })
    }

    fn measure(&self, request: &QualityRequest) -> Result<Vec<Quality>, RunError> {
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        let sweeping = Arc::new(Sweeping { stop: interrupt::flag(), ..Sweeping::default() });
        let watched = Arc::clone(&sweeping);
        let runs = request.seeds.saturating_mul(request.detectors.len() as u64);
        let _progress = output::Progress::new("runs", move || {
            (watched.done.load(Ordering::Relaxed), runs, String::new())
        });
        quality(request, threads.map_or(1, NonZeroUsize::get), &sweeping)
    }
}

const LONGEST: Duration = Duration::from_secs(24 * 3600);

fn as_json(request: &QualityRequest, measured: &[Quality]) -> serde_json::Value {
    let detectors = measured.iter().map(|quality| {
        let mut value = json!(quality);
        value["detection"]["mean"] = json!(quality.detection.mean());
        value["recovery"]["mean"] = json!(quality.recovery.mean());
        value["mistakes_per_second"] = json!(quality.mistake_rate());
        value["mistake_duration"] = json!(quality.mistake_duration());
        value["accuracy"] = json!(quality.accuracy());
        value
    });
    json!({
        "processes": request.scenario.ids.len(),
        "until_seconds": request.until.as_secs_f64(),
        "seeds": request.seeds,
        "first_seed": request.scenario.seed,
        "latency": request.scenario.network.latency.to_string(),
        "loss": request.scenario.network.loss,
        "detectors": detectors.collect::<Vec<_>>(),
    })
}
