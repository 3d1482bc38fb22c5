//! `habemus quorum`: how likely coordinators that forget let two in.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use habemus::analysis::LogProbability;
use habemus::analysis::binomial::confidence_interval;
use habemus::analysis::quorum::{ForgetfulQuorum, majorities};
use habemus_sim::{Control, ProtocolRuns, run_quorum, sample_quorum};
use serde::Serialize;

use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// How likely coordinators that forget let two participants in.
#[derive(Args)]
#[command(
    after_help = "While one participant is inside by the grants of M of N coordinators, each coordinator
restarts with probability P and has then forgotten its grant. A second
participant can enter if it finds M that do not remember the first. It may ask
everybody (S4's P_v = sum of C(M,k) P^k (1-P)^(M-k) from k = 2M-N), or one
quorum that shares as few as can be with the first (P^(2M-N)), or a random one.
P_v is the case under contention: the first got just M grants. If nobody else
had asked, all N had granted to it, and M of N must have forgotten. Each is
exact if coordinators restart independently; docs/analysis.md says more.

Examples:
  habemus quorum --coordinators 32 --quorum 24 --failure 1e-4
  habemus quorum --coordinators 7 --quorum 4 --failure 1%
  habemus quorum --coordinators 32 --failure 1e-4 --target 1e-12
  habemus quorum --coordinators 32 --failure 1e-4 --plot quorum.svg"
)]
pub(crate) struct Quorum {
    /// How many coordinators there are: S4's n.
    #[arg(short = 'n', long, value_name = "N")]
    coordinators: u64,
    /// How many must grant: S4's m [default: what the target needs, or the smallest majority].
    #[arg(short = 'm', long, value_name = "M")]
    quorum: Option<u64>,
    /// How likely a coordinator forgets while somebody is inside: 1e-4, 0.01%.
    #[arg(short = 'p', long, value_name = "P")]
    failure: String,
    /// Find the smallest quorum that lets two in with at most this probability, if all ask everybody.
    #[arg(long, value_name = "P")]
    target: Option<String>,
    /// How often to try it by chance; 0: not at all [default: a million, or fewer if that takes long].
    #[arg(long, value_name = "N")]
    samples: Option<u64>,
    /// The seed of the samples.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Show every majority, however many there are.
    #[arg(long)]
    all: bool,
    /// Draw the probability over the size of the quorum as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// All of it as JSON.
    #[arg(long)]
    json: bool,
}

/// What there is to say.
#[derive(Serialize)]
pub(crate) struct QuorumReport {
    pub(crate) coordinators: u64,
    pub(crate) quorum: u64,
    pub(crate) failure: Figure,
    /// How many coordinators two quorums share at least.
    pub(crate) shared: u64,
    /// For a second participant that asks everybody, under contention: S4's P_v.
    pub(crate) by_asking_all: Tried,
    /// The same, tried by running the protocol itself.
    pub(crate) protocol_contended: Tried,
    /// For one that asks everybody, if nobody else had asked when the first did; tried by running the
    /// protocol itself.
    pub(crate) uncontended: Tried,
    /// How often the protocol itself was run.
    pub(crate) protocol_runs: u64,
    /// For one that asks one quorum, of those that share as few as can be with the first.
    pub(crate) by_asking_worst: Tried,
    /// For one that asks one quorum drawn at random.
    pub(crate) by_asking_random: Tried,
    pub(crate) samples: u64,
    pub(crate) target: Option<Target>,
    /// Every majority.
    pub(crate) table: Vec<QuorumRow>,
}

/// A probability, for machines that know no small numbers.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Figure {
    #[serde(skip)]
    pub(crate) exact: LogProbability,
    /// 0 if it is below about 1e-308.
    probability: f64,
    /// Its logarithm to the base 10; absent for 0.
    log10: Option<f64>,
}

/// A probability, and what trials say of it.
#[derive(Serialize)]
pub(crate) struct Tried {
    #[serde(flatten)]
    pub(crate) figure: Figure,
    pub(crate) hits: u64,
    /// The probabilities that fit so many hits, with 99.9 % confidence.
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) verdict: TrialVerdict,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrialVerdict {
    /// The figure lies within the interval.
    Agrees,
    /// It lies within, but so few hits are to be expected that this says little.
    TooRare,
    /// It lies outside.
    Disagrees,
    /// Nothing was tried.
    NotTried,
}

#[derive(Serialize)]
pub(crate) struct Target {
    pub(crate) max: Figure,
    /// The smallest quorum, for those who ask everybody; absent if there is none.
    pub(crate) by_asking_all: Option<u64>,
    pub(crate) by_asking_worst: Option<u64>,
    pub(crate) by_asking_random: Option<u64>,
    /// Whether the quorum of this report meets it.
    pub(crate) met: bool,
}

#[derive(Serialize)]
pub(crate) struct QuorumRow {
    pub(crate) quorum: u64,
    /// How many coordinators may be down, and participants can still enter.
    pub(crate) may_be_down: u64,
    pub(crate) shared: u64,
    pub(crate) by_asking_all: Figure,
    pub(crate) by_asking_worst: Figure,
    pub(crate) by_asking_random: Figure,
}

/// How often the protocol itself is run, at most,
const MAX_RUNS: u64 = 1_000;
/// and how many coordinators are asked in all these runs.
const MAX_EFFORT: u64 = 20_000;
/// How unlikely it may be that right formulas and trials disagree.
const DOUBT: f64 = 1e-3;
/// Fewer hits than this are no evidence.
const FEW_HITS: f64 = 10.0;

impl Quorum {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let failure = probability("failure", &self.failure)?;
        let target = self.target.as_ref().map(|target| probability("target", target)).transpose()?;
        let smallest = |figure: fn(&ForgetfulQuorum) -> LogProbability| match target {
            Some(target) => ForgetfulQuorum::smallest(self.coordinators, failure, target, figure),
            None => Ok(None),
        };
        let enough = smallest(ForgetfulQuorum::by_asking_all).map_err(complain)?;
        let majorities = majorities(self.coordinators).map_err(complain)?;
        let quorum = self.quorum.or(enough).unwrap_or(match target {
            Some(_) => *majorities.end(),
            None => *majorities.start(),
        });
        let chosen = ForgetfulQuorum::new(self.coordinators, quorum, failure).map_err(complain)?;
        let (sampled, asked) = self.sample(&chosen);
        let tried = |exact: LogProbability, hits: u64| Tried::new(exact, hits, sampled.samples);
        let ran = self.run(&chosen)?;
        let target = match target {
            Some(max) => Some(Target {
                max: max.into(),
                by_asking_all: enough,
                by_asking_worst: smallest(ForgetfulQuorum::by_asking_worst).map_err(complain)?,
                by_asking_random: smallest(ForgetfulQuorum::by_asking_random).map_err(complain)?,
                met: enough.is_some_and(|enough| enough <= quorum),
            }),
            None => None,
        };
        let row = |quorum| {
            let one = ForgetfulQuorum::new(self.coordinators, quorum, failure).map_err(complain)?;
            Ok(QuorumRow::new(&one))
        };
        let report = QuorumReport {
            coordinators: self.coordinators,
            quorum,
            failure: failure.into(),
            shared: chosen.shared(),
            by_asking_all: tried(chosen.by_asking_all(), sampled.by_asking_all),
            protocol_contended: Tried::new(chosen.by_asking_all(), ran.contended, ran.runs),
            uncontended: Tried::new(chosen.uncontended(), ran.uncontended, ran.runs),
            protocol_runs: ran.runs,
            by_asking_worst: tried(chosen.by_asking_worst(), sampled.by_asking_worst),
            by_asking_random: tried(chosen.by_asking_random(), sampled.by_asking_random),
            samples: sampled.samples,
            target,
            table: majorities.map(row).collect::<Result<_, CliError>>()?,
        };
        if let Some(path) = &self.plot {
            let svg = show::quorum_plot(&report);
            output::write_file(path, |file| file.write_all(svg.as_bytes()))?;
        }
        if self.json {
            output::print_json(&report)?;
        } else {
            output::print(&show::quorum(&report, self.all))?;
        }
        Ok(if report.disagrees() || report.target.as_ref().is_some_and(|target| !target.met) {
            Outcome::Fails
        } else if sampled.samples < asked {
            Outcome::Incomplete
        } else {
            Outcome::Holds
        })
    }

    /// Runs the protocol itself, if there are few enough coordinators for a quick answer.
    fn run(&self, quorum: &ForgetfulQuorum) -> Result<ProtocolRuns, CliError> {
        let effort = quorum.coordinators().max(1);
        let runs = if self.samples == Some(0) { 0 } else { (MAX_EFFORT / effort).min(MAX_RUNS) };
        let control = Control { stop: interrupt::flag(), ..Control::default() };
        run_quorum(quorum, runs, self.seed, &control).map_err(|error| CliError::new(error.to_string()))
    }

    /// Tries it; gives also how often it should have been tried.
    fn sample(&self, quorum: &ForgetfulQuorum) -> (habemus_sim::Sampled, u64) {
        // A trial takes as long as there are coordinators that forget; a quick answer is worth more than
        // digits.
        let effort = 1.0 + quorum.quorum() as f64 * quorum.forgets().to_f64();
        let samples = self.samples.unwrap_or((2e8 / effort).min(1e6) as u64);
        let control = Arc::new(Control { stop: interrupt::flag(), ..Control::default() });
        let watched = Arc::clone(&control);
        let _progress = output::Progress::new("samples", move || {
            (watched.events.load(Ordering::Relaxed), samples, String::new())
        });
        (sample_quorum(quorum, samples, self.seed, &control), samples)
    }
}

impl QuorumReport {
    /// Whether some figure lies outside what the trials allow.
    pub(crate) fn disagrees(&self) -> bool {
        let by_chance = [&self.by_asking_all, &self.by_asking_worst, &self.by_asking_random];
        let by_running = [&self.protocol_contended, &self.uncontended];
        by_chance.iter().chain(&by_running).any(|tried| tried.verdict == TrialVerdict::Disagrees)
    }
}

impl Tried {
    fn new(exact: LogProbability, hits: u64, samples: u64) -> Self {
        let (low, high) = confidence_interval(hits, samples, DOUBT);
        let verdict = if samples == 0 {
            TrialVerdict::NotTried
        } else if exact.ln() < low.ln() - 1e-9 || exact.ln() > high.ln() + 1e-9 {
            TrialVerdict::Disagrees
        } else if exact.to_f64() * (samples as f64) < FEW_HITS {
            TrialVerdict::TooRare
        } else {
            TrialVerdict::Agrees
        };
        Tried { figure: exact.into(), hits, low: low.to_f64(), high: high.to_f64(), verdict }
    }
}

impl QuorumRow {
    fn new(one: &ForgetfulQuorum) -> Self {
        QuorumRow {
            quorum: one.quorum(),
            may_be_down: one.coordinators() - one.quorum(),
            shared: one.shared(),
            by_asking_all: one.by_asking_all().into(),
            by_asking_worst: one.by_asking_worst().into(),
            by_asking_random: one.by_asking_random().into(),
        }
    }
}

impl From<LogProbability> for Figure {
    fn from(exact: LogProbability) -> Self {
        let log10 = Some(exact.log10()).filter(|log10| log10.is_finite());
        Figure { exact, probability: exact.to_f64(), log10 }
    }
}

fn probability(flag: &str, text: &str) -> Result<LogProbability, CliError> {
    text.parse().map_err(|error| CliError::new(format!("--{flag}: {error}")))
}

fn complain(error: habemus::analysis::quorum::NoQuorum) -> CliError {
    CliError::new(error.to_string())
}
