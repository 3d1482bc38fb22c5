//! The quorum of coordinators in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, BoundKind, CostModel, Start};
use crate::mutex::quorum::{Config, Quorum, Variant};
use crate::topology::Complete;
use crate::{ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "quorum",
    problem: ProblemKind::MutualExclusion,
    summary: "enter with the permission of a majority of the coordinators",
    model: Model::new(Timing::Asynchronous, &[Fault::Crash, Fault::Recovery]),
    topologies: &["complete"],
    detectors: &[],
    promises: &[Promise::of("EM1").regardless()],
    cost: "3 per entry for each coordinator without conflict; unbounded with",
    notes: "S4",
    options: &[
        OptionSpec {
            name: "coordinators",
            values: Values::Text("number"),
            default: "all processes",
            help: "how many coordinate, from the first process on; all may take part",
        },
        OptionSpec {
            name: "quorum",
            values: Values::Text("number"),
            default: "the smallest majority",
            help: "how many of them must agree: more than half",
        },
        OptionSpec {
            name: "timeout",
            values: Values::Text("duration | none"),
            default: "100ms",
            help: "how long to wait for a quorum before giving up for the time being",
        },
        OptionSpec {
            name: "back-off",
            values: Values::Text("duration"),
            default: "20ms",
            help: "the longest pause after the first failure; it doubles with each further one",
        },
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("complete"), mutant("mutant-one-short")]),
            default: "complete",
            help: "S4's rules, or deliberately broken ones",
        },
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
    let n = request.ids.len() as u64;
    let coordinators = options.number("coordinators", 1..=n)?.unwrap_or(n);
    let majority = coordinators / 2 + 1;
    let default = Config::new(coordinators as u32);
    let variants = [("complete", Variant::Complete), ("mutant-one-short", Variant::MutantOneShort)];
    let timeout = match options.duration_or_none("timeout")? {
        None => default.timeout,
        Some(None) => None,
        // Without a pause between them, attempts would never end.
        Some(Some(_)) => options.positive("timeout")?,
    };
    let config = Config {
        coordinators: coordinators as u32,
        quorum: options.number("quorum", majority..=coordinators)?.unwrap_or(majority) as u32,
        timeout,
        back_off: options.positive("back-off")?.unwrap_or(default.back_off),
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
    };
    let network = Complete::new(request.ids.len());
    let system: System<Quorum> = System::new(network, request.ids.clone(), config)?;
    Ok(Setup::new(entry, system, None, &shape).term_invariant().into())
}

/// An attempt costs 3(n−1) at most. If all start at once, chance decides how often each has to try; who fails
/// waits for longer each time, until so few are awake that one of them succeeds.
fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    let plain = ["variant", "coordinators", "quorum", "timeout"];
    if plain.iter().any(|name| option(name).is_some()) {
        return None;
    }
    if start == Start::All && n > 1 {
        let count = n as f64;
        let messages = 3.0 * count * (count - 1.0) * (2.0 + count.log2());
        let formula = "3n(n−1)(2+log₂ n)";
        return option("back-off").is_none().then_some(Bound {
            messages,
            kind: BoundKind::OnAverage,
            formula,
        });
    }
    lock::exactly(3.0 * (n as f64 - 1.0), "3(n−1)")
}
