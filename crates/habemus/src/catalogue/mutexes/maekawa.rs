//! Maekawa's voting in the catalogue.

use super::super::{
    Chosen, Entry, Model, OptionSpec, Options, Promise, Request, Setup, SetupError, Timing, Values,
    as_printed, mutant, rules, shape,
};
use super::lock;
use crate::analysis::{Arrangement, Bound, CostModel, Start};
use crate::mutex::VotingSets;
use crate::mutex::maekawa::{Config, Maekawa, Variant};
use crate::topology::Complete;
use crate::{ProblemKind, System};

pub(in crate::catalogue) const ENTRY: Entry = Entry {
    name: "maekawa",
    problem: ProblemKind::MutualExclusion,
    summary: "ask a set of about √n processes that overlaps with every other, and enter with all their votes",
    model: Model::new(Timing::Asynchronous, &[]),
    topologies: &["complete"],
    detectors: &[],
    promises: &[
        Promise::of("EM1"),
        Promise::of("EM2"),
        Promise::of("no-deadlock"),
        Promise::of("no-starvation"),
    ],
    cost: "3(k−1) per entry without conflict, at most 6(k−1) with; a set has k ≈ 2√n members (grid), √n \
        (plane)",
    notes: "S1, S4",
    options: &[
        OptionSpec {
            name: "sets",
            values: Values::Text("grid | plane | all"),
            default: "grid",
            help: "whom to ask: row and column, a line of a projective plane (n = q²+q+1, q prime or 1), \
                everybody",
        },
        OptionSpec {
            name: "variant",
            values: Values::Variants(&[
                rules("complete"),
                as_printed("plain"),
                mutant("mutant-untold"),
                mutant("mutant-one-short"),
                mutant("mutant-keeps-vote"),
                mutant("mutant-hopeful"),
            ]),
            default: "complete",
            help: "with votes that can be asked back, without (S1's, which deadlocks), or deliberately \
                broken",
        },
    ],
    cost_model: Some(CostModel { arrange: lock::arrange, bound, again: None }),
};

#[derive(Clone, Copy)]
enum Sets {
    Grid,
    Plane,
    All,
}

pub(in crate::catalogue) fn build(
    entry: &'static Entry,
    request: &Request<'_>,
    options: &Options<'_>,
) -> Result<Chosen, SetupError> {
    let shape = shape::shape_for(entry, request)?;
    shape::detector_for(entry, request)?;
    let n = request.ids.len();
    let sets = [("grid", Sets::Grid), ("plane", Sets::Plane), ("all", Sets::All)];
    let sets = match options.choice("sets", &sets)?.unwrap_or(Sets::Grid) {
        Sets::Grid => VotingSets::Grid,
        Sets::All => VotingSets::All,
        Sets::Plane => VotingSets::plane(n).ok_or_else(|| SetupError::Value {
            option: "sets",
            value: "plane".to_owned(),
            reason: format!(
                "expected grid or all for {n} processes: a plane has 3, 7, 13, 31, 57, 133, … points"
            ),
        })?,
    };
    let variants = [
        ("complete", Variant::Complete),
        ("plain", Variant::Plain),
        ("mutant-untold", Variant::MutantUntold),
        ("mutant-one-short", Variant::MutantOneShort),
        ("mutant-keeps-vote", Variant::MutantKeepsVote),
        ("mutant-hopeful", Variant::MutantHopeful),
    ];
    let variant = options.choice("variant", &variants)?.unwrap_or_default();
    let network = Complete::new(request.ids.len());
    let system: System<Maekawa> = System::new(network, request.ids.clone(), Config { sets, variant })?;
    Ok(Setup::new(entry, system, None, &shape).shift_invariant().into())
}

/// A member of a set other than the asker costs three messages without conflict. With conflict there may also
/// be an inquiry, its answer, and the vote that is given a second time.
fn bound(_: Arrangement, start: Start, n: usize, option: &dyn Fn(&str) -> Option<String>) -> Option<Bound> {
    if n == 0 || option("variant").is_some() {
        return None;
    }
    let count = n as f64;
    let root = ((n - 1).isqrt() + 1) as f64;
    let (others, is_square) = match option("sets").as_deref() {
        None | Some("grid") => (2.0 * (root - 1.0), root * root == count),
        Some("plane") => ((n - 1).isqrt() as f64, true),
        Some("all") => (count - 1.0, true),
        Some(_) => return None,
    };
    let formula = |grid: &'static str, plane: &'static str, all: &'static str| match option("sets").as_deref()
    {
        Some("plane") => plane,
        Some("all") => all,
        _ => grid,
    };
    let one = formula("6(⌈√n⌉−1)", "3q, n = q²+q+1", "3(n−1)");
    match start {
        Start::One if is_square => lock::exactly(3.0 * others, one),
        // In a short row there are fewer to ask.
        Start::One => lock::at_most(3.0 * others, one),
        Start::All => {
            let all = formula("12n(⌈√n⌉−1)", "6nq, n = q²+q+1", "6n(n−1)");
            lock::at_most(6.0 * others * count, all)
        }
    }
}
