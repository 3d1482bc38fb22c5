//! Chang–Roberts in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, rules, shape, stack,
};
use super::{WINS, preference, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, harmonic, held_again, shuffled_ids,
};
use crate::election::chang_roberts::{ChangRoberts, Config, Variant};
use crate::topology::Ring;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "chang-roberts",
    problem: ProblemKind::Election,
    summary: "identifiers travel round a one-way ring; only the best comes home",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &["ring"],
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
    cost: "2n to 3n−1 (one starts); n·Hₙ + n on average, n(n+1)/2 + n at worst (all start)",
    notes: "S1, S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("announced"), as_printed("as-printed")]),
            default: "announced",
            help: "S1's rules with the announcement, or S4's listing by the letter",
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
    let variants = [("announced", Variant::Announced), ("as-printed", Variant::AsPrinted)];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, wins: wins(options)? };
    let preference = preference(&request.ids, config.wins, &[]);
    let system: System<ChangRoberts> =
        System::new(Ring::new(request.ids.len()), request.ids.clone(), config)?;
    let setup = Setup::new(entry, system, Some(preference), &shape);
    stack::one_shot(setup, Ring::logical(request.ids.len()), request, options)
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ascending = || (1..=n as u64).map(Id);
    let ids: Vec<Id> = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // Ascending in the direction of travel, an identifier meets a better one at once; descending, late.
        Arrangement::Best => ascending().collect(),
        Arrangement::Worst => ascending().rev().collect(),
    };
    let best = Id(n as u64);
    let start = match (start, arrangement) {
        (Start::All, _) => ids.clone(),
        (Start::One, Arrangement::Best) => vec![best],
        (Start::One, Arrangement::Random) => vec![ids[chooser.choose(n as u32) as usize]],
        // The successor of the best: its message goes all the way round to the best before the best stands.
        (Start::One, Arrangement::Worst) => {
            let address = ids.iter().position(|id| *id == best).expect("the best is among them");
            vec![ids[(address + 1) % n]]
        }
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
    let exactly = |messages, formula| Bound { messages, kind: BoundKind::Exactly, formula };
    Some(match (start, arrangement) {
        (Start::One, Arrangement::Best) => exactly(2.0 * count, "2n"),
        (Start::One, Arrangement::Worst) => exactly(3.0 * count - 1.0, "3n−1"),
        (Start::One, Arrangement::Random) => {
            Bound { messages: 3.0 * count - 1.0, kind: BoundKind::AtMost, formula: "3n−1" }
        }
        (Start::All, Arrangement::Best) => exactly(3.0 * count - 1.0, "3n−1"),
        (Start::All, Arrangement::Worst) => exactly(count * (count + 1.0) / 2.0 + count, "n(n+1)/2 + n"),
        (Start::All, Arrangement::Random) => Bound {
            messages: count * harmonic(n as u64) + count,
            kind: BoundKind::OnAverage,
            formula: "n·Hₙ + n",
        },
    })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
