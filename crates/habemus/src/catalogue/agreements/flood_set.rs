//! FloodSet in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Survivors, Values,
    mutant, rules, shape,
};
use crate::agreement::flood_set::{Config, FloodSet, Variant};
use crate::analysis::{Arranged, Arrangement, Bound, BoundKind, CostModel, Start, shuffled_ids};
use crate::rounds::Synchronous;
use crate::topology::Complete;
use crate::{Chooser, ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "flood-set",
    problem: ProblemKind::Agreement,
    summary: "everyone tells everyone all it knows for f+1 rounds, and all decide on the least value",
    model: Model::PULSES.and(&[Fault::Crash]).if_up(Survivors::AllBut(1)),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("agreement"),
        Promise::of("validity"),
        Promise::of("integrity"),
        Promise::of("termination"),
    ],
    cost: "(f+1)·n(n−1) if nobody crashes, 2n(n−1) with news only",
    notes: "S1",
    options: &[
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("everything"), rules("news-only"), mutant("mutant-own-value")]),
            default: "everything",
            help: "what is told in each round: all, what is new, or, as a deliberate bug, one's own value",
        },
        OptionSpec {
            name: "failures",
            values: Values::Text("number from 0 to 1000"),
            default: "1",
            help: "how many crashes to withstand: f",
        },
        OptionSpec {
            name: "rounds",
            values: Values::Text("number from 1 to 1001"),
            default: "f+1",
            help: "how many rounds; with fewer than f+1 a chain of f crashes breaks the agreement",
        },
    ],
    cost_model: Some(CostModel { arrange, bound, again: None }),
};

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let variants = [
        ("everything", Variant::Everything),
        ("news-only", Variant::NewsOnly),
        ("mutant-own-value", Variant::MutantOwnValue),
    ];
    let failures = options.number("failures", 0..=1000)?.unwrap_or(1);
    let rounds = options.number("rounds", 1..=1001)?.unwrap_or(failures + 1);
    let config = Config {
        variant: options.choice("variant", &variants)?.unwrap_or(Variant::Everything),
        rounds: rounds as u32,
    };
    let network = Complete::new(request.ids.len());
    let mut system: System<Synchronous<FloodSet>> = System::new(network, request.ids.clone(), config)?;
    system.pulse = request.pulse;
    let mut setup = Setup::new(entry, system, None, &shape);
    setup.contract.model = entry.model.if_up(Survivors::AllBut(failures as usize));
    setup.contract.outside =
        (rounds <= failures).then(|| format!("{failures} crashes take {} rounds", failures + 1));
    Ok(setup.into())
}

/// Identifiers do not matter, but everyone speaks whether or not it has proposed.
fn arrange(_: Arrangement, start: Start, n: usize, chooser: &mut dyn Chooser) -> Arranged {
    let ids = shuffled_ids(n, chooser);
    let start = match start {
        Start::All => ids.clone(),
        Start::One => ids.iter().copied().take(1).collect(),
    };
    Arranged { ids, start, down: Vec::new() }
}

fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let number = |name| option(name).and_then(|text| text.parse::<u32>().ok());
    let rounds = number("rounds").unwrap_or(number("failures").unwrap_or(1) + 1);
    let pairs = (n * n.saturating_sub(1)) as f64;
    let exactly = |messages, formula| Some(Bound { messages, kind: BoundKind::Exactly, formula });
    match (option("variant").as_deref(), start) {
        (None | Some("everything"), _) => exactly(f64::from(rounds) * pairs, "(f+1)·n(n−1)"),
        // In the first round everyone tells its own value, in the second the others'.
        (Some("news-only"), Start::All) => exactly(f64::from(rounds.min(2)) * pairs, "2n(n−1)"),
        // The one that proposed tells all, each of which tells all others.
        (Some("news-only"), Start::One) if rounds > 1 => {
            let count = n as f64;
            exactly(count * (count - 1.0), "n(n−1)")
        }
        _ => None,
    }
}
