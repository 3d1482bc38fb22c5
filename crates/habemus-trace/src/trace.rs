//! The trace: a header, then what happened, one record per event, as JSON lines.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use habemus::{ProblemKind, Status};
use serde::{Deserialize, Serialize};

use crate::label::Label;
use crate::origin::Origin;

/// The version of the format that this crate writes and reads.
pub const FORMAT: u32 = 1;

/// A whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// What ran.
    pub header: Header,
    /// What happened, in the order in which it happened.
    pub records: Vec<Record>,
}

/// The first line of a trace file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub format: u32,
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// What it solves.
    pub problem: ProblemKind,
    /// The scenario's title, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The identifier of each process, in the order of their addresses.
    pub processes: Vec<u64>,
    /// How they were connected.
    pub topology: String,
    /// The seed that repeats the run, if it was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How the processes were made, if whoever wrote the trace knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The number of the record, counted from 0, from which on the run can repeat itself for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<usize>,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// When, in nanoseconds since the run began.
    pub at: u64,
    /// The identifier of the process at which it happened; none for what happens to the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u64>,
    /// The vector clock of the event: how many events of each process (by identifier) it knows of, itself
    /// included. Empty for what happens to the network, and in systems too large for vector clocks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clock: BTreeMap<u64, u32>,
    /// What happened.
    #[serde(flatten)]
    pub what: Happening,
}

/// A message, in the whole of a trace: each sender numbers its own, so that a number alone means several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId {
    /// The identifier of the sender.
    pub sender: u64,
    /// The sender's number for it.
    pub number: u64,
}

impl Record {
    /// The message that was sent, delivered or dropped, if that is what happened.
    pub fn message(&self) -> Option<MessageId> {
        match (&self.what, self.process) {
            (Happening::Send { message, .. }, Some(sender)) => Some(MessageId { sender, number: *message }),
            (Happening::Deliver { message, from, .. } | Happening::Drop { message, from, .. }, _) => {
                Some(MessageId { sender: *from, number: *message })
            }
            _ => None,
        }
    }
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Happening {
    /// The process started.
    Start {
        /// Whether this is a restart after a crash (with or without what it had stored).
        recovered: bool,
    },
    /// It crashed.
    Crash,
    /// It stopped to react, as under SIGSTOP.
    Pause,
    /// It reacts again.
    Resume,
    /// It sent a message.
    Send {
        /// The number of the message, by which to find what became of it.
        message: u64,
        /// The identifier of the receiver.
        to: u64,
        /// The kind of the message: "Election".
        kind: Label,
        /// All of it, to be shown: "Election(17)".
        label: Label,
        /// Whether it is background traffic of a detector, to be left out of diagrams unless asked for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// It received a message. A duplicated message is delivered more than once.
    Deliver {
        /// The number of the message.
        message: u64,
        /// The identifier of the sender.
        from: u64,
        /// As in `send`.
        kind: Label,
        /// As in `send`.
        label: Label,
        /// As in `send`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// A message to this process was lost, now.
    Drop {
        /// The number of the message.
        message: u64,
        /// The identifier of the sender.
        from: u64,
        /// Why.
        why: Dropped,
    },
    /// A timer ran out.
    Timer {
        /// Which one.
        label: Label,
        /// As in `send`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// The application asked for something.
    Command {
        /// To be shown: "acquire".
        label: Label,
        /// The command itself.
        value: serde_json::Value,
        /// What the process is from now on, if that changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<Status>,
    },
    /// The process told its application something.
    Output {
        /// To be shown: "follows 28".
        label: Label,
        /// The output itself.
        value: serde_json::Value,
        /// What the process is from now on, if that changes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<Status>,
    },
    /// The detector at this process suspects another.
    Suspect {
        /// The identifier of the suspect.
        suspect: u64,
    },
    /// The detector at this process hears of another again.
    Restore {
        /// The identifier of the restored.
        restored: u64,
    },
    /// Variables of the process have other values after this step; only where somebody asked for them.
    State {
        /// Each variable that has changed, and its value.
        variables: Vec<(String, String)>,
    },
    /// Links stopped to carry messages, each from the first to the second.
    Cut {
        /// Pairs of identifiers.
        links: Vec<(u64, u64)>,
    },
    /// Links carry messages again.
    Heal {
        /// Pairs of identifiers.
        links: Vec<(u64, u64)>,
    },
    /// A property was broken.
    Violation {
        /// Its name.
        property: String,
        /// How.
        explanation: String,
    },
}

/// Why a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dropped {
    /// By chance.
    Loss,
    /// The link was cut.
    Cut,
    /// The receiver was down.
    Down,
}

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read at all.
    #[error("cannot read the trace: {0}")]
    Io(#[from] io::Error),
    /// There is not even a header.
    #[error("the trace is empty: its first line must be the header")]
    Empty,
    /// A line is not what it should be.
    #[error("line {line} of the trace is not a valid {what}: {why}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// Header or record.
        what: &'static str,
        /// What the JSON reader says.
        why: serde_json::Error,
    },
    /// It was written by another version.
    #[error("the trace has format {0}, but this program reads format {FORMAT}")]
    Format(u32),
}

impl Trace {
    /// Writes the trace as JSON lines.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut to, &self.header)?;
        writeln!(to)?;
        for record in &self.records {
            serde_json::to_writer(&mut to, record)?;
            writeln!(to)?;
        }
        to.flush()
    }

    /// Reads a trace that [`write`](Trace::write) wrote.
    ///
    /// # Errors
    /// If it is not a trace, or of another version; the error names the line.
    pub fn read(from: impl BufRead) -> Result<Trace, ReadError> {
        let mut lines = from.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (_, first) = lines.next().ok_or(ReadError::Empty)?;
        let header: Header =
            serde_json::from_str(&first?).map_err(|why| ReadError::Line { line: 1, what: "header", why })?;
        if header.format != FORMAT {
            return Err(ReadError::Format(header.format));
        }
        let mut records = Vec::new();
        for (line, text) in lines {
            let record = serde_json::from_str(&text?);
            records.push(record.map_err(|why| ReadError::Line { line, what: "record", why })?);
        }
        Ok(Trace { header, records })
    }
}
