//! Interactive consistency in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Values, mutant,
    rules, shape,
};
use super::treason::{LIES, M, TRAITORS, m, outside, treason, within_reason};
use crate::agreement::hearsay;
use crate::agreement::interactive_consistency::{Config, InteractiveConsistency, Variant};
use crate::analysis::{Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::rounds::Synchronous;
use crate::topology::Complete;
use crate::{Chooser, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "interactive-consistency",
    problem: ProblemKind::Agreement,
    summary: "everyone commands for its own value, and all agree on the vector of all values",
    model: Model::PULSES
        .and(&[Fault::Treason])
        .besides("the sender of a message is known; at most m of n ≥ 3m+1 are traitors"),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("agreement"),
        Promise::of("integrity"),
        Promise::of("termination"),
        Promise::of("IC1"),
        Promise::of("IC2"),
    ],
    cost: "n((n−1) + (n−1)(n−2) + … + (n−1)⋯(n−m−1))",
    notes: "S1",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("majority"), mutant("mutant-trusts-everyone")]),
            default: "majority",
            help: "believe the majority, or, as a deliberate bug, what each says of itself",
        },
        M,
        TRAITORS,
        LIES,
    ],
    cost_model: Some(CostModel { arrange, bound, again: None }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let variants =
        [("majority", Variant::Majority), ("mutant-trusts-everyone", Variant::MutantTrustsEveryone)];
    let (n, m) = (request.ids.len(), m(options)?);
    within_reason(m, n as f64 * hearsay::messages(n, m))?;
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(Variant::Majority),
        m,
        treason: treason(options, request, m)?,
    };
    let mut system: System<Synchronous<InteractiveConsistency>> =
        System::new(Complete::new(n), request.ids.clone(), config)?;
    system.pulse = request.pulse;
    let outside = outside(&system.config.treason, m, n, 3 * m + 1);
    let mut setup = Setup::new(entry, system, None, &shape);
    setup.contract.outside = outside;
    Ok(setup.into())
}

/// Everyone has a value, whoever is asked to start: the vector has a place for each.
fn arrange(_: Arrangement, _: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    Arranged { start: ids.clone(), ids, down: Vec::new() }
}

fn bound(_: Arrangement, _: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    // A traitor may be silent.
    if option("traitors").is_some_and(|traitors| traitors != "none") {
        return None;
    }
    let m = option("m").and_then(|text| text.parse().ok()).unwrap_or(1);
    let formula = match m {
        0 => "n(n−1)",
        1 => "n(n−1)²",
        _ => "n((n−1) + (n−1)(n−2) + … + (n−1)⋯(n−m−1))",
    };
    let messages = n as f64 * hearsay::messages(n, m);
    Some(Bound { messages, kind: BoundKind::Exactly, formula })
}
