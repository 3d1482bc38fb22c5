//! An experiment: a scenario, the ways that it went, and a place in one of them.

use habemus_scenario::{Processes, Scenario, script, to_toml};
use habemus_sim::{PendingKind, Refusal, Stepper};
use habemus_trace::MessageId;

use crate::branch::Branch;
use crate::error::LabError;
use crate::pending::ordinal;

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

    /// Makes sure that the event after the cursor is known, if there is one.
    pub fn look_ahead(&mut self) {
        let next = self.cursor + 1;
        self.branches[self.current].explore(next);
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

    /// Does something at the cursor: at the end of what is known the branch goes on with it, before the end
    /// another branch begins.
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

    /// Begins another branch at the cursor, in which nothing else is done yet.
    pub fn fork(&mut self) {
        let fork = self.branch().copy(self.current, self.cursor);
        self.branches.push(fork);
        self.current = self.branches.len() - 1;
        self.here = self.branch().at(self.cursor);
    }

    /// Lets a message arrive right after an event: earlier than it does by itself, or later.
    ///
    /// # Errors
    /// If it was not sent by then, or what the network promises forbids it.
    pub fn move_message(&mut self, sender: u64, number: u64, after: u64) -> Result<(), LabError> {
        let history = self.branch().history();
        let passage = history.passage(MessageId { sender, number }).ok_or(LabError::Missing("message"))?;
        let arrives = passage.delivered.map(|record| history.event_of(record as usize));
        if after < history.event_of(passage.sent as usize) {
            return Err(LabError::Early);
        }
        let is_later = arrives.is_some_and(|arrives| after >= arrives);
        let from = match arrives {
            // It is held back just before it would arrive.
            Some(arrives) if is_later => arrives - 1,
            _ => after.min(self.branch().known()),
        };
        let state = self.branch().at(from);
        let found = state.pending().into_iter().find_map(|pending| match pending.what {
            PendingKind::Message { from, number: other, nth, .. } if (from, other) == (sender, number) => {
                Some((nth, pending.process, pending.due))
            }
            _ => None,
        });
        let (nth, to, due) = found.ok_or(LabError::Refused(Refusal::NoMessage))?;
        if nth == 0 {
            return Err(LabError::Refused(Refusal::Paused));
        }
        let message = format!("{}{sender}->{to}", ordinal(nth));
        let text = if is_later {
            let then = history.records_of(after).last().map_or(0, |record| record.at);
            let by = then.saturating_sub(due.unwrap_or(then)) / 1_000_000 + 1;
            format!("delay {message} by {by}ms")
        } else {
            format!("deliver {message}")
        };
        let before = (self.current, self.cursor);
        self.seek(from);
        if let Err(error) = self.act(&text) {
            self.seek(before.1);
            return Err(error);
        }
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
