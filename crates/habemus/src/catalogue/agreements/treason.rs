//! The options that all algorithms against traitors share.

use std::collections::BTreeSet;

use super::super::{OptionSpec, Options, Request, SetupError, shape};
use crate::Address;
use crate::agreement::treason::{Lie, Lies, Treason};

/// The m of OM(m) and SM(m).
pub(super) const M: OptionSpec = OptionSpec {
    name: "m",
    values: "number from 0 to 9",
    default: "1",
    help: "how many traitors to withstand",
};

/// Who betrays.
pub(super) const TRAITORS: OptionSpec = OptionSpec {
    name: "traitors",
    values: "identifiers | drawn | none",
    default: "none",
    help: "who betrays; drawn: m of them, other ones with each seed",
};

/// What they say.
pub(super) const LIES: OptionSpec = OptionSpec {
    name: "lies",
    values: "drawn | attack, retreat, a number, truth or silence for each process",
    default: "drawn",
    help: "what a traitor tells each process, in order; drawn: another order with each message",
};

pub(super) fn m(options: &Options<'_>) -> Result<usize, SetupError> {
    Ok(options.number("m", 0..=9)?.unwrap_or(1) as usize)
}

pub(super) fn treason(options: &Options<'_>, request: &Request<'_>, m: usize) -> Result<Treason, SetupError> {
    let words = |text: &str| match text {
        "none" => Some(Vec::new()),
        "drawn" => Some(drawn(request, m)),
        _ => None,
    };
    let traitors = options.processes_or("traitors", "drawn, or none", words)?.unwrap_or_default();
    let lies = match options.is("lies", "drawn") {
        true => None,
        false => options.each("lies", "of attack, retreat, numbers, truth and silence", Lie::parse)?,
    };
    Ok(Treason { traitors: BTreeSet::from_iter(traitors), lies: lies.map_or(Lies::Drawn, Lies::Scripted) })
}

/// `m` processes, as the seed will have it.
fn drawn(request: &Request<'_>, m: usize) -> Vec<Address> {
    let mut draw = shape::draw(request.seed);
    let mut all: Vec<Address> = (0..request.ids.len() as u32).map(Address).collect();
    let mut traitors = Vec::new();
    while traitors.len() < m && !all.is_empty() {
        traitors.push(all.swap_remove(draw(all.len() as u32) as usize));
    }
    traitors
}

/// Messages that one run may send at most: they grow as n to the power of m+1.
const MOST_MESSAGES: f64 = 20_000_000.0;

/// Refuses an m with which a run would send beyond reason.
pub(super) fn within_reason(m: usize, messages: f64) -> Result<(), SetupError> {
    if messages <= MOST_MESSAGES {
        return Ok(());
    }
    let expected = format!(
        "a smaller number, for this would be {messages:.0} messages; at most {MOST_MESSAGES} are sent"
    );
    Err(SetupError::Value { option: "m", value: m.to_string(), expected })
}
