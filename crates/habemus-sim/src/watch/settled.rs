//! Whether everything that was asked for is done, for runs of which only the cost is of interest.

use habemus::{Address, Problem, Status};

use crate::observer::Notice;

/// Who still waits for something.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// Leaders elected, entries made, decisions taken.
    pub(super) done: u64,
    /// Whether who never asks by itself waits for the others' result, too.
    waits_idly: bool,
    /// Whether each process has what it can ask for: a leader, or to be out of the lock again,
    content: Vec<bool>,
    /// and how many have not.
    waiting: usize,
}

impl Settled {
    pub(super) fn new(processes: usize, waits_idly: bool) -> Self {
        Settled { done: 0, waits_idly, content: vec![false; processes], waiting: processes }
    }

    /// Whether something was done, and nobody waits.
    pub(super) fn is_settled(&self) -> bool {
        self.done > 0 && self.waiting == 0
    }

    pub(super) fn noticed<Q: Problem>(&mut self, process: Address, notice: Notice<'_, Q>) {
        match notice {
            Notice::Output(output) => {
                let Some(status) = Q::status_after_output(output) else { return };
                self.done += u64::from(matches!(status, Status::Leading | Status::Inside | Status::Decided));
                self.becomes(process, (status == Status::Idle) != self.waits_idly);
            }
            Notice::Crashed => self.becomes(process, true),
            Notice::Started { .. } => self.becomes(process, !self.waits_idly),
            Notice::Command(_) => self.becomes(process, false),
            _ => {}
        }
    }

    fn becomes(&mut self, process: Address, content: bool) {
        let before = std::mem::replace(&mut self.content[process.index()], content);
        self.waiting = self.waiting + usize::from(before) - usize::from(content);
    }
}
