//! Raymond's mutual exclusion in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::raymond::{Config, Raymond, Variant};
use crate::{ProblemKind, System, Topology};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "raymond",
    problem: ProblemKind::MutualExclusion,
    summary: "requests climb a tree towards the token, and the token comes back the same way",
    model: Model::new(Timing::Asynchronous, &[Fault::Reordering]),
    topologies: &["tree", "star", "line", "links"],
    detectors: &[],
    promises: &[
        Promise::of("EM1"),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
        Promise::of("fencing"),
    ],
    cost: "at most 2 per entry for each link on the way to the token: O(log n) on a balanced tree",
    notes: "beyond the notes",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("complete"), mutant("mutant-no-follow-up")]),
            default: "complete",
            help: "the paper's rules, or deliberately broken ones",
        },
        lock::HOLDER,
        lock::FENCING,
    ],
    cost_model: Some(CostModel { arrange: lock::arrange, bound, again: None }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    // None of its shapes is drawn at random.
    let tree = shape.graph(request.ids.len(), &mut |_: u32| 0)?;
    if tree.link_count() + 1 > tree.len() {
        let reason = "the links form a cycle, and raymond needs a tree".to_owned();
        return Err(SetupError::Unfit { what: "topology", name: shape.name().to_owned(), reason });
    }
    let variants = [("complete", Variant::Complete), ("mutant-no-follow-up", Variant::MutantNoFollowUp)];
    let config = Config {
        fencing: lock::fencing(options)?,
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
        ..Config::new(&tree, lock::holder(options)?)
    };
    let system: System<Raymond> = System::new(tree, request.ids.clone(), config)?;
    let fencing = system.config.fencing;
    Ok(lock::fenced(Setup::new(entry, system, None, &shape), fencing).into())
}

/// The first process has the token; the last is farthest from it.
fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if n < 2 || ["variant", "holder"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let count = n as f64;
    // How far it is to the last, from one end to the other at most, and the figures that come of it.
    let (depth, diameter, one, all) = match option("topology").as_deref() {
        None | Some("tree") => {
            let depth = f64::from(n.ilog2());
            (depth, 2.0 * depth, "2⌊log₂ n⌋", "4n⌊log₂ n⌋")
        }
        Some("star") => (1.0, 2.0, "2", "4n"),
        Some("line") => (count - 1.0, count - 1.0, "2(n−1)", "2n(n−1)"),
        Some(_) => return None,
    };
    match (start, arrangement) {
        (Start::All, _) => lock::at_most(2.0 * diameter * count, all),
        (Start::One, Arrangement::Best) => lock::exactly(0.0, "0"),
        (Start::One, Arrangement::Worst) => lock::exactly(2.0 * depth, one),
        (Start::One, Arrangement::Random) => lock::at_most(2.0 * depth, one),
    }
}
