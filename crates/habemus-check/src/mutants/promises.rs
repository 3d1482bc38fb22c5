//! Whether an algorithm keeps what it promises in the small models, too.

use std::panic::{AssertUnwindSafe, catch_unwind};

use habemus::catalogue::{Claim, Entry};

use super::model::Model;
use super::models::{models, pairs};
use crate::error::CheckError;
use crate::guarantees::RowContract;
use crate::report::CheckVerdict;
use crate::selection::NEED_CLOCKS;
use crate::setting::{ANY_NUMBER, Start};

/// A promise that a small model refutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenPromise {
    /// In which model.
    pub model: String,
    /// Which property; or what else is wrong with the algorithm.
    pub by: String,
    /// In how many steps.
    pub steps: Option<usize>,
}

/// What came of an algorithm in its small models.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    /// How many there are.
    pub models: usize,
    /// Those in which it was not kept; each property is named once.
    pub broken: Vec<BrokenPromise>,
}

/// Checks what an algorithm promises in every small model, and where two different faults come together, each
/// explored up to so many states. Nothing is compared with a record or with other sources: what is promised
/// is in the catalogue.
pub fn rehearse(entry: &'static Entry, states: u64) -> Rehearsal {
    let mut rehearsal = Rehearsal::default();
    for model in models(entry).into_iter().chain(pairs(entry)).filter(somebody_stays_who_was_told) {
        let Some(contract) = RowContract::of(&model.request(), &model.setting) else { continue };
        let max_states = model.setting.max_states.map_or(states, |max| max.min(states));
        let model = model.with(|setting| (setting.keep_going, setting.max_states) = (true, Some(max_states)));
        let is_promised = |name: &str| contract.claim(name) == Claim::Promised;
        rehearsal.models += 1;
        for (by, steps) in asked(&model, is_promised).iter().flat_map(|model| broken(model, is_promised)) {
            if rehearsal.broken.iter().all(|known| known.by != by) {
                rehearsal.broken.push(BrokenPromise { model: model.name.clone(), by, steps });
            }
        }
    }
    rehearsal
}

/// Whether somebody who was told to elect stays up where several crash. Else all may crash before what they
/// sent has arrived anywhere, or where it has, and then nobody is left who knows of an election.
fn somebody_stays_who_was_told(model: &Model) -> bool {
    let crashes = usize::from(model.setting.budget.crashes);
    match &model.setting.start {
        Start::These(told) => crashes < 2 || told.len() > crashes,
        _ => true,
    }
}

/// The model, and once more for each promise about which request happened before which, which is tracked for
/// its sake alone: that makes more states, and with any number of entries it has no end.
fn asked(model: &Model, is_promised: impl Fn(&str) -> bool) -> Vec<Model> {
    let has_end = model.setting.entries != ANY_NUMBER && !model.setting.clocks;
    let about_order = NEED_CLOCKS.into_iter().filter(|name| has_end && is_promised(name));
    let clocked = about_order.map(|name| model.clone().property(name).with(|setting| setting.clocks = true));
    clocked.chain([model.clone()]).collect()
}

/// What a model finds wrong.
fn broken(model: &Model, is_promised: impl Fn(&str) -> bool) -> Vec<(String, Option<usize>)> {
    match catch_unwind(AssertUnwindSafe(|| model.check())) {
        Err(_) => vec![("a panic".to_owned(), None)],
        Ok(Err(CheckError::Unfit(_) | CheckError::Setup(_))) => Vec::new(),
        Ok(Err(error)) => vec![(error.to_string(), None)],
        Ok(Ok(report)) => {
            let violated = report.properties.iter().filter(|line| line.verdict == CheckVerdict::Violated);
            let violated = violated.filter(|line| is_promised(&line.name));
            violated.map(|line| (line.name.clone(), line.steps)).collect()
        }
    }
}
