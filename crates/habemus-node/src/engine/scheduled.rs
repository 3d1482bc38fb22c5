//! Commands that a supervisor has given ahead of their time.

use std::collections::BTreeMap;

use crate::clock::BootInstant as Instant;

/// Commands by the time at which they are to be given, and then in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct ScheduledCommands {
    commands: BTreeMap<(Instant, u64), (String, String)>,
    next_number: u64,
}

impl ScheduledCommands {
    /// The process called `name` is to be given the command `word`.
    pub(super) fn add(&mut self, due: Instant, name: &str, word: String) {
        self.next_number += 1;
        self.commands.insert((due, self.next_number), (name.to_owned(), word));
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.commands.first_key_value().map(|((due, _), _)| *due)
    }

    /// The next command, if it is due at `due`: the name of the process, and the word.
    pub(super) fn pop(&mut self, due: Instant) -> Option<(String, String)> {
        let first = self.commands.first_entry().filter(|first| first.key().0 == due)?;
        Some(first.remove())
    }

    pub(super) fn len(&self) -> usize {
        self.commands.len()
    }
}
