//! The probabilistic election for large groups in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape, stack,
};
use super::{WINS, wins};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again};
use crate::election::large_group::{Config, LargeGroup, Relay, Variant};
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "large-group",
    problem: ProblemKind::Election,
    summary: "a hash picks a few candidates, gossip spreads the best of them: a few messages per process",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering, Fault::Loss, Fault::Duplication])
        .besides("losses cost certainty; the winner does not crash"),
    topologies: &["complete"],
    detectors: stack::ONE_SHOT_DETECTORS,
    // The rest comes with a probability, and a broken promise must be a bug.
    promises: &[Promise::of("termination")],
    cost: "a few messages per process, whatever the size of the group",
    notes: "cited by the notes",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("plain"), mutant("mutant-first-heard")]),
            default: "plain",
            help: "the best candidate heard of is elected, or the first",
        },
        WINS,
        OptionSpec {
            name: "candidates",
            values: Values::Text("number"),
            default: "4",
            help: "how many candidates K are expected; nobody stands in a round with probability e^−K",
        },
        OptionSpec {
            name: "fanout",
            values: Values::Text("number"),
            default: "4",
            help: "to how many processes news are relayed; chance alone misses a share of about e^−fanout",
        },
        OptionSpec {
            name: "relay",
            values: Values::Text("hybrid | random"),
            default: "hybrid",
            help: "whether the next process by address is always one of them",
        },
        OptionSpec {
            name: "patience",
            values: Values::Text("duration"),
            default: "500ms",
            help: "how long to listen before electing the best candidate heard of",
        },
        OptionSpec {
            name: "election",
            values: Values::Text("number"),
            default: "1",
            help: "tells one election from the next: other candidates pass the filter",
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
    let network = Complete::new(request.ids.len());
    let system: System<LargeGroup> = System::new(network, request.ids.clone(), configure(options)?)?;
    // The best of a few candidates leads, not the best of all.
    let setup = Setup::new(entry, system, None, &shape);
    stack::one_shot(setup, Complete::new(request.ids.len()), request, options)
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let variants = [("plain", Variant::Plain), ("mutant-first-heard", Variant::MutantFirstHeard)];
    let relays = [("hybrid", Relay::Hybrid), ("random", Relay::Random)];
    let positive = |option| options.number(option, 1..=u64::from(u32::MAX));
    Ok(Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        wins: wins(options)?,
        candidates: positive("candidates")?.map_or(default.candidates, |number| number as u32),
        fanout: positive("fanout")?.map_or(default.fanout, |number| number as u32),
        relay: options.choice("relay", &relays)?.unwrap_or(default.relay),
        patience: options.positive("patience")?.unwrap_or(default.patience),
        election: options.number("election", 0..=u64::MAX)?.unwrap_or(default.election),
    })
}

/// Identifiers drawn at random, so that each run has other candidates. No order is better than another.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    const APART: u32 = 1 << 20;
    let ids: Vec<Id> = (0..n as u64)
        .map(|address| Id(address * u64::from(APART) + u64::from(chooser.choose(APART))))
        .collect();
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

/// Each process relays the call, unless a candidate reaches it first, and each candidate that is better than
/// all it has heard of before: of c candidates in random order these are Hc on average, the harmonic number.
fn bound(_: Arrangement, _: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let default = Config::default();
    let number = |name, default: u32| option(name).map_or(Some(default), |text| text.trim().parse().ok());
    let (candidates, fanout) = (number("candidates", default.candidates)?, number("fanout", default.fanout)?);
    if option("variant").is_some_and(|variant| variant != "plain") {
        return None;
    }
    let count = n as f64;
    let relayed = f64::from(fanout).min(count - 1.0);
    let messages = count * relayed * (1.0 + records(f64::from(candidates).min(count)));
    Some(Bound { messages, kind: BoundKind::OnAverage, formula: "≈ n·fanout·(1 + E[Hc])" })
}

/// The mean of the harmonic number Hc, where c is Poisson-distributed with this mean.
fn records(mean: f64) -> f64 {
    /// Euler's constant: Hc is about ln c + γ.
    const GAMMA: f64 = 0.577_215_664_901_532_9;
    if mean > 500.0 {
        return mean.ln() + GAMMA;
    }
    let (mut probability, mut harmonic, mut sum) = ((-mean).exp(), 0.0, 0.0);
    for number in 1..=1000 {
        probability *= mean / f64::from(number);
        harmonic += 1.0 / f64::from(number);
        sum += probability * harmonic;
    }
    sum
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
