//! Byzantine generals with oral messages in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Values, mutant,
    rules, shape,
};
use super::treason::{LIES, M, TRAITORS, m, outside, treason, within_reason};
use crate::agreement::byzantine_generals::{ByzantineGenerals, Config, Variant};
use crate::agreement::hearsay;
use crate::analysis::{Arranged, Arrangement, Bound, BoundKind, CostModel, Start};
use crate::rounds::Synchronous;
use crate::topology::Complete;
use crate::{Address, Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "byzantine-generals",
    problem: ProblemKind::Agreement,
    summary: "generals pass on what they heard for m+1 rounds and obey the majority: OM(m)",
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
    cost: "(n−1) + (n−1)(n−2) + … + (n−1)⋯(n−m−1)",
    notes: "S1",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("majority"), mutant("mutant-trusts-commander")]),
            default: "majority",
            help: "obey the majority, or, as a deliberate bug, what the commander said",
        },
        M,
        COMMANDER,
        TRAITORS,
        LIES,
    ],
    cost_model: Some(CostModel { arrange, bound, again: None }),
};

/// Who commands.
pub(super) const COMMANDER: OptionSpec = OptionSpec {
    name: "commander",
    values: Values::Text("identifier"),
    default: "the first process",
    help: "who commands; a proposal of anybody else counts nothing",
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let variants =
        [("majority", Variant::Majority), ("mutant-trusts-commander", Variant::MutantTrustsCommander)];
    let (n, m) = (request.ids.len(), m(options)?);
    within_reason(m, hearsay::messages(n, m))?;
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(Variant::Majority),
        m,
        commander: options.process("commander")?.map_or(Address(0), |(_, address)| address),
        treason: treason(options, request, m)?,
    };
    let mut system: System<Synchronous<ByzantineGenerals>> =
        System::new(Complete::new(n), request.ids.clone(), config)?;
    system.pulse = request.pulse;
    let outside = outside(&system.config.treason, m, n, 3 * m + 1);
    let mut setup = Setup::new(entry, system, None, &shape);
    setup.contract.outside = outside;
    Ok(setup.into())
}

/// The first process commands, and nobody else has anything to say.
pub(super) fn arrange(_: Arrangement, _: Start, n: usize, _: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    Arranged { start: ids.iter().copied().take(1).collect(), ids, down: Vec::new() }
}

fn bound(_: Arrangement, _: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    // A traitor may be silent.
    if option("traitors").is_some_and(|traitors| traitors != "none") || option("commander").is_some() {
        return None;
    }
    let m = option("m").and_then(|text| text.parse().ok()).unwrap_or(1);
    let formula = match m {
        0 => "n−1",
        1 => "(n−1)²",
        _ => "(n−1) + (n−1)(n−2) + … + (n−1)⋯(n−m−1)",
    };
    Some(Bound { messages: hearsay::messages(n, m), kind: BoundKind::Exactly, formula })
}
