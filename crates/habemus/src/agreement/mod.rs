//! Agreement (S1, "Problemas de acordo"): processes decide on a value that some of them proposed, whatever
//! fails.
//!
//! S1 names three problems of one family. In *consensus* each process proposes a value and all decide on one
//! of them. For the *Byzantine generals* one process commands and the others must obey the same order,
//! although some, perhaps the commander himself, are traitors. In *interactive consistency* all decide on the
//! same vector, with one value for each process. Algorithms for all three take the same command and give the
//! same outputs.

use std::fmt;

use crate::property::{AgreementMonitor, Population};
use crate::{Id, Problem, ProblemKind, Status};

pub mod byzantine_generals;
pub mod flood_set;
pub mod hearsay;
pub mod interactive_consistency;
#[cfg(test)]
mod lockstep;
pub mod paxos;
pub mod signed_generals;
pub mod treason;

/// The problem of deciding on the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Agreement;

/// Something to agree on: an order to generals, or any number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Value {
    /// The order that generals obey who have heard nothing better.
    Retreat,
    /// The other order.
    Attack,
    /// Any number.
    Number(u64),
}

impl Value {
    /// The value that people write as `attack`, `retreat` or a number.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "retreat" => Some(Value::Retreat),
            "attack" => Some(Value::Attack),
            // A sign is no part of a number here.
            _ if text.starts_with('+') => None,
            number => number.parse().ok().map(Value::Number),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Retreat => f.write_str("retreat"),
            Value::Attack => f.write_str("attack"),
            Value::Number(number) => write!(f, "{number}"),
        }
    }
}

/// A value is shown in messages as people write it.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What an application asks of an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Command {
    /// Propose a value; without one, the process has a value of its own, which is its identifier unless the
    /// algorithm says otherwise in an [`Output::Proposed`].
    Propose(Option<Value>),
}

impl Command {
    /// What the process with this identifier proposes when it is told so.
    pub fn value(self, id: Id) -> Value {
        let Command::Propose(value) = self;
        value.unwrap_or(Value::Number(id.0))
    }
}

/// What a process tells its application.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Output {
    /// This is the value.
    Decided(Value),
    /// These are the values of all processes, by address.
    DecidedVector(Vec<Value>),
    /// I am the commander, or one of them, and this is my value.
    Proposed(Value),
    /// I am a traitor. The others cannot know it; whoever watches must, for nothing is asked of traitors.
    Betrays,
    /// What this process has passed on was not signed by those that it names.
    Refused(Id),
}

impl Output {
    /// The values that this decides on, if it does.
    pub fn decision(&self) -> Option<&[Value]> {
        match self {
            Output::Decided(value) => Some(std::slice::from_ref(value)),
            Output::DecidedVector(values) => Some(values),
            Output::Proposed(_) | Output::Betrays | Output::Refused(_) => None,
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Propose(Some(value)) => write!(f, "propose {value}"),
            Command::Propose(None) => f.write_str("propose"),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Decided(value) => write!(f, "decides {value}"),
            Output::DecidedVector(values) => write!(f, "decides {}", listed(values)),
            Output::Proposed(value) => write!(f, "orders {value}"),
            Output::Betrays => f.write_str("is a traitor"),
            Output::Refused(from) => write!(f, "refuses what {from} forged"),
        }
    }
}

/// Values in a row: "(1, 2, 3)".
pub(crate) fn listed(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    format!("({})", values.join(", "))
}

impl Problem for Agreement {
    const KIND: ProblemKind = ProblemKind::Agreement;
    type Command = Command;
    type Output = Output;
    type Monitor = AgreementMonitor;

    const COMMANDS: &'static [&'static str] = &["propose"];

    /// `propose`, or `propose` and a value.
    fn command(word: &str) -> Option<Command> {
        match word.strip_prefix("propose")? {
            "" => Some(Command::Propose(None)),
            value => Value::parse(value.strip_prefix(' ')?).map(|value| Command::Propose(Some(value))),
        }
    }

    fn status_after_command(_: &Command) -> Option<Status> {
        None
    }

    fn status_after_output(output: &Output) -> Option<Status> {
        output.decision().map(|_| Status::Decided)
    }

    fn next_command(_: &Status) -> Option<Command> {
        None
    }

    fn decision(output: &Output) -> Option<String> {
        match output {
            Output::Decided(value) => Some(value.to_string()),
            Output::DecidedVector(values) => Some(listed(values)),
            _ => None,
        }
    }

    fn monitors(_: &Population) -> Vec<AgreementMonitor> {
        AgreementMonitor::all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_proposed_in_words() {
        assert_eq!(Agreement::command("propose"), Some(Command::Propose(None)));
        assert_eq!(Agreement::command("propose attack"), Some(Command::Propose(Some(Value::Attack))));
        assert_eq!(Agreement::command("propose 7"), Some(Command::Propose(Some(Value::Number(7)))));
        for wrong in ["propose ", "propose +7", "propose -7", "propose flee", "proposes", "propose7", "elect"]
        {
            assert_eq!(Agreement::command(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_command_reads_as_it_is_written() {
        for text in ["propose", "propose retreat", "propose attack", "propose 12"] {
            assert_eq!(Agreement::command(text).map(|command| command.to_string()).as_deref(), Some(text));
        }
    }
}
