//! Yo-Yo in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Shape, Timing,
    Values, as_printed, mutant, rules, shape, stack,
};
use super::{SIDES, preference};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again, shuffled_ids,
};
use crate::election::Wins;
use crate::election::yo_yo::{Config, Variant, YoYo};
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "yo-yo",
    problem: ProblemKind::Election,
    summary: "identifiers fall to the sinks, votes rise, until one source is left",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &[
        DEFAULT_SHAPE,
        "complete",
        "ring",
        "two-way-ring",
        "line",
        "star",
        "tree",
        "grid",
        "hypercube",
        "links",
    ],
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
    cost: "O(m log n): at most 2m·K + n − 1, where F(K) is the last Fibonacci number up to n − 1",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("pruned"),
                as_printed("some-yes"),
                as_printed("as-printed"),
                mutant("mutant-prune-unequal"),
            ]),
            default: "pruned",
            help: "one NO outvotes all YES and useless links are struck out; S4's vote; S4's listing by the \
                letter",
        },
        OptionSpec {
            name: "wins",
            values: Values::Text("lowest | highest"),
            default: "lowest",
            help: "which end of the order of identifiers wins",
        },
        OptionSpec {
            name: "hello-timeout",
            values: Values::Text("duration | none"),
            default: "none",
            help: "after how long a neighbour's silence means that the link to it is broken",
        },
    ],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

const DEFAULT_SHAPE: &str = "random";

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let graph = shape.graph(request.ids.len(), &mut shape::draw(request.seed))?;
    let config = configure(options)?;
    let preference = preference(&request.ids, config.wins, &[]);
    let system: System<YoYo> = System::new(graph.clone(), request.ids.clone(), config)?;
    let mut setup = Setup::new(entry, system, Some(preference), &shape);
    // Here nobody reaches others past those that are dead.
    if shape.name() != "complete" {
        let promises = ["E1", "agreement"];
        setup.contract = promises
            .iter()
            .fold(setup.contract, |contract, property| contract.except(property, &[Fault::Crash], SIDES));
    }
    stack::one_shot(setup, graph, request, options)
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let variants = [
        ("pruned", Variant::Pruned),
        ("some-yes", Variant::SomeYes),
        ("as-printed", Variant::AsPrinted),
        ("mutant-prune-unequal", Variant::MutantPruneUnequal),
    ];
    let ends = [("lowest", Wins::Lowest), ("highest", Wins::Highest)];
    Ok(Config {
        variant: options.choice("variant", &variants)?.unwrap_or(default.variant),
        wins: options.choice("wins", &ends)?.unwrap_or(default.wins),
        hello_timeout: options.duration_or_none("hello-timeout")?.unwrap_or(default.hello_timeout),
    })
}

fn arrange(arrangement: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = match arrangement {
        Arrangement::Random => shuffled_ids(n, chooser),
        // Every address but the first of a named shape has a neighbour before it: there is one source.
        Arrangement::Best => (1..=n as u64).map(Id).collect(),
        Arrangement::Worst => folded_ids(n),
    };
    let start = match start {
        Start::All => ids.clone(),
        // Whoever starts wakes all others, at the same price.
        Start::One => ids.iter().copied().take(1).collect(),
    };
    Arranged { ids, start, down: Vec::new() }
}

/// The identifiers 1 … n such that every other address has a lower one, of those addresses every other has a
/// still lower one, and so on: on a ring only every other source falls in each iteration.
fn folded_ids(n: usize) -> Vec<Id> {
    let mut addresses: Vec<usize> = (0..n).collect();
    addresses.sort_by_key(|address| address.reverse_bits());
    let mut ids = vec![Id(0); n];
    for (id, address) in (1..).zip(addresses) {
        ids[address] = Id(id);
    }
    ids
}

fn bound(
    arrangement: Arrangement,
    _: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    let is_default = |name: &str, default: &str| option(name).is_none_or(|value| value == default);
    if n == 0 || !is_default("variant", "pruned") || !is_default("hello-timeout", "none") {
        return None;
    }
    let name = option("topology").unwrap_or_else(|| DEFAULT_SHAPE.to_owned());
    let drawn = name == "random";
    // Of a drawn graph only the most links that it can have are known: a tree, and n tries of one more.
    let links = if drawn {
        n - 1 + if n > 2 { n } else { 0 }
    } else {
        Shape::Named(name).graph(n, &mut shape::draw(0)).ok()?.link_count()
    };
    let (links, others) = (links as f64, n as f64 - 1.0);
    Some(if arrangement == Arrangement::Best && is_default("wins", "lowest") {
        // One source: hello both ways, one identifier down every link, one answer up.
        let kind = if drawn { BoundKind::AtMost } else { BoundKind::Exactly };
        Bound { messages: 4.0 * links + others, kind, formula: "4m + n − 1" }
    } else {
        let messages = 2.0 * links * last_fibonacci(n as u64 - 1) + others;
        Bound { messages, kind: BoundKind::AtMost, formula: "2m·K + n − 1, F(K) ≤ n − 1" }
    })
}

/// The index of the last Fibonacci number that is at most `limit`: F(2) = 1, F(3) = 2, F(4) = 3, F(5) = 5, …
///
/// The hellos, which cost as much as an iteration, and the iterations together are never more. For of the
/// sources of an iteration, those that share a process below them with a better source fall, and all that
/// shared a process with the same fallen one share it in the next iteration, after which one of them is left.
/// So the sources of the next iteration but one are at most as many as those that fall in this: S(i) ≥
/// S(i+1) + S(i+2). From the end, where one source is left, the sources are at least 1, 2, 3, 5, …, and the
/// first are below n.
fn last_fibonacci(limit: u64) -> f64 {
    let (mut this, mut next, mut index) = (1_u64, 1_u64, 1_u32);
    while next <= limit {
        (this, next, index) = (next, this + next, index + 1);
    }
    f64::from(index)
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_last_fibonacci_number_is_found() {
        for (limit, index) in [(1, 2.0), (2, 3.0), (3, 4.0), (4, 4.0), (5, 5.0), (7, 5.0), (8, 6.0)] {
            assert_eq!(last_fibonacci(limit), index, "{limit}");
        }
    }

    #[test]
    fn folded_identifiers_are_low_and_high_in_turn_and_so_are_the_low_ones() {
        let ids: Vec<u64> = folded_ids(8).iter().map(|id| id.0).collect();
        assert_eq!(ids, [1, 5, 3, 7, 2, 6, 4, 8]);
    }

    #[test]
    fn whatever_can_be_drawn_is_drawn_and_nothing_else() {
        let mut draw = shape::draw(1);
        let drawn: BTreeSet<u32> = (0..200).map(|_| draw(10)).collect();
        assert_eq!(drawn, (0..10).collect());
    }
}
