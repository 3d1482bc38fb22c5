//! Reductions change neither verdicts nor outcomes.

use std::collections::BTreeMap;

use habemus::catalogue;
use habemus::election::{Command, Election, Output};
use habemus::symmetry::{Part, Rotation, RotationSymmetric};
use habemus::topology::Graph;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{
    Budget, CheckHandle, CheckReport, CheckVerdict, DeliveryOrder, Properties, Reduction, Setting, Start,
    Timers, check_system,
};

use crate::help::{model, setup};

/// What a report says, the number of states aside. Where cycles are not looked for it depends on the order of
/// the levels whether there might be one: what was not found counts as what does not exist.
pub(crate) fn verdicts(report: &CheckReport) -> BTreeMap<String, (CheckVerdict, Option<usize>)> {
    let unbroken = |verdict| if verdict == CheckVerdict::NotFound { CheckVerdict::Holds } else { verdict };
    report.properties.iter().map(|line| (line.name.clone(), (unbroken(line.verdict), line.steps))).collect()
}

/// Both ways, with every property decided.
pub(crate) fn both(report: impl Fn(bool) -> CheckReport) -> (CheckReport, CheckReport) {
    let (plain, reduced) = (report(false), report(true));
    let sometimes =
        |report: &CheckReport| report.sometimes.iter().map(|line| line.reached).collect::<Vec<_>>();
    assert_eq!(sometimes(&plain), sometimes(&reduced), "{plain:#?} {reduced:#?}");
    assert_eq!(verdicts(&plain), verdicts(&reduced), "{plain:#?} {reduced:#?}");
    assert!(reduced.states <= plain.states, "{} {}", reduced.states, plain.states);
    (plain, reduced)
}

#[test]
fn every_algorithm_has_the_same_verdicts_with_and_without() {
    let mut smaller = 0;
    for entry in catalogue::ENTRIES {
        for order in [DeliveryOrder::Fifo, DeliveryOrder::Any] {
            let run = |(reduction, symmetry)| {
                let model = model(entry.name, 3).with(|setting| {
                    setting.order = order;
                    setting.timers = Timers::usual(entry);
                    setting.properties = Properties::All;
                    setting.keep_going = true;
                    setting.liveness = false;
                    (setting.reduction, setting.symmetry) = (reduction, symmetry);
                    setting.max_states = Some(30_000);
                });
                model.run()
            };
            // What is too large for a test proves nothing either way.
            if run((false, false)).stop.contains("limit") {
                continue;
            }
            let (plain, reduced) = both(|both| run((both, both)));
            // Whatever a run can end in is found, state by state.
            assert_eq!(run((true, false)).quiet, plain.quiet, "{} {order:?}", entry.name);
            smaller += usize::from(reduced.states < plain.states);
        }
    }
    assert!(smaller >= 10, "only {smaller} models became smaller");
}

/// A leader of a majority goes on for ever, and lacks nothing: where nobody lacks anything for ever, it is
/// enough to look at the chosen runs.
#[test]
fn a_cycle_in_which_nothing_is_lacking_is_no_reason_to_explore_everything() {
    let small = |reduction: bool| {
        let model = model("majority", 2).all_start().with(|setting| {
            setting.timers = Timers::MessagesFirst;
            setting.budget.losses = 1;
            (setting.properties, setting.keep_going) = (Properties::All, true);
            (setting.reduction, setting.symmetry) = (reduction, true);
            setting.without = (!reduction).then_some(Reduction::Rotation);
        });
        model.run()
    };
    let (plain, reduced) = both(small);
    let whole =
        |report: &CheckReport| report.remarks.iter().any(|remark| remark.contains("there are cycles"));
    assert!(!whole(&reduced), "{:?}", reduced.remarks);
    assert!(reduced.states * 2 < plain.states, "{} {}", reduced.states, plain.states);
}

#[test]
fn where_identifiers_count_no_state_is_left_out() {
    let states = [false, true]
        .map(|symmetry| model("chang-roberts", 4).with(|setting| setting.symmetry = symmetry).run().states);
    assert_eq!(states[0], states[1]);
}

#[test]
fn a_ring_becomes_far_smaller() {
    let states = [false, true].map(|reduction| {
        let report =
            model("dolev-klawe-rodeh", 6).all_start().with(|setting| setting.reduction = reduction).run();
        assert!(report.holds(), "{report:#?}");
        report.states
    });
    assert!(states[1] * 5 < states[0], "{states:?}");
}

/// A protocol drawn at random: what a process does on a message is looked up in a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Drawn {
    mood: u8,
}

const MOODS: usize = 3;
const LETTERS: usize = 2;

/// What to do in a mood on a letter: the next mood, which letter to send to whom, and what to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    mood: u8,
    send: Option<(u32, u8)>,
    say: Option<bool>,
}

#[derive(Clone, Debug)]
struct Rules {
    on_command: Rule,
    on_letter: [[Rule; LETTERS]; MOODS],
}

/// A letter, and how many more it may bring about: every run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Letter(u8, u8);

impl habemus::Message for Letter {
    fn kind(&self) -> &'static str {
        "Letter"
    }
}

impl Process for Drawn {
    type Problem = Election;
    type Topology = Graph;
    type Config = Rules;
    type Message = Letter;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Drawn { mood: 0 }
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        self.follow(cx.config().on_command, 3, cx);
    }

    fn on_message(&mut self, _: Address, Letter(letter, more): Letter, cx: &mut Context<'_, Self>) {
        self.follow(cx.config().on_letter[self.mood as usize][letter as usize], more, cx);
    }
}

impl RotationSymmetric for Drawn {
    fn rotate(_: Part<'_, Self>, _: &Rotation<'_>) {}
}

impl Drawn {
    fn follow(&mut self, rule: Rule, more: u8, cx: &mut Context<'_, Self>) {
        self.mood = rule.mood;
        if let (Some((to, letter)), Some(more)) = (rule.send, more.checked_sub(1)) {
            // Counted from the process's own place on, so that it is all the same where it stands.
            let mut neighbours: Vec<Address> = cx.neighbours().collect();
            neighbours.sort_by_key(|other| (other.0 + 3 - cx.me().0) % 3);
            let to = neighbours[to as usize % neighbours.len()];
            cx.send(to, Letter(letter, more));
        }
        match rule.say {
            Some(true) => cx.output(Output::leads()),
            Some(false) => cx.output(Output::Leaderless),
            None => {}
        }
    }
}

/// A small generator: the test must be the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn rule(&mut self) -> Rule {
        Rule {
            mood: self.below(MOODS as u64) as u8,
            send: (self.below(4) > 0).then(|| (self.below(3) as u32, self.below(LETTERS as u64) as u8)),
            say: (self.below(5) == 0).then(|| self.below(2) == 0),
        }
    }
}

impl Rules {
    fn drawn(dice: &mut Dice) -> Self {
        let on_command = dice.rule();
        Rules { on_command, on_letter: std::array::from_fn(|_| std::array::from_fn(|_| dice.rule())) }
    }
}

/// Three processes, linked in one way or another.
fn links(dice: &mut Dice) -> &'static [(u32, u32)] {
    [&[(0, 1), (1, 2)][..], &[(0, 1), (1, 2), (0, 2)], &[(0, 1), (0, 2)]][dice.below(3) as usize]
}

/// What may go wrong, one kind after the other.
const BUDGETS: [Budget; 6] = {
    const NONE: Budget = Budget {
        crashes: 0,
        recoveries: 0,
        amnesia: false,
        losses: 0,
        duplications: 0,
        suspicions: 0,
        partitions: 0,
        wrong_timeouts: 0,
    };
    [
        Budget { crashes: 1, ..NONE },
        Budget { crashes: 1, recoveries: 1, ..NONE },
        Budget { losses: 1, ..NONE },
        Budget { duplications: 1, ..NONE },
        Budget { partitions: 1, ..NONE },
        Budget { crashes: 1, recoveries: 1, losses: 1, ..NONE },
    ]
};

/// Where a fault may still strike, some orders of events make no difference either.
#[test]
fn random_protocols_under_faults_have_the_same_verdicts_with_and_without() {
    let (mut smaller, mut broken) = (0, 0);
    for seed in 0..120 {
        let mut dice = Dice(1_000 + seed);
        let rules = Rules::drawn(&mut dice);
        let links = links(&mut dice);
        let order = if dice.below(2) == 0 { DeliveryOrder::Fifo } else { DeliveryOrder::Any };
        let budget = BUDGETS[seed as usize % BUDGETS.len()];
        let run = |reduction| {
            let ids: Vec<Id> = (1..=3).map(Id).collect();
            let system: System<Drawn> =
                System::new(Graph::new(3, links), ids, rules.clone()).expect("three processes");
            let setup = setup("yo-yo", system, Some(vec![1, 2, 3]));
            let everybody = Start::These((0..3).map(Address).collect());
            let properties = Properties::All;
            let setting = Setting {
                order,
                reduction,
                budget,
                start: everybody,
                properties,
                keep_going: true,
                ..Setting::default()
            };
            check_system(&setup, &setting, &CheckHandle::default()).expect("the protocol is pure")
        };
        let (plain, reduced) = both(run);
        assert_eq!(reduced.quiet, plain.quiet, "seed {seed}");
        smaller += usize::from(reduced.states < plain.states);
        broken += usize::from(plain.property("uniqueness").is_some_and(|line| line.steps.is_some()));
    }
    assert!(smaller > 60 && broken > 20, "the protocols must be worth it: {smaller} {broken}");
}

#[test]
fn random_protocols_have_the_same_verdicts_with_and_without() {
    let (mut smaller, mut broken, mut rotated) = (0, 0, 0);
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let rules = Rules::drawn(&mut dice);
        let links = links(&mut dice);
        let order = if dice.below(2) == 0 { DeliveryOrder::Fifo } else { DeliveryOrder::Any };
        // Where nobody is better suited than others, and everybody is linked with everybody, all are
        // interchangeable.
        let preference = (dice.below(2) == 0).then(|| vec![1, 2, 3]);
        let run = |(reduction, symmetry)| {
            let ids: Vec<Id> = (1..=3).map(Id).collect();
            let system: System<Drawn> =
                System::new(Graph::new(3, links), ids, rules.clone()).expect("three processes");
            let setup = setup("yo-yo", system, preference.clone()).rotation_symmetric();
            let setting = Setting {
                order,
                reduction,
                symmetry,
                properties: Properties::All,
                keep_going: true,
                ..Setting::default()
            };
            check_system(&setup, &setting, &CheckHandle::default()).expect("the protocol is pure")
        };
        let (plain, reduced) = both(|both| run((both, both)));
        assert_eq!(run((true, false)).quiet, plain.quiet, "seed {seed}");
        smaller += usize::from(reduced.states < plain.states);
        rotated += usize::from(reduced.remarks.iter().any(|remark| remark.contains("up to rotation")));
        broken += usize::from(plain.property("uniqueness").is_some_and(|line| line.steps.is_some()));
    }
    let worth = smaller > 30 && broken > 30 && rotated > 30;
    assert!(worth, "the protocols must be worth it: {smaller} {broken} {rotated}");
}
