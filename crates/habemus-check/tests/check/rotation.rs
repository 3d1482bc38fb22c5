//! Rotation symmetry.

use habemus::election::{Command, Election, Output};
use habemus::symmetry::{Part, Permutation, PermutationSymmetric, Rotation, RotationSymmetric};
use habemus::term::TermPart;
use habemus::topology::Ring;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{
    CheckError, CheckHandle, CheckReport, CheckVerdict, DeliveryOrder, Properties, Setting, check_system,
};

use crate::help::{model, setup};
use crate::reduction::{both, verdicts};

#[test]
fn where_processes_are_interchangeable_a_turn_of_all_is_no_other_state() {
    // Draws make the second ring endless in size.
    for (name, processes, depth, times) in [
        ("anonymous-ring", 4, None, 3),
        ("itai-rodeh", 4, Some(9), 3),
        ("token-ring", 4, None, 3),
        // Each counts the requests of the others, so it is seldom all the same who is where.
        ("suzuki-kasami", 3, None, 1),
    ] {
        for order in [DeliveryOrder::Fifo, DeliveryOrder::Any] {
            let (plain, rotated) = both(|symmetry| {
                let model = model(name, processes).with(|setting| {
                    setting.order = order;
                    setting.properties = Properties::All;
                    setting.keep_going = true;
                    setting.liveness = false;
                    setting.reduction = false;
                    setting.symmetry = symmetry;
                    setting.max_depth = depth;
                });
                model.run()
            });
            let (plain, rotated) = (plain.states, rotated.states);
            assert!(rotated * times < plain, "{name}: {rotated} of {plain}");
        }
    }
}

#[test]
fn a_counterexample_is_told_as_it_happened_and_not_as_it_was_kept() {
    for (name, variant, property) in
        [("token-ring", "mutant-hasty", "EM1"), ("suzuki-kasami", "mutant-forgetful", "EM2")]
    {
        let [plain, rotated] = [false, true].map(|symmetry| {
            let broken = model(name, 3).option("variant", variant).property(property);
            broken.with(|setting| (setting.symmetry, setting.reduction) = (symmetry, false)).run()
        });
        let line = rotated.property(property).expect("it was asked for");
        assert_eq!(line.verdict, CheckVerdict::Violated, "{rotated:#?}");
        assert_eq!(line.steps, plain.property(property).and_then(|line| line.steps), "both are shortest");
        let trace = line.counterexample.as_ref().expect("it is broken");
        let replayed = habemus_check::replay(trace, None).expect("the processes do the same again");
        assert_eq!(Some(replayed.steps), line.steps);
    }
}

/// A ring on which a word goes round once, and then leads whoever may.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Whisper {
    begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leader {
    /// Whoever began.
    WhoBegan,
    /// The process at the first address, which should not say that all are alike.
    TheFirst,
    /// Whoever began, and the process at the second place whenever a word comes by.
    TheLiar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Word;

impl habemus::Message for Word {
    fn kind(&self) -> &'static str {
        "Word"
    }
}

impl Process for Whisper {
    type Problem = Election;
    type Topology = Ring;
    type Config = Leader;
    type Message = Word;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Whisper { begun: false }
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        self.begun = true;
        cx.send(cx.successor(), Word);
    }

    fn on_message(&mut self, _: Address, word: Word, cx: &mut Context<'_, Self>) {
        let leads = match cx.config() {
            Leader::WhoBegan => self.begun,
            Leader::TheFirst => cx.me() == Address(0),
            Leader::TheLiar => self.begun || cx.me() == Address(1),
        };
        if leads {
            cx.output(Output::leads());
        } else {
            cx.send(cx.successor(), word);
        }
    }
}

impl RotationSymmetric for Whisper {
    fn rotate(_: Part<'_, Self>, _: &Rotation<'_>) {}
}

impl PermutationSymmetric for Whisper {
    const MINDS_ORDER: bool = true;

    fn permute(_: TermPart<'_, Self>, _: &Permutation<'_>) {}
}

/// Whoever crashes, and whether or not states that are equal up to rotation are merged.
fn whisper_under_crashes(leader: Leader, symmetry: bool) -> Result<CheckReport, CheckError> {
    let ids = vec![Id(1), Id(2), Id(3)];
    let system: System<Whisper> = System::new(Ring::new(3), ids, leader).expect("three processes");
    let mut setting =
        Setting { properties: Properties::All, symmetry, keep_going: true, ..Setting::default() };
    (setting.budget.crashes, setting.budget.recoveries, setting.budget.losses) = (1, 1, 1);
    check_system(
        &setup("anonymous-ring", system, None).permutation_symmetric(),
        &setting,
        &CheckHandle::default(),
    )
}

#[test]
fn whoever_crashes_states_that_are_equal_up_to_rotation_are_one() {
    let [plain, merged] = [false, true].map(|symmetry| {
        whisper_under_crashes(Leader::WhoBegan, symmetry).expect("it does not mind where it stands")
    });
    assert_eq!(verdicts(&plain), verdicts(&merged));
    assert!(merged.states * 2 < plain.states, "{} {}", merged.states, plain.states);
    for leader in [Leader::TheFirst, Leader::TheLiar] {
        let said = whisper_under_crashes(leader, true).expect_err("what it says of itself is not so");
        assert!(said.to_string().contains("one address further on"), "{said}");
    }
}

fn whisper(leader: Leader) -> Result<CheckReport, CheckError> {
    let ids = vec![Id(1), Id(2), Id(3)];
    let system: System<Whisper> = System::new(Ring::new(3), ids, leader).expect("three processes");
    let setting =
        Setting { properties: Properties::Named(vec!["uniqueness".to_owned()]), ..Setting::default() };
    check_system(
        &setup("anonymous-ring", system, None).rotation_symmetric(),
        &setting,
        &CheckHandle::default(),
    )
}

#[test]
fn a_process_that_minds_its_place_is_named() {
    whisper(Leader::WhoBegan).expect("it does not mind where it stands");
    for leader in [Leader::TheFirst, Leader::TheLiar] {
        let said = whisper(leader).expect_err("what it says of itself is not so").to_string();
        assert!(
            said.contains("process") && said.contains("Word") && said.contains("one address further on"),
            "{said}"
        );
    }
}
