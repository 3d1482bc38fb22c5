//! Itai–Rodeh in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape, stack,
};
use crate::analysis::{
    Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, harmonic, held_again,
};
use crate::election::itai_rodeh::{Config, ItaiRodeh, Variant};
use crate::topology::Ring;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "itai-rodeh",
    problem: ProblemKind::Election,
    summary: "processes without identifiers draw lots until one is alone with the best",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering])
        .besides("one-way ring of known size without identifiers; termination with probability 1"),
    topologies: &["ring"],
    detectors: stack::ONE_SHOT_DETECTORS,
    promises: &[
        Promise::of("E2"),
        Promise::of("termination"),
        Promise::of("uniqueness"),
        Promise::of("agreement"),
        Promise::of("eventual-accuracy"),
        Promise::of("stability"),
    ],
    cost: "2n (one starts); O(n log n) on average (all start)",
    notes: "beyond S4's anonymous ring",
    options: &[OptionSpec {
        name: "variant",
        values: Values::Variants(&[rules("numbered"), rules("unnumbered"), mutant("mutant-ignores-ties")]),
        default: "numbered",
        help: "whether rounds are numbered (FIFO links do without), or equals are not noticed",
    }],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let variants = [
        ("numbered", Variant::Numbered),
        ("unnumbered", Variant::Unnumbered),
        ("mutant-ignores-ties", Variant::MutantIgnoresTies),
    ];
    let config = Config { variant: options.choice("variant", &variants)?.unwrap_or_default() };
    let system: System<ItaiRodeh> = System::new(Ring::new(request.ids.len()), request.ids.clone(), config)?;
    // All are alike: none is better than another.
    let setup = Setup::new(entry, system, None, &shape).rotation_symmetric().term_invariant();
    stack::one_shot(setup, Ring::logical(request.ids.len()), request, options)
}

/// The lots are drawn by the processes: there is nothing to arrange but who starts.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

/// A single candidate goes round once, and so does the news. If all stand, a lot travels until it meets a
/// higher one, H(n−1)+1 links on average, if there are n lots to draw from. The highest is drawn by one alone
/// with probability 1/(e−1) or more; a second round has few candidates and costs less than 2n, and the news
/// n.
fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let count = n as f64;
    if start == Start::One || n == 1 {
        return Some(Bound { messages: 2.0 * count, kind: BoundKind::Exactly, formula: "2n" });
    }
    let messages = count * harmonic(n as u64) + 3.0 * count;
    let usual = option("variant").is_none();
    usual.then_some(Bound { messages, kind: BoundKind::OnAverage, formula: "n·Hₙ + 3n" })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
