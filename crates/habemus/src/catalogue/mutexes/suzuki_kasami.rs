//! Suzuki and Kasami's mutual exclusion in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::suzuki_kasami::{Config, SuzukiKasami, Variant};
use crate::topology::Complete;
use crate::{ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "suzuki-kasami",
    problem: ProblemKind::MutualExclusion,
    summary: "ask everybody for the token, which carries the queue of those that wait",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("EM1"),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
        Promise::of("fencing"),
    ],
    cost: "0 or n per entry",
    notes: "beyond the notes",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                mutant("mutant-forgetful"),
                mutant("mutant-stale"),
            ]),
            default: "complete",
            help: "the paper's rules, or deliberately broken ones",
        },
        lock::HOLDER,
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
    let variants = [
        ("complete", Variant::Complete),
        ("mutant-forgetful", Variant::MutantForgetful),
        ("mutant-stale", Variant::MutantStale),
    ];
    let config = Config {
        holder: lock::holder(options)?,
        fencing: lock::fencing(options)?,
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
    };
    let network = Complete::new(request.ids.len());
    let system: System<SuzukiKasami> = System::new(network, request.ids.clone(), config)?;
    let fencing = system.config.fencing;
    Ok(lock::fenced(Setup::new(entry, system, None, &shape).rotation_symmetric(), fencing).into())
}

fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if ["variant", "holder"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let count = n as f64;
    match (start, arrangement) {
        // The first has the token already.
        (Start::All, _) => lock::exactly(count * (count - 1.0), "n(n−1)"),
        (Start::One, Arrangement::Best) => lock::exactly(0.0, "0"),
        (Start::One, Arrangement::Worst) if n > 1 => lock::exactly(count, "n"),
        (Start::One, _) => lock::at_most(count, "n"),
    }
}
