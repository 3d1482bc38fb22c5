//! The panel about one process.

use habemus::Address;
use habemus_sim::Stepper;
use serde::Serialize;

use crate::branch::Branch;
use crate::language::Language;
use crate::texts::status_words;
use crate::variables::{Variable, read_variables};
use crate::why::{Reason, reasons};

/// All about one process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessPanel {
    /// Its identifier.
    pub id: u64,
    /// What it is, in words.
    pub status: String,
    /// Its variables, none while it is down.
    pub variables: Vec<Variable>,
    /// The names of those at the top that the last event changed.
    pub changed: Vec<String>,
    /// What its stable storage holds, if anything.
    pub stable: Vec<Variable>,
    /// Why it waits.
    pub why: Vec<Reason>,
}

impl ProcessPanel {
    pub(crate) fn new(
        branch: &Branch,
        here: &Stepper,
        before: Option<&Stepper>,
        at: usize,
        language: Language,
    ) -> Option<Self> {
        let ids = &branch.scenario().ids;
        let id = *ids.get(at)?;
        let name = |address: usize| ids.get(address).copied();
        let address = Address(at as u32);
        let parts = |text: Option<String>| match text {
            Some(text) => {
                let whole = read_variables(&text, &name);
                if whole.parts.is_empty() { vec![whole] } else { whole.parts }
            }
            None => Vec::new(),
        };
        let (variables, stable) = here.variables(address);
        let (variables, stable) = (parts(variables), parts(stable));
        let past = before.map(|before| parts(before.variables(address).0)).unwrap_or_default();
        let changed = |variable: &&Variable| !past.is_empty() && !past.contains(variable);
        let changed = variables.iter().filter(changed).map(|variable| variable.name.clone()).collect();
        let state = here.processes().into_iter().nth(at)?;
        Some(ProcessPanel {
            id,
            status: status_words(&state, language),
            variables,
            changed,
            stable,
            why: reasons(branch, here, id, language),
        })
    }
}
