//! Crashes in the midst of a pulse: any set of messages may be out by then, whatever the order in which they
//! are sent.

use std::time::Duration;

use habemus::catalogue::Setup;
use habemus::election::{Command, Election, Output};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{CheckHandle, CheckVerdict, Properties, Setting, Start, Timers, check_system};

use crate::help::{model, setup};

/// The first tells the others; the second leads if it hears nothing, and the third if it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Heir {
    has_heard: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Word;

impl habemus::Message for Word {
    fn kind(&self) -> &'static str {
        "Word"
    }
}

impl Process for Heir {
    type Problem = Election;
    type Topology = Complete;
    type Config = ();
    type Message = Word;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        let pulses = if cx.me() == Address(0) { 1 } else { 2 };
        cx.set_timer((), Duration::from_millis(pulses));
        Heir { has_heard: false }
    }

    fn on_command(&mut self, _: Command, _: &mut Context<'_, Self>) {}

    fn on_message(&mut self, _: Address, _: Word, _: &mut Context<'_, Self>) {
        self.has_heard = true;
    }

    fn on_timer(&mut self, (): (), cx: &mut Context<'_, Self>) {
        match cx.me() {
            Address(0) => (1..3).map(Address).for_each(|other| cx.send(other, Word)),
            me if self.has_heard == (me == Address(2)) => cx.output(Output::leads()),
            _ => {}
        }
    }
}

#[test]
fn of_two_messages_the_second_may_be_out_and_the_first_not() {
    let ids = vec![Id(1), Id(2), Id(3)];
    let system: System<Heir> = System::new(Complete::new(3), ids, ()).expect("three processes");
    let setup = Setup { synchronous: true, ..setup("flood-set", system, None) };
    let mut setting = Setting {
        start: Start::These(Vec::new()),
        properties: Properties::Named(vec!["uniqueness".to_owned()]),
        ..Setting::default()
    };
    let verdict = |setting: &Setting| {
        let report = check_system(&setup, setting, &CheckHandle::default()).expect("it can be checked");
        report.property("uniqueness").map(|line| (line.verdict, line.steps))
    };
    assert_eq!(verdict(&setting), Some((CheckVerdict::Holds, None)));
    setting.budget.crashes = 1;
    assert_eq!(verdict(&setting), Some((CheckVerdict::Violated, Some(4))));
}

#[test]
fn a_message_that_a_crash_takes_along_can_be_repeated_and_scripted() {
    let flood = model("flood-set", 4).option("rounds", "1").all_start().property("agreement");
    let report = flood.with(|setting| setting.budget.crashes = 1).run();
    let line = report.property("agreement").expect("it was asked for");
    let trace = line.counterexample.as_ref().expect("one round is not enough");
    let replayed = habemus_check::replay(trace, None).expect("the processes do the same again");
    assert!(replayed.scenario().is_some());
}

/// Who waits for one that is down would otherwise wait for ever.
#[test]
fn the_oracle_tells_of_a_crash_in_the_midst_of_a_pulse() {
    let service = model("all-to-all", 3).detector("oracle").all_start().property("E2");
    let report =
        service.with(|setting| (setting.timers, setting.budget.crashes) = (Timers::MessagesFirst, 1)).run();
    assert_eq!(report.property("E2").map(|line| line.verdict), Some(CheckVerdict::Holds));
}
