//! The option that both captures share.

use super::super::{OptionSpec, Options, SetupError, Values};
use crate::election::tried::VisitOrder;

/// In which order candidates try to capture their neighbours.
pub(super) const ORDER: OptionSpec = OptionSpec {
    name: "order",
    values: Values::Text("ring | address"),
    default: "ring",
    help: "in which order neighbours are tried: by address after one's own, or from the first",
};

pub(super) fn order(options: &Options<'_>) -> Result<VisitOrder, SetupError> {
    let choice = options.choice("order", &[("ring", VisitOrder::Ring), ("address", VisitOrder::Address)])?;
    Ok(choice.unwrap_or_default())
}
