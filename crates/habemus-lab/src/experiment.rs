//! An experiment: a scenario, the ways that it went, and a place in one of them.

use habemus_scenario::{Processes, Scenario, script, to_toml};
use habemus_sim::Stepper;

use crate::branch::Branch;
use crate::error::LabError;

/// So many events at a time are followed, so that whoever waits can be told how far it is.
const AT_A_TIME: u64 = 10_000;

/// An experiment.
pub struct Experiment {
    branches: Vec<Branch>,
    current: usize,
    cursor: u64,
    /// The state at the cursor.
    here: Stepper,
}

impl Experiment {
    /// The beginning of a scenario.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn new(scenario: &Scenario) -> Result<Self, LabError> {
        let trunk = Branch::begin(scenario)?;
        let here = trunk.at(0);
        Ok(Experiment { branches: vec![trunk], current: 0, cursor: 0, here })
    }

    /// The branch that is looked at.
    pub fn branch(&self) -> &Branch {
        &self.branches[self.current]
    }

    /// All branches.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Which branch is looked at.
    pub fn current(&self) -> usize {
        self.current
    }

    /// After how many events it is looked at.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The state that is looked at.
    pub fn here(&self) -> &Stepper {
        &self.here
    }

    /// The scenario that leads to the state that is looked at, with all that is done by hand in this branch.
    pub fn scenario(&self) -> Scenario {
        self.branch().scenario().clone()
    }

    /// The same as a file.
    pub fn toml(&self) -> String {
        to_toml(&self.scenario())
    }

    /// Goes to the moment after so many events, or to the end if there are fewer.
    pub fn seek(&mut self, events: u64) {
        self.branches[self.current].explore(events);
        let target = events.min(self.branch().known());
        let branch = &self.branches[self.current];
        if target >= self.cursor && target - self.cursor <= AT_A_TIME {
            branch.lead(&mut self.here, target);
        } else {
            self.here = branch.at(target);
        }
        self.cursor = target;
    }

    /// Goes so many events on, or back.
    pub fn step(&mut self, by: i64) {
        self.seek(self.cursor.saturating_add_signed(by));
    }

    /// Goes towards the end; says whether it is there.
    pub fn run_on(&mut self) -> bool {
        let known = self.branch().known();
        let more = self.branches[self.current].explore(known + AT_A_TIME);
        self.seek(self.branch().known());
        !more
    }

    /// Does something at the cursor: at the end of what is known the branch goes on with it, before the end another
    /// branch begins.
    ///
    /// # Errors
    /// If it cannot be read or done; then nothing has changed.
    pub fn act(&mut self, text: &str) -> Result<(), LabError> {
        let ids = self.branch().scenario().ids.clone();
        let action = script::parse_action(text, &Processes::new(&ids));
        let action = action.map_err(|error| LabError::Action(error.to_string()))?;
        if self.cursor == self.branch().known() {
            self.branches[self.current].act(&action)?;
        } else {
            let fork = self.branch().depart(self.current, self.cursor, &action)?;
            self.branches.push(fork);
            self.current = self.branches.len() - 1;
        }
        self.here = self.branch().at(self.cursor + 1);
        self.cursor += 1;
        Ok(())
    }

    /// Looks at another branch, at the same moment if it has it.
    ///
    /// # Errors
    /// If there is no such branch.
    pub fn visit(&mut self, branch: usize) -> Result<(), LabError> {
        let known = self.branches.get(branch).ok_or(LabError::Missing("branch"))?.known();
        self.current = branch;
        self.cursor = self.cursor.min(known);
        self.here = self.branch().at(self.cursor);
        Ok(())
    }
}
