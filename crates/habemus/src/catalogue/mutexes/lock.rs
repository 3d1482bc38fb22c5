//! What the entries of locks have in common.

use super::super::{OptionSpec, Options, Setup, SetupError, Values};
use crate::analysis::{Arranged, Arrangement, Bound, BoundKind, Start, shuffled_ids};
use crate::{Address, Chooser, Process};

/// The option of locks whose algorithm has a number that grows from entry to entry.
pub(super) const FENCING: OptionSpec = OptionSpec {
    name: "fencing",
    values: Values::Text("true | false"),
    default: "false",
    help: "whether holders get a token that the resource checks",
};

/// The option of locks that have one token.
pub(super) const HOLDER: OptionSpec = OptionSpec {
    name: "holder",
    values: Values::Text("identifier"),
    default: "the first process",
    help: "who has the token at the beginning",
};

pub(super) fn fencing(options: &Options<'_>) -> Result<bool, SetupError> {
    Ok(options.flag(FENCING.name)?.unwrap_or(false))
}

/// A lock that promises fencing only if it hands out tokens.
pub(super) fn fenced<P: Process>(mut setup: Setup<P>, fencing: bool) -> Setup<P> {
    if !fencing {
        setup.contract = setup.contract.without(&["fencing"]);
    }
    setup
}

pub(super) fn holder(options: &Options<'_>) -> Result<Address, SetupError> {
    Ok(options.process(HOLDER.name)?.map_or(Address(0), |(_, address)| address))
}

/// Everybody enters once, or one does: the first, where a token lies at the beginning, the last, which is
/// farthest from it, or anybody.
pub(super) fn arrange(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    chooser: &mut dyn Chooser,
) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let start = match (start, arrangement) {
        (Start::All, _) => ids.clone(),
        (Start::One, Arrangement::Best) => vec![ids[0]],
        (Start::One, Arrangement::Worst) => vec![ids[n - 1]],
        (Start::One, Arrangement::Random) => vec![ids[chooser.choose(n as u32) as usize]],
    };
    Arranged { ids, start, down: Vec::new() }
}

pub(super) fn exactly(messages: f64, formula: &'static str) -> Option<Bound> {
    Some(Bound { messages, kind: BoundKind::Exactly, formula })
}

pub(super) fn at_most(messages: f64, formula: &'static str) -> Option<Bound> {
    Some(Bound { messages, kind: BoundKind::AtMost, formula })
}
