//! The messages of a run beside what theory says of them.

use habemus::analysis::{Arrangement, BoundKind, Start};
use habemus::catalogue::Entry;
use habemus_report::{Statistics, circumstances};
use habemus_scenario::{Action, Scenario, TopologyChoice};
use serde::Serialize;

use crate::language::Language;
use crate::portuguese::cost_words;

/// The messages of a run beside what theory says of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meter {
    /// Messages sent.
    pub messages: u64,
    /// By kind.
    pub kinds: Vec<(String, u64)>,
    /// The figure of theory for a run like this, if there is one.
    pub bound: Option<f64>,
    /// What kind of figure it is, and its formula.
    pub theory: String,
    /// What the catalogue says of the cost.
    pub cost: &'static str,
}

impl Meter {
    pub(crate) fn new(
        entry: &Entry,
        scenario: &Scenario,
        statistics: &Statistics,
        language: Language,
    ) -> Self {
        let bound = bound(entry, scenario, Arrangement::Worst);
        let best = bound.as_ref().and_then(|_| self::bound(entry, scenario, Arrangement::Best));
        let words = bound.as_ref().map(|bound| {
            let is_dearest = best.as_ref().is_some_and(|best| best.messages < bound.messages);
            let kind = match bound.kind {
                // The dearest arrangement takes exactly so many, and this need not be it.
                BoundKind::Exactly if is_dearest => language.of("at most", "no máximo"),
                BoundKind::Exactly => language.of("exactly", "exatamente"),
                BoundKind::AtMost => language.of("at most", "no máximo"),
                BoundKind::OnAverage => language.of("on average", "em média"),
            };
            format!("{kind} {}", bound.formula)
        });
        Meter {
            messages: statistics.messages,
            kinds: statistics.by_kind.clone().into_iter().collect(),
            bound: bound.map(|bound| bound.messages),
            theory: words.unwrap_or_default(),
            cost: cost_words(entry.cost, language),
        }
    }
}

/// What theory says of such an arrangement, where nothing goes wrong and one starts, or all do, once.
fn bound(entry: &Entry, scenario: &Scenario, arrangement: Arrangement) -> Option<habemus::analysis::Bound> {
    let circumstances = circumstances(scenario, &entry.contract());
    let model = entry.cost_model.as_ref()?;
    if !circumstances.faults.is_empty() || circumstances.down > 0 {
        return None;
    }
    let commands = scenario.script.iter().filter_map(|cue| match &cue.action {
        Action::Command { processes, .. } => Some(processes.len()),
        _ => None,
    });
    let count = scenario.ids.len();
    let start = match commands.collect::<Vec<_>>()[..] {
        [1] => Start::One,
        [all] if all == count => Start::All,
        _ => return None,
    };
    let option = |name: &str| match (name, &scenario.topology) {
        ("topology", Some(TopologyChoice::Named(name))) => {
            (entry.topologies.first() != Some(&name.as_str())).then(|| name.clone())
        }
        _ => scenario.options.get(name).cloned(),
    };
    (model.bound)(arrangement, start, count, &option)
}
