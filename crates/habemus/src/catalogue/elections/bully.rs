//! The bully election in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, rules, shape, stack,
};
use super::{SIDES, WINS, preference, wins};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start};
use crate::election::bully::{Audience, Bully, Config, Variant};
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "bully",
    problem: ProblemKind::Election,
    summary: "the best live process takes over and tells the others",
    model: Model::new(Timing::Timely, &[Fault::Crash, Fault::Recovery, Fault::Partition]),
    topologies: &["complete"],
    detectors: stack::DETECTORS,
    promises: &[
        Promise::of("E1").except(&[Fault::Partition], SIDES),
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
    ],
    cost: "n(n−1) if the best is dead and the worst starts, n if the best live one does; else 2n² at most",
    notes: "S0, S1, S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("complete"), as_printed("as-printed")]),
            default: "complete",
            help: "restart when no COORDINATOR follows an OK, or S4's listing by the letter",
        },
        OptionSpec {
            name: "audience",
            values: Values::Text("better | all"),
            default: "better",
            help: "who gets ELECTION: better processes (S1, S4) or everybody (S0)",
        },
        WINS,
        OptionSpec {
            name: "quality",
            values: Values::Text("numbers"),
            default: "the identifiers",
            help: "a quality of each process, in order, that counts before its identifier",
        },
        OptionSpec {
            name: "answer-timeout",
            values: Values::Text("duration"),
            default: "50ms",
            help: "how long to wait for an OK",
        },
        OptionSpec {
            name: "coordinator-timeout",
            values: Values::Text("duration"),
            default: "150ms",
            help: "how long to wait for COORDINATOR after an OK",
        },
        OptionSpec {
            name: "delay",
            values: Values::Text("duration"),
            default: "0ms",
            help: "how much later a process starts than the next better one (S0)",
        },
        OptionSpec {
            name: "leader",
            values: Values::Text("identifier"),
            default: "nobody",
            help: "who leads at the beginning",
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
    let detector = shape::detector_for(entry, request)? != "none";
    let config = Config { detector, ..configure(options)? };
    let preference = preference(&request.ids, config.wins, &config.quality);
    let (answer, announcement) = (config.answer_timeout, config.coordinator_timeout);
    let system: System<Bully> = System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    let mut setup = Setup::new(entry, system, Some(preference), &shape);
    // A question and its answer; and the time until the one that answered has asked in vain, and says so.
    setup.contract.limit_latency((answer / 2).min(announcement.saturating_sub(answer) / 2));
    stack::election_on_detector(setup, request, options)
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let variants = [("complete", Variant::Complete), ("as-printed", Variant::AsPrinted)];
    let audiences = [("better", Audience::Better), ("all", Audience::All)];
    Ok(Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        audience: options.choice("audience", &audiences)?.unwrap_or(default.audience),
        wins: wins(options)?,
        quality: options.number_each("quality")?.unwrap_or_default(),
        answer_timeout: options.duration("answer-timeout")?.unwrap_or(default.answer_timeout),
        coordinator_timeout: options.duration("coordinator-timeout")?.unwrap_or(default.coordinator_timeout),
        delay: options.duration("delay")?.unwrap_or(default.delay),
        detector: default.detector,
        leader: options.process("leader")?.map(|(id, _)| id),
    })
}

/// S0: the coordinator, the best of all, has died; the worst process notices, or the best that is left. If
/// nothing in particular is asked for, everybody is alive, and anybody starts.
fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    let dead = usize::from(arrangement != Arrangement::Random && n > 1);
    let (live, down) = ids.split_at(n - dead);
    let start = match (start, arrangement) {
        (Start::All, _) => live.to_vec(),
        (Start::One, Arrangement::Best) => live.last().copied().into_iter().collect(),
        (Start::One, Arrangement::Worst) => vec![live[0]],
        (Start::One, Arrangement::Random) => vec![live[chooser.choose(live.len() as u32) as usize]],
    };
    Arranged { start, down: down.to_vec(), ids }
}

fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    let count = n as f64;
    let plain = ["variant", "wins", "delay", "quality", "answer-timeout", "coordinator-timeout"];
    if n < 2 || plain.iter().any(|name| option(name).is_some()) {
        return None;
    }
    let everybody = option("audience").is_some_and(|audience| audience == "all");
    let exactly = |messages, formula| Bound { messages, kind: BoundKind::Exactly, formula };
    let best = if everybody { (2.0 * count - 2.0, "2(n−1)") } else { (count, "n") };
    let worst = if everybody {
        ((count - 1.0) * (1.5 * count - 1.0), "(n−1)(3n/2−1)")
    } else {
        (count * (count - 1.0), "n(n−1)")
    };
    Some(match (start, arrangement) {
        // Everybody asks at most once, and is answered; the rest is announcements and questions to the
        // leader.
        (_, Arrangement::Random) => {
            Bound { messages: 2.0 * count * count, kind: BoundKind::AtMost, formula: "2n²" }
        }
        (Start::One, Arrangement::Best) => exactly(best.0, best.1),
        _ => exactly(worst.0, worst.1),
    })
}

/// Everybody is told at once, and asks: as if all had started. Who comes back announces itself, and is asked.
fn again(_: Again, n: usize) -> Option<Bound> {
    let count = n as f64;
    Some(Bound { messages: 2.0 * count * count, kind: BoundKind::AtMost, formula: "2n²" })
}
