//! Lamport's mutual exclusion in the catalogue.

use super::super::{
    Chosen, Entry, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values, mutant,
    rules, shape,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::lamport::{Config, Lamport, Variant};
use crate::topology::Complete;
use crate::{ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "lamport",
    problem: ProblemKind::MutualExclusion,
    summary: "everybody keeps the queue of requests, ordered by their timestamps",
    model: Model::new(Timing::Asynchronous, &[]),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("EM1"),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
        Promise::of("EM3"),
        Promise::of("bounded-waiting"),
        Promise::of("fencing"),
    ],
    cost: "3(n−1) per entry",
    notes: "S0, S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("complete"), mutant("mutant-no-wait")]),
            default: "complete",
            help: "Lamport's rules, or deliberately broken ones",
        },
        lock::FENCING,
    ],
    cost_model: Some(CostModel { arrange: lock::arrange, bound, again: None }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let variants = [("complete", Variant::Complete), ("mutant-no-wait", Variant::MutantNoWait)];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, fencing: lock::fencing(options)? };
    let network = Complete::new(request.ids.len());
    let system: System<Lamport> = System::new(network, request.ids.clone(), config)?;
    let fencing = system.config.fencing;
    Ok(lock::fenced(Setup::new(entry, system, None, &shape).shift_invariant(), fencing).into())
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if option("variant").is_some() {
        return None;
    }
    let count = n as f64;
    match start {
        Start::One => lock::exactly(3.0 * (count - 1.0), "3(n−1)"),
        Start::All => lock::exactly(3.0 * count * (count - 1.0), "3n(n−1)"),
    }
}
