//! The election in which everybody tells everybody, in the catalogue.

use super::super::{
    Chosen, Entry, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Values, mutant, rules,
    shape, stack,
};
use super::{WINS, preference, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::all_to_all::{AllToAll, Candidates, Config, Variant};
use crate::rounds::Synchronous;
use crate::topology::Complete;
use crate::{Chooser, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "all-to-all",
    problem: ProblemKind::Election,
    summary: "every candidate tells everybody, and everybody picks the best",
    model: Model::PULSES,
    topologies: &["complete"],
    detectors: stack::ONE_SHOT_DETECTORS,
    promises: &[
        Promise::of("E1"),
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("uniqueness"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
        Promise::of("stability"),
    ],
    cost: "n−1 for each candidate: n(n−1) if all are",
    notes: "S0, S2",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("plain"), mutant("mutant-forgets-itself")]),
            default: "plain",
            help: "the notes' rules, or a candidate that leaves itself out",
        },
        OptionSpec {
            name: "candidates",
            values: Values::Text("all | told"),
            default: "all",
            help: "who stands: everybody (S0), or who is told to elect before the first pulse (S2)",
        },
        WINS,
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let variants = [("plain", Variant::Plain), ("mutant-forgets-itself", Variant::MutantForgetsItself)];
    let candidates = [("all", Candidates::All), ("told", Candidates::Told)];
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
        candidates: options.choice("candidates", &candidates)?.unwrap_or_default(),
        wins: wins(options)?,
        service: shape::detector_for(entry, request)? != "none",
    };
    // The best candidate leads, and that need not be the best process if not all stand.
    let all = config.candidates == Candidates::All;
    let preference = all.then(|| preference(&request.ids, config.wins, &[]));
    let network = Complete::new(request.ids.len());
    let mut system: System<Synchronous<AllToAll>> = System::new(network, request.ids.clone(), config)?;
    system.pulse = request.pulse;
    let setup = Setup::new(entry, system, preference, &shape);
    stack::one_shot(setup, Complete::new(request.ids.len()), request, options)
}

fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let others = n as f64 - 1.0;
    let told = option("candidates").is_some_and(|candidates| candidates == "told");
    let (messages, formula) = match start {
        Start::One if told => (others, "n−1"),
        _ => (n as f64 * others, "n(n−1)"),
    };
    Some(Bound { messages, kind: BoundKind::Exactly, formula })
}

/// Everybody is told at once, and calls everybody.
fn again(_: Again, n: usize) -> Option<Bound> {
    let Bound { messages, kind, .. } = held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)?;
    let calls = (n * n) as f64;
    Some(Bound { messages: messages + calls, kind, formula: "n² + 3(all start, at worst) + 3n" })
}
