//! Small protocols made for the checker: livelock, fairness, chance, and a handler that cheats.

use std::sync::atomic::{AtomicU32, Ordering};

use habemus::mutex::{Command, Mutex, Output};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{
    CheckError, CheckHandle, CheckReport, CheckVerdict, Extent, Properties, Setting, Timers, check_system,
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

fn setting(liveness: bool) -> Setting {
    Setting {
        clients: vec![Address(0)],
        properties: Properties::Named(vec!["EM2".to_owned()]),
        liveness,
        ..Setting::default()
    }
}

fn check(server: Server, liveness: bool) -> Result<CheckReport, CheckError> {
    check_with(server, &setting(liveness))
}

fn check_with(server: Server, setting: &Setting) -> Result<CheckReport, CheckError> {
    let ids = vec![Id(1), Id(2)];
    let system: System<Toy> = System::new(Complete::new(2), ids, server).expect("two processes");
    check_system(&setup("coordinator", system, None), setting, &CheckHandle::default())
}

#[test]
fn somebody_who_is_put_off_for_ever_is_found_on_a_cycle() {
    // No run comes to rest, so whoever looks only at where runs end finds nothing.
    let by_paths = check(Server::AlwaysBusy, false).expect("it can be checked");
    assert_eq!((by_paths.quiet, by_paths.sometimes[0].reached), (0, false), "nobody ever enters");
    assert_eq!(
        by_paths.properties[1].verdict,
        CheckVerdict::NotFound,
        "what was not looked for is not proved"
    );
    let stop = "runs without end were not looked for";
    assert_eq!((by_paths.extent, by_paths.stop.as_str()), (Extent::Bounded, stop));
    let report = check(Server::AlwaysBusy, true).expect("it can be checked");
    let line = report.property("EM2").expect("it was asked for");
    assert_eq!((report.extent, line.verdict), (Extent::Complete, CheckVerdict::Violated));
    let why = line.explanation.as_deref().unwrap_or_default();
    assert!(why.contains("1 asked in vain to enter") && why.contains("for ever"), "{why}");
    // The command, and once round: asked, put off.
    assert_eq!(line.steps, Some(3));
}

#[test]
fn what_never_ran_is_named() {
    let report = check(Server::AlwaysBusy, true).expect("it can be checked");
    assert_eq!(report.never, ["message Grant"]);
    let report = check(Server::OpensInTime, true).expect("it can be checked");
    assert!(report.never.is_empty(), "{:?}", report.never);
    // Under timers that wait for messages, a client that asks again and again keeps the server from opening.
    let timely = Setting { timers: Timers::MessagesFirst, ..setting(true) };
    let report = check_with(Server::OpensInTime, &timely).expect("it can be checked");
    assert_eq!(report.never, ["message Grant", "timer"]);
}

#[test]
fn what_is_not_put_to_the_test_is_not_proved() {
    let verdict = |report: &CheckReport, name: &str| report.property(name).map(|line| line.verdict);
    // No terms, and no tokens.
    let ring = crate::help::model("chang-roberts", 3).property("one-leader-per-term").run();
    assert_eq!(verdict(&ring, "one-leader-per-term"), Some(CheckVerdict::DoesNotApply));
    assert!(ring.holds() && !ring.proves());
    let lock = crate::help::model("ricart-agrawala", 2).property("fencing").run();
    assert_eq!(verdict(&lock, "fencing"), Some(CheckVerdict::DoesNotApply));
    // Nobody leads, so no two lead, and no leader is deposed.
    let silent = crate::help::model("yo-yo", 3).option("variant", "as-printed").all_start();
    let silent =
        silent.with(|setting| (setting.properties, setting.keep_going) = (Properties::All, true)).run();
    assert!(!silent.sometimes[0].reached, "{silent:#?}");
    for name in ["uniqueness", "stability", "E1"] {
        assert_eq!(verdict(&silent, name), Some(CheckVerdict::DoesNotApply), "{silent:#?}");
    }
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
