//! Hirschberg–Sinclair in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape, stack,
};
use super::halving::halving_ids;
use super::{WINS, preference, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::hirschberg_sinclair::{Config, HirschbergSinclair, Variant};
use crate::topology::TwoWayRing;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "hirschberg-sinclair",
    problem: ProblemKind::Election,
    summary: "candidates on a two-way ring probe 1, 2, 4, … neighbours on each side",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &["two-way-ring"],
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
    cost: "at most 8n(1+⌈log₂ n⌉) + n",
    notes: "beyond S4's rings",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("announced"), mutant("mutant-local-winner")]),
            default: "announced",
            help: "the paper's rules with an announcement, or one in which beating two neighbours is enough",
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
    let variants = [("announced", Variant::Announced), ("mutant-local-winner", Variant::MutantLocalWinner)];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, wins: wins(options)? };
    let preference = preference(&request.ids, config.wins, &[]);
    let system: System<HirschbergSinclair> =
        System::new(TwoWayRing::new(request.ids.len()), request.ids.clone(), config)?;
    let setup = Setup::new(entry, system, Some(preference), &shape);
    stack::one_shot(setup, TwoWayRing::logical(request.ids.len()), request, options)
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // In order, only the best survives the first phase.
        Arrangement::Best => (1..=n as u64).map(Id).collect(),
        // Not known to be the dearest of all, but each phase keeps many.
        Arrangement::Worst => halving_ids(n),
    };
    let start = match (start, arrangement) {
        (Start::All, _) => ids.clone(),
        (Start::One, Arrangement::Best) => vec![Id(n as u64)],
        (Start::One, _) => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if option("variant").is_some_and(|variant| variant != "announced")
        || option("wins").is_some_and(|wins| wins != "highest")
    {
        return None;
    }
    let count = n as f64;
    // ⌈log₂ n⌉ is the phase in which a probe first comes home; until then the best pays 4·2ᵏ in phase k.
    let last = n.next_power_of_two().ilog2();
    let doubled = 4.0 * f64::from(last).exp2();
    let (messages, kind, formula) = match (arrangement, start) {
        // In the first phase each of two neighbours probes the other, and one of them gets an answer: 3n.
        (Arrangement::Best, Start::All) if n > 1 => {
            (6.0 * count + doubled - 8.0, BoundKind::Exactly, "6n + 4·2^⌈log₂ n⌉ − 8")
        }
        (Arrangement::Best, _) => (3.0 * count + doubled - 4.0, BoundKind::Exactly, "3n + 4·2^⌈log₂ n⌉ − 4"),
        _ => (8.0 * count * f64::from(1 + last) + count, BoundKind::AtMost, "8n(1+⌈log₂ n⌉) + n"),
    };
    Some(Bound { messages, kind, formula })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
