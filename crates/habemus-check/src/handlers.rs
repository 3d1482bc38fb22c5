//! What the checker asks of the processes of a system: everything in numbers.
//!
//! Processes, messages, timers and stored values are of types of their algorithm. Behind this trait each
//! distinct value has a number, so that exploring, narrating and replaying are compiled once and not for each
//! algorithm of the catalogue. [`Erased`] alone is generic over the process, and does nothing but run
//! handlers and number what comes of it.

mod erased;
mod ran;

use std::cmp::Ordering;
use std::time::Duration;

use habemus::term::Sort;
use habemus::{Address, Delay, Suspicion};
use smallvec::SmallVec;

pub(crate) use erased::Erased;

use crate::branch::Branch;
use crate::terms::Terms;
use crate::watching::Watch;
use crate::words::Words;

/// The processes of a system, whose values have numbers. Equal values have equal numbers.
pub(crate) trait Handlers: Send + Sync {
    /// Runs the handler of an event; `None` if it does something else when it is run a second time.
    fn handle(&self, at: Address, event: Event, now: Duration, branch: &mut Branch) -> Option<Handled>;

    /// Whether the first of these processes may send to the second.
    fn linked(&self, from: Address, to: Address) -> bool;

    /// The commands and outputs of the problem.
    fn words(&self) -> &dyn Words;

    /// The monitors of these properties; whether an election is sure to be started, they must know.
    fn watch(&self, properties: &[&'static str], is_sure_to_start: bool) -> Box<dyn Watch>;

    /// What there is to show of a message.
    fn message(&self, message: u32) -> Described;

    /// A process as Rust shows it: its name and all its variables.
    fn variables(&self, process: u32) -> String;

    /// What there is to show of a timer.
    fn timer(&self, timer: u32) -> Described;

    /// What has never happened to a process so far.
    fn never(&self) -> Vec<Never>;

    /// How two timers are ordered, whatever their numbers.
    fn compare_timers(&self, one: u32, other: u32) -> Ordering;

    /// Whether only the distances between logical times matter to the processes.
    fn is_shift_invariant(&self) -> bool;

    /// The earliest logical time in a part of the system; `None` if it holds none.
    fn min_time(&self, part: Part) -> Option<u64>;

    /// A part of the system with all logical times later by so much; earlier, if that wraps around.
    fn shifted(&self, part: Part, by: u64) -> u32;

    /// How far the processes mind neither their identifiers nor their addresses.
    fn interchange(&self) -> Interchange;

    /// A part of the system with everybody at another address, which is given for each.
    fn moved(&self, part: TermPart, to: &[u32]) -> u32;

    /// Whether the processes do nothing with terms but compare them and take the next one.
    fn is_term_invariant(&self) -> bool;

    /// The terms in a part of the system.
    fn terms(&self, part: TermPart) -> Terms;

    /// A part of the system with its terms renamed.
    fn with_terms(&self, part: TermPart, rename: &dyn Fn(Sort, u64) -> u64) -> u32;
}

/// How far processes are interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interchange {
    /// Not at all.
    None,
    /// Each may be one address further on, as long as nobody fails.
    Rotation,
    /// Each may be one address further on, whoever fails.
    RotationWhoeverFails,
    /// Each may be anywhere, whoever fails.
    Permutation,
}

/// A part of a system whose logical times can be shifted, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Process(u32),
    Message(u32),
}

/// A part of a system that may hold terms, or name processes, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermPart {
    Process(u32),
    Message(u32),
    Timer(u32),
    Stored(u32),
    Output(u32),
}

impl TermPart {
    pub(crate) fn number(self) -> u32 {
        match self {
            TermPart::Process(number)
            | TermPart::Message(number)
            | TermPart::Timer(number)
            | TermPart::Stored(number)
            | TermPart::Output(number) => number,
        }
    }
}

/// Something that has never happened to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Never {
    /// No message of this kind was delivered.
    Message(&'static str),
    /// No timer with this name ran out, though one was set.
    Timer(String),
    /// No client gave a command.
    Command,
    /// The detector said nothing.
    Suspicion,
}

/// What happens to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Start(Storage),
    Message { process: u32, from: Address, message: u32 },
    Timer { process: u32, timer: u32 },
    Command { process: u32, command: u32 },
    Suspicion { process: u32, suspicion: Suspicion },
}

/// What stable storage holds for a process that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Nothing: it starts for the first time, or has forgotten everything.
    Lost,
    /// It has lived before and never stored anything.
    Blank,
    Holds(u32),
}

/// What a handler did: the process afterwards, and what it asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Handled {
    pub(crate) process: u32,
    pub(crate) persist: Option<u32>,
    pub(crate) effects: SmallVec<[Effect; 4]>,
    /// Whether it found out something about a time or a term that was out of reach.
    pub(crate) peeked: bool,
}

/// One thing that a handler asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Send { to: Address, message: u32 },
    SetTimer { timer: u32, after: Delay },
    CancelTimer(u32),
    Output(u32),
    Suspicion(Suspicion),
}

/// What people see of a message or a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Described {
    /// The name of the message's kind; empty for timers.
    pub(crate) kind: &'static str,
    pub(crate) label: String,
    pub(crate) background: bool,
}
