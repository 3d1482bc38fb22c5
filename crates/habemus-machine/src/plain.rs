//! What a process says and asks for, as plain data.

use std::fmt::{Debug, Display};

use habemus::{Address, Delay, Status, Suspicion};

/// Everything that one handler asked for: a [`Step`](habemus::Step) without its type. It is reused from call
/// to call.
#[derive(Debug, Default)]
pub struct PlainStep {
    /// What stable storage must hold before anything else is done.
    pub persist: Option<Vec<u8>>,
    /// What to do, in this order.
    pub effects: Vec<PlainEffect>,
}

/// One thing to do: an [`Effect`](habemus::Effect) without its type.
#[derive(Debug)]
pub enum PlainEffect {
    /// Send a message.
    Send {
        /// To whom.
        to: Address,
        /// The message.
        bytes: Vec<u8>,
        /// What people see of it.
        label: Label,
    },
    /// Wake the process later; a running timer of the same key is replaced.
    SetTimer {
        /// What to give back then.
        key: Vec<u8>,
        /// After how long.
        after: Delay,
        /// Whether it is a detector's background traffic.
        background: bool,
    },
    /// Do not wake it after all.
    CancelTimer {
        /// The timer's key.
        key: Vec<u8>,
    },
    /// Tell the application.
    Output(Encoded),
    /// The detector speaks.
    Suspicion(Suspicion),
}

/// What people see of a message or timer. The text is empty where nobody records.
#[derive(Clone, Debug, Default)]
pub struct Label {
    /// The name of the message's kind; empty for timers.
    pub kind: &'static str,
    /// All of it, to be shown.
    pub text: String,
    /// Whether it is a detector's background traffic.
    pub background: bool,
}

/// A command or an output: for people, for the record, and for those who know its type.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// To be shown.
    pub label: String,
    /// For the record; null where nobody records.
    pub value: serde_json::Value,
    /// For those who know its type, in postcard.
    pub bytes: Vec<u8>,
    /// What it makes of the process, if anything.
    pub status: Option<Status>,
}

impl Encoded {
    /// It depends on the problem only, so few copies are compiled.
    pub(crate) fn new<T: serde::Serialize + Display>(
        value: &T,
        status: Option<Status>,
        labels: Labels,
    ) -> Self {
        let json = match labels {
            Labels::Written => serde_json::to_value(value).unwrap_or_default(),
            Labels::Omitted => serde_json::Value::Null,
        };
        Encoded { label: value.to_string(), value: json, bytes: encode(value), status }
    }
}

/// Whether to write down what messages, timers and outputs look like, which costs time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// Somebody records the run.
    Written,
    /// Nobody reads them: they are empty.
    Omitted,
}

impl Labels {
    /// They are written if the run is recorded.
    pub fn of_a_run(recorded: bool) -> Self {
        if recorded { Labels::Written } else { Labels::Omitted }
    }
}

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no {0} of this algorithm")]
pub struct Garbled(
    /// What they should be.
    pub &'static str,
);

/// The text of a label, which costs time and is empty unless somebody reads it.
pub(crate) fn text_of(value: &dyn Debug, labels: Labels) -> String {
    match labels {
        Labels::Written => format!("{value:?}"),
        Labels::Omitted => String::new(),
    }
}

pub(crate) fn encode(value: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("a plain value can always be serialised")
}

/// All of the bytes must belong to the value, which should be a `what`.
pub(crate) fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, Garbled> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(Garbled(what)),
    }
}
