//! What a supervisor says to a node, and what the node says to it: JSON lines over standard input and output.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::{ProblemKind, Status};
use habemus_trace::Record;
use serde::{Deserialize, Serialize};

/// What a node is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupervisorCommand {
    /// Start the process, if it is on standby: at once, or so many nanoseconds after the run began.
    Begin {
        /// When the run begins, in nanoseconds since 1970; the trace counts from then.
        zero: u64,
        /// When to start, in nanoseconds since the run began.
        at: u64,
    },
    /// Another node is reached at this address from now on.
    Peer {
        /// Which.
        id: u64,
        /// Where.
        address: String,
    },
    /// Say how things are.
    Status,
    /// A command of the problem: "elect", "acquire", "release".
    Command {
        /// The word.
        word: String,
        /// Of which process; empty for the one without a name.
        #[serde(default)]
        name: String,
    },
    /// A command of the problem to the process without a name, given ahead of its time.
    CommandAt {
        /// The word.
        word: String,
        /// When, in nanoseconds since the run began.
        at: u64,
    },
    /// Send nothing to these.
    Cut {
        /// Identifiers.
        to: Vec<u64>,
        /// Whether what is sent meanwhile is lost, as in the simulator, even if the algorithm assumes that
        /// every message arrives. Otherwise it then waits, as it would wait for the end of a real outage.
        loses: bool,
    },
    /// Send to these again; none named: to all.
    Heal {
        /// Identifiers.
        to: Vec<u64>,
    },
    /// Lose messages with this probability.
    Loss(f64),
    /// Send messages twice with this probability.
    Duplication(f64),
    /// Pretend this latency, written as in a scenario file.
    Latency {
        /// To whom; `None`: to all others.
        to: Option<u64>,
        /// For example "1ms..10ms".
        latency: String,
    },
    /// Pretend no latency longer than this: a network that has become synchronous.
    LatencyLimit(Duration),
    /// Whether messages with pretended latency stay in order.
    Fifo(bool),
    /// Everything sent takes so much longer.
    Slow(Duration),
    /// The clock runs at this rate.
    Drift(f64),
    /// The oracle says that this one crashed.
    Suspect(u64),
    /// The oracle says that this one is back.
    Restore(u64),
    /// Work in a loop as a client of the lock.
    Clients(Clients),
    /// Stop at each of these occasions, report it, and wait for [`SupervisorCommand::Go`].
    Break(Vec<Moment>),
    /// Go on.
    Go,
    /// Stop for good, in good order.
    Stop,
}

/// What a client of a lock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clients {
    /// How often it enters.
    pub entries: u32,
    /// How long it stays inside.
    pub hold: (Duration, Duration),
    /// How long it waits before it asks.
    pub think: (Duration, Duration),
    /// The mean time between two wishes to enter that come up at random, instead of thinking.
    pub wish_every: Option<Duration>,
}

/// A moment in the life of a process at which something can be done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// It has sent a message of this kind.
    Sends(String),
    /// It has received one, and what it does about it has not yet happened.
    Receives(String),
    /// It has become leader.
    Leads,
    /// It has learnt who leads.
    Follows,
    /// It has entered.
    Enters,
    /// It has left.
    Leaves,
    /// It suspects another.
    Suspects,
    /// It has decided.
    Decides,
}

impl Moment {
    /// What a change of status is, if anything.
    pub(crate) fn of_change(before: Status, after: Status) -> Option<Moment> {
        match (before, after) {
            (_, Status::Leading) => Some(Moment::Leads),
            (_, Status::Following(_)) => Some(Moment::Follows),
            (_, Status::Inside) => Some(Moment::Enters),
            (Status::Inside, Status::Idle) => Some(Moment::Leaves),
            (_, Status::Decided) => Some(Moment::Decides),
            _ => None,
        }
    }
}

/// What a node says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeReport {
    /// It listens.
    Listening {
        /// For other nodes.
        address: String,
        /// For HTTP, if it does.
        http: Option<String>,
    },
    /// Something happened that is not background.
    Record {
        /// To which process; empty for the one without a name.
        name: String,
        /// What.
        record: Record,
    },
    /// How things are.
    Status(Overview),
    /// It stands still at this moment.
    Reached(Moment),
    /// It has gone on, and the step is over.
    Went,
}

/// How things are at a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The node's identifier.
    pub id: u64,
    /// The cluster's name.
    pub cluster: String,
    /// The algorithm's name.
    pub algorithm: String,
    /// What it solves.
    pub problem: ProblemKind,
    /// Whether its process has started.
    pub started: bool,
    /// What its process is.
    pub status: Status,
    /// The leader it knows, if the problem is an election and it knows one.
    pub leader: Option<u64>,
    /// The leader's term; 0 where the algorithm has none.
    pub term: u64,
    /// The locks by name, and what this node's process of each is.
    pub locks: BTreeMap<String, Status>,
    /// The peers it has a connection to.
    pub connected: Vec<u64>,
    /// The peers it suspects.
    pub suspected: Vec<u64>,
    /// Timers that run, other than those of detectors, and messages held back.
    pub pending: usize,
    /// Messages its processes sent, by kind.
    pub sent: BTreeMap<String, u64>,
    /// Messages its processes received.
    pub received: u64,
    /// How often its processes entered a critical section.
    pub entries: u64,
}
