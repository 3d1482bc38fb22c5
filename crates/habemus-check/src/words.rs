//! The commands and outputs of a problem, by number: compiled for each problem, not for each algorithm.

use habemus::{Problem, Status};
use serde::Serialize;
use serde_json::Value;

use crate::intern::Interner;

/// What clients and processes say to each other.
pub(crate) trait Words: Send + Sync {
    /// What a client begins with.
    fn first_command(&self) -> Option<u32>;

    /// What a client that works in a loop asks next, when its process has come to this status.
    fn next_command(&self, status: Status) -> Option<u32>;

    /// The command that a trace tells of.
    fn read_command(&self, value: &Value) -> Result<u32, String>;

    fn command(&self, command: u32) -> Word;

    fn output(&self, output: u32) -> Word;

    /// What a command makes of a process, if anything.
    fn status_after_command(&self, command: u32) -> Option<Status>;

    /// What an output makes of a process, if anything.
    fn status_after_output(&self, output: u32) -> Option<Status>;
}

/// A command or an output, to be shown and to be recorded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) label: String,
    pub(crate) value: Value,
    pub(crate) status: Option<Status>,
}

/// The words of a problem.
#[derive(Debug)]
pub(crate) struct Dictionary<Q: Problem> {
    pub(crate) commands: Interner<Q::Command>,
    pub(crate) outputs: Interner<Q::Output>,
}

impl<Q: Problem> Dictionary<Q> {
    pub(crate) fn new() -> Self {
        Dictionary { commands: Interner::new(), outputs: Interner::new() }
    }
}

impl<Q: Problem> Words for Dictionary<Q> {
    fn first_command(&self) -> Option<u32> {
        Q::COMMANDS.first().and_then(|word| Q::command(word)).map(|command| self.commands.number(command))
    }

    fn next_command(&self, status: Status) -> Option<u32> {
        Q::next_command(&status).map(|command| self.commands.number(command))
    }

    fn read_command(&self, value: &Value) -> Result<u32, String> {
        let command: Q::Command = serde_json::from_value(value.clone()).map_err(|why| why.to_string())?;
        Ok(self.commands.number(command))
    }

    fn command(&self, command: u32) -> Word {
        word(self.commands.value(command), self.status_after_command(command))
    }

    fn output(&self, output: u32) -> Word {
        word(self.outputs.value(output), self.status_after_output(output))
    }

    fn status_after_command(&self, command: u32) -> Option<Status> {
        Q::status_after_command(self.commands.value(command))
    }

    fn status_after_output(&self, output: u32) -> Option<Status> {
        Q::status_after_output(self.outputs.value(output))
    }
}

fn word<T: Serialize + std::fmt::Display>(value: &T, status: Option<Status>) -> Word {
    Word { label: value.to_string(), value: serde_json::to_value(value).unwrap_or_default(), status }
}
