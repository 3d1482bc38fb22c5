//! The central trait: one process of a distributed algorithm, and what its handlers may ask for.
//!
//! An algorithm is a value of a type that implements [`Process`]. It holds the variables of the paper and
//! nothing else, and it has one handler per kind of event. A handler changes the variables and asks for
//! effects through its [`Context`]; it cannot do anything by itself: no clock, no socket, no
//! generator, no thread. Whoever drives the process (simulator, model checker, real node) carries the
//! effects out.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::time::Duration;

use crate::{Context, Problem, System, Topology};

/// Where a process is reached: its position in the system, 0 … n−1.
///
/// An address is not an identifier. Algorithms compare [`Id`]s; they use addresses only to say where a
/// message goes or came from. On an anonymous ring there are addresses but nobody has an identifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Address(pub u32);

impl Address {
    /// The address as an index into a table with one row per process.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// The identifier of a process: unique, and ordered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Id(pub u64);

impl Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(not(feature = "serde"))]
mod data {
    /// Serialisation is a feature; without it every type qualifies.
    pub trait Portable {}
    impl<T> Portable for T {}
}
#[cfg(feature = "serde")]
mod data {
    /// What can be written to a trace, a socket or a disk.
    pub trait Portable: serde::Serialize + serde::de::DeserializeOwned {}
    impl<T: serde::Serialize + serde::de::DeserializeOwned> Portable for T {}
}
pub use data::Portable;

/// A plain value: it can be copied, printed, compared, hashed and ordered (and serialised, with `serde`).
pub trait Data: Clone + Debug + Eq + Hash + Ord + Portable + Send + Sync + 'static {}
impl<T: Clone + Debug + Eq + Hash + Ord + Portable + Send + Sync + 'static> Data for T {}

/// What processes send each other.
pub trait Message: Data {
    /// The name of the message's kind, as the statistics count it; see [`kinds!`](crate::kinds).
    fn kind(&self) -> &'static str;

    /// The names of all kinds, where they are known: the model checker says which never arrived.
    fn kinds() -> &'static [&'static str] {
        &[]
    }

    /// The names of all kinds that a process may send, with those of whatever it stands on or chooses
    /// between; none, if they are not known. Who waits for another waits in vain.
    fn vocabulary() -> Vec<&'static str> {
        Self::kinds().to_vec()
    }

    /// Whether this is background traffic of a detector (a heartbeat): diagrams leave it out unless asked.
    fn is_background(&self) -> bool {
        false
    }
}

/// A process that sends nothing needs no kinds.
impl Message for () {
    fn kind(&self) -> &'static str {
        "Nothing"
    }
}

/// Implements [`Message`] for an enum: the kind of a message is the name of its variant.
///
/// ```
/// #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
/// # #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
/// enum Message { Ping, Pong(u8) }
/// habemus::kinds!(Message: Ping, Pong);
/// assert_eq!(habemus::Message::kind(&Message::Pong(3)), "Pong");
/// ```
#[macro_export]
macro_rules! kinds {
    ($message:ident: $($variant:ident),+ $(,)?) => {
        impl $crate::Message for $message {
            fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => stringify!($variant),)+ }
            }

            fn kinds() -> &'static [&'static str] {
                &[$(stringify!($variant)),+]
            }
        }
    };
}

/// The command type that the problem of `P` fixes.
pub type Command<P> = <<P as Process>::Problem as Problem>::Command;
/// The output type that the problem of `P` fixes.
pub type Output<P> = <<P as Process>::Problem as Problem>::Output;

/// One process of a distributed algorithm: its variables, and a handler per kind of event.
pub trait Process: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// What is solved: election, mutual exclusion, … It fixes the commands and the outputs.
    type Problem: Problem;
    /// What the process knows of the network: a ring has a successor, a complete graph has everyone.
    type Topology: Topology;
    /// The constants of the algorithm: variants and timeouts, the same for all processes.
    type Config: Clone + Debug + Send + Sync + 'static;
    /// What it sends.
    type Message: Message;
    /// What it can be woken for. A timer is named by its value: setting it again replaces it.
    type Timer: Data;
    /// What survives a crash; `()` if nothing does.
    type Stable: Data + Default;

    /// Whether handlers read [`Context::now`]. Only a detector that measures intervals may; the model
    /// checker, which has no clock, refuses such a process.
    const READS_CLOCK: bool = false;

    /// Whether the process works in pulses: everything sent in one must arrive before the next. Drivers
    /// refuse to run such a process on a network that does not promise this.
    const SYNCHRONOUS: bool = false;

    /// Whether a timer drives background traffic, as for [`Message::is_background`].
    fn is_background(timer: &Self::Timer) -> bool {
        let _ = timer;
        false
    }

    /// "On initialization". `recovered` is what stable storage held after a crash; it is `None` at the first
    /// start, and after a crash with amnesia, which the process cannot tell from a first start.
    fn on_start(recovered: Option<Self::Stable>, cx: &mut Context<'_, Self>) -> Self;

    /// A message has arrived.
    fn on_message(&mut self, from: Address, message: Self::Message, cx: &mut Context<'_, Self>);

    /// A timer has run out.
    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Context<'_, Self>) {
        let _ = (timer, cx);
    }

    /// The application asks for something.
    fn on_command(&mut self, command: Command<Self>, cx: &mut Context<'_, Self>) {
        let _ = (command, cx);
    }

    /// The failure detector below has changed its mind about a process.
    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        let _ = (suspicion, cx);
    }

    /// The process is about to be stopped in good order: it can hand over what it has. Nothing happens to it
    /// after this, and nobody may rely on its being asked: a crash asks nobody.
    fn on_stop(&mut self, cx: &mut Context<'_, Self>) {
        let _ = cx;
    }

    /// The timer at whose end it is over with what the process has told its application, that it leads or
    /// that it is inside, unless something comes in time that renews it; `None`: no time ends it. Whoever
    /// wants to know for how long the word holds need not wait for the process itself to take it back.
    fn lease(&self, system: &System<Self>) -> Option<Self::Timer> {
        let _ = system;
        None
    }

    /// What the election in it says at this moment, if there is one whose leaders have leases and terms:
    /// locks can share it.
    fn leadership(&self, system: &System<Self>) -> Option<crate::election::Output> {
        let _ = system;
        None
    }

    /// What stable storage holds after the processes have got other addresses, because one has come or gone:
    /// nothing in it may name an address of before, and what was promised is kept. `None`: that is
    /// impossible.
    fn renumbered(stable: Self::Stable) -> Option<Self::Stable> {
        let _ = stable;
        None
    }

    /// For how long at most a process of this system binds itself by what it says: a vote that it denies to
    /// others, a permission that it does not take back. A system that takes the place of this one begins
    /// after it.
    fn longest_lease(system: &System<Self>) -> Option<Duration> {
        let _ = system;
        None
    }
}

/// What a failure detector says of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Suspicion {
    /// It seems to have crashed.
    Suspect(Address),
    /// It is heard of again.
    Restore(Address),
}

/// Something that happens to a process: the argument of one handler, as a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event<M, T, C> {
    /// [`Process::on_message`].
    Message {
        /// Who sent it.
        from: Address,
        /// What was sent.
        message: M,
    },
    /// [`Process::on_timer`].
    Timer(T),
    /// [`Process::on_command`].
    Command(C),
    /// [`Process::on_suspicion`].
    Suspicion(Suspicion),
}

/// The [`Event`] type of a process.
pub type EventOf<P> = Event<<P as Process>::Message, <P as Process>::Timer, Command<P>>;

impl<M, T, C> Event<M, T, C> {
    /// Calls the handler that this event belongs to.
    pub fn dispatch<P>(self, process: &mut P, cx: &mut Context<'_, P>)
    where
        P: Process<Message = M, Timer = T>,
        P::Problem: Problem<Command = C>,
    {
        match self {
            Event::Message { from, message } => process.on_message(from, message, cx),
            Event::Timer(timer) => process.on_timer(timer, cx),
            Event::Command(command) => process.on_command(command, cx),
            Event::Suspicion(suspicion) => process.on_suspicion(suspicion, cx),
        }
    }
}

/// How long a timer runs. The driver draws the jitter between the two ends; an algorithm never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Delay {
    /// It runs at least this long.
    pub min: Duration,
    /// It runs at most this long.
    pub max: Duration,
}

impl From<Duration> for Delay {
    fn from(exactly: Duration) -> Self {
        Delay { min: exactly, max: exactly }
    }
}

impl From<std::ops::RangeInclusive<Duration>> for Delay {
    fn from(range: std::ops::RangeInclusive<Duration>) -> Self {
        Delay { min: *range.start(), max: *range.end() }
    }
}

/// Everything one handler asked for.
///
/// `persist` is durable before any effect is carried out: no message may promise what a crash could undo.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step<P: Process> {
    /// What stable storage must hold from now on.
    pub persist: Option<P::Stable>,
    /// What to do, in this order.
    pub effects: Vec<Effect<P>>,
}

impl<P: Process> Default for Step<P> {
    fn default() -> Self {
        Step { persist: None, effects: Vec::new() }
    }
}

/// One thing that a handler asked its driver to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<P: Process> {
    /// Send `message` to the process at `to`.
    Send {
        /// The receiver.
        to: Address,
        /// What it gets.
        message: P::Message,
    },
    /// Wake me with `timer`; replaces a running timer of the same value.
    SetTimer {
        /// Which one.
        timer: P::Timer,
        /// After how long.
        after: Delay,
    },
    /// Do not wake me with this timer after all.
    CancelTimer(P::Timer),
    /// Tell the application.
    Output(Output<P>),
    /// Tell the algorithm that stands on this detector.
    Suspicion(Suspicion),
}

/// A source of choices: a seeded generator in the simulator, every branch in the model checker.
pub trait Chooser {
    /// A number below `bound`, which is at least 1.
    fn choose(&mut self, bound: u32) -> u32;
}

impl<F: FnMut(u32) -> u32> Chooser for F {
    fn choose(&mut self, bound: u32) -> u32 {
        self(bound)
    }
}
