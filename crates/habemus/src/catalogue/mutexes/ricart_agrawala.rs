//! Ricart and Agrawala's mutual exclusion in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::ricart_agrawala::{Config, RicartAgrawala, Variant};
use crate::topology::Complete;
use crate::{ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "ricart-agrawala",
    problem: ProblemKind::MutualExclusion,
    summary: "ask everybody; whoever asked earlier, or is inside, replies later",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
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
    cost: "2(n−1) per entry",
    notes: "S1, S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("stamped"),
                rules("bare-replies"),
                mutant("mutant-no-tie-break"),
            ]),
            default: "stamped",
            help: "whether replies carry the clock, without which EM3 fails; or deliberately broken rules",
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
    let variants = [
        ("stamped", Variant::Stamped),
        ("bare-replies", Variant::BareReplies),
        ("mutant-no-tie-break", Variant::MutantNoTieBreak),
    ];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, fencing: lock::fencing(options)? };
    let network = Complete::new(request.ids.len());
    let system: System<RicartAgrawala> = System::new(network, request.ids.clone(), config)?;
    let fencing = system.config.fencing;
    Ok(lock::fenced(Setup::new(entry, system, None, &shape).shift_invariant(), fencing).into())
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if option("variant").is_some_and(|variant| variant.starts_with("mutant")) {
        return None;
    }
    let count = n as f64;
    match start {
        Start::One => lock::exactly(2.0 * (count - 1.0), "2(n−1)"),
        Start::All => lock::exactly(2.0 * count * (count - 1.0), "2n(n−1)"),
    }
}
