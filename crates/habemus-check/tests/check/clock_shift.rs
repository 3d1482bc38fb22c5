//! Logical times of which only the distances matter.

use habemus::clock::LamportClock;
use habemus::mutex::{Command, Mutex, Output};
use habemus::symmetry::{Part, ShiftInvariant};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System};
use habemus_check::{
    ANY_NUMBER, CheckError, CheckHandle, CheckReport, CheckVerdict, DeliveryOrder, Extent, Properties,
    Setting, check_system,
};

use crate::help::{model, setup};

#[test]
fn ricart_and_agrawala_are_right_however_often_processes_enter() {
    let any = |variant| {
        let of = model("ricart-agrawala", 3).option("variant", variant);
        of.with(|setting| (setting.entries, setting.keep_going) = (ANY_NUMBER, true))
    };
    let report = any("bare-replies").run();
    assert_eq!(report.extent, Extent::Complete);
    for name in ["EM1", "EM2", "no-starvation"] {
        let verdict = report.property(name).map(|line| line.verdict);
        assert_eq!(verdict, Some(CheckVerdict::Holds), "{name}: {report:#?}");
    }
    // And what is wrong is found.
    let broken = any("mutant-no-tie-break").with(|setting| setting.keep_going = false).run();
    assert_eq!(broken.property("EM1").map(|line| line.verdict), Some(CheckVerdict::Violated));
    // Without this, clocks have no end.
    let endless = any("bare-replies").with(|setting| {
        setting.symmetry = false;
        setting.max_states = Some(50_000);
    });
    assert_eq!(endless.run().extent, Extent::Bounded);
}

#[test]
fn what_holds_is_the_same_if_clocks_are_set_back() {
    for (name, processes, entries) in
        [("ricart-agrawala", 2, 3), ("ricart-agrawala", 3, 1), ("lamport", 2, 2), ("maekawa", 3, 1)]
    {
        for order in [DeliveryOrder::Fifo, DeliveryOrder::Any] {
            let run = |symmetry| {
                let model = model(name, processes).with(|setting| {
                    (setting.order, setting.entries, setting.symmetry) = (order, entries, symmetry);
                    (setting.clocks, setting.keep_going, setting.reduction) = (true, true, false);
                    setting.properties = Properties::All;
                });
                model.run()
            };
            let (plain, set_back) = (run(false), run(true));
            let verdicts = |report: &CheckReport| {
                let said =
                    |line: &habemus_check::CheckedProperty| (line.name.clone(), line.verdict, line.steps);
                report.properties.iter().map(said).collect::<Vec<_>>()
            };
            assert_eq!(verdicts(&plain), verdicts(&set_back), "{name} {order:?}");
            assert!(set_back.states < plain.states, "{name} {order:?}: {}", plain.states);
        }
    }
}

#[test]
fn a_counterexample_has_the_times_that_the_clocks_had() {
    let bare = model("ricart-agrawala", 3).option("variant", "bare-replies").property("EM3");
    let report = bare.with(|setting| (setting.entries, setting.clocks) = (2, true)).run();
    let line = report.property("EM3").expect("it was asked for");
    // By then every clock is past 0, and the states that are kept have earlier times than the run.
    let trace = line.counterexample.as_ref().expect("it is broken");
    let replayed = habemus_check::replay(trace, None).expect("the processes do the same again");
    assert_eq!(Some(replayed.steps), line.steps);
}

/// A client asks again and again, each time with a later time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Insistent {
    clock: LamportClock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// It is busy at any time.
    AlwaysBusy,
    /// It opens at some time, and should not say that only distances matter.
    OpensLate,
    /// It opens at one time only, and should not say so either.
    OpensAt(u32),
    /// It opens at times whose number is a multiple of this, which it finds out from how they are told to
    /// people.
    Reads(u64),
}

/// A time that a process can make by ticking.
fn after(ticks: u32) -> LamportClock {
    let mut clock = LamportClock::default();
    for _ in 0..ticks {
        clock.tick();
    }
    clock
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
enum Message {
    Ask(LamportClock),
    Busy(LamportClock),
    Grant,
}
habemus::kinds!(Message: Ask, Busy, Grant);

impl Process for Insistent {
    type Problem = Mutex;
    type Topology = Complete;
    type Config = Server;
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Insistent { clock: LamportClock::default() }
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        let now = self.clock.tick();
        cx.send(Address(1), Message::Ask(now));
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match message {
            Message::Ask(time) if *cx.config() == Server::OpensLate && time > after(1000) => {
                cx.send(from, Message::Grant);
            }
            Message::Ask(time) => {
                let opens = match *cx.config() {
                    Server::OpensAt(ticks) => time == after(ticks),
                    Server::Reads(of) => {
                        format!("{time:?}").parse().is_ok_and(|time: u64| time % of == of - 1)
                    }
                    Server::AlwaysBusy | Server::OpensLate => false,
                };
                let answer = if opens { Message::Grant } else { Message::Busy(self.clock.witness(time)) };
                cx.send(from, answer);
            }
            Message::Busy(time) => {
                let now = self.clock.witness(time);
                cx.send(from, Message::Ask(now));
            }
            Message::Grant => cx.output(Output::Entered { token: None }),
        }
    }
}

impl ShiftInvariant for Insistent {
    fn visit_times(part: Part<'_, Self>, _: &Server, visit: &mut dyn FnMut(&mut LamportClock)) {
        match part {
            Part::Process(process) => visit(&mut process.clock),
            Part::Message(Message::Ask(time) | Message::Busy(time)) => visit(time),
            Part::Message(Message::Grant) => {}
        }
    }
}

fn check(server: Server, symmetry: bool) -> Result<CheckReport, CheckError> {
    let ids = vec![Id(1), Id(2)];
    let system: System<Insistent> = System::new(Complete::new(2), ids, server).expect("two processes");
    let setting = Setting {
        clients: vec![Address(0)],
        properties: Properties::Named(vec!["EM2".to_owned()]),
        symmetry,
        max_states: Some(1000),
        ..Setting::default()
    };
    check_system(&setup("coordinator", system, None).shift_invariant(), &setting, &CheckHandle::default())
}

#[test]
fn a_run_in_which_only_times_grow_goes_round_in_a_cycle() {
    let endless = check(Server::AlwaysBusy, false).expect("it can be checked");
    assert_eq!(endless.extent, Extent::Bounded, "{endless:#?}");
    let report = check(Server::AlwaysBusy, true).expect("it can be checked");
    let line = report.property("EM2").expect("it was asked for");
    assert_eq!((report.extent, line.verdict), (Extent::Complete, CheckVerdict::Violated), "{report:#?}");
    assert!(line.counterexample.as_ref().is_some_and(|trace| trace.header.cycle.is_some()), "{line:#?}");
}

#[test]
fn a_process_that_minds_the_time_itself_is_named() {
    // No shift by little brings any time that is reached to thirty, or to a multiple of so much.
    for server in [Server::OpensLate, Server::OpensAt(9), Server::OpensAt(30), Server::Reads(5_000_011)] {
        let error = check(server, true).expect_err("what it says of itself is not so");
        let said = error.to_string();
        assert!(said.contains("process 2") && said.contains("Ask(") && said.contains("later"), "{said}");
    }
}
