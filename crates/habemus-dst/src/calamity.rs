//! What goes wrong, and when: drawn from the seed before anything happens, so that parts of it can be left out.

use std::fmt::{self, Display, Formatter};

use crate::clock::Micros;
use crate::random::Random;

/// How far a clock may be wrong that counts as right, in parts of a million.
pub(crate) const DRIFT_BOUND: i64 = 10_000;

/// Something that goes wrong. Machines and clients are named by numbers that are taken modulo how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calamity {
    /// A machine stops at once, and loses or tears what was not synced.
    Crash(u64),
    /// A machine stops in the midst of what it is to do next.
    CrashMidway(u64, u64),
    /// A machine that stopped starts again.
    Restart(u64),
    /// A machine stands still for so long.
    Pause(u64, Micros),
    /// A client stands still for so long.
    PauseClient(u64, Micros),
    /// The disk of a machine takes so long for each write.
    SlowDisk(u64, Micros),
    /// The disk of a machine has no space, or has some again.
    FullDisk(u64, bool),
    /// Nothing passes from the one to the other.
    CutOneWay(u64, u64),
    /// Nothing passes between one and all others.
    Isolate(u64),
    /// Nothing passes between those whose bit is set and those whose bit is not.
    Partition(u64),
    /// No client reaches a machine.
    CutClients(u64),
    /// Everything passes again.
    Heal,
    /// So many of a thousand messages are lost, and so many doubled, and they take up to so long.
    Weather {
        /// Lost, of a thousand.
        loss: u64,
        /// Doubled, of a thousand.
        duplication: u64,
        /// The longest way.
        max_delay: Micros,
    },
    /// The clock of a machine runs wrong by so many parts of a million.
    Skew(u64, i64),
    /// The leader hands over to a machine.
    Transfer(u64),
    /// A machine is added, as a learner.
    Add,
    /// A learner gets a vote.
    Promote,
    /// A member goes, for ever.
    Remove(u64),
    /// What is old is forgotten.
    Compact,
}

impl Calamity {
    /// The names of all kinds, as [`kind`](Calamity::kind) says them.
    pub const KINDS: [&'static str; 19] = [
        "crash",
        "crash midway",
        "restart",
        "pause",
        "pause of a client",
        "slow disk",
        "full disk",
        "one-way cut",
        "isolation",
        "partition",
        "cut from clients",
        "heal",
        "weather",
        "skewed clock",
        "transfer",
        "member added",
        "member promoted",
        "member removed",
        "compaction",
    ];

    /// What kind of calamity it is.
    pub fn kind(&self) -> &'static str {
        Self::KINDS[match self {
            Calamity::Crash(_) => 0,
            Calamity::CrashMidway(..) => 1,
            Calamity::Restart(_) => 2,
            Calamity::Pause(..) => 3,
            Calamity::PauseClient(..) => 4,
            Calamity::SlowDisk(..) => 5,
            Calamity::FullDisk(..) => 6,
            Calamity::CutOneWay(..) => 7,
            Calamity::Isolate(_) => 8,
            Calamity::Partition(_) => 9,
            Calamity::CutClients(_) => 10,
            Calamity::Heal => 11,
            Calamity::Weather { .. } => 12,
            Calamity::Skew(..) => 13,
            Calamity::Transfer(_) => 14,
            Calamity::Add => 15,
            Calamity::Promote => 16,
            Calamity::Remove(_) => 17,
            Calamity::Compact => 18,
        }]
    }

    fn draw(random: &mut Random, max_skew: i64) -> Calamity {
        let (one, other) = (random.below(64), random.below(64));
        let long = |random: &mut Random| random.between(1_000, 3_000_000);
        match random.below(30) {
            0..3 => Calamity::Crash(one),
            3..6 => Calamity::CrashMidway(one, other),
            6..12 => Calamity::Restart(one),
            12 => Calamity::Pause(one, long(random)),
            13 => Calamity::PauseClient(one, long(random)),
            14 => Calamity::SlowDisk(one, random.between(0, 100_000)),
            15 => Calamity::FullDisk(one, random.happens(500)),
            16 => Calamity::CutOneWay(one, other),
            17 => Calamity::Isolate(one),
            18 => Calamity::Partition(random.number()),
            19 => Calamity::CutClients(one),
            20..23 => Calamity::Heal,
            23 => Calamity::Weather {
                loss: random.below(100),
                duplication: random.below(100),
                // Now and then something stays under way while leaders come and go.
                max_delay: if random.happens(250) { 1_500_000 } else { random.between(100, 50_000) },
            },
            24 => {
                let skew = random.below(2 * max_skew.unsigned_abs() + 1);
                Calamity::Skew(one, skew.cast_signed() - max_skew)
            }
            25 => Calamity::Transfer(one),
            26 => Calamity::Add,
            27 => Calamity::Promote,
            28 => Calamity::Remove(one),
            _ => Calamity::Compact,
        }
    }
}

impl Display for Calamity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// What goes wrong in a run, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script(pub(crate) Vec<(Micros, Calamity)>);

impl Script {
    /// The script of a seed. Some seeds have many calamities, some few, and one in sixteen none.
    pub(crate) fn draw(seed: u64, end: Micros, max_skew: i64) -> Script {
        let mut random = Random::new(seed, 0xfa17);
        let pace = [0, 1_500_000, 600_000, 250_000][random.below(16).min(3) as usize];
        let mut script = Vec::new();
        let mut now = 0;
        if pace == 0 {
            return Script(script);
        }
        loop {
            now += random.between(1, 2 * pace);
            if now >= end {
                return Script(script);
            }
            script.push((now, Calamity::draw(&mut random, max_skew)));
        }
    }

    /// How many calamities there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing goes wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What happens when, in microseconds from the beginning.
    pub fn iter(&self) -> impl Iterator<Item = &(u64, Calamity)> {
        self.0.iter()
    }

    /// The same without those from `first` on, so many.
    pub(crate) fn without(&self, first: usize, count: usize) -> Script {
        let keep = |(index, _): &(usize, &(Micros, Calamity))| *index < first || *index >= first + count;
        Script(self.0.iter().enumerate().filter(keep).map(|(_, it)| *it).collect())
    }
}

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, calamity) in &self.0 {
            writeln!(f, "{:>10.3} ms  {calamity}", *at as f64 / 1000.0)?;
        }
        Ok(())
    }
}
