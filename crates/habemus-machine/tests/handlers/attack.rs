//! A process among liars: whatever bytes come, in whatever order, its handlers must take them or refuse them.
//!
//! What is done to it is read from a source of bytes: chance in a test, libFuzzer's inventions in `fuzz/`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

use habemus::catalogue::{ENTRIES, Entry, Request, SetupError, Values, VariantKind};
use habemus::election::Output;
use habemus::signatures::Scheme;
use habemus::{Address, Id, Suspicion};
use habemus_machine::{
    Facts, Labels, Machine, PlainEffect, PlainStep, Standing, build, shared_memory, sharing,
};

/// The detectors under which every algorithm that can stand on one is attacked.
const DETECTORS: [&str; 2] = ["none", "heartbeat"];

/// Identifiers that are neither small nor in the order of their addresses.
const IDS: [u64; 4] = [7, 300, 2, u64::MAX];

/// What is attacked: an algorithm as it can be asked for, or a lock that shares an election.
pub(crate) struct Target {
    pub(crate) entry: &'static Entry,
    detector: Option<&'static str>,
    options: BTreeMap<String, String>,
    shares: bool,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Target { entry, detector, options, shares } = self;
        let shares = if *shares { "a lock that shares the election of " } else { "" };
        write!(f, "{shares}{} on {} with {options:?}", entry.name, detector.unwrap_or("nothing"))
    }
}

impl Target {
    fn build(&self, me: u32) -> Result<(Facts, Box<dyn Machine>), SetupError> {
        let request = Request {
            algorithm: self.entry.name,
            ids: IDS.map(Id).to_vec(),
            shape: None,
            detector: self.detector,
            options: &self.options,
            pulse: habemus::DEFAULT_PULSE,
            seed: 1,
            signatures: Some(Scheme::Made(habemus_signatures::ed25519)),
        };
        let (facts, machine) = build(&request, Address(me), Labels::Written)?;
        if self.shares {
            let lock = sharing(&IDS.map(Id), Vec::new(), Duration::from_secs(1), Address(me));
            return Ok((facts, lock.expect("the election has the same processes")));
        }
        Ok((facts, machine))
    }
}

/// Every algorithm, alone and on a detector, with its usual options, with each other choice that its options
/// leave, and with all of them at once; and the lock that shares an election.
pub(crate) fn targets() -> &'static [Target] {
    static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
        let mut targets = Vec::new();
        for entry in ENTRIES {
            let detectors = match entry.detectors {
                [] => vec![None],
                known => DETECTORS.into_iter().filter(|it| known.contains(it)).map(Some).collect(),
            };
            for detector in detectors {
                let with = |options| Target { entry, detector, options, shares: false };
                targets.push(with(BTreeMap::new()));
                let choices = choices(entry);
                let one_each = choices.iter().map(|choice| BTreeMap::from([choice.clone()]));
                let all = choices.iter().cloned().collect();
                let others = one_each.chain([all, safe(entry)]).filter(|options| !options.is_empty());
                // Some choices need others, and some exclude others.
                targets.extend(others.map(with).filter(|target| target.build(0).is_ok()));
            }
            if entry.name == "majority" {
                let (detector, options) = (None, BTreeMap::new());
                targets.push(Target { entry, detector, options, shares: true });
            }
        }
        targets
    });
    &TARGETS
}

/// The choices that an algorithm leaves besides the usual one, but for variants that are wrong on purpose.
fn choices(entry: &Entry) -> Vec<(String, String)> {
    let mut choices = Vec::new();
    for option in entry.options {
        let words: Vec<&str> = match option.values {
            Values::Text(text) if text.contains(" | ") => text.split(" | ").collect(),
            Values::Text("duration") => vec!["duration"],
            Values::Text(_) => Vec::new(),
            Values::Variants(variants) => {
                let meant = variants.iter().filter(|variant| variant.kind != VariantKind::Mutant);
                meant.map(|variant| variant.name).collect()
            }
        };
        let words = words.into_iter().map(|word| if word == "duration" { "3s" } else { word });
        choices.extend(
            words
                .filter(|word| *word != option.default)
                .map(|word| (option.name.to_owned(), word.to_owned())),
        );
    }
    choices
}

/// What real nodes choose where nothing is asked for.
fn safe(entry: &Entry) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    if entry.name == "elected-coordinator" {
        options.extend([("election", "majority"), ("keep-alive", "true"), ("fencing", "true")]);
    }
    options.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A process, and what its driver and its enemies know.
pub(crate) struct Victim {
    machine: Box<dyn Machine>,
    facts: Facts,
    me: Address,
    now: Duration,
    timers: Vec<Vec<u8>>,
    /// The others, who are honest: what they would say to it is what an enemy begins with.
    fellows: BTreeMap<Address, Fellow>,
    /// The last messages that it has sent, and that its fellows have sent to it.
    seen: VecDeque<Vec<u8>>,
    stable: Option<Vec<u8>>,
    shares: bool,
    /// The last term of the election that it shares.
    term: u64,
    /// How many messages it took.
    pub(crate) taken: u64,
}

impl Victim {
    /// The process at the address `me` of four.
    pub(crate) fn new(target: &Target, me: u32) -> Victim {
        let (facts, machine) = target.build(me).unwrap_or_else(|why| panic!("{target}: {why}"));
        let mut victim = Victim {
            machine,
            facts,
            me: Address(me),
            now: Duration::ZERO,
            timers: Vec::new(),
            fellows: BTreeMap::new(),
            seen: VecDeque::new(),
            stable: target.shares.then(|| shared_memory(1)),
            shares: target.shares,
            term: 0,
            taken: 0,
        };
        for fellow in (0..IDS.len() as u32).filter(|other| *other != me) {
            let (_, machine) = target.build(fellow).unwrap_or_else(|why| panic!("{target}: {why}"));
            victim.fellows.insert(Address(fellow), Fellow { machine, timers: Vec::new() });
            let stable = victim.stable.clone();
            victim.let_fellow(Address(fellow), |it, now, step| {
                it.machine.start(stable.as_deref(), now, step).expect("it was made for it");
            });
        }
        victim.start();
        victim
    }

    /// Its variables.
    pub(crate) fn state(&self) -> String {
        self.machine.state()
    }

    /// Does something to it, as the source says; `false` at the end of the source.
    pub(crate) fn suffer(&mut self, source: &mut dyn Iterator<Item = u8>) -> bool {
        let Some(what) = source.next() else { return false };
        self.now += Duration::from_millis(u64::from(what) / 8);
        match what % 16 {
            1 if self.shares => self.standing(source),
            0 | 1 => self.timer(source.next().unwrap_or_default()),
            2 => self.command(source.next().unwrap_or_default()),
            3 => self.suspicion(source.next().unwrap_or_default()),
            4 if what == 4 => self.start(),
            4 => self.fellow_acts(source),
            5..=9 => self.mutated_message(source),
            _ => self.new_message(source),
        }
        true
    }

    fn start(&mut self) {
        (self.machine, self.timers) = (self.machine.fresh(), Vec::new());
        let mut step = PlainStep::default();
        let stable = self.stable.clone();
        self.machine.start(stable.as_deref(), self.now, &mut step).expect("it stored it itself");
        self.carry_out(step);
    }

    fn timer(&mut self, which: u8) {
        if self.timers.is_empty() {
            return;
        }
        let key = self.timers.remove(usize::from(which) % self.timers.len());
        let mut step = PlainStep::default();
        self.machine.timer(&key, self.now, &mut step).expect("it set it itself");
        self.carry_out(step);
    }

    fn command(&mut self, which: u8) {
        let words = self.facts.commands;
        let mut step = PlainStep::default();
        self.machine.command(words[usize::from(which) % words.len()], self.now, &mut step);
        self.carry_out(step);
    }

    /// The election that it shares says something: terms only grow, and leaders exist.
    fn standing(&mut self, source: &mut dyn Iterator<Item = u8>) {
        let mut next = || source.next().unwrap_or_default();
        let (what, given) = (next(), u64::from(next() % 4));
        self.term += 1;
        let term = self.term;
        let said = match what % 4 {
            0 => Output::Leaderless,
            1 => Output::Leads { term },
            _ => Output::Follows { leader: Some(Id(IDS[self.peer(what >> 2).index()])), term },
        };
        let mut step = PlainStep::default();
        let grace = Duration::from_millis(u64::from(next()));
        self.machine.tell_standing(Standing { said, grace, given }, self.now, &mut step);
        self.carry_out(step);
        for fellow in self.fellows.keys().copied().collect::<Vec<_>>() {
            let its = Id(IDS[fellow.index()]);
            let leader = match said {
                Output::Leaderless => continue,
                Output::Leads { .. } => Some(Id(IDS[self.me.index()])),
                Output::Follows { leader, .. } => leader,
            };
            let said =
                if leader == Some(its) { Output::Leads { term } } else { Output::Follows { leader, term } };
            self.let_fellow(fellow, |it, now, step| {
                it.machine.tell_standing(Standing { said, grace, given }, now, step);
            });
        }
    }

    /// One of the others is asked for something, or one of its timers runs out.
    fn fellow_acts(&mut self, source: &mut dyn Iterator<Item = u8>) {
        let mut next = || usize::from(source.next().unwrap_or_default());
        let (fellow, what, words) = (self.peer(next() as u8), next(), self.facts.commands);
        self.let_fellow(fellow, |it, now, step| {
            if what % 4 == 0 || it.timers.is_empty() {
                it.machine.command(words[what / 4 % words.len()], now, step);
            } else {
                let key = it.timers.remove(what / 4 % it.timers.len());
                it.machine.timer(&key, now, step).expect("it set it itself");
            }
        });
    }

    /// One of the others takes a step; what it says to this process can be heard.
    fn let_fellow(&mut self, who: Address, act: impl FnOnce(&mut Fellow, Duration, &mut PlainStep)) {
        let Some(fellow) = self.fellows.get_mut(&who) else { return };
        let mut step = PlainStep::default();
        act(fellow, self.now, &mut step);
        for effect in step.effects {
            match effect {
                PlainEffect::Send { to, bytes, .. } if to == self.me => overhear(&mut self.seen, bytes),
                PlainEffect::SetTimer { key, .. } if !fellow.timers.contains(&key) => fellow.timers.push(key),
                PlainEffect::CancelTimer { key } => fellow.timers.retain(|other| *other != key),
                _ => {}
            }
        }
    }

    /// A detector speaks of others only, and of those that exist.
    fn suspicion(&mut self, which: u8) {
        let peer = self.peer(which >> 1);
        let suspicion = if which & 1 == 0 { Suspicion::Suspect(peer) } else { Suspicion::Restore(peer) };
        let mut step = PlainStep::default();
        self.machine.suspicion(suspicion, self.now, &mut step);
        self.carry_out(step);
    }

    /// A message that was sent once, with some of its bytes changed.
    fn mutated_message(&mut self, source: &mut dyn Iterator<Item = u8>) {
        let mut next = || source.next().unwrap_or_default();
        let (from, which) = (next(), usize::from(next()));
        if self.seen.is_empty() {
            return;
        }
        let mut bytes = self.seen[which % self.seen.len()].clone();
        for _ in 0..next() % 4 {
            let place = usize::from(next()) % (bytes.len() + 1);
            let number = number(next(), next());
            let end = bytes.len().min(place + usize::from(next() % 2));
            bytes.splice(place..end, number);
        }
        self.message(from, &bytes);
    }

    /// A message out of nothing: of all that the bytes can begin with, the shortest that is one.
    fn new_message(&mut self, source: &mut dyn Iterator<Item = u8>) {
        let mut next = || source.next().unwrap_or_default();
        let (from, mut bytes) = (next(), Vec::new());
        for _ in 0..next() % 24 {
            if self.message(from, &bytes) {
                return;
            }
            bytes.extend(number(next(), next()));
        }
    }

    fn message(&mut self, from: u8, bytes: &[u8]) -> bool {
        let mut step = PlainStep::default();
        let from = self.peer(from);
        let taken = self.machine.message(from, bytes, self.now, &mut step).is_ok();
        if taken {
            self.taken += 1;
            self.carry_out(step);
        } else {
            assert!(
                step.effects.is_empty() && step.persist.is_none(),
                "a message that is refused does nothing"
            );
        }
        taken
    }

    fn peer(&self, which: u8) -> Address {
        let count = IDS.len() as u32;
        Address((self.me.0 + 1 + u32::from(which) % (count - 1)) % count)
    }

    fn carry_out(&mut self, step: PlainStep) {
        if step.persist.is_some() {
            self.stable = step.persist;
        }
        assert!(step.effects.len() < 10_000, "one step asks for {} things", step.effects.len());
        for effect in step.effects {
            match effect {
                PlainEffect::Send { to, bytes, .. } => {
                    assert!(to.index() < IDS.len(), "it sends to {to:?}");
                    let me = self.me;
                    self.let_fellow(to, |it, now, step| {
                        // Its own faults are found where it is the victim.
                        let _ = it.machine.message(me, &bytes, now, step);
                    });
                    overhear(&mut self.seen, bytes);
                }
                PlainEffect::SetTimer { key, after, .. } => {
                    assert!(after.min <= after.max && after.max < Duration::from_secs(3600), "{after:?}");
                    self.timers.retain(|other| *other != key);
                    self.timers.push(key);
                }
                PlainEffect::CancelTimer { key } => self.timers.retain(|other| *other != key),
                PlainEffect::Output(_) | PlainEffect::Suspicion(_) => {}
            }
        }
    }
}

/// One of the others.
struct Fellow {
    machine: Box<dyn Machine>,
    timers: Vec<Vec<u8>>,
}

fn overhear(seen: &mut VecDeque<Vec<u8>>, bytes: Vec<u8>) {
    if !seen.contains(&bytes) {
        seen.truncate(63);
        seen.push_front(bytes);
    }
}

/// A number as it goes over the wire: mostly a small one, about as large as the system, or as large as can
/// be.
fn number(kind: u8, value: u8) -> Vec<u8> {
    let number: u64 = match kind % 8 {
        0..=2 => u64::from(value % 6),
        // Some algorithms have so many kinds of messages.
        3 => u64::from(value % 16),
        4 => IDS[usize::from(value) % IDS.len()],
        5 => (1 << 62) - 3 + u64::from(value % 6),
        6 => (1 << (value % 64)) - u64::from(value >> 7),
        _ => return vec![value],
    };
    let (mut bytes, mut rest) = (Vec::new(), number);
    while rest > 0x7f {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}
