//! Synchronous capture in the catalogue.

use super::super::{
    Chosen, Entry, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Values, mutant, rules,
    shape, stack,
};
use super::order::{ORDER, order};
use super::{WINS, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::capture_sync::{CaptureSync, Config, Variant};
use crate::rounds::Synchronous;
use crate::topology::Complete;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "capture-sync",
    problem: ProblemKind::Election,
    summary: "candidates capture 1, 2, 4, … neighbours a pulse; the best candidate captures all",
    model: Model::PULSES.besides("at least one process is told to elect before the first pulse"),
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
    cost: "at most 3n⌈log₂ n⌉ − 1, and 3(n−1) if one starts",
    notes: "S2",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("announced"), mutant("mutant-ignores-owner")]),
            default: "announced",
            help: "the notes' rules with an announcement, or processes that follow whoever asks",
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
    let variants = [("announced", Variant::Announced), ("mutant-ignores-owner", Variant::MutantIgnoresOwner)];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, wins: wins(options)?, order: order(options)? };
    let network = Complete::new(request.ids.len());
    let mut system: System<Synchronous<CaptureSync>> = System::new(network, request.ids.clone(), config)?;
    system.pulse = request.pulse;
    // The best candidate leads, and that need not be the best process.
    let setup = Setup::new(entry, system, None, &shape);
    stack::one_shot(setup, Complete::new(request.ids.len()), request, options)
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // Neighbours are asked by address: all but the best meet a better one at once.
        Arrangement::Best => (1..=n as u64).map(Id).collect(),
        Arrangement::Worst => like_a_ruler(n),
    };
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

/// The identifiers 1 … n as the marks on a ruler are long: the first of every 2, 4, 8, … addresses is the
/// best of them, so that as many candidates as possible survive each set. For n = 2, 4 and 8 no order costs
/// more.
pub(super) fn like_a_ruler(n: usize) -> Vec<Id> {
    let mut addresses: Vec<usize> = (0..n).collect();
    addresses
        .sort_by_key(|&address| (if address == 0 { u32::MAX } else { address.trailing_zeros() }, address));
    let mut ids = vec![Id(0); n];
    for (rank, address) in (1..).zip(addresses) {
        ids[address] = Id(rank);
    }
    ids
}

fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if option("variant").is_some_and(|variant| variant != "announced") {
        return None;
    }
    let arranged = option("wins").is_none_or(|wins| wins == "highest")
        && option("order").is_none_or(|order| order == "ring");
    let (count, sets) = (n as f64, f64::from(n.next_power_of_two().ilog2()));
    let exactly = |messages, formula| Bound { messages, kind: BoundKind::Exactly, formula };
    Some(match (start, arrangement) {
        (Start::One, _) => exactly(3.0 * (count - 1.0), "3(n−1)"),
        (Start::All, Arrangement::Best) if arranged => exactly(4.0 * (count - 1.0), "4(n−1)"),
        (Start::All, Arrangement::Worst) if arranged && n.is_power_of_two() => {
            exactly(1.5 * count * sets + count - 1.0, "3/2·n·log₂ n + n − 1")
        }
        // Corollary 5.2 and the announcement: (2n⌈log₂ n⌉ − n) + n⌈log₂ n⌉ + (n − 1), which is −1 for n = 1.
        _ => Bound {
            messages: (3.0 * count * sets - 1.0).max(0.0),
            kind: BoundKind::AtMost,
            formula: "3n⌈log₂ n⌉ − 1",
        },
    })
}

/// Everybody is told at once, and calls everybody.
fn again(_: Again, n: usize) -> Option<Bound> {
    let Bound { messages, kind, .. } = held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)?;
    let calls = (n * n) as f64;
    Some(Bound { messages: messages + calls, kind, formula: "n² + 3(all start, at worst) + 3n" })
}
