//! Clients that enter as often as they like, and need not ask: a run may end whenever nothing is owed.

use habemus::mutex::{Command, Mutex, Output};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{
    ANY_NUMBER, CheckHandle, CheckReport, CheckVerdict, Extent, Properties, Setting, Timers, check_system,
};

use crate::help::setup;

/// Two processes share a fork; whoever has it may enter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Philosopher {
    has_fork: bool,
    is_inside: bool,
    /// Whether the other has asked and is to be given the fork.
    owes: bool,
}

/// When a fork that is owed is given away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manners {
    OnLeaving,
    /// A bug: whoever never asks again keeps it for ever.
    WithTheNextRequest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
enum Message {
    Ask,
    Fork,
}
habemus::kinds!(Message: Ask, Fork);

impl Philosopher {
    fn give(&mut self, cx: &mut Context<'_, Self>) {
        (self.has_fork, self.owes) = (false, false);
        cx.send(Address(1 - cx.me().0), Message::Fork);
    }

    fn enter(&mut self, cx: &mut Context<'_, Self>) {
        (self.has_fork, self.is_inside) = (true, true);
        cx.output(Output::Entered { token: None });
    }
}

impl Process for Philosopher {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Manners;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        Philosopher { has_fork: cx.me() == Address(0), is_inside: false, owes: false }
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match command {
            Command::Acquire | Command::Share => {
                if self.owes {
                    self.give(cx);
                }
                if self.has_fork {
                    self.enter(cx);
                } else {
                    cx.send(Address(1 - cx.me().0), Message::Ask);
                }
            }
            Command::Release => {
                self.is_inside = false;
                cx.output(Output::Left);
                if self.owes && *cx.config() == Manners::OnLeaving {
                    self.give(cx);
                }
            }
        }
    }

    fn on_message(&mut self, _: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Ask if self.has_fork && !self.is_inside => self.give(cx),
            Message::Ask => self.owes = true,
            Message::Fork => self.enter(cx),
        }
    }
}

fn check(manners: Manners, change: impl FnOnce(&mut Setting)) -> CheckReport {
    let ids = vec![Id(1), Id(2)];
    let system: System<Philosopher> = System::new(Complete::new(2), ids, manners).expect("two processes");
    let properties = Properties::Named(vec!["EM1".to_owned(), "EM2".to_owned()]);
    let mut setting = Setting { properties, entries: ANY_NUMBER, ..Setting::default() };
    change(&mut setting);
    check_system(&setup("coordinator", system, None), &setting, &CheckHandle::default())
        .expect("it can be checked")
}

#[test]
fn whoever_need_not_ask_may_leave_another_waiting_for_ever() {
    for reduction in [true, false] {
        for timers in [Timers::AnyTime, Timers::MessagesFirst] {
            for entries in [1, ANY_NUMBER] {
                let report = check(Manners::WithTheNextRequest, |setting| {
                    (setting.reduction, setting.timers, setting.entries) = (reduction, timers, entries);
                });
                let line = report.property("EM2").expect("it was asked for");
                assert_eq!(line.verdict, CheckVerdict::Violated, "{entries} entries: {report:#?}");
                // One enters, the other asks, the one leaves: what is owed is never given.
                assert_eq!((line.steps, report.extent), (Some(4), Extent::UntilViolation), "{entries}");
            }
        }
    }
}

#[test]
fn where_what_is_owed_is_given_nobody_waits_for_ever() {
    for reduction in [true, false] {
        let report = check(Manners::OnLeaving, |setting| setting.reduction = reduction);
        assert_eq!((report.extent, report.holds()), (Extent::Complete, true), "{report:#?}");
    }
}
