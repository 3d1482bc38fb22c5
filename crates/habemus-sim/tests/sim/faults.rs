//! Each fault does what its name says, seen on a process that only counts.

use std::time::Duration;

use habemus::detector::{Detection, Never};
use habemus::topology::Complete;
use habemus::{Address, Context, Id, Process, System};
use habemus_scenario::{Latency, Occasion, Processes, Scenario, Trigger, Until, script};
use habemus_sim::{Limits, Simulation, Stop};

/// Ticks every ten milliseconds of its own clock, tells everybody, and remembers what it heard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Ticker {
    ticks: u32,
    heard: Vec<(Address, u32)>,
    /// What stable storage held at the start.
    remembered: Option<u32>,
}

impl Process for Ticker {
    type Problem = Detection;
    type Topology = Complete;
    type Config = ();
    type Message = Tick;
    type Timer = ();
    type Stable = u32;

    fn on_start(recovered: Option<u32>, cx: &mut Context<'_, Self>) -> Self {
        cx.set_timer((), Duration::from_millis(10));
        Ticker { ticks: 0, heard: Vec::new(), remembered: recovered }
    }

    fn on_message(&mut self, from: Address, Tick(number): Tick, _: &mut Context<'_, Self>) {
        self.heard.push((from, number));
    }

    fn on_timer(&mut self, (): (), cx: &mut Context<'_, Self>) {
        self.ticks += 1;
        cx.persist(self.ticks);
        cx.broadcast(&Tick(self.ticks));
        cx.set_timer((), Duration::from_millis(10));
    }

    fn on_command(&mut self, command: Never, _: &mut Context<'_, Self>) {
        match command {}
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
struct Tick(u32);

impl habemus::Message for Tick {
    fn kind(&self) -> &'static str {
        "Tick"
    }
}

/// Three tickers, 1 to 3, for a hundred and five milliseconds, with one millisecond of latency.
fn play(lines: &[&str]) -> Simulation<Ticker, ()> {
    let ids = [1, 2, 3];
    let processes = Processes::new(&ids);
    let cue =
        |line: &&str| script::parse_line(line, &processes).unwrap_or_else(|e| panic!("{line}: {e}")).cue;
    let mut scenario =
        Scenario { ids: ids.to_vec(), script: lines.iter().map(cue).collect(), ..Scenario::default() };
    scenario.network.latency = Latency::Constant(Duration::from_millis(1));
    let system = System::new(Complete::new(3), ids.map(Id).to_vec(), ()).expect("it is well formed");
    let mut simulation = Simulation::new(system, &scenario, None, ()).expect("the script fits");
    simulation.start();
    let limits = Limits { until: Until::Time(Duration::from_millis(105)), ..Limits::quiet() };
    assert_eq!(simulation.run(limits), Stop::Time);
    simulation
}

fn process(simulation: &Simulation<Ticker, ()>, id: u32) -> &Ticker {
    simulation.process(Address(id - 1)).expect("it is up")
}

/// How many ticks of `from` the process `at` has heard.
fn heard(simulation: &Simulation<Ticker, ()>, at: u32, from: u32) -> usize {
    process(simulation, at).heard.iter().filter(|(sender, _)| *sender == Address(from - 1)).count()
}

#[test]
fn without_faults_everybody_hears_every_tick() {
    let run = play(&[]);
    assert_eq!((process(&run, 1).ticks, heard(&run, 1, 2), heard(&run, 1, 3)), (10, 10, 10));
    assert_eq!(run.now(), 105_000_000);
}

#[test]
fn a_crashed_process_is_gone_and_its_timers_with_it() {
    let run = play(&["35ms crash 2"]);
    assert_eq!(run.process(Address(1)), None);
    assert_eq!(heard(&run, 1, 2), 3);
}

#[test]
fn a_recovered_process_has_what_it_stored_and_nothing_else() {
    let run = play(&["35ms crash 2", "55ms recover 2"]);
    assert_eq!((process(&run, 2).remembered, process(&run, 2).ticks), (Some(3), 5));
    assert_eq!(heard(&run, 2, 1), 5, "messages while it was down are lost");
}

#[test]
fn after_amnesia_not_even_that() {
    let run = play(&["35ms crash 2", "55ms recover 2 with amnesia"]);
    assert_eq!((process(&run, 2).remembered, process(&run, 2).ticks), (None, 5));
}

#[test]
fn a_process_dead_from_the_beginning_can_come_later() {
    let run = play(&["0ms crash 2", "52ms recover 2"]);
    assert_eq!((process(&run, 2).remembered, process(&run, 2).ticks), (Some(0), 5));
}

#[test]
fn a_paused_process_does_nothing_and_then_catches_up_on_what_waited() {
    let run = play(&["35ms pause 2", "75ms resume 2"]);
    // Its timer for 40 ms fires at 75 ms, and then every ten.
    assert_eq!(process(&run, 2).ticks, 3 + 4);
    assert_eq!(heard(&run, 2, 1), 10, "nothing sent to it is lost");
    assert_eq!(heard(&run, 1, 2), 6, "the last tick is still on its way");
}

#[test]
fn what_waits_for_a_paused_process_dies_with_it() {
    let run = play(&["35ms pause 2", "60ms crash 2", "75ms resume 2", "95ms recover 2"]);
    assert_eq!(heard(&run, 2, 1), 1);
}

#[test]
fn a_slow_process_is_heard_later() {
    let run = play(&["0ms slow 2 by 50ms"]);
    assert_eq!(heard(&run, 1, 2), 5);
    assert_eq!(process(&run, 2).ticks, 10);
}

#[test]
fn a_fast_clock_ticks_more_often_and_a_slow_one_less() {
    let run = play(&["1ms drift 2 by 100%", "1ms drift 3 by -50%"]);
    // The first timer was set before the clock was disturbed.
    assert_eq!((process(&run, 2).ticks, process(&run, 3).ticks), (1 + 19, 1 + 4));
}

#[test]
fn a_cut_can_be_one_way_and_heals() {
    let run = play(&["35ms cut 1->2", "75ms heal 1->2"]);
    assert_eq!((heard(&run, 2, 1), heard(&run, 1, 2), heard(&run, 3, 1)), (6, 10, 10));
    let run = play(&["35ms cut 1-2", "75ms heal"]);
    assert_eq!((heard(&run, 2, 1), heard(&run, 1, 2)), (6, 6));
}

#[test]
fn a_partition_leaves_those_not_named_together() {
    let run = play(&["35ms partition 1"]);
    assert_eq!((heard(&run, 2, 1), heard(&run, 1, 3), heard(&run, 2, 3)), (3, 3, 10));
}

#[test]
fn everything_is_lost_at_a_hundred_per_cent() {
    let run = play(&["35ms loss 100%", "65ms loss 0%"]);
    assert_eq!(heard(&run, 1, 2), 3 + 4);
}

#[test]
fn a_crash_on_an_event_comes_in_the_midst_of_a_broadcast() {
    // The message that is waited for is the last thing that 1 does.
    let run = play(&["when 1 sends Tick: crash 1"]);
    assert_eq!((heard(&run, 2, 1), heard(&run, 3, 1)), (1, 0));
    let run = play(&["when 1 sends Tick for the 2nd time: crash 1"]);
    assert_eq!((heard(&run, 2, 1), heard(&run, 3, 1)), (1, 1));
    let run = play(&["when 1 receives Tick: crash 1", "when 1 crashes: pause 3"]);
    assert_eq!((run.process(Address(0)), heard(&run, 2, 3)), (None, 1));
}

#[test]
fn a_trigger_waits_for_anyone_if_nobody_is_named() {
    let line = script::parse_line("when anyone sends Tick: crash 3", &Processes::new(&[1, 2, 3]));
    let cue = line.expect("it is a line").cue;
    assert!(matches!(cue.occasion, Occasion::When(Trigger { process: None, .. })));
    assert_eq!(play(&["when anyone sends Tick: crash 3"]).process(Address(2)), None);
}

/// Among twenty thousand processes that all call an election at once this is the difference between a second
/// and minutes.
#[test]
fn whoever_stops_a_run_need_not_wait_for_the_end_of_a_line_of_its_script() {
    let text = "algorithm = \"bully\"\nprocesses = 50\nscript = [\"0ms elect 1..50\"]\n";
    let scenario = habemus_scenario::parse("f.toml", text).expect("it is a scenario").scenario;
    let control = habemus_sim::Control::default();
    control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let report = habemus_sim::run_controlled(&scenario, false, &control).expect("it can be run");
    assert_eq!(report.statistics.messages, 49, "only the first has asked all that are better");
    assert!(!report.complete);
}
