//! What is explored: the circumstances under which a system runs, and how far to look.

use std::path::PathBuf;
use std::time::Duration;

use habemus::catalogue::{Circumstances, Entry, Fault, Timing};
use habemus::{Address, ProblemKind};
use serde::Serialize;

/// Of entries: there is no limit. It can be explored to the end only where states come back.
pub const ANY_NUMBER: u32 = u32::MAX;

/// The circumstances of a check. Everything that they leave open is tried in every way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// In which order messages arrive.
    pub order: DeliveryOrder,
    /// When timers run out.
    pub timers: Timers,
    /// How often the environment may do harm.
    pub budget: Budget,
    /// Who may crash; empty: everybody.
    pub faulty: Vec<Address>,
    /// Whether recoveries are sure: whoever has crashed comes back as long as the budget has one left, as a
    /// partition heals in the end. Else they only may come, and nothing is owed to who waits for one.
    pub sure_recovery: bool,
    /// Who starts an election.
    pub start: Start,
    /// How often each client of a lock enters; [`ANY_NUMBER`]: as often as it likes.
    pub entries: u32,
    /// The clients of a lock; empty: everybody.
    pub clients: Vec<Address>,
    /// Whether to track which request to enter happened before which, as EM3 needs it. It makes more states.
    pub clocks: bool,
    /// The properties to check.
    pub properties: Properties,
    /// Whether to go on after the first violation, to decide every property.
    pub keep_going: bool,
    /// Whether to look for runs without end in which somebody waits for ever.
    pub liveness: bool,
    /// Whether to leave out orders of events that make no difference to any property.
    pub reduction: bool,
    /// Whether to merge states that are equal up to a rotation of all processes, up to a shift of all logical
    /// clocks, or up to the names of terms, where processes have that symmetry.
    pub symmetry: bool,
    /// One reduction of either kind that is not used even so.
    pub without: Option<Reduction>,
    /// How many threads explore.
    pub threads: usize,
    /// Steps from the beginning beyond which nothing is explored.
    pub max_depth: Option<u32>,
    /// States after which exploration stops.
    pub max_states: Option<u64>,
    /// Bytes after which exploration stops.
    pub max_memory: Option<u64>,
    /// Where states go that memory has no room for; without it, exploration stops where memory ends.
    pub spill: Option<Spill>,
}

/// States on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// Where they go. Files there have no name, where the system allows it, and are gone when the check ends.
    pub directory: PathBuf,
    /// How many bytes of states are kept in memory until they go there. The search itself needs memory as
    /// well, and what is given back stays with the program: with a quarter of [`Setting::max_memory`] there
    /// is some for all.
    pub after: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Setting {
            order: DeliveryOrder::Fifo,
            timers: Timers::AnyTime,
            budget: Budget::default(),
            faulty: Vec::new(),
            sure_recovery: false,
            start: Start::EveryChoice,
            entries: 1,
            clients: Vec::new(),
            clocks: false,
            properties: Properties::Promised,
            keep_going: false,
            liveness: true,
            reduction: true,
            symmetry: true,
            without: None,
            threads: 1,
            max_depth: None,
            max_states: None,
            max_memory: None,
            spill: None,
        }
    }
}

impl Setting {
    /// Whether a reduction may be used where it applies.
    pub(crate) fn uses(&self, reduction: Reduction) -> bool {
        let kind = match reduction {
            Reduction::PartialOrder | Reduction::InvisibleDeliveries => self.reduction,
            Reduction::Rotation | Reduction::ClockShift | Reduction::Terms => self.symmetry,
        };
        kind && self.without != Some(reduction)
    }
}

/// What can be left out. The first two are about orders of events, the others about states that are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// Ample sets: the steps of one process before those of all others.
    PartialOrder,
    /// Deliveries of which nothing comes at once, merged with the receiver's next visible step.
    InvisibleDeliveries,
    /// States that are equal up to a rotation of all processes.
    Rotation,
    /// States that are equal up to a shift of all logical clocks.
    ClockShift,
    /// States that are equal up to the names of terms.
    Terms,
}

impl Reduction {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::PartialOrder => "partial order",
            Reduction::InvisibleDeliveries => "invisible deliveries",
            Reduction::Rotation => "rotation",
            Reduction::ClockShift => "clock shift",
            Reduction::Terms => "terms",
        }
    }
}

/// In which order messages arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOrder {
    /// On each link in the order in which they were sent.
    Fifo,
    /// In any order.
    Any,
}

/// When timers run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timers {
    /// At any time, however long they were set for: nothing is known about speed.
    AnyTime,
    /// Only when nothing else is under way (a message, a notice of the oracle, a client's command), and then
    /// in the order of their deadlines: everything else is faster than any timer.
    MessagesFirst,
    /// The same, but whoever is inside a lock is as slow as it likes, and may stay there while time passes.
    LateClients,
    /// When their time has come, by clocks that drift; messages take their time, and clients as long as they
    /// like.
    Timed(Speed),
}

/// What is known about speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    /// By how many millionths a clock may run fast or slow, at any time.
    pub drift: u32,
    /// How long a message takes, at least and at most.
    pub delay: (Duration, Duration),
}

/// No clock may drift by more millionths: one that nearly stands still measures nothing.
pub const MAX_DRIFT: u32 = 900_000;

/// Clocks that drift by more millionths are worse than [`Fault::Drift`] says: no timeout can be relied on.
const KNOWN_DRIFT: u32 = 100_000;

impl Default for Speed {
    /// As fast as the network of a scenario that says nothing, and clocks as wrong as the majority election
    /// allows for.
    fn default() -> Self {
        Speed { drift: 10_000, delay: (Duration::from_millis(1), Duration::from_millis(10)) }
    }
}

impl Timers {
    /// Whether timers run out in the order of their deadlines.
    pub(crate) fn have_order(self) -> bool {
        matches!(self, Timers::MessagesFirst | Timers::LateClients)
    }

    /// What is known about speed, if timers run by clocks.
    pub(crate) fn speed(self) -> Option<Speed> {
        match self {
            Timers::Timed(speed) => Some(speed),
            Timers::AnyTime | Timers::MessagesFirst | Timers::LateClients => None,
        }
    }

    /// What an algorithm assumes, by its entry: one that needs no synchrony is checked without any.
    pub fn usual(entry: &Entry) -> Self {
        if entry.model.timing == Timing::Asynchronous { Timers::AnyTime } else { Timers::MessagesFirst }
    }
}

impl Setting {
    /// What may go wrong among so many processes that solve this problem.
    pub fn circumstances(&self, problem: ProblemKind, processes: usize) -> Circumstances {
        let Budget {
            crashes,
            recoveries,
            amnesia,
            losses,
            duplications,
            suspicions,
            partitions,
            wrong_timeouts,
        } = self.budget;
        let speed = self.timers.speed();
        let drift = speed.map_or(0, |speed| speed.drift);
        // By clocks, clients take as long as they like.
        let may_stay = speed.is_some() && problem == ProblemKind::MutualExclusion;
        let faults = [
            (self.order == DeliveryOrder::Any, Fault::Reordering),
            (
                self.timers == Timers::AnyTime || wrong_timeouts > 0 || drift > KNOWN_DRIFT,
                Fault::WrongTimeouts,
            ),
            (drift > 0, Fault::Drift),
            (self.timers == Timers::LateClients || may_stay, Fault::LateHolder),
            (crashes > 0, Fault::Crash),
            (crashes > 0 && recoveries > 0 && !amnesia, Fault::Recovery),
            (crashes > 0 && recoveries > 0 && amnesia, Fault::Amnesia),
            (losses > 0, Fault::Loss),
            (duplications > 0, Fault::Duplication),
            (suspicions > 0, Fault::FalseSuspicion),
            (partitions > 0, Fault::Partition),
        ];
        let faults = faults.into_iter().filter(|(may_come, _)| *may_come).map(|(_, fault)| fault).collect();
        Circumstances { faults, down: usize::from(crashes), lasting: false, processes }
    }

    /// Whether an election is sure to be started: whoever is to do it may crash before.
    pub(crate) fn is_sure_to_start(&self) -> bool {
        self.budget.crashes == 0 && self.start != Start::These(Vec::new())
    }
}

/// How often the environment may do harm, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Crashes: between two steps, and in pulses also in the midst of one, when some of its messages are
    /// sent.
    pub crashes: u8,
    /// Recoveries of crashed processes.
    pub recoveries: u8,
    /// Whether recovering processes have forgotten what they had stored.
    pub amnesia: bool,
    /// Lost messages.
    pub losses: u8,
    /// Messages delivered once more.
    pub duplications: u8,
    /// Suspicions of live processes by the oracle detector; it takes each back later.
    pub suspicions: u8,
    /// Partitions into two groups; each heals in the end.
    pub partitions: u8,
    /// Timers that run out too early, where messages come before timers.
    pub wrong_timeouts: u8,
}

/// No budget can be greater.
pub const MAX_FAULTS: u8 = 7;

impl Budget {
    /// Whether nothing goes wrong.
    pub fn is_empty(&self) -> bool {
        Budget { amnesia: false, ..*self } == Budget::default()
    }
}

/// Who starts an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Every choice of at least one process.
    EveryChoice,
    /// One process, whichever.
    AnyOne,
    /// These.
    These(Vec<Address>),
}

/// The properties to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Properties {
    /// Those that the algorithm promises.
    Promised,
    /// Every property of the problem.
    All,
    /// These.
    Named(Vec<String>),
}
