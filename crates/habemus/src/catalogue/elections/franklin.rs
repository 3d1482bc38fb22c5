//! Franklin's election in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, mutant, rules, shape, stack,
};
use super::halving::halving_ids;
use super::{WINS, preference, wins};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::franklin::as_printed::{self, FranklinAsPrinted};
use crate::election::franklin::{Config, Franklin, Variant};
use crate::topology::TwoWayRing;
use crate::{Chooser, Id, ProblemKind, Process, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "franklin",
    problem: ProblemKind::Election,
    summary: "neighbours on a two-way ring compare, round by round; at most every other goes on",
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
    cost: "5n at best, 2n(⌊log₂ n⌋+1) + n at worst",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("announced"),
                as_printed("as-printed"),
                mutant("mutant-local-winner"),
            ]),
            default: "announced",
            help: "the paper's rules with an announcement, S4's listing by the letter (FIFO links), or one \
                   in which beating two neighbours is enough",
        },
        WINS,
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

/// The listing has variables of its own.
#[derive(Clone, Copy)]
enum Rules {
    Paper(Variant),
    AsPrinted,
}

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let all_rules = [
        ("announced", Rules::Paper(Variant::Announced)),
        ("as-printed", Rules::AsPrinted),
        ("mutant-local-winner", Rules::Paper(Variant::MutantLocalWinner)),
    ];
    let wins = wins(options)?;
    let rules = options.choice("variant", &all_rules)?.unwrap_or(Rules::Paper(Variant::Announced));
    let preference = preference(&request.ids, wins, &[]);
    match rules {
        Rules::Paper(variant) => {
            let setup = setup::<Franklin>(entry, request, preference, Config { variant, wins })?;
            stack::one_shot(setup, TwoWayRing::logical(request.ids.len()), request, options)
        }
        Rules::AsPrinted => {
            let config = as_printed::Config { wins };
            let setup = setup::<FranklinAsPrinted>(entry, request, preference, config)?;
            stack::one_shot(setup, TwoWayRing::logical(request.ids.len()), request, options)
        }
    }
}

fn setup<P: Process<Topology = TwoWayRing>>(
    entry: &'static Entry,
    request: &Request<'_>,
    preference: Vec<u32>,
    config: P::Config,
) -> Result<Setup<P>, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let system = System::new(TwoWayRing::new(request.ids.len()), request.ids.clone(), config)?;
    Ok(Setup::new(entry, system, Some(preference), &shape))
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // In order, only one process is better than both its neighbours.
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
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if option("wins").is_some_and(|wins| wins != "highest") {
        return None;
    }
    let count = n as f64;
    match option("variant").as_deref() {
        None | Some("announced") => {}
        // The n−1 losers of the first round, 2n messages, each resign both ways, n hops in all. The winner
        // plays a round against each pair of resignations and one before: n rounds, and both its messages go
        // all the way.
        Some("as-printed") if arrangement == Arrangement::Best && start == Start::All && n > 1 => {
            let messages = 3.0 * count * count + count;
            return Some(Bound { messages, kind: BoundKind::Exactly, formula: "3n² + n" });
        }
        Some(_) => return None,
    }
    let worst = 2.0 * count * f64::from(n.max(1).ilog2() + 1) + count;
    let (messages, kind, formula) = match arrangement {
        // One round with rivals and one without, unless there are none.
        Arrangement::Best if n > 1 => (5.0 * count, BoundKind::Exactly, "5n"),
        Arrangement::Best | Arrangement::Worst => (worst, BoundKind::Exactly, "2n(⌊log₂ n⌋+1) + n"),
        Arrangement::Random => (worst, BoundKind::AtMost, "2n(⌊log₂ n⌋+1) + n"),
    };
    Some(Bound { messages, kind, formula })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
