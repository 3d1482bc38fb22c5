//! Terms, ballots and rounds of which only the order matters.

use habemus::election::{Command, Election, Output};
use habemus::term::{Sort, TermInvariant, TermPart};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System, Term};
use habemus_check::{
    CheckError, CheckHandle, CheckReport, CheckVerdict, Extent, Properties, Setting, Start, Timers,
    check_system,
};

use crate::help::{Model, model, setup};
use crate::reduction::verdicts;

fn timely(setting: &mut Setting) {
    setting.timers = Timers::MessagesFirst;
}

fn verdict(report: &CheckReport, property: &str) -> Option<CheckVerdict> {
    report.property(property).map(|line| line.verdict)
}

#[test]
fn paxos_is_proved_however_many_ballots_it_takes() {
    for fault in [|_: &mut Setting| {}, |setting: &mut Setting| setting.budget.suspicions = 1] {
        let of_two = model("paxos", 2).all_start().with(timely).with(fault);
        let report = of_two.with(|setting| setting.keep_going = true).run();
        assert_eq!(report.extent, Extent::Complete, "{report:#?}");
        for property in ["agreement", "validity", "integrity", "termination"] {
            assert_eq!(verdict(&report, property), Some(CheckVerdict::Holds), "{property} {report:#?}");
        }
    }
}

#[test]
fn itai_and_rodeh_elect_one_however_often_they_draw() {
    let drawn = model("itai-rodeh", 2).with(|setting| setting.keep_going = true);
    let report = drawn.clone().run();
    assert_eq!(report.extent, Extent::Complete);
    for property in ["E2", "termination", "uniqueness", "agreement"] {
        assert_eq!(verdict(&report, property), Some(CheckVerdict::Holds), "{property} {report:#?}");
    }
    // With the numbers of rounds as they are, there is no end.
    let endless = drawn.with(|setting| (setting.symmetry, setting.max_states) = (false, Some(5_000)));
    assert_eq!(endless.run().extent, Extent::Bounded);
}

/// Up to a depth, all runs with terms as they are, and with terms renamed.
fn both_ways(model: &Model, depth: u32) -> [CheckReport; 2] {
    [false, true].map(|symmetry| {
        let bounded = model.clone().with(|setting| {
            setting.symmetry = symmetry;
            (setting.reduction, setting.liveness, setting.keep_going) = (false, false, true);
            setting.properties = Properties::All;
            setting.max_depth = Some(depth);
        });
        bounded.run()
    })
}

#[test]
fn verdicts_and_shortest_runs_are_the_same_with_terms_as_they_are() {
    let crash = |setting: &mut Setting| (setting.budget.crashes, setting.budget.recoveries) = (1, 1);
    let majority = |ids| model("majority", ids).option("pre-vote", "false").option("lease", "false");
    let of_majority = |variant| majority(3).option("variant", variant);
    let two = |setting: &mut Setting| setting.start = Start::These(vec![Address(0), Address(1)]);
    let cases = [
        (majority(2).all_start().with(timely), 40),
        (model("majority", 2).all_start().with(timely).with(|setting| setting.budget.losses = 1), 20),
        (of_majority("mutant-no-term-check").with(two), 7),
        (of_majority("mutant-no-persisted-vote").with(two).with(timely).with(crash), 8),
        (majority(2).option("variant", "mutant-half-quorum"), 5),
        (model("paxos", 2).all_start().with(timely).with(crash), 14),
        (model("paxos", 2).all_start().with(|setting| setting.budget.suspicions = 1), 8),
        (model("paxos", 2).all_start().option("variant", "mutant-half-quorum").with(timely).with(crash), 9),
        (model("itai-rodeh", 3).all_start(), 13),
        (model("itai-rodeh", 2).option("variant", "mutant-ignores-ties"), 24),
    ];
    let mut broken = 0;
    for (model, depth) in cases {
        let [plain, renamed] = both_ways(&model, depth);
        assert_eq!(verdicts(&plain), verdicts(&renamed), "{model:?}");
        broken += usize::from(!plain.holds());
    }
    assert!(broken >= 4, "only {broken} of them are broken");
}

/// A protocol drawn at random: what is done with a letter depends on which term is later, and on which is
/// next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Drawn {
    term: Term,
    mood: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Letter {
    term: Term,
    left: u8,
}

impl habemus::Message for Letter {
    fn kind(&self) -> &'static str {
        "Letter"
    }
}

/// What to do: which term to have afterwards, which mood, whether to write to whom, and whether to lead.
#[derive(Clone, Copy, Debug)]
struct Rule {
    term: u8,
    mood: u8,
    to: Option<u32>,
    leads: bool,
}

/// By mood, and by whether the letter's term is earlier, the same, the next one, or later than that.
#[derive(Clone, Debug)]
struct Rules {
    on_letter: [[Rule; 4]; 2],
    on_command: Rule,
}

impl Process for Drawn {
    type Problem = Election;
    type Topology = Complete;
    type Config = Rules;
    type Message = Letter;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Drawn { term: Term::ZERO, mood: 0 }
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        let rule = cx.config().on_command;
        self.follow(rule, Letter { term: self.term, left: 6 }, cx);
    }

    fn on_message(&mut self, _: Address, letter: Letter, cx: &mut Context<'_, Self>) {
        let index = match letter.term {
            term if term < self.term => 0,
            term if term == self.term => 1,
            term if Some(term) == self.term.next() => 2,
            _ => 3,
        };
        let rule = cx.config().on_letter[usize::from(self.mood)][index];
        self.follow(rule, letter, cx);
    }
}

impl Drawn {
    fn follow(&mut self, rule: Rule, letter: Letter, cx: &mut Context<'_, Self>) {
        self.mood = rule.mood;
        self.term = match rule.term {
            0 => self.term,
            1 => letter.term,
            2 => self.term.next().unwrap_or(self.term),
            _ => letter.term.next().unwrap_or(letter.term),
        };
        if rule.leads {
            cx.output(Output::Leads { term: self.term.number() });
        }
        let to = rule.to.map(Address).filter(|to| *to != cx.me());
        if let (Some(to), Some(left)) = (to, letter.left.checked_sub(1)) {
            cx.send(to, Letter { term: self.term, left });
        }
    }
}

impl TermInvariant for Drawn {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        match part {
            TermPart::Process(process) => visit(Sort::TERM, &mut process.term),
            TermPart::Message(letter) => visit(Sort::TERM, &mut letter.term),
            TermPart::Timer(()) | TermPart::Stable(()) => {}
        }
    }
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn rule(&mut self) -> Rule {
        let to = self.below(4) as u32;
        Rule {
            term: self.below(4) as u8,
            mood: self.below(2) as u8,
            to: (to < 3).then_some(to),
            leads: self.below(3) == 0,
        }
    }
}

fn check_drawn(rules: &Rules, symmetry: bool) -> CheckReport {
    let ids = vec![Id(1), Id(2), Id(3)];
    let system: System<Drawn> = System::new(Complete::new(3), ids, rules.clone()).expect("three processes");
    let setting = Setting {
        properties: Properties::Named(vec!["one-leader-per-term".to_owned(), "uniqueness".to_owned()]),
        start: Start::These(vec![Address(0), Address(1), Address(2)]),
        keep_going: true,
        reduction: symmetry,
        max_states: Some(30_000),
        symmetry,
        ..Setting::default()
    };
    let setup = setup("majority", system, None).term_invariant();
    check_system(&setup, &setting, &CheckHandle::default()).expect("it compares terms and nothing else")
}

#[test]
fn protocols_drawn_at_random_have_the_same_verdicts_and_shortest_runs() {
    let mut dice = Dice(7);
    let (mut broken, mut sound) = (0, 0);
    for _ in 0..60 {
        let on_letter = [(); 2].map(|()| [(); 4].map(|()| dice.rule()));
        let rules = Rules { on_letter, on_command: dice.rule() };
        let (plain, renamed) = (check_drawn(&rules, false), check_drawn(&rules, true));
        if plain.extent == Extent::Bounded {
            continue;
        }
        assert_eq!(verdicts(&plain), verdicts(&renamed), "{rules:?}");
        let per_term = verdict(&plain, "one-leader-per-term");
        broken += usize::from(per_term == Some(CheckVerdict::Violated));
        sound += usize::from(per_term == Some(CheckVerdict::Holds));
    }
    assert!(broken >= 10 && sound >= 5, "{broken} are broken and {sound} are not");
}

/// Who hears from another moves its goal on a few times, and then runs after it until it is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Runner {
    term: Term,
    goal: Term,
    moves: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// It takes the next term each time, and stops where it meets the other's.
    Next,
    /// It takes the one after the next, and should not say that only the order matters to it.
    Leaps,
    /// It minds the number itself, and should not say so either.
    Counts,
    /// It stops at one term that it makes of zero, and should not say so either.
    StopsAt(u32),
}

/// Attempts of the quorum, and reigns of the elected coordinator, on models that end without the renaming,
/// too.
#[test]
fn locks_whose_attempts_and_reigns_are_renamed_keep_and_break_the_same() {
    let all = |setting: &mut Setting| {
        (setting.keep_going, setting.properties) = (true, Properties::All);
    };
    let models = [
        model("quorum", 2).with(timely).with(|setting| setting.entries = 2),
        model("quorum", 3).with(timely).with(|setting| setting.clients = vec![Address(0), Address(1)]),
        model("quorum", 3)
            .option("variant", "mutant-one-short")
            .with(timely)
            .with(|setting| setting.clients = vec![Address(0), Address(2)]),
        model("elected-coordinator", 2).with(timely).with(|setting| setting.entries = 2),
        model("elected-coordinator", 2).with(timely).with(|setting| setting.budget.crashes = 1),
        model("elected-coordinator", 3)
            .with(timely)
            .with(|setting| (setting.clients, setting.budget.crashes) = (vec![Address(0)], 1)),
        model("elected-coordinator", 2)
            .option("variant", "mutant-forgetful")
            .with(timely)
            .with(|setting| setting.budget.crashes = 1),
    ];
    for model in models {
        let told = |symmetry: bool, reduction: bool| {
            let model = model.clone().with(all).with(|setting| {
                (setting.symmetry, setting.reduction) = (symmetry, reduction);
            });
            let report = model.run();
            assert_eq!(report.extent, Extent::Complete, "{} {:?}", model.algorithm, model.options);
            let said = report.properties.iter().map(|line| (line.name.clone(), line.verdict));
            said.collect::<Vec<_>>()
        };
        let plain = told(false, false);
        for (symmetry, reduction) in [(true, false), (false, true), (true, true)] {
            assert_eq!(told(symmetry, reduction), plain, "{} {:?}", model.algorithm, model.options);
        }
    }
}

/// A request that is refused over and over has numbers without end, and one state of waiting all the same.
#[test]
fn who_asks_in_vain_for_ever_is_seen_to_do_so() {
    let dead_holder = model("quorum", 2).with(|setting| {
        (setting.timers, setting.budget.crashes) = (Timers::MessagesFirst, 1);
        setting.properties = Properties::Named(vec!["EM2".to_owned()]);
    });
    let report = dead_holder.clone().run();
    assert_eq!(verdict(&report, "EM2"), Some(CheckVerdict::Violated), "{report:#?}");
    let with_numbers = dead_holder.with(|setting| {
        (setting.symmetry, setting.max_states) = (false, Some(20_000));
    });
    assert_ne!(with_numbers.run().extent, Extent::Complete);
}

impl Process for Runner {
    type Problem = Election;
    type Topology = Complete;
    type Config = Pace;
    type Message = ();
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Runner { term: Term::ZERO, goal: Term::ZERO, moves: 4 }
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        cx.broadcast(&());
    }

    fn on_message(&mut self, from: Address, (): (), cx: &mut Context<'_, Self>) {
        let next = |term: Term| term.next().unwrap_or(term);
        if let Some(moves) = self.moves.checked_sub(1) {
            (self.goal, self.moves) = (next(self.goal), moves);
            cx.send(from, ());
            return;
        }
        self.term = match cx.config() {
            Pace::Next | Pace::Counts | Pace::StopsAt(_) => next(self.term),
            Pace::Leaps => next(next(self.term)),
        };
        let is_there = match cx.config() {
            Pace::Next | Pace::Leaps => self.term >= self.goal,
            Pace::Counts => self.term.number() == 3,
            Pace::StopsAt(number) => self.term == (0..*number).fold(Term::ZERO, |term, _| next(term)),
        };
        if is_there {
            cx.output(Output::leads());
        } else {
            cx.send(from, ());
        }
    }
}

impl TermInvariant for Runner {
    fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
        if let TermPart::Process(process) = part {
            visit(Sort::ROUND, &mut process.term);
            visit(Sort::ROUND, &mut process.goal);
        }
    }
}

fn run(pace: Pace) -> Result<CheckReport, CheckError> {
    let system: System<Runner> =
        System::new(Complete::new(2), vec![Id(1), Id(2)], pace).expect("two processes");
    let setting = Setting {
        properties: Properties::Named(vec!["termination".to_owned()]),
        start: Start::These(vec![Address(0)]),
        ..Setting::default()
    };
    check_system(&setup("majority", system, None).term_invariant(), &setting, &CheckHandle::default())
}

#[test]
fn a_process_that_minds_the_distance_between_terms_is_named() {
    // Gaps of all the widths that are tried make no term of this number.
    for pace in [Pace::Leaps, Pace::Counts, Pace::StopsAt(3), Pace::StopsAt(29)] {
        let said = run(pace).expect_err("what it says of itself is not so").to_string();
        assert!(said.contains("how far apart terms are") && said.contains("process"), "{said}");
    }
}

#[test]
fn a_cycle_in_which_a_gap_closes_is_claimed_to_be_neither_there_nor_not() {
    // Without distances it may run for ever; with terms as they are, it arrives.
    let report = run(Pace::Next).expect("it compares terms and takes the next one");
    assert_eq!(verdict(&report, "termination"), Some(CheckVerdict::NotFound), "{report:#?}");
}
