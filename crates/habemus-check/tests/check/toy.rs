//! Small protocols made for the checker: livelock, fairness, chance, and a handler that cheats.

use std::sync::atomic::{AtomicU32, Ordering};

use habemus::mutex::{Command, Mutex, Output};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{
    CheckError, CheckHandle, CheckReport, Extent, Properties, Setting, Verdict, check_system,
};

use crate::help::setup;

/// A client asks a server again and again until it may enter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Toy {
    open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// It always says that it is busy.
    AlwaysBusy,
    /// It opens when a timer runs out, which runs from the beginning.
    OpensInTime,
    /// It grants by chance.
    Draws,
    /// It changes its mind from call to call.
    Cheats,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
enum Message {
    Ask,
    Busy,
    Grant,
}
habemus::kinds!(Message: Ask, Busy, Grant);

static CALLS: AtomicU32 = AtomicU32::new(0);

impl Process for Toy {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Server;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        if cx.me() == Address(1) && *cx.config() == Server::OpensInTime {
            cx.set_timer((), std::time::Duration::from_millis(1));
        }
        Toy { open: false }
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
        match command {
            Command::Acquire | Command::Share => cx.send(Address(1), Message::Ask),
            Command::Release => cx.output(Output::Left),
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Ask => {
                let grants = match cx.config() {
                    Server::AlwaysBusy => false,
                    Server::OpensInTime => self.open,
                    Server::Draws => cx.choose(2) == 1,
                    Server::Cheats => CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2),
                };
                cx.send(from, if grants { Message::Grant } else { Message::Busy });
            }
            Message::Busy => cx.send(from, Message::Ask),
            Message::Grant => cx.output(Output::Entered { token: None }),
        }
    }

    fn on_timer(&mut self, (): (), _: &mut Context<'_, Self>) {
        self.open = true;
    }
}

fn check(server: Server, liveness: bool) -> Result<CheckReport, CheckError> {
    let ids = vec![Id(1), Id(2)];
    let system: System<Toy> = System::new(Complete::new(2), ids, server).expect("two processes");
    let setting = Setting {
        clients: vec![Address(0)],
        properties: Properties::Named(vec!["EM2".to_owned()]),
        liveness,
        ..Setting::default()
    };
    check_system(&setup("coordinator", system, None), &setting, &CheckHandle::default())
}

#[test]
fn somebody_who_is_put_off_for_ever_is_found_on_a_cycle() {
    // No run comes to rest, so whoever looks only at where runs end finds nothing.
    let by_paths = check(Server::AlwaysBusy, false).expect("it can be checked");
    assert_eq!((by_paths.quiet, by_paths.sometimes[0].reached), (0, false), "nobody ever enters");
    assert_eq!(by_paths.properties[1].verdict, Verdict::NotFound, "what was not looked for is not proved");
    let stop = "runs without end were not looked for";
    assert_eq!((by_paths.extent, by_paths.stop.as_str()), (Extent::Bounded, stop));
    let report = check(Server::AlwaysBusy, true).expect("it can be checked");
    let line = report.property("EM2").expect("it was asked for");
    assert_eq!((report.extent, line.verdict), (Extent::Complete, Verdict::Violated));
    let why = line.explanation.as_deref().unwrap_or_default();
    assert!(why.contains("1 asked in vain to enter") && why.contains("for ever"), "{why}");
    // The command, and once round: asked, put off.
    assert_eq!(line.steps, Some(3));
}

#[test]
fn a_timer_that_could_always_run_out_runs_out_at_some_time() {
    let report = check(Server::OpensInTime, true).expect("it can be checked");
    assert!(report.holds(), "{report:#?}");
}

#[test]
fn whoever_draws_for_ever_draws_everything() {
    let report = check(Server::Draws, true).expect("it can be checked");
    assert!(report.holds(), "{report:#?}");
}

#[test]
fn a_handler_that_depends_on_more_than_its_state_is_named() {
    let error = check(Server::Cheats, true).expect_err("it cheats");
    let event = "the message Ask from 1".to_owned();
    assert_eq!(error, CheckError::Nondeterministic { process: 2, event });
}
