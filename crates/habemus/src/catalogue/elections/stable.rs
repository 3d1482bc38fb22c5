//! The stable election in the catalogue.

use std::time::Duration;

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape, stack,
};
use super::{WINS, preference, wins};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start};
use crate::election::stable::{Config, StableElection, Variant, Weight};
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "stable",
    problem: ProblemKind::Election,
    summary: "a live leader stays; after it, whoever has restarted least leads",
    model: Model::new(Timing::Timely, &[Fault::Crash, Fault::Recovery, Fault::FalseSuspicion]),
    topologies: &["complete"],
    detectors: stack::DETECTORS,
    promises: &[
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("uniqueness"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
        Promise::of("stability"),
    ],
    cost: "2(n−1) if the best live process starts, (n−1)(3n/2−1) if all do; n + 1 to come back",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("stable"), mutant("mutant-challenge")]),
            default: "stable",
            help: "a live leader answers everybody that it leads, or not a better process",
        },
        OptionSpec {
            name: "weight",
            values: Values::Text("restarts | uptime"),
            default: "restarts",
            help: "whoever has restarted less is better, or whoever has run for longer without a break",
        },
        WINS,
        OptionSpec {
            name: "answer-timeout",
            values: Values::Text("duration"),
            default: "50ms",
            help: "how long to wait for an answer; longer than a message there and back",
        },
        OptionSpec {
            name: "coordinator-timeout",
            values: Values::Text("duration"),
            default: "150ms",
            help: "how long to wait for COORDINATOR after having given up",
        },
        OptionSpec {
            name: "regain",
            values: Values::Text("duration | none"),
            default: "none; 2s with uptime",
            help: "after how long without a break a process weighs all it can (S4: \"temporariamente\")",
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
    let config = configure(options)?;
    let (answer, announcement) = (config.answer_timeout, config.coordinator_timeout);
    let preference = preference(&request.ids, config.wins, &[]);
    let system: System<StableElection> =
        System::new(Complete::new(request.ids.len()), request.ids.clone(), config)?;
    let mut setup = Setup::new(entry, system, Some(preference), &shape);
    // As for the bully.
    setup.contract.limit_latency((answer / 2).min(announcement.saturating_sub(answer) / 2));
    stack::election_on_detector(setup, request, options)
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let weights = [("restarts", Weight::Restarts), ("uptime", Weight::Uptime)];
    let weight = options.choice("weight", &weights)?.unwrap_or(default.weight);
    let regain = match (options.duration_or_none("regain")?, weight) {
        (Some(None), Weight::Uptime) => {
            let (option, value) = ("regain", "none".to_owned());
            let reason = "expected a duration, for by uptime weight comes back with time".to_owned();
            return Err(SetupError::Value { option, value, reason });
        }
        (None, Weight::Uptime) => Some(Duration::from_secs(2)),
        (regain, _) => regain.flatten(),
    };
    let variants = [("stable", Variant::Stable), ("mutant-challenge", Variant::MutantChallenge)];
    Ok(Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        weight,
        wins: wins(options)?,
        answer_timeout: options.duration("answer-timeout")?.unwrap_or(default.answer_timeout),
        coordinator_timeout: options.duration("coordinator-timeout")?.unwrap_or(default.coordinator_timeout),
        regain,
        leader: options.process("leader")?.map(|(id, _)| id),
    })
}

/// As for the bully: the leader, the best of all, has died; the worst process notices, or the best that is
/// left. If nothing in particular is asked for, everybody is alive, and anybody starts.
fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    let dead = usize::from(arrangement != Arrangement::Random);
    let down: Vec<Id> = ids.iter().copied().skip(1).rev().take(dead).collect();
    let live = n - down.len();
    let start = match (start, arrangement) {
        (Start::All, _) => ids[..live].to_vec(),
        (Start::One, Arrangement::Best) => vec![ids[live - 1]],
        (Start::One, Arrangement::Worst) => vec![ids[0]],
        (Start::One, Arrangement::Random) => vec![ids[chooser.choose(live as u32) as usize]],
    };
    Arranged { ids, start, down }
}

fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    let plain = ["variant", "weight", "wins", "leader", "answer-timeout", "coordinator-timeout"];
    if n < 2 || plain.iter().any(|name| option(name).is_some()) {
        return None;
    }
    let count = n as f64;
    let everybody = (count - 1.0) * (1.5 * count - 1.0);
    Some(match (start, arrangement) {
        // Everybody asks everybody at most once, and is answered by at most half of them.
        (_, Arrangement::Random) => {
            Bound { messages: 2.0 * count * count, kind: BoundKind::AtMost, formula: "2n²" }
        }
        (Start::One, Arrangement::Best) => {
            Bound { messages: 2.0 * (count - 1.0), kind: BoundKind::Exactly, formula: "2(n−1)" }
        }
        // Whoever hears a better process ask before it has asked itself never asks.
        (Start::One, _) => {
            Bound { messages: everybody, kind: BoundKind::AtMost, formula: "(n−1)(3n/2−1)" }
        }
        (Start::All, _) => {
            Bound { messages: everybody, kind: BoundKind::Exactly, formula: "(n−1)(3n/2−1)" }
        }
    })
}

/// Everybody is told at once, and asks: as if all had started. Who comes back asks who leads.
fn again(_: Again, n: usize) -> Option<Bound> {
    let count = n as f64;
    Some(Bound { messages: 2.0 * count * count, kind: BoundKind::AtMost, formula: "2n²" })
}
