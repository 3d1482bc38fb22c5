//! What happens in a system, in numbers: causes, reactions, and transitions between global states.

use habemus::Suspicion;
use smallvec::SmallVec;

use crate::rate::Rate;
use crate::zone::Picos;

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
    /// Those whose antecedent is met.
    pub(crate) at_stake: u32,
}

/// A transition from one global state to another: one step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Transition {
    /// At which process; 0 for what happens to the network.
    pub(crate) process: u8,
    pub(crate) kind: TransitionKind,
    /// Which of the reactions.
    pub(crate) choice: u16,
}

/// What happens in a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TransitionKind {
    Deliver(u32),
    /// An item reaches a process that is down.
    Discard(u32),
    Client,
    Timer {
        timer: u32,
        /// The nanoseconds that everybody waits before.
        elapsed: u64,
    },
    /// A timer runs out too early: messages are still under way, or other timers have shorter to go.
    WrongTimeout(u32),
    Crash {
        forever: bool,
    },
    /// A timer runs out, and the process crashes when these of its messages, as a set of bits, are sent.
    Halfway {
        timer: u32,
        elapsed: u64,
        kept: u32,
    },
    Recover,
    Suspect(u8),
    Lose(u32),
    Duplicate(u32),
    /// Links between this set of processes and the others fail.
    Cut(u32),
    Heal,
}

/// How a process begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// How many commands its client has to give.
    pub(crate) wants: u32,
    /// How fast its clock runs.
    pub(crate) rate: Rate,
    /// Which reaction it chooses as it starts.
    pub(crate) choice: u16,
}

/// A run that breaks a property, to be told.
#[derive(Debug)]
pub(crate) struct Counterexample<'a> {
    /// How each process begins.
    pub(crate) initial: &'a [Beginning],
    pub(crate) steps: &'a [Transition],
    /// When each step is taken, if there are clocks.
    pub(crate) moments: Option<&'a [Picos]>,
    /// The property that it breaks.
    pub(crate) property: usize,
    /// From which step on the run is a cycle, if it is one.
    pub(crate) cycle: Option<usize>,
    /// What the run shows.
    pub(crate) title: String,
}

/// Why exploration cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A handler gave two different steps for the same event.
    Nondeterministic { process: u64, event: String },
    /// A handler minds the logical times themselves, though its process says that only their distances
    /// matter.
    NotShiftInvariant { process: u64, event: String },
    /// A handler minds its address, though its process says that processes are interchangeable.
    NotRotationSymmetric { process: u64, event: String },
    /// A handler does more with terms than compare them and take the next one, though its process says
    /// otherwise.
    NotTermInvariant { process: u64, event: String },
    /// A process sent where it has no link.
    NoLink { process: u64, to: u64, event: String },
    /// Something is wrong with the files that states went to.
    Files { reason: String },
}
