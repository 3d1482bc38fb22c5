//! The options that all algorithms against traitors share.

use std::collections::BTreeSet;

use super::super::{OptionSpec, Options, Request, SetupError, Values, shape};
use crate::Address;
use crate::agreement::treason::{Lie, Lies, Treason};

/// The m of OM(m) and SM(m).
pub(super) const M: OptionSpec = OptionSpec {
    name: "m",
    values: Values::Text("number from 0 to 9"),
    default: "1",
    help: "how many traitors to withstand",
};

/// Who betrays.
pub(super) const TRAITORS: OptionSpec = OptionSpec {
    name: "traitors",
    values: Values::Text("identifiers | drawn | none"),
    default: "none",
    help: "who betrays; drawn: m of them, other ones with each seed",
};

/// What they say.
pub(super) const LIES: OptionSpec = OptionSpec {
    name: "lies",
    values: Values::Text("drawn | attack, retreat, a number, truth or silence for each process"),
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

/// Why so many traitors among `n` are outside the model of an algorithm that withstands `m`, if they are;
/// `min_processes` is how many processes that takes.
pub(super) fn outside(treason: &Treason, m: usize, n: usize, min_processes: usize) -> Option<String> {
    match treason.traitors.len() {
        0 => None,
        traitors if traitors > m => Some(format!("{traitors} traitors where it withstands {m}")),
        _ if n < min_processes => {
            let takes = if m == 1 { "traitor takes" } else { "traitors take" };
            Some(format!("n = {n}, and {m} {takes} n ≥ 3m+1 = {min_processes}"))
        }
        _ => None,
    }
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
const MAX_MESSAGES: f64 = 20_000_000.0;

/// Refuses an m with which a run would send beyond reason.
pub(super) fn within_reason(m: usize, messages: f64) -> Result<(), SetupError> {
    if messages <= MAX_MESSAGES {
        return Ok(());
    }
    let reason = format!(
        "expected a smaller number, for this would be {messages:.0} messages; at most {MAX_MESSAGES} are sent"
    );
    Err(SetupError::Value { option: "m", value: m.to_string(), reason })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::catalogue::build;
    use crate::signatures::{self, Scheme};
    use crate::{DEFAULT_PULSE, Id};

    /// What the catalogue says to an algorithm among four with these options.
    fn refusal(algorithm: &str, options: &[(&str, &str)], signatures: Option<Scheme>) -> Option<String> {
        let options: BTreeMap<String, String> =
            options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = Request {
            algorithm,
            ids: (1..=4).map(Id).collect(),
            shape: None,
            detector: None,
            options: &options,
            pulse: DEFAULT_PULSE,
            seed: 1,
            signatures,
        };
        build(&request).err().map(|error| error.to_string())
    }

    #[test]
    fn without_signatures_nobody_can_sign() {
        let refused = refusal("signed-generals", &[], None).expect("there are no signatures");
        assert!(refused.contains("needs signatures"), "{refused}");
        assert_eq!(refusal("signed-generals", &[], Some(Scheme::Made(signatures::unsigned))), None);
    }

    #[test]
    fn traitors_and_lies_are_read_as_they_are_written() {
        for algorithm in ["byzantine-generals", "interactive-consistency"] {
            for (name, value) in [
                ("traitors", "none"),
                ("traitors", "drawn"),
                ("traitors", "2, 3"),
                ("lies", "drawn"),
                ("lies", "attack, retreat,7,silence"),
                ("m", "0"),
            ] {
                assert_eq!(refusal(algorithm, &[(name, value)], None), None, "{name} = {value}");
            }
            for (name, value) in [
                ("traitors", "5"),
                ("traitors", "some"),
                ("traitors", ""),
                ("lies", "attack"),
                ("lies", "attack,retreat,7,maybe"),
                ("m", "10"),
                ("m", "-1"),
            ] {
                let refused = refusal(algorithm, &[(name, value)], None).unwrap_or_default();
                assert!(refused.contains(&format!("option {name} cannot be '{value}'")), "{refused}");
            }
        }
    }

    #[test]
    fn messages_beyond_reason_are_refused() {
        assert_eq!(within_reason(1, 65_025.0), Ok(()));
        let refused = within_reason(9, 1e18).expect_err("nobody could wait for it").to_string();
        assert!(refused.contains("1000000000000000000 messages"), "{refused}");
    }

    #[test]
    fn a_seed_draws_as_many_traitors_as_can_be() {
        let options = BTreeMap::new();
        let request = |seed| Request {
            algorithm: "byzantine-generals",
            ids: (1..=4).map(Id).collect(),
            shape: None,
            detector: None,
            options: &options,
            pulse: DEFAULT_PULSE,
            seed,
            signatures: None,
        };
        let one: BTreeSet<Address> = (0..50).flat_map(|seed| drawn(&request(seed), 1)).collect();
        assert_eq!(one.len(), 4, "each seed another");
        assert_eq!(drawn(&request(1), 9).into_iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
