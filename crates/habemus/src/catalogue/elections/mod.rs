//! The elections of the catalogue, one file each: what is said of it, and how it is built from a request.

pub(super) mod all_to_all;
pub(super) mod anonymous_ring;
pub(super) mod bully;
pub(super) mod capture_async;
pub(super) mod capture_sync;
pub(super) mod chang_roberts;
pub(super) mod collecting_ring;
pub(super) mod dolev_klawe_rodeh;
pub(super) mod franklin;
mod halving;
pub(super) mod hirschberg_sinclair;
pub(super) mod itai_rodeh;
pub(super) mod large_group;
pub(super) mod majority;
pub(super) mod omega;
mod order;
pub(super) mod stable;
pub(super) mod yo_yo;

use super::{OptionSpec, Options, SetupError, Values};
use crate::Id;
use crate::election::Wins;

/// Why nobody promises, under a partition, that the best process leads.
pub(super) const SIDES: &str = "each side has the best of its own while it lasts";

/// The option that says which end of the order wins.
const WINS: OptionSpec = OptionSpec {
    name: "wins",
    values: Values::Text("highest | lowest"),
    default: "highest",
    help: "which end of the order of identifiers wins",
};

fn wins(options: &Options<'_>) -> Result<Wins, SetupError> {
    let choice = options.choice("wins", &[("highest", Wins::Highest), ("lowest", Wins::Lowest)])?;
    Ok(choice.unwrap_or_default())
}

/// How well each process is suited to lead, for E1: its rank by quality, where there is one, and then by
/// identifier, the best last.
fn preference(ids: &[Id], wins: Wins, quality: &[u64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|&index| (quality.get(index).copied().unwrap_or(0), ids[index]));
    if wins == Wins::Lowest {
        order.reverse();
    }
    let mut preference = vec![0; ids.len()];
    for (rank, index) in order.into_iter().enumerate() {
        preference[index] = rank as u32;
    }
    preference
}
