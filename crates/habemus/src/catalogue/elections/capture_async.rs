//! Asynchronous capture in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, mutant, rules, shape, stack,
};
use super::capture_sync::like_a_ruler;
use super::order::{ORDER, order};
use super::{WINS, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::capture_async::{CaptureAsync, Config, Variant};
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "capture-async",
    problem: ProblemKind::Election,
    summary: "candidates capture neighbours one by one, and contests are decided by how many they have",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &["complete"],
    detectors: stack::ONE_SHOT_DETECTORS,
    promises: &[
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("uniqueness"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
        Promise::of("stability"),
    ],
    cost: "at most 6(2n⌊log₂ n⌋ + n) + n − 1, and 3(n−1) if one starts",
    notes: "S2",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("corrected"),
                as_printed("as-printed"),
                mutant("mutant-unowned"),
                mutant("mutant-no-check"),
            ]),
            default: "corrected",
            help: "the corrected rules, S2's pseudo-code by the letter, or a deliberate mistake",
        },
        WINS,
        ORDER,
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let variants = [
        ("corrected", Variant::Corrected),
        ("as-printed", Variant::AsPrinted),
        ("mutant-unowned", Variant::MutantUnowned),
        ("mutant-no-check", Variant::MutantNoCheck),
    ];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, wins: wins(options)?, order: order(options)? };
    let network = Complete::new(request.ids.len());
    let system: System<CaptureAsync> = System::new(network, request.ids.clone(), config)?;
    // Levels decide, so a quick process may lead past a better one.
    let setup = Setup::new(entry, system, None, &shape);
    stack::one_shot(setup, Complete::new(request.ids.len()), request, options)
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // Each candidate asks the next address first: ascending, all but one are refused there.
        Arrangement::Best => (1..=n as u64).map(Id).collect(),
        // The dearest that is known, from the synchronous sister.
        Arrangement::Worst => like_a_ruler(n),
    };
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if option("variant").is_some_and(|variant| variant != "corrected") {
        return None;
    }
    let (count, levels) = (n as f64, f64::from(n.ilog2()));
    Some(match start {
        Start::One => Bound { messages: 3.0 * (count - 1.0), kind: BoundKind::Exactly, formula: "3(n−1)" },
        // Corollary 5.4 and the announcement.
        Start::All => Bound {
            messages: 6.0 * (2.0 * count * levels + count) + count - 1.0,
            kind: BoundKind::AtMost,
            formula: "6(2n⌊log₂ n⌋ + n) + n − 1",
        },
    })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
