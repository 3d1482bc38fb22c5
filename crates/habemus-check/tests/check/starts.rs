//! The run begins when all have started: from then on, what anybody says is judged, whatever its address.

use habemus::election::{Command, Election, Output};
use habemus::topology::Ring;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{CheckHandle, CheckVerdict, Properties, Setting, Start, check_system};

use crate::help::{model, setup};

/// A word goes round a ring, and whoever sent it claims to lead until it is back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Boaster {
    claims: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Word;

impl habemus::Message for Word {
    fn kind(&self) -> &'static str {
        "Word"
    }
}

/// What makes a process claim that it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occasion {
    Command,
    Timer,
}

const BEST: Id = Id(9);

impl Boaster {
    fn claim(&mut self, cx: &mut Context<'_, Self>) {
        self.claims = true;
        cx.output(Output::leads());
        cx.send(cx.successor(), Word);
    }
}

impl Process for Boaster {
    type Problem = Election;
    type Topology = Ring;
    type Config = Occasion;
    type Message = Word;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        if *cx.config() == Occasion::Timer && cx.id() == Id(1) {
            cx.set_timer((), std::time::Duration::from_millis(1));
        }
        Boaster { claims: false }
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        self.claim(cx);
    }

    fn on_timer(&mut self, (): (), cx: &mut Context<'_, Self>) {
        self.claim(cx);
    }

    fn on_message(&mut self, _: Address, word: Word, cx: &mut Context<'_, Self>) {
        cx.output(if cx.id() == BEST { Output::leads() } else { Output::follows(BEST) });
        if !self.claims {
            cx.send(cx.successor(), word);
        }
    }
}

#[test]
fn an_early_claim_is_wrong_wherever_it_is_made() {
    for occasion in [Occasion::Command, Occasion::Timer] {
        for address in 0..3 {
            let mut ids = vec![Id(2), Id(2), Id(2)];
            (ids[address], ids[(address + 1) % 3]) = (Id(1), BEST);
            let preference = Some(ids.iter().map(|id| id.0 as u32).collect());
            let system: System<Boaster> =
                System::new(Ring::new(3), ids, occasion).expect("identifiers are distinct");
            let starters = if occasion == Occasion::Command { vec![Address(address as u32)] } else { vec![] };
            let setting = Setting {
                start: Start::These(starters),
                properties: Properties::Named(vec!["E1".to_owned()]),
                ..Setting::default()
            };
            let setup = setup("chang-roberts", system, preference);
            let report = check_system(&setup, &setting, &CheckHandle::default()).expect("it can be checked");
            let line = report.property("E1").expect("it was asked for");
            let found = (line.verdict, line.steps);
            assert_eq!(found, (CheckVerdict::Violated, Some(1)), "{occasion:?} at {address}: {report:#?}");
        }
    }
}

#[test]
fn a_shortest_run_does_not_depend_on_the_order_of_the_identifiers() {
    for ids in [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3], [1, 3, 2]] {
        let starter = ids.iter().position(|id| *id == 1).expect("1 is among them");
        let bully = model("bully", 3).ids(&ids).property("E1");
        let report = bully.with(|setting| setting.start = Start::These(vec![Address(starter as u32)])).run();
        let line = report.property("E1").expect("it was asked for");
        assert_eq!(line.steps, Some(2), "{ids:?}: {report:#?}");
        let trace = line.counterexample.as_ref().expect("it is broken");
        habemus_check::replay(trace, None).expect("the run shows what it claims");
    }
}

/// Nobody can tell two who start without names from each other, but one is alone.
#[test]
fn one_starts_whichever_or_every_choice_of_them() {
    for (start, verdict) in [
        (Start::AnyOne, CheckVerdict::Holds),
        (Start::EveryChoice, CheckVerdict::Violated),
        (Start::These(Vec::new()), CheckVerdict::DoesNotApply),
    ] {
        let ring = model("anonymous-ring", 3).property("uniqueness");
        let report = ring.with(|setting| setting.start = start.clone()).run();
        assert_eq!(report.property("uniqueness").map(|line| line.verdict), Some(verdict), "{start:?}");
    }
}
