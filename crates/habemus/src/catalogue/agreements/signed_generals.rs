//! Byzantine generals with signed messages in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Values, mutant,
    rules, shape,
};
use super::byzantine_generals::{COMMANDER, arrange};
use super::treason::{LIES, M, TRAITORS, m, outside, treason};
use crate::agreement::signed_generals::{Config, SignedGenerals, Variant};
use crate::analysis::{Arrangement, Bound, BoundKind, CostModel, Start};
use crate::rounds::Synchronous;
use crate::topology::Complete;
use crate::{Address, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "signed-generals",
    problem: ProblemKind::Agreement,
    summary: "generals sign the orders that they pass on, and refuse what is not properly signed: SM(m)",
    model: Model::PULSES
        .and(&[Fault::Treason])
        .besides("signatures that nobody can forge; at most m traitors"),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("agreement"),
        Promise::of("integrity"),
        Promise::of("termination"),
        Promise::of("IC1"),
        Promise::of("IC2"),
    ],
    cost: "(n−1)² if all are loyal, n−1 with m = 0",
    notes: "S1",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("signed"), mutant("mutant-no-verification")]),
            default: "signed",
            help: "verify signatures, or, as a deliberate bug, believe everything",
        },
        M,
        COMMANDER,
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
    let Some(scheme) = &request.signatures else {
        let reason = format!("{} needs signatures, and no keys were given", entry.name);
        return Err(SetupError::Unfit { what: "algorithm", name: entry.name.to_owned(), reason });
    };
    let variants = [("signed", Variant::Signed), ("mutant-no-verification", Variant::MutantNoVerification)];
    let m = m(options)?;
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(Variant::Signed),
        m,
        commander: options.process("commander")?.map_or(Address(0), |(_, address)| address),
        treason: treason(options, request, m)?,
        signatures: scheme.keys(&request.ids),
    };
    let network = Complete::new(request.ids.len());
    let mut system: System<Synchronous<SignedGenerals>> = System::new(network, request.ids.clone(), config)?;
    system.pulse = request.pulse;
    let outside = outside(&system.config.treason, m, request.ids.len(), 0);
    let mut setup = Setup::new(entry, system, None, &shape);
    setup.contract.outside = outside;
    Ok(setup.into())
}

fn bound(_: Arrangement, _: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    // Traitors may be silent, or cause more orders than one to be passed on.
    if option("traitors").is_some_and(|traitors| traitors != "none") || option("commander").is_some() {
        return None;
    }
    let others = n as f64 - 1.0;
    let exactly = |messages, formula| Some(Bound { messages, kind: BoundKind::Exactly, formula });
    match option("m").as_deref() {
        Some("0") => exactly(others, "n−1"),
        _ => exactly(others * others, "(n−1)²"),
    }
}
