//! The majority election in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Survivors, Timing,
    Values, mutant, rules, shape,
};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::election::majority::{Config, Majority, Variant};
use crate::topology::Complete;
use crate::{Chooser, ProblemKind, System};

/// Why nobody need be elected where timeouts are always wrong.
const ELECTED_IN_TIME: &str = "if every timeout comes too early, nobody need ever have a majority (FLP)";

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "majority",
    problem: ProblemKind::Election,
    summary: "votes that carry more than half of the weight make a leader, one in each term",
    model: Model::new(
        Timing::Asynchronous,
        &[
            Fault::Reordering,
            Fault::Crash,
            Fault::Recovery,
            Fault::Loss,
            Fault::Duplication,
            Fault::Partition,
            Fault::Cut,
        ],
    )
    .if_up(Survivors::Majority)
    .besides("leases rely on the drift of clocks alone"),
    topologies: &["complete"],
    detectors: &[],
    // A paused leader looks like one until it resumes, so uniqueness holds only without pauses; and one that
    // is cut off is replaced though it lives, so stability holds only without cuts.
    promises: &[
        Promise::of("E2").except(&[Fault::WrongTimeouts], ELECTED_IN_TIME),
        Promise::of("termination").except(&[Fault::WrongTimeouts], ELECTED_IN_TIME),
        Promise::of("one-leader-per-term").regardless(),
        Promise::of("agreement").except(&[Fault::WrongTimeouts], ELECTED_IN_TIME),
        Promise::of("eventual-accuracy").except(&[Fault::WrongTimeouts], ELECTED_IN_TIME),
    ],
    cost: "6(n−1) until a new leader is sure of itself, 4(n−1) without pre-vote; then 2(n−1) per interval",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                mutant("mutant-no-persisted-vote"),
                mutant("mutant-votes-twice"),
                mutant("mutant-no-term-check"),
                mutant("mutant-half-quorum"),
                mutant("mutant-unbound-recovery"),
                mutant("mutant-lease-from-answers"),
                mutant("mutant-ignores-lease"),
                mutant("mutant-unshortened-lease"),
            ]),
            default: "complete",
            help: "the rules, or the rules with a deliberate bug",
        },
        OptionSpec {
            name: "weights",
            values: Values::Text("numbers"),
            default: "1 each",
            help: "the weight of each process's vote, in order",
        },
        OptionSpec {
            name: "min-timeout",
            values: Values::Text("duration"),
            default: "150ms",
            help: "how long to wait for a leader at least; so long nobody else is voted for after a \
                heartbeat",
        },
        OptionSpec {
            name: "max-timeout",
            values: Values::Text("duration"),
            default: "300ms",
            help: "how long to wait for a leader at most",
        },
        OptionSpec {
            name: "interval",
            values: Values::Text("duration"),
            default: "50ms",
            help: "how often a leader says that it is there",
        },
        OptionSpec {
            name: "pre-vote",
            values: Values::Text("true | false"),
            default: "true",
            help: "whether a process asks if it would be elected before it begins a new term",
        },
        OptionSpec {
            name: "lease",
            values: Values::Text("true | false"),
            default: "true",
            help: "whether a leader leads only while a quorum is bound to it",
        },
        OptionSpec {
            name: "max-drift",
            values: Values::Text("per cent from 0 to 90"),
            default: "1",
            help: "how fast or slow a clock may be for the lease to be safe",
        },
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let config = configure(options)?;
    let system: System<Majority> =
        System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    // Where all votes weigh the same, it makes no difference who is who.
    let weights = &system.config.weights;
    let all_alike = weights.iter().all(|weight| *weight == weights[0]);
    let setup = Setup::new(entry, system, None, &shape).term_invariant();
    let setup = if all_alike { setup.permutation_symmetric() } else { setup };
    let mut setup = Setup { perpetual: true, ..setup };
    // Whoever hears of no leader stands, whether or not it is told to.
    setup.population.is_sure_to_start = true;
    Ok(setup.into())
}

/// Who stands first wins if nobody stands beside it, whatever its identifier.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[0]],
    };
    Arranged { ids, start, down: Vec::new() }
}

/// A candidate asks everybody twice and announces itself, and everybody answers. If all stand at once, they
/// cost 3n(n−1) before anybody is elected, and chance decides how many stand again.
fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let plain = ["variant", "weights", "interval", "min-timeout", "max-timeout", "lease"];
    if plain.iter().any(|name| option(name).is_some()) {
        return None;
    }
    if start == Start::All {
        let messages = 4.0 * (n * n) as f64;
        let usual = n > 1 && option("pre-vote").is_none();
        return usual.then_some(Bound { messages, kind: BoundKind::OnAverage, formula: "4n²" });
    }
    let (each, formula) = match option("pre-vote").as_deref() {
        None | Some("true") => (6.0, "6(n−1)"),
        Some(_) => (4.0, "4(n−1)"),
    };
    Some(Bound { messages: each * (n as f64 - 1.0), kind: BoundKind::Exactly, formula })
}

/// After a crash whoever waits least stands, and beside it those whose time comes before its question does:
/// of the 150 ms among which all choose, a message takes 10 at most. Among very many several stand each time
/// and split the votes; that is no worse than if all stood. Who comes back hears of the leader with its next
/// heartbeat, or with the one after it; all the others answer.
fn again(again: Again, n: usize) -> Option<Bound> {
    let others = n as f64 - 1.0;
    let (messages, kind, formula) = match again {
        _ if n < 3 => return None,
        Again::Crash if n > 64 => (4.0 * (n * n) as f64, BoundKind::OnAverage, "4n²"),
        Again::Crash => (6.0 * others * (1.0 + others / 15.0), BoundKind::OnAverage, "6(n−1)(1 + (n−1)/15)"),
        Again::Recovery => (4.0 * others, BoundKind::AtMost, "4(n−1)"),
    };
    Some(Bound { messages, kind, formula })
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let variants = [
        ("complete", Variant::Complete),
        ("mutant-no-persisted-vote", Variant::NoPersistedVote),
        ("mutant-votes-twice", Variant::VotesTwice),
        ("mutant-no-term-check", Variant::NoTermCheck),
        ("mutant-half-quorum", Variant::HalfQuorum),
        ("mutant-unbound-recovery", Variant::UnboundRecovery),
        ("mutant-lease-from-answers", Variant::LeaseFromAnswers),
        ("mutant-ignores-lease", Variant::IgnoresLease),
        ("mutant-unshortened-lease", Variant::UnshortenedLease),
    ];
    let weights = options.number_each("weights")?.unwrap_or_default();
    if !weights.is_empty() && weights.iter().all(|weight| *weight == 0) {
        return Err(unfit("weights", &format!("{weights:?}"), "at least one vote that weighs something"));
    }
    let min = options.positive("min-timeout")?.unwrap_or(*default.timeout.start());
    let max = options.positive("max-timeout")?.unwrap_or((*default.timeout.end()).max(min * 2));
    if max <= min {
        // Who waits for equally long stands at the same time, again and again.
        return Err(unfit("max-timeout", &format!("{max:?}"), "more than min-timeout"));
    }
    let drift = options.number("max-drift", 0..=90)?.unwrap_or(default.max_drift_percent.into());
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        weights,
        timeout: min..=max,
        interval: options.positive("interval")?.unwrap_or(default.interval),
        pre_vote: options.flag("pre-vote")?.unwrap_or(default.pre_vote),
        lease: options.flag("lease")?.unwrap_or(default.lease),
        max_drift_percent: drift as u32,
    };
    let reliance = config.reliance().min(config.loyalty());
    if config.interval >= reliance {
        let expected = format!("less than {reliance:?}, or leaders would not outlive their first heartbeat");
        return Err(unfit("interval", &format!("{:?}", config.interval), &expected));
    }
    Ok(config)
}

fn unfit(option: &'static str, value: &str, expected: &str) -> SetupError {
    SetupError::Value { option, value: value.to_owned(), reason: format!("expected {expected}") }
}
