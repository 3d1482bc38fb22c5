//! Dolev–Klawe–Rodeh in the catalogue.

use super::super::{
    Chosen, Entry, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values, mutant,
    rules, shape, stack,
};
use super::halving::halving_ids;
use super::{WINS, preference, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::dolev_klawe_rodeh::{Config, DolevKlaweRodeh, Variant};
use crate::topology::Ring;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "dolev-klawe-rodeh",
    problem: ProblemKind::Election,
    summary: "on a one-way ring values move on, and only those better than both neighbours stay",
    model: Model::new(Timing::Asynchronous, &[]),
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
    cost: "4n at best, 2n⌊log₂ n⌋ + 2n at worst",
    notes: "beyond S4's rings",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("announced"), mutant("mutant-keeps-own")]),
            default: "announced",
            help: "the paper's rules with an announcement, or with survivors that keep their own value",
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
    let variants = [("announced", Variant::Announced), ("mutant-keeps-own", Variant::MutantKeepsOwn)];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let config = Config { variant, wins: wins(options)? };
    let preference = preference(&request.ids, config.wins, &[]);
    let system: System<DolevKlaweRodeh> =
        System::new(Ring::new(request.ids.len()), request.ids.clone(), config)?;
    let setup = Setup::new(entry, system, Some(preference), &shape);
    stack::one_shot(setup, Ring::logical(request.ids.len()), request, options)
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // In order, only one value is better than both its neighbours.
        Arrangement::Best => (1..=n as u64).map(Id).collect(),
        Arrangement::Worst => halving_ids(n),
    };
    let start = match start {
        Start::All => ids.clone(),
        // Whoever starts wakes all others: it does not matter who.
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(
    arrangement: Arrangement,
    _: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if option("variant").is_some_and(|variant| variant != "announced")
        || option("wins").is_some_and(|wins| wins != "highest")
    {
        return None;
    }
    let count = n as f64;
    let worst = 2.0 * count * f64::from(n.max(1).ilog2()) + 2.0 * count;
    let (messages, kind, formula) = match arrangement {
        // One phase with rivals, unless there are none.
        Arrangement::Best if n > 1 => (4.0 * count, BoundKind::Exactly, "4n"),
        Arrangement::Best | Arrangement::Worst => (worst, BoundKind::Exactly, "2n⌊log₂ n⌋ + 2n"),
        Arrangement::Random => (worst, BoundKind::AtMost, "2n⌊log₂ n⌋ + 2n"),
    };
    Some(Bound { messages, kind, formula })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
