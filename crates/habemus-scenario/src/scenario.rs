//! What a scenario says.

use std::collections::BTreeMap;
use std::time::Duration;

/// A scripted run. Processes are named by their identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What the run shows.
    pub title: Option<String>,
    /// Where the lecture notes describe it: "S4".
    pub notes: Option<String>,
    /// The algorithm's name in the catalogue.
    pub algorithm: String,
    /// The identifiers, in the order of their addresses in the topology.
    pub ids: Vec<u64>,
    /// How the processes are connected; `None` leaves it to the algorithm.
    pub topology: Option<TopologyChoice>,
    /// The failure detector, by name; `None` leaves it to the algorithm.
    pub detector: Option<String>,
    /// Options of the algorithm and of its detector, as text; the catalogue knows what they mean.
    pub options: BTreeMap<String, String>,
    /// The seed of everything drawn at random.
    pub seed: u64,
    /// What the processes choose, in this order, before the seed draws.
    pub choices: Vec<u32>,
    /// The network.
    pub network: Network,
    /// What happens when.
    pub script: Vec<Cue>,
    /// Faults drawn at random.
    pub random: Option<RandomFaults>,
    /// The names of the locks that clients want, each an instance of the algorithm of its own; none: one
    /// without a name.
    pub resources: Vec<String>,
    /// What the clients of a lock do.
    pub workload: Option<Workload>,
    /// When to stop.
    pub until: Until,
    /// Never go past this much virtual time.
    pub time_limit: Option<Duration>,
    /// Never go past this many events.
    pub event_limit: u64,
    /// What must come out.
    pub expect: Expectations,
}

/// The events after which a run is cut off, unless told otherwise.
pub const DEFAULT_EVENT_LIMIT: u64 = 1_000_000_000;

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            title: None,
            notes: None,
            algorithm: String::new(),
            ids: Vec::new(),
            topology: None,
            detector: None,
            options: BTreeMap::new(),
            seed: 1,
            choices: Vec::new(),
            network: Network::default(),
            script: Vec::new(),
            random: None,
            resources: Vec::new(),
            workload: None,
            until: Until::Quiet,
            time_limit: None,
            event_limit: DEFAULT_EVENT_LIMIT,
            expect: Expectations::default(),
        }
    }
}

/// How the processes are connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopologyChoice {
    /// One of the shapes by name: `complete`, `ring`, `two-way-ring`, `line`, `star`, `tree`, `grid`,
    /// `hypercube`, `random` (degree about 4; the scenario's seed draws it).
    Named(String),
    /// These links, between identifiers.
    Links(Vec<(u64, u64)>),
}

/// The network between the processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What is promised about time.
    pub model: TimeModel,
    /// How long a message takes.
    pub latency: Latency,
    /// Latency of particular links (from, to), instead of `latency`.
    pub links: BTreeMap<(u64, u64), Latency>,
    /// Whether messages on one link arrive in the order in which they were sent.
    pub fifo: bool,
    /// The probability that a message is lost.
    pub loss: f64,
    /// The probability that a message arrives twice.
    pub duplication: f64,
}

impl Default for Network {
    fn default() -> Self {
        Network {
            model: TimeModel::Asynchronous,
            latency: Latency::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(10) },
            links: BTreeMap::new(),
            fifo: true,
            loss: 0.0,
            duplication: 0.0,
        }
    }
}

/// What is promised about time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeModel {
    /// Everything sent in one pulse arrives before the next.
    Synchronous {
        /// The length of a pulse.
        pulse: Duration,
    },
    /// Nothing.
    Asynchronous,
    /// Nothing before the Global Stabilization Time; afterwards a message takes at most `delta`.
    PartiallySynchronous {
        /// The Global Stabilization Time.
        gst: Duration,
        /// The bound after it. Messages sent before it arrive by `gst + delta`.
        delta: Duration,
    },
    /// Nothing happens by itself: each message, timer and suspicion waits until the script calls it. When the
    /// script is over, what still waits happens as on an asynchronous network.
    Scripted,
}

/// How long a message takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// Always the same.
    Constant(Duration),
    /// Anything between the two, equally likely.
    Uniform {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Memoryless with this mean.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// With this median, and this standard deviation of the logarithm: a long tail.
    LogNormal {
        /// Half of the messages are faster.
        median: Duration,
        /// The standard deviation of the natural logarithm.
        sigma: f64,
    },
}

impl Latency {
    /// The longest that a message may take; `None` if there is no longest.
    pub fn longest(&self) -> Option<Duration> {
        match self {
            Latency::Constant(always) => Some(*always),
            Latency::Uniform { max, .. } => Some(*max),
            Latency::Exponential { .. } | Latency::LogNormal { .. } => None,
        }
    }
}

/// An action and its occasion.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// When.
    pub occasion: Occasion,
    /// What.
    pub action: Action,
}

/// When an action takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// At this time.
    At(Duration),
    /// As soon as this happens; the action takes place at once, before anything else of the same step.
    When(Trigger),
    /// When so many events have taken place, lines of the script among them, before the next one.
    After(u64),
}

/// Something that an action can wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The process at which it happens; `None` for any.
    pub process: Option<u64>,
    /// What happens.
    pub what: TriggerKind,
    /// The how manyth time, counted from 1.
    pub nth: u32,
}

/// What a trigger waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// The process sends a message of this kind.
    Sends(String),
    /// The process receives a message of this kind.
    Receives(String),
    /// The process becomes leader.
    Leads,
    /// The process learns who leads.
    Follows,
    /// The process enters the critical section.
    Enters,
    /// The process leaves the critical section.
    Leaves,
    /// The process decides.
    Decides,
    /// The process crashes.
    Crashes,
    /// The process suspects another.
    Suspects,
}

/// Something done to the system from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A command of the problem, by its word ("elect", "acquire"), to these processes.
    Command {
        /// The word, and the value or name if the command takes one: "propose attack", "acquire orders".
        word: String,
        /// To whom.
        processes: Vec<u64>,
    },
    /// These processes crash.
    Crash(Vec<u64>),
    /// These processes start again.
    Recover {
        /// Who.
        processes: Vec<u64>,
        /// Whether they have forgotten what they had stored.
        amnesia: bool,
    },
    /// These processes stop to react; what arrives waits.
    Pause(Vec<u64>),
    /// They react again.
    Resume(Vec<u64>),
    /// Everything that these processes send takes so much longer; zero makes them normal again.
    Slow {
        /// Who.
        processes: Vec<u64>,
        /// How much longer.
        by: Duration,
    },
    /// The clocks of these processes run at this rate from now on: 1.1 is ten per cent fast.
    Drift {
        /// Who.
        processes: Vec<u64>,
        /// The rate.
        rate: f64,
    },
    /// These links carry nothing, each from the first to the second.
    Cut(Vec<(u64, u64)>),
    /// Only processes of the same group can talk; those not named form one more group.
    Partition(Vec<Vec<u64>>),
    /// These links carry messages again; none named: all of them.
    Heal(Vec<(u64, u64)>),
    /// Messages are lost with this probability from now on.
    Loss(f64),
    /// The oracle detector at the first process falsely suspects the second.
    Suspect {
        /// Whose detector.
        by: u64,
        /// Whom.
        suspect: u64,
    },
    /// The oracle detector at the first process no longer suspects the second.
    Restore {
        /// Whose detector.
        by: u64,
        /// Whom.
        restored: u64,
    },
    /// Something happens to a message that is on its way.
    Message {
        /// What.
        fate: MessageFate,
        /// Who sent it.
        from: u64,
        /// To whom.
        to: u64,
        /// Which of those on this link, counted from 1: on a scripted network in the order in which they were
        /// sent, on any other in the order in which they would arrive.
        nth: u32,
    },
    /// A running timer runs out now.
    Fire {
        /// Whose.
        process: u64,
        /// The timer, as traces show it.
        timer: String,
    },
}

/// What a script does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFate {
    /// It arrives.
    Deliver,
    /// It arrives, and a copy of it waits on.
    Duplicate,
    /// It is lost.
    Lose,
    /// It arrives so much later, and what must not overtake it too.
    Delay(Duration),
}

impl Action {
    /// Whether it picks a message or a timer out of those that there are: only a simulation has them all in
    /// its hand.
    pub fn picks(&self) -> bool {
        matches!(self, Action::Message { .. } | Action::Fire { .. })
    }
}

/// Faults drawn at random, until a time from which the system is left in peace.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomFaults {
    /// Crashes per second, over all processes.
    pub crashes: f64,
    /// How long a crashed process stays down; `None`: for ever.
    pub recover_after: Option<(Duration, Duration)>,
    /// Whether recovering processes have forgotten what they had stored.
    pub amnesia: bool,
    /// How many processes may be down at once.
    pub max_down: usize,
    /// Pauses per second, over all processes.
    pub pauses: f64,
    /// How long a pause lasts.
    pub pause_for: (Duration, Duration),
    /// Cuts per second: a link (both ways), one direction of a link, or a partition in two.
    pub cuts: f64,
    /// How long a cut lasts.
    pub cut_for: (Duration, Duration),
    /// Partitions in two per second, one after the other: the network is whole again at once.
    pub partitions: f64,
    /// How long a partition lasts.
    pub partition_for: (Duration, Duration),
    /// Changes per second of the rate of some clock.
    pub drifts: f64,
    /// How much a clock is fast or slow, at most: 0.1 is a tenth.
    pub drift_by: f64,
    /// Per second, how often the oracle detector at some process suspects one that is up.
    pub suspicions: f64,
    /// How long such a suspicion lasts.
    pub suspect_for: (Duration, Duration),
    /// When the faults end: everything heals, clocks run well, and who was to recover recovers.
    pub until: Duration,
}

impl RandomFaults {
    /// No faults at all among so many processes; whoever wants some sets their rates, and the rest is
    /// sensible: who crashes comes back, a minority at most is down, and after two seconds there is peace.
    pub fn usual(processes: usize) -> Self {
        let for_a_while = (Duration::from_millis(10), Duration::from_millis(200));
        RandomFaults {
            crashes: 0.0,
            recover_after: Some((Duration::from_millis(50), Duration::from_millis(200))),
            amnesia: false,
            max_down: (processes.saturating_sub(1) / 2).max(1),
            pauses: 0.0,
            pause_for: for_a_while,
            cuts: 0.0,
            cut_for: for_a_while,
            partitions: 0.0,
            partition_for: for_a_while,
            drifts: 0.0,
            drift_by: 0.1,
            suspicions: 0.0,
            suspect_for: for_a_while,
            until: Duration::from_secs(2),
        }
    }
}

/// What the clients of a lock do: each in a loop (think, acquire, hold, release), or at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How often each client enters; 0: only the scripted commands count, and `hold` releases them.
    pub entries: u32,
    /// Who takes part; none named: all processes.
    pub clients: Vec<u64>,
    /// How long a client stays inside.
    pub hold: (Duration, Duration),
    /// How long it stays outside before it asks again.
    pub think: (Duration, Duration),
    /// How many wishes to enter a second come up at each client, at random and whatever became of the earlier
    /// ones, which wait their turn; 0: the client thinks instead, and then has one.
    pub rate: f64,
}

impl Workload {
    /// Every process enters once; or, if the script says who does what, nobody enters unasked.
    pub fn usual(scripted: bool) -> Self {
        let milliseconds = Duration::from_millis;
        Workload {
            entries: if scripted { 0 } else { 1 },
            clients: Vec::new(),
            hold: (milliseconds(5), milliseconds(5)),
            think: (milliseconds(0), milliseconds(5)),
            rate: 0.0,
        }
    }
}

/// When a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When nothing can happen any more.
    Quiet,
    /// When all live processes have the same leader, and the script is over.
    Agree,
    /// At this time.
    Time(Duration),
    /// After so many events.
    Events(u64),
}

/// What must come out of a run. Whatever is absent is not looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectations {
    /// Who leads, in the eyes of every live process, at the end.
    pub leader: Option<u64>,
    /// Who considers itself leader at the end, exactly.
    pub leaders: Option<Vec<u64>>,
    /// Who entered, in this order.
    pub entered: Option<Vec<u64>>,
    /// What every live process that has decided has decided, at least one; a vector without spaces.
    pub decided: Option<String>,
    /// How long after the last line of the script, the last random fault and the Global Stabilization Time
    /// all that is promised or expected must hold; then the run is over.
    pub within: Option<Duration>,
    /// Properties that hold.
    pub holds: Vec<String>,
    /// Properties that are violated.
    pub violates: Vec<String>,
    /// Properties that the algorithm promises, but not in these circumstances: nobody looks at them.
    pub outside: Vec<String>,
    /// Messages sent: in all under "total", and by kind.
    pub messages: BTreeMap<String, Count>,
    /// How often the leader changed (the first election is no change).
    pub leader_changes: Option<Count>,
    /// Whether the run came to rest.
    pub quiet: Option<bool>,
    /// Late writes that the protected resource refused.
    pub refused_writes: Option<Count>,
}

/// A number, or bounds for one; both ends count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least this.
    pub min: u64,
    /// At most this.
    pub max: u64,
}

impl Count {
    /// This number and no other.
    pub fn exactly(number: u64) -> Self {
        Count { min: number, max: number }
    }

    /// Whether `number` is within.
    pub fn admits(self, number: u64) -> bool {
        (self.min..=self.max).contains(&number)
    }
}
