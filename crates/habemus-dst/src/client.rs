//! Clients: what they ask for, what they are told, and what they believe. They know their own clocks and what
//! they were answered, nothing else.

mod keys;
mod lock;
mod watch;

use std::time::Duration;

use bytes::Bytes;
use habemus_store::{Answer, Command, Revised, Revision, StoreError};

use crate::clock::{Micros, SkewedClock};
use crate::history::History;
use crate::random::Random;
pub(crate) use keys::KeyClient;
pub(crate) use lock::LockClient;
pub(crate) use watch::WatchClient;

/// One call of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId {
    pub(crate) client: usize,
    pub(crate) number: u64,
}

/// What a client asks a member for.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// To have this done. Whoever enters a queue is answered when it is inside.
    Command(Command),
    /// What a key is now.
    Read(Bytes),
    /// All keys that begin like this, with their values.
    ReadAll(Bytes),
    /// What the first in a queue says, whose keys begin like this.
    Leader(Bytes),
    /// Everything that happens, from this revision on.
    Watch(Revision),
}

impl Ask {
    /// What kind of request it is.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Ask::Command(command) => match command {
                Command::Put(_) => "Put",
                Command::Delete(_) => "Delete",
                Command::Txn(_) => "Txn",
                Command::OpenSession { .. } => "OpenSession",
                Command::RenewSessions(_) => "Renew",
                Command::CloseSession { .. } => "CloseSession",
                Command::Enter(_) => "Enter",
                Command::Leave(_) => "Leave",
                _ => "Command",
            },
            Ask::Read(_) => "Read",
            Ask::ReadAll(_) => "ReadAll",
            Ask::Leader(_) => "Leader",
            Ask::Watch(_) => "Watch",
        }
    }
}

/// What a client is told.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// It was done, or refused for a reason that all members agree on.
    Applied { answer: Result<Answer, StoreError>, revision: Revision },
    /// It is inside.
    Inside { key: Bytes, token: Revision },
    /// Its session ended while it waited.
    SessionOver,
    /// What a key is.
    Found { revision: Revision, value: Option<Bytes> },
    /// What keys are.
    FoundAll { revision: Revision, values: Vec<(Bytes, Bytes)> },
    /// What happened.
    Events(Vec<Revised>),
    /// What happened before this is not known any more.
    Compacted(Revision),
    /// Nothing was done.
    Refused,
    /// Nobody knows whether it was done.
    Unknown,
}

impl Reply {
    /// The names of all kinds, as [`kind`](Reply::kind) says them.
    pub(crate) const KINDS: [&'static str; 9] =
        ["Done", "Not done", "Inside", "Session over", "Found", "Events", "Compacted", "Refused", "Unknown"];

    /// What kind of answer it is.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Reply::Applied { answer: Ok(_), .. } => "Done",
            Reply::Applied { answer: Err(_), .. } => "Not done",
            Reply::Inside { .. } => "Inside",
            Reply::SessionOver => "Session over",
            Reply::Found { .. } | Reply::FoundAll { .. } => "Found",
            Reply::Events(_) => "Events",
            Reply::Compacted(_) => "Compacted",
            Reply::Refused => "Refused",
            Reply::Unknown => "Unknown",
        }
    }
}

/// A client of some kind.
pub(crate) enum Client {
    Keys(KeyClient),
    Lock(LockClient),
    Watch(WatchClient),
}

/// What a client can do when it is awake.
pub(crate) struct Hands<'a> {
    pub(crate) client: usize,
    /// True time, which only the history may know.
    pub(crate) now: Micros,
    pub(crate) clock: &'a SkewedClock,
    pub(crate) random: &'a mut Random,
    pub(crate) history: &'a mut History,
    pub(crate) calls: &'a mut u64,
    /// How long it rests at most between two calls.
    pub(crate) think: Micros,
    pub(crate) asks: Vec<(CallId, Ask)>,
    /// Whether another member shall be asked from now on.
    pub(crate) switches: bool,
    /// Nothing new is begun any more.
    pub(crate) is_ending: bool,
}

impl Hands<'_> {
    pub(crate) fn local(&self) -> Duration {
        self.clock.at(self.now)
    }

    /// Asks, and gives the number of the call.
    pub(crate) fn ask(&mut self, ask: Ask) -> u64 {
        *self.calls += 1;
        let number = *self.calls;
        self.asks.push((CallId { client: self.client, number }, ask));
        number
    }
}

impl Client {
    /// Of what it believes to be inside, and its token.
    pub(crate) fn inside(&self) -> Option<(Bytes, u64)> {
        match self {
            Client::Lock(client) => client.inside(),
            Client::Keys(_) | Client::Watch(_) => None,
        }
    }

    /// Whether it still listens to what it is told in this call.
    pub(crate) fn listens_to(&self, call: u64) -> bool {
        match self {
            Client::Watch(client) => client.present == Some(call),
            Client::Keys(_) | Client::Lock(_) => false,
        }
    }

    /// When it has something to do again, in true time, if it is told nothing before.
    pub(crate) fn next_wake(&self, clock: &SkewedClock, is_ending: bool) -> Micros {
        match self {
            Client::Keys(client) => client.next_wake(is_ending),
            Client::Lock(client) => client.next_wake(clock, is_ending),
            Client::Watch(client) => client.next_wake(),
        }
    }

    /// The cluster is another one now: it forgets what it was about to do.
    pub(crate) fn begin_anew(&mut self, hands: &mut Hands<'_>) {
        match self {
            Client::Keys(client) => client.begin_anew(),
            Client::Lock(client) => client.vanish(hands),
            Client::Watch(client) => client.present = None,
        }
    }

    /// It has something to do.
    pub(crate) fn wake(&mut self, hands: &mut Hands<'_>) {
        match self {
            Client::Keys(client) => client.wake(hands),
            Client::Lock(client) => client.wake(hands),
            Client::Watch(client) => client.wake(hands),
        }
    }

    /// It is told something.
    pub(crate) fn hear(&mut self, call: u64, reply: Reply, hands: &mut Hands<'_>) {
        match self {
            Client::Keys(client) => client.hear(call, reply, hands),
            Client::Lock(client) => client.hear(call, reply, hands),
            Client::Watch(client) => client.hear(call, reply, hands),
        }
    }
}
