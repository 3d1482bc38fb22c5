//! The token ring in the catalogue.

use super::super::{
    Chosen, Entry, Fault, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    mutant, rules, shape, stack,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::token_ring::{Config, Idle, TokenRing, Variant};
use crate::topology::Ring;
use crate::{ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "token-ring",
    problem: ProblemKind::MutualExclusion,
    summary: "a token goes round a ring, and whoever has it may enter",
    model: Model::new(Timing::Asynchronous, &[Fault::Crash]).besides("a detector that is right"),
    topologies: &["ring"],
    detectors: stack::DETECTORS,
    promises: &[
        Promise::of("EM1"),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
        Promise::of("bounded-waiting")
            .except(&[Fault::Crash], "the new token may be far from who has waited longest"),
        Promise::of("fencing"),
    ],
    cost: "1 to n per entry while the token moves; 2n for a lonely entry if it stops",
    notes: "S0, S1, S4",
    options: &[
        OptionSpec {
            name: "idle",
            values: Values::Text("stop | move"),
            default: "stop",
            help: "whether a token that nobody wants stops after a round, or moves for ever as in the notes",
        },
        OptionSpec {
            name: "rest",
            values: Values::Text("duration"),
            default: "0ms",
            help: "how long a process that does not want a moving token keeps it",
        },
        lock::HOLDER,
        lock::FENCING,
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[rules("complete"), mutant("mutant-hasty")]),
            default: "complete",
            help: "the notes' rules, or deliberately broken ones",
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
    let config = configure(options)?;
    let perpetual = config.idle == Idle::Move;
    let ring = Ring::logical(request.ids.len());
    let system: System<TokenRing> = System::new(ring, request.ids.clone(), config)?;
    let fencing = system.config.fencing;
    let setup = Setup { perpetual, ..Setup::new(entry, system, None, &shape).rotation_symmetric() };
    let setup = lock::fenced(setup, fencing);
    stack::on_detector(setup, request, options)
}

fn configure(options: &Options<'_>) -> Result<Config, SetupError> {
    let default = Config::default();
    let idle = [("stop", Idle::Stop), ("move", Idle::Move)];
    let variants = [("complete", Variant::Complete), ("mutant-hasty", Variant::MutantHasty)];
    Ok(Config {
        holder: lock::holder(options)?,
        idle: options.choice("idle", &idle)?.unwrap_or_default(),
        rest: options.duration("rest")?.unwrap_or(default.rest),
        fencing: lock::fencing(options)?,
        variant: options.choice("variant", &variants)?.unwrap_or_default(),
    })
}

/// Of a token that stops: one that moves has no end to count up to.
fn bound(
    arrangement: Arrangement,
    start: Start,
    n: usize,
    option: &dyn Fn(&str) -> Option<String>,
) -> Option<Bound> {
    if n < 2 || ["variant", "holder", "idle"].iter().any(|name| option(name).is_some()) {
        return None;
    }
    let count = n as f64;
    match (start, arrangement) {
        // One round for all, one in vain, a wake from each, and the last wake may follow the token all the
        // way.
        (Start::All, _) => lock::at_most(4.0 * count - 3.0, "4n−3"),
        // It is where it is wanted; only the round in vain remains.
        (Start::One, Arrangement::Best) => lock::exactly(count, "n"),
        // The wake and the token together go round once, and then the token alone.
        (Start::One, Arrangement::Worst) => lock::exactly(2.0 * count, "2n"),
        (Start::One, Arrangement::Random) => lock::at_most(2.0 * count, "2n"),
    }
}
