//! What the explorer knows of a system: everything in numbers.
//!
//! Exploration works on numbers alone, so it is compiled once and not for each of the catalogue's processes.
//! Behind this trait a [`Numbered`](crate::numbered::Numbered) system runs the handlers, and only when a local state
//! meets a cause for the first time.

use habemus::Suspicion;
use habemus_trace::Trace;
use smallvec::SmallVec;

/// A system of processes whose local states, items in inboxes, observations and monitors have numbers.
pub(crate) trait Protocol: Send + Sync {
    /// How many processes there are.
    fn len(&self) -> usize;

    /// Whether processes are interchangeable: all that happens might as well happen one place further on.
    fn turns(&self) -> bool;

    /// The local state one place further on.
    fn turned(&self, local: u32) -> u32;

    /// The item one place further on.
    fn turned_item(&self, item: u32) -> u32;

    /// The monitors after all that they saw was seen one place further on.
    fn turned_monitors(&self, monitors: u32) -> u32;

    /// Whether the first of these processes may send to the second.
    fn linked(&self, from: u8, to: u8) -> bool;

    /// Starts the process at `place`, whose client has `wants` commands to give.
    fn start(&self, place: u8, wants: u32) -> Result<Reacted, Trouble>;

    /// What comes of `cause` at a process in this local state: one reaction for each way in which the process
    /// may choose; none if the cause does not apply.
    fn react(&self, local: u32, cause: Cause) -> Result<Reacted, Trouble>;

    /// What comes of a timer at a process that crashes in the midst of it, for ever, when so many of its messages
    /// are sent.
    fn halfway(&self, local: u32, timer: u32, choice: usize, kept: usize) -> Result<Reaction, Trouble>;

    /// Whether the system works in pulses.
    fn in_pulses(&self) -> bool;

    /// What the process is.
    fn life(&self, local: u32) -> Life;

    /// Whether its client waits for what it asked for.
    fn is_waiting(&self, local: u32) -> bool;

    /// Whether its client may ask for something more, and may as well leave it at that.
    fn may_leave_it(&self, local: u32) -> bool;

    /// The timers that run.
    fn alarms(&self, local: u32) -> Vec<Alarm>;

    /// The local state after time has passed.
    fn elapse(&self, local: u32, nanos: u64) -> u32;

    /// The item that tells a process what the oracle detector thinks.
    fn notice(&self, suspicion: Suspicion) -> u32;

    /// Whether nothing but the distances between logical times matters to the processes.
    fn is_timeless(&self) -> bool;

    /// The least logical time in a local state; `None` if it holds none.
    fn least_time(&self, local: u32) -> Option<u64>;

    /// The least logical time in an item.
    fn least_time_of_item(&self, item: u32) -> Option<u64>;

    /// The local state with all logical times earlier by so much.
    fn earlier(&self, local: u32, by: u64) -> u32;

    /// The item with all logical times earlier by so much.
    fn earlier_item(&self, item: u32, by: u64) -> u32;

    /// What kind of item this is.
    fn item(&self, item: u32) -> ItemKind;

    /// The monitors before anything has happened.
    fn monitors(&self) -> u32;

    /// The monitors after these observations.
    fn watch(&self, monitors: u32, observations: u32) -> u32;

    /// Which properties are broken, as a set of bits, and which would be if nothing more happened.
    fn judge(&self, monitors: u32) -> Judgement;

    /// The kinds of status, as a set of bits, that these observations bring a process to.
    fn reached(&self, observations: u32) -> u32;

    /// Tells a run as a trace, and how the property that it breaks is broken.
    fn narrate(&self, story: &Story<'_>) -> (Trace, Option<String>);
}

/// What makes a process react.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// An item of its inbox is delivered.
    Item(u32),
    /// Its client asks for what comes next.
    Client,
    /// A timer runs out.
    Timer(u32),
    /// It crashes; for ever, if nothing can recover it.
    Crash {
        /// Whether it will never come back.
        forever: bool,
    },
    /// It starts for the first time.
    Start,
    /// It starts again.
    Recover,
    /// The oracle detector speaks without an item.
    Suspicion(Suspicion),
}

/// One reaction for each way to choose. Nearly always there is one, which needs no memory of its own.
pub(crate) type Reacted = SmallVec<[Reaction; 1]>;

/// What comes of a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reaction {
    /// The local state afterwards.
    pub(crate) local: u32,
    /// What goes into which inbox.
    pub(crate) sends: SmallVec<[(u8, u32); 4]>,
    /// What monitors see of it; 0 is nothing.
    pub(crate) observations: u32,
}

impl Reaction {
    /// The local state afterwards, the observations, the sends.
    pub(crate) fn parts(&self) -> (u32, u32, &[(u8, u32)]) {
        (self.local, self.observations, &self.sends)
    }
}

/// Whether a process reacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Up,
    /// It has crashed and may come back.
    Down,
    /// It has crashed and will not come back.
    Dead,
}

/// A timer that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alarm {
    pub(crate) timer: u32,
    /// It runs out no earlier than after this many nanoseconds,
    pub(crate) least: u64,
    /// and no later than after this many.
    pub(crate) most: u64,
}

/// What lies in an inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// A message from this process.
    Message { from: u8 },
    /// What the oracle detector says of this process.
    Notice { about: u8 },
}

/// What is to be said of a state's monitors: sets of bits, one for each property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Those that are broken.
    pub(crate) broken: u32,
    /// Those that would be broken if nothing more happened; without those broken already.
    pub(crate) lacking: u32,
}

/// One step of a run, as the explorer names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Label {
    /// At which process; 0 for what happens to the network.
    pub(crate) actor: u8,
    pub(crate) act: Act,
    /// Which of the reactions.
    pub(crate) choice: u16,
}

/// What can be done in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    Deliver(u32),
    /// An item reaches a process that is down.
    Discard(u32),
    Client,
    Timer {
        timer: u32,
        /// The nanoseconds that everybody waits before.
        elapsed: u64,
    },
    Crash {
        forever: bool,
    },
    /// A timer runs out, and the process crashes when so many of its messages are sent.
    Halfway {
        timer: u32,
        elapsed: u64,
        kept: u16,
    },
    Recover,
    Suspect(u8),
    Lose(u32),
    Duplicate(u32),
    /// Links between this set of processes and the others fail.
    Cut(u32),
    Heal,
}

/// A run to be told.
#[derive(Debug)]
pub(crate) struct Story<'a> {
    /// How many commands each client had to give, and which reaction each process chose when it started.
    pub(crate) opening: &'a [(u32, u16)],
    pub(crate) steps: &'a [Label],
    /// The property that it breaks.
    pub(crate) property: usize,
    /// From which step on the run goes round in a circle, if it does.
    pub(crate) cycle: Option<usize>,
    /// What the run shows.
    pub(crate) title: String,
}

/// Why exploration cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A handler gave two different steps for the same event.
    Nondeterministic { process: u64, event: String },
    /// A handler minds the logical times themselves, though its process says that only their distances matter.
    Timebound { process: u64, event: String },
    /// A handler minds its place, though its process says that processes are interchangeable.
    Placebound { process: u64, event: String },
    /// A process sent where it has no link.
    NoLink { process: u64, to: u64, event: String },
}
