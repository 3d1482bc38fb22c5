//! What goes wrong, and when: drawn from the seed before anything happens, so that parts of it can be left
//! out.

use std::fmt::{self, Display, Formatter};

use crate::clock::Micros;
use crate::random::Random;

/// How far a clock may be wrong that counts as right, in parts of a million.
pub(crate) const DRIFT_BOUND: i64 = 10_000;

/// How far a clock is wrong at most that nobody allows for.
const WILD: i64 = 400_000;

/// Something that goes wrong. Machines and clients are named by numbers that are taken modulo how many there
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calamity {
    /// A machine stops at once, and loses or tears what was not synced.
    Crash(u64),
    /// A machine stops in the midst of what it is to do next.
    CrashMidway(u64, u64),
    /// A machine that stopped starts again.
    Restart(u64),
    /// A machine stops and starts again at once, while what it said and was told in its last life is still
    /// under way.
    Bounce(u64),
    /// A machine stops, and its disk is empty now: it must not start as if nothing had been, and is replaced
    /// by another.
    LoseDisk(u64),
    /// A machine stands still for so long.
    Pause(u64, Micros),
    /// A client stands still for so long.
    PauseClient(u64, Micros),
    /// The disk of a machine takes so long for each write.
    SlowDisk(u64, Micros),
    /// The disk of a machine has no space, or has some again.
    FullDisk(u64, bool),
    /// The disk of a machine fails for good after so many operations, until the machine is started again.
    FailingDisk(u64, u64),
    /// A machine stops, and what was not synced may be anything now.
    CrashGarbling(u64),
    /// A machine stops, and one bit flips of what was synced long ago: it must notice, and is replaced by
    /// another.
    Rot(u64, u64),
    /// Nothing passes from the one to the other.
    CutOneWay(u64, u64),
    /// Nothing passes between the two, whatever passes between each of them and the others.
    CutPair(u64, u64),
    /// Nothing passes between one and all others.
    Isolate(u64),
    /// Nothing passes between the even ones and the odd ones, except through this one.
    Bridge(u64),
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
    /// A member goes, and a machine stops in the midst of what it is to do next.
    RemoveAndCrash(u64, u64, u64),
    /// Whoever leads is to go, and the one that then leads and has that written stops so many effects later.
    RemoveLeader(u64),
    /// A member goes, and whoever tells of it first stops as soon as it has done so.
    RemoveAndTell(u64),
    /// Somebody copies the directory of a machine while it runs.
    CopyDisk(u64),
    /// A machine stops, and comes back with the copy: nobody may let it in who can know better.
    PutBack,
    /// A machine stops, and one bit flips of what was synced last, which nobody can tell from what a crash
    /// has torn: nobody may let it in who knows that there was more.
    RotLast(u64, u64),
    /// Somebody makes a backup of the cluster.
    Backup,
    /// The cluster is stopped, and a new one made of the backup.
    Restore,
    /// All but so many revisions are forgotten.
    Compact(u64),
}

impl Calamity {
    /// The names of all kinds, as [`kind`](Calamity::kind) says them.
    pub const KINDS: [&'static str; 35] = [
        "crash",
        "crash midway",
        "crash with garbage",
        "rotten bit",
        "lost disk",
        "restart",
        "restart at once",
        "pause",
        "pause of a client",
        "slow disk",
        "full disk",
        "failing disk",
        "one-way cut",
        "cut pair",
        "isolation",
        "partition",
        "bridge",
        "cut from clients",
        "heal",
        "weather",
        "skewed clock",
        Calamity::WILD_CLOCK,
        "transfer",
        "member added",
        "member promoted",
        "member removed",
        "crash amid a removal",
        "crash of who removes the leader",
        "crash of who tells of a removal",
        "copied disk",
        "older disk",
        "rotten bit of what was written last",
        "backup",
        "restore",
        "compaction",
    ];

    /// The name of the one that nobody allows for.
    pub(crate) const WILD_CLOCK: &str = "clock beyond the bound";

    /// What kind of calamity it is.
    pub fn kind(&self) -> &'static str {
        match self {
            Calamity::Crash(_) => "crash",
            Calamity::CrashMidway(..) => "crash midway",
            Calamity::CrashGarbling(_) => "crash with garbage",
            Calamity::Rot(..) => "rotten bit",
            Calamity::Restart(_) => "restart",
            Calamity::Bounce(_) => "restart at once",
            Calamity::LoseDisk(_) => "lost disk",
            Calamity::Pause(..) => "pause",
            Calamity::PauseClient(..) => "pause of a client",
            Calamity::SlowDisk(..) => "slow disk",
            Calamity::FullDisk(..) => "full disk",
            Calamity::FailingDisk(..) => "failing disk",
            Calamity::CutOneWay(..) => "one-way cut",
            Calamity::CutPair(..) => "cut pair",
            Calamity::Isolate(_) => "isolation",
            Calamity::Partition(_) => "partition",
            Calamity::Bridge(_) => "bridge",
            Calamity::CutClients(_) => "cut from clients",
            Calamity::Heal => "heal",
            Calamity::Weather { .. } => "weather",
            Calamity::Skew(_, skew) if skew.abs() > DRIFT_BOUND => Calamity::WILD_CLOCK,
            Calamity::Skew(..) => "skewed clock",
            Calamity::Transfer(_) => "transfer",
            Calamity::Add => "member added",
            Calamity::Promote => "member promoted",
            Calamity::Remove(_) => "member removed",
            Calamity::RemoveAndCrash(..) => "crash amid a removal",
            Calamity::RemoveLeader(_) => "crash of who removes the leader",
            Calamity::RemoveAndTell(_) => "crash of who tells of a removal",
            Calamity::CopyDisk(_) => "copied disk",
            Calamity::PutBack => "older disk",
            Calamity::RotLast(..) => "rotten bit of what was written last",
            Calamity::Backup => "backup",
            Calamity::Restore => "restore",
            Calamity::Compact(_) => "compaction",
        }
    }

    /// Whether it comes only where it can be borne.
    pub(crate) fn is_conditional(&self) -> bool {
        use Calamity::{LoseDisk, PutBack, Restore, Rot, RotLast};
        matches!(self, Rot(..) | LoseDisk(_) | PutBack | RotLast(..) | Restore)
    }

    fn draw(random: &mut Random, max_skew: i64) -> Calamity {
        let (one, other) = (random.below(64), random.below(64));
        let long = |random: &mut Random| random.between(1_000, 3_000_000);
        match random.below(48) {
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
            29 => Calamity::CutPair(one, other),
            30 => Calamity::Bridge(one),
            31 => Calamity::FailingDisk(one, other),
            32..34 => Calamity::CrashGarbling(one),
            34 => Calamity::Rot(one, random.number()),
            35 => Calamity::LoseDisk(one),
            36..38 => Calamity::Bounce(one),
            38 => Calamity::RemoveAndCrash(one, other, random.below(24)),
            39 => Calamity::RemoveLeader(random.below(6)),
            40 => Calamity::RemoveAndTell(one),
            41 => Calamity::CopyDisk(one),
            42..44 => Calamity::PutBack,
            44 => Calamity::RotLast(one, random.number()),
            45 => Calamity::Backup,
            46 => Calamity::Restore,
            _ => Calamity::Compact(other),
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
    /// The script of a seed. Some seeds have many calamities, some few, and one in sixteen none. In one of
    /// eight clocks may be wrong by more than anybody allows for.
    pub(crate) fn draw(seed: u64, end: Micros) -> Script {
        let mut random = Random::new(seed, 0xfa17);
        let pace = [0, 1_500_000, 600_000, 250_000][random.below(16).min(3) as usize];
        let max_skew = if random.happens(125) { WILD } else { DRIFT_BOUND };
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

    /// Whether clocks are as right as clients allow for: then nobody believes to be inside beside another. If
    /// they are not, only tokens tell who comes later.
    pub(crate) fn clocks_are_right(&self) -> bool {
        !self.0.iter().any(|(_, calamity)| calamity.kind() == Calamity::WILD_CLOCK)
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
