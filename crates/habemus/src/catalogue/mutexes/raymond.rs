//! Raymond's mutual exclusion in the catalogue.

use super::super::{Entry, OptionSpec, Options, Request, SetupError, Visitor, shape};
use super::lock;
use crate::Topology;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::raymond::{Config, Raymond, Variant};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "raymond",
    problem: "mutual exclusion",
    summary: "requests climb a tree towards the token, and the token comes back the same way",
    model: "asynchronous; reliable links; no crashes",
    topologies: &["tree", "star", "line", "links"],
    detectors: &[],
    promises: &["EM1", "EM2", "fencing"],
    cost: "at most 2 per entry for each link on the way to the token: O(log n) on a balanced tree",
    notes: "beyond the notes",
    options: &[
        OptionSpec {
            name: "variant",
            values: "complete | mutant-no-follow-up",
            default: "complete",
            help: "the paper's rules, or deliberately broken ones",
        },
        lock::HOLDER,
        lock::FENCING,
    ],
    cost_model: Some(CostModel { arrange: lock::arrange, bound }),
};

pub(in crate::catalogue) fn build<V: Visitor>(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
    visitor: V,
) -> Result<V::Result, SetupError> {
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
    Ok(visitor.visit(lock::setup::<Raymond>(entry, request, tree, config)?))
}

/// On the balanced tree, whose root has the token and whose last process is a deepest leaf.
fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if ["variant", "holder"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let depth = f64::from(n.max(1).ilog2());
    match (start, arrangement) {
        // From one end of the tree to the other, for everybody.
        (Start::All, _) => lock::at_most(4.0 * depth * n as f64, "4n⌊log₂ n⌋"),
        (Start::One, Arrangement::Best) => lock::exactly(0.0, "0"),
        (Start::One, Arrangement::Worst) => lock::exactly(2.0 * depth, "2⌊log₂ n⌋"),
        (Start::One, Arrangement::Random) => lock::at_most(2.0 * depth, "2⌊log₂ n⌋"),
    }
}
