//! S4's anonymous ring in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, mutant, shape, stack,
};
use crate::analysis::{Again, Arranged, Arrangement, Bound, BoundKind, CostModel, Start, held_again};
use crate::election::anonymous_ring::{AnonymousRing, Config, Variant};
use crate::topology::Ring;
use crate::{Chooser, Id, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "anonymous-ring",
    problem: ProblemKind::Election,
    summary: "processes without identifiers vote; two that start at once both win",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]).besides("one-way ring without identifiers"),
    topologies: &["ring"],
    detectors: stack::ONE_SHOT_DETECTORS,
    promises: &[Promise::of("termination")],
    cost: "2n",
    notes: "S4",
    options: &[OptionSpec {
        name: "variant",
        values: Values::Variants(&[as_printed("as-printed"), mutant("mutant-swallow")]),
        default: "as-printed",
        help: "S4's listing, or one in which a candidate swallows the vote",
    }],
    cost_model: Some(CostModel { arrange, bound, again: Some(again) }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    let variants = [("as-printed", Variant::AsPrinted), ("mutant-swallow", Variant::MutantSwallow)];
    let config = Config { variant: options.choice("variant", &variants)?.unwrap_or_default() };
    let system: System<AnonymousRing> =
        System::new(Ring::new(request.ids.len()), request.ids.clone(), config)?;
    // All are alike: none is better than another.
    let setup = Setup::new(entry, system, None, &shape).rotation_symmetric();
    stack::one_shot(setup, Ring::logical(request.ids.len()), request, options)
}

/// Without identifiers there is nothing to arrange but who starts.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
    let start = match start {
        Start::All => ids.clone(),
        Start::One => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

/// Each vote goes as far as the next candidate, and so does the news: twice round the ring in all.
fn bound(_: Arrangement, _: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let plain = option("variant").is_none_or(|variant| variant == "as-printed");
    plain.then_some(Bound { messages: 2.0 * n as f64, kind: BoundKind::Exactly, formula: "2n" })
}

fn again(_: Again, n: usize) -> Option<Bound> {
    held_again(bound(Arrangement::Worst, Start::All, n, &|_| None), n)
}
