//! Protocols drawn at random that do everything a process may do (timers, draws, stable storage, terms, what
//! a detector says), under every kind of fault: no reduction, and no disk, changes a verdict.

use std::collections::BTreeMap;
use std::time::Duration;

use habemus::catalogue::Setup;
use habemus::election::{Command, Election, Output};
use habemus::symmetry::{Permutation, PermutationSymmetric};
use habemus::term::{Sort, TermInvariant, TermPart};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, Suspicion, System, Term};
use habemus_check::{
    Budget, CheckHandle, CheckReport, CheckVerdict, DeliveryOrder, Extent, Properties, Setting, Spill, Start,
    Timers, check_system,
};

use crate::help::setup;

const MOODS: usize = 3;
const LETTERS: usize = 2;
/// A protocol with more states is left out: it would take too long to compare.
const MAX_STATES: u64 = 6_000;

/// What a process does, whatever the cause.
#[derive(Clone, Copy, Debug)]
struct Rule {
    mood: u8,
    /// Instead of the mood: one that is drawn.
    draws: bool,
    term: Aim,
    /// How many addresses further on, and which letter.
    send: Option<(u32, u8)>,
    says: Option<bool>,
    timer: Alarm,
    persists: bool,
}

/// Which term to have afterwards.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Mine,
    Heard,
    Next,
}

#[derive(Clone, Copy, Debug)]
enum Alarm {
    Leave,
    Set(Bell),
    Cancel(Bell),
}

#[derive(Clone, Debug)]
struct Rules {
    on_command: Rule,
    /// By mood, letter, and whether the letter's term is earlier, the same or later.
    on_letter: [[[Rule; 3]; LETTERS]; MOODS],
    on_bell: [[Rule; 2]; MOODS],
    on_suspicion: [[Rule; 2]; MOODS],
    on_recovery: Rule,
    /// Whether terms are ever taken further.
    has_terms: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
enum Bell {
    Early,
    Late,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Letter {
    letter: u8,
    term: Term,
    /// How many more it may bring about.
    left: u8,
}

impl habemus::Message for Letter {
    fn kind(&self) -> &'static str {
        "Letter"
    }
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
struct Kept {
    mood: u8,
    term: Term,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Wild {
    mood: u8,
    term: Term,
    /// How many more timers it sets.
    fuse: u8,
}

impl Process for Wild {
    type Problem = Election;
    type Topology = Complete;
    type Config = Rules;
    type Message = Letter;
    type Timer = Bell;
    type Stable = Kept;

    fn on_start(recovered: Option<Kept>, cx: &mut Context<'_, Self>) -> Self {
        let mut process = Wild { mood: 0, term: Term::ZERO, fuse: 2 };
        if let Some(Kept { mood, term }) = recovered {
            (process.mood, process.term, process.fuse) = (mood, term, 1);
            process.follow(cx.config().on_recovery, Letter { letter: 0, term, left: 2 }, cx);
        }
        process
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        let letter = Letter { letter: 0, term: self.term, left: 3 };
        self.follow(cx.config().on_command, letter, cx);
    }

    fn on_message(&mut self, _: Address, letter: Letter, cx: &mut Context<'_, Self>) {
        let rules = &cx.config().on_letter[usize::from(self.mood)][usize::from(letter.letter)];
        self.follow(rules[(letter.term.cmp(&self.term) as i8 + 1) as usize], letter, cx);
    }

    fn on_timer(&mut self, bell: Bell, cx: &mut Context<'_, Self>) {
        let letter = Letter { letter: 1, term: self.term, left: 2 };
        self.follow(cx.config().on_bell[usize::from(self.mood)][bell as usize], letter, cx);
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        let back = usize::from(matches!(suspicion, Suspicion::Restore(_)));
        let letter = Letter { letter: 1, term: self.term, left: 2 };
        self.follow(cx.config().on_suspicion[usize::from(self.mood)][back], letter, cx);
    }
}

impl Wild {
    fn follow(&mut self, rule: Rule, cause: Letter, cx: &mut Context<'_, Self>) {
        let has_terms = cx.config().has_terms;
        self.mood = if rule.draws { cx.choose(2) as u8 } else { rule.mood };
        self.term = match rule.term {
            Aim::Mine => self.term,
            Aim::Heard => cause.term,
            Aim::Next => self.term.next().filter(|_| has_terms).unwrap_or(self.term),
        };
        if let (Some((further, letter)), Some(left)) = (rule.send, cause.left.checked_sub(1)) {
            let all = cx.process_count() as u32;
            let to = Address((cx.me().0 + 1 + further % (all - 1)) % all);
            cx.send(to, Letter { letter, term: self.term, left });
        }
        match rule.timer {
            Alarm::Set(bell) if self.fuse > 0 => {
                self.fuse -= 1;
                cx.set_timer(bell, Duration::from_millis(if bell == Bell::Early { 5 } else { 20 }));
            }
            Alarm::Cancel(bell) => cx.cancel_timer(bell),
            Alarm::Set(_) | Alarm::Leave => {}
        }
        if rule.persists {
            cx.persist(Kept { mood: self.mood, term: self.term });
        }
        match rule.says {
            Some(true) => cx.output(Output::Leads { term: self.term.number() }),
            Some(false) => cx.output(Output::Leaderless),
            None => {}
        }
    }
}

impl TermInvariant for Wild {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(process) => visit(Sort::TERM, &mut process.term),
            TermPart::Message(letter) => visit(Sort::TERM, &mut letter.term),
            TermPart::Stable(kept) => visit(Sort::TERM, &mut kept.term),
            TermPart::Timer(_) => {}
        }
    }
}

/// It counts addresses from its own on.
impl PermutationSymmetric for Wild {
    const MINDS_ORDER: bool = true;

    fn permute(_: TermPart<'_, Self>, _: &Permutation<'_>) {}
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn rule(&mut self) -> Rule {
        let bell = |dice: &mut Dice| if dice.below(2) == 0 { Bell::Early } else { Bell::Late };
        Rule {
            mood: self.below(MOODS as u64) as u8,
            draws: self.below(12) == 0,
            term: [Aim::Mine, Aim::Heard, Aim::Next][self.below(3) as usize],
            send: (self.below(3) > 0).then(|| (self.below(2) as u32, self.below(LETTERS as u64) as u8)),
            says: (self.below(4) == 0).then(|| self.below(3) > 0),
            timer: match self.below(6) {
                0 | 1 => Alarm::Set(bell(self)),
                2 => Alarm::Cancel(bell(self)),
                _ => Alarm::Leave,
            },
            persists: self.below(3) == 0,
        }
    }

    fn rules(&mut self) -> Rules {
        Rules {
            on_command: self.rule(),
            on_letter: [(); MOODS].map(|()| [(); LETTERS].map(|()| [(); 3].map(|()| self.rule()))),
            on_bell: [(); MOODS].map(|()| [(); 2].map(|()| self.rule())),
            on_suspicion: [(); MOODS].map(|()| [(); 2].map(|()| self.rule())),
            on_recovery: self.rule(),
            has_terms: self.below(2) == 0,
        }
    }

    fn budget(&mut self, timers: Timers) -> Budget {
        let mut budget = Budget::default();
        for _ in 0..self.below(3) {
            match self.below(7) {
                0 => budget.crashes = 1,
                1 => (budget.crashes, budget.recoveries) = (1, 1),
                2 => (budget.crashes, budget.recoveries, budget.amnesia) = (1, 1, true),
                3 => budget.losses = 1,
                4 => budget.duplications = 1,
                5 => budget.partitions = 1,
                _ if timers == Timers::MessagesFirst && self.below(2) == 0 => budget.wrong_timeouts = 1,
                _ => budget.suspicions = 1,
            }
        }
        budget
    }

    fn setting(&mut self) -> Setting {
        let timers = if self.below(2) == 0 { Timers::AnyTime } else { Timers::MessagesFirst };
        let starters = [vec![Address(0)], vec![Address(0), Address(1)]];
        Setting {
            order: if self.below(2) == 0 { DeliveryOrder::Fifo } else { DeliveryOrder::Any },
            timers,
            budget: self.budget(timers),
            start: match self.below(3) {
                0 => Start::EveryChoice,
                one => Start::These(starters[one as usize - 1].clone()),
            },
            properties: Properties::All,
            keep_going: true,
            max_states: Some(MAX_STATES),
            ..Setting::default()
        }
    }
}

fn run(dice: &Dice, setting: &Setting) -> CheckReport {
    let mut dice = Dice(dice.0);
    let (rules, count) = (dice.rules(), 2 + dice.below(2));
    let preference = (dice.below(2) == 0).then(|| (1..=count as u32).collect::<Vec<_>>());
    let ids: Vec<Id> = (1..=count).map(Id).collect();
    let system: System<Wild> =
        System::new(Complete::new(count as usize), ids, rules).expect("the network is well formed");
    let setup: Setup<Wild> = setup("majority", system, preference).term_invariant().permutation_symmetric();
    let setup = Setup { oracle: Some(Duration::from_millis(50)), ..setup };
    check_system(&setup, setting, &CheckHandle::default()).expect("it minds neither names nor distances")
}

/// What a report claims, if it is more than that something is open.
fn claims(report: &CheckReport) -> BTreeMap<String, (CheckVerdict, Option<usize>)> {
    let decided = report.properties.iter().filter(|line| line.verdict != CheckVerdict::NotFound);
    let steps = |steps, shortest| if shortest == Some(true) { steps } else { None };
    let claim = decided.map(|line| (line.name.clone(), (line.verdict, steps(line.steps, line.shortest))));
    claim.collect()
}

/// How many protocols are drawn: more of the same where `HABEMUS_PROTOCOLS` says so.
fn protocols() -> u64 {
    std::env::var("HABEMUS_PROTOCOLS").ok().and_then(|count| count.parse().ok()).unwrap_or(100)
}

#[test]
fn no_reduction_changes_what_is_claimed_of_a_protocol_drawn_at_random() {
    let (mut compared, mut broken, mut proved, mut smaller) = (0, 0, 0, 0);
    for seed in 0..protocols() {
        let mut dice = Dice(seed);
        let setting = dice.setting();
        let with = |reduction, symmetry| Setting { reduction, symmetry, ..setting.clone() };
        let plain = run(&dice, &with(false, false));
        if plain.extent == Extent::Bounded {
            continue;
        }
        compared += 1;
        let truth = claims(&plain);
        broken += truth.values().filter(|(verdict, _)| *verdict == CheckVerdict::Violated).count();
        proved += truth.values().filter(|(verdict, _)| *verdict == CheckVerdict::Holds).count();
        let directory = std::env::temp_dir();
        let spilled = Setting { spill: Some(Spill { directory, after: 1 }), threads: 2, ..with(true, true) };
        // To go to disk all the time takes time.
        let spilled = seed.is_multiple_of(20).then_some(spilled);
        let reduced = [with(true, false), with(false, true), with(true, true)];
        for setting in reduced.into_iter().chain(spilled) {
            let report = run(&dice, &setting);
            let reached = |report: &CheckReport| report.sometimes.iter().map(|line| line.reached).collect();
            let (one, other): (Vec<bool>, Vec<bool>) = (reached(&plain), reached(&report));
            assert_eq!(one, other, "seed {seed}: {setting:#?}");
            smaller += usize::from(report.states < plain.states);
            for (name, claim) in claims(&report) {
                let known = truth.get(&name).copied();
                // A run whose length is not said to be the least is broken all the same.
                let agrees = known.is_none_or(|known| {
                    known.0 == claim.0 && (known.1.is_none() || claim.1.is_none() || known.1 == claim.1)
                });
                assert!(agrees, "seed {seed}: {name} is {known:?} and not {claim:?}: {setting:#?}");
            }
        }
    }
    let worth = compared * 3 > protocols() && broken > 20 && proved > 20 && smaller > 20;
    assert!(worth, "the protocols must be worth it: {compared} {broken} {proved} {smaller}");
}
