//! Mutual exclusion under many seeds: the promises are kept, the figures hold, and what must go wrong does.

mod elected;
mod named;

use habemus::analysis::{Arrangement, Start};
use habemus::catalogue::Shape;
use habemus_report::Finding;
use habemus_scenario::{Action, Cue, Occasion, RandomFaults, Scenario, TopologyChoice, Until, Workload};
use habemus_sim::{Report, run};

use crate::support::{
    Choices, assert_kept, assert_theory_holds, cost_request, ms, play, sent, verdict, with,
};

const ALL: [&str; 7] =
    ["token-ring", "lamport", "ricart-agrawala", "maekawa", "quorum", "suzuki-kasami", "raymond"];

/// Everybody enters so many times, in a loop: thinks, asks, holds, leaves.
fn loops(algorithm: &str, processes: u64, entries: u32) -> Scenario {
    let (hold, think) = ((ms(0), ms(6)), (ms(0), ms(20)));
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: (1..=processes).rev().collect(),
        workload: Some(Workload { entries, clients: Vec::new(), hold, think, rate: 0.0 }),
        ..Scenario::default()
    }
}

/// Under how many of these seeds the property is violated.
fn violations(scenario: &Scenario, property: &str, seeds: std::ops::Range<u64>) -> usize {
    let violated =
        |seed| verdict(&play(&Scenario { seed, ..scenario.clone() }), property) == Finding::Violated;
    seeds.filter(|seed| violated(*seed)).count()
}

/// These properties hold under each of these seeds, whatever the others do.
#[track_caller]
fn assert_hold(scenario: &Scenario, properties: &[&str], seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let report = play(&Scenario { seed, ..scenario.clone() });
        for property in properties {
            let lines = &report.properties;
            assert_eq!(verdict(&report, property), Finding::Holds, "seed {seed} of {scenario:?}: {lines:?}");
        }
    }
}

#[test]
fn clients_in_a_loop_find_every_promise_kept() {
    for algorithm in ALL {
        for processes in [1, 2, 3, 5, 9] {
            let mut scenario = loops(algorithm, processes, 4);
            // The quorum promises only safety, but with its timer all are served in the end.
            scenario.expect.holds = vec!["EM1".to_owned(), "EM2".to_owned(), "no-starvation".to_owned()];
            scenario.expect.quiet = Some(true);
            assert_kept(&scenario, 15);
            let report = play(&scenario);
            assert_eq!(report.statistics.entries, 4 * processes, "{algorithm}");
            assert!(report.properties.iter().all(|line| line.verdict != Finding::Open), "{algorithm}");
        }
    }
}

#[test]
fn haste_and_idleness_find_every_promise_kept() {
    for algorithm in ALL {
        for (hold, think) in [((ms(0), ms(0)), (ms(0), ms(0))), ((ms(0), ms(3)), (ms(0), ms(300)))] {
            let mut scenario = loops(algorithm, 4, 8);
            scenario.workload = Some(Workload { entries: 8, clients: Vec::new(), hold, think, rate: 0.0 });
            assert_kept(&scenario, 20);
        }
    }
}

/// S1: EM3, "se um pedido de entrar na seção crítica aconteceu antes de outro, então a ordem de entrada é
/// garantida nessa ordem".
#[test]
fn timestamps_keep_the_order_of_requests_and_other_rules_do_not() {
    for algorithm in ["lamport", "ricart-agrawala"] {
        assert_eq!(violations(&loops(algorithm, 5, 6), "EM3", 0..40), 0, "{algorithm}");
    }
    for algorithm in ["maekawa", "suzuki-kasami", "raymond"] {
        assert!(violations(&loops(algorithm, 5, 6), "EM3", 0..40) > 0, "{algorithm} has been underestimated");
    }
}

#[test]
fn without_the_clock_on_replies_a_request_can_overtake_one_that_happened_before_it() {
    let mut bare = with(&loops("ricart-agrawala", 4, 10), &[("variant", "bare-replies")]);
    bare.network.latency = habemus_scenario::Latency::Exponential { mean: ms(10) };
    let stamped = Scenario { options: std::collections::BTreeMap::new(), ..bare.clone() };
    assert!(violations(&bare, "EM3", 0..100) > 0);
    assert_eq!(violations(&bare, "EM1", 0..20), 0);
    assert_eq!(violations(&stamped, "EM3", 0..100), 0);
}

#[test]
fn only_those_that_say_so_need_links_that_keep_the_order() {
    for algorithm in ["ricart-agrawala", "suzuki-kasami", "raymond"] {
        let mut scenario = loops(algorithm, 5, 6);
        scenario.network.fifo = false;
        assert_kept(&scenario, 40);
    }
    let mut scenario = loops("lamport", 3, 10);
    scenario.network.fifo = false;
    assert!(violations(&scenario, "EM1", 0..200) > 0);
}

#[test]
fn fencing_tokens_grow_where_the_algorithm_has_them() {
    for algorithm in ["token-ring", "lamport", "ricart-agrawala", "suzuki-kasami", "raymond"] {
        let scenario = with(&loops(algorithm, 5, 5), &[("fencing", "true")]);
        assert_kept(&scenario, 20);
        let report = run(&scenario, true).expect("it runs");
        let trace = report.trace.expect("it was asked for");
        let entered = trace.records.iter().filter_map(|record| match &record.what {
            habemus_trace::Happening::Output { label, .. } => label.strip_prefix("enters with token "),
            _ => None,
        });
        let tokens: Vec<u64> = entered.map(|token| token.parse().expect("a number")).collect();
        assert_eq!(tokens.len(), 25, "{algorithm}");
        assert!(tokens.is_sorted_by(|a, b| a < b), "{algorithm}: {tokens:?}");
    }
}

/// 3(n−1), 2(n−1), and 0 or n messages per entry, whatever else goes on.
#[test]
fn the_messages_of_a_loop_come_to_the_figure_of_the_notes() {
    for processes in [2, 3, 7] {
        let entries = 6 * processes;
        for seed in 1..10 {
            let play = |algorithm: &str| play(&Scenario { seed, ..loops(algorithm, processes, 6) });
            assert_eq!(play("lamport").statistics.messages, 3 * (processes - 1) * entries);
            assert_eq!(play("ricart-agrawala").statistics.messages, 2 * (processes - 1) * entries);
            let report = play("suzuki-kasami");
            assert_eq!(sent(&report, "Request"), (processes - 1) * sent(&report, "Privilege"));
            assert!((1..=entries).contains(&sent(&report, "Privilege")));
            let report = play("raymond");
            assert_eq!(sent(&report, "Request"), sent(&report, "Privilege"));
            let diameter = 2 * u64::from(processes.ilog2());
            assert!(report.statistics.messages <= 2 * diameter * entries);
        }
    }
}

/// On a star the token is two links away at most, on a line n−1.
#[test]
fn raymond_runs_on_any_tree() {
    let links = vec![(1, 2), (2, 3), (2, 4), (4, 5), (5, 6)];
    for topology in [
        TopologyChoice::Named("star".to_owned()),
        TopologyChoice::Named("line".to_owned()),
        TopologyChoice::Links(links),
    ] {
        let mut scenario = with(&loops("raymond", 6, 5), &[("holder", "4")]);
        scenario.topology = Some(topology);
        assert_kept(&scenario, 20);
    }
    let mut cycle = loops("raymond", 3, 1);
    cycle.topology = Some(TopologyChoice::Links(vec![(1, 2), (2, 3), (3, 1)]));
    let error = run(&cycle, false).expect_err("a cycle is no tree").to_string();
    assert!(error.contains("cycle"), "{error}");
}

/// S1: "Algoritmo pode resultar em impasse (deadlock)".
#[test]
fn plain_voting_deadlocks_and_its_cure_does_not() {
    for (sets, processes) in [("plane", 3), ("plane", 7), ("plane", 13), ("grid", 9), ("all", 4)] {
        let mut scenario = with(&loops("maekawa", processes, 4), &[("sets", sets)]);
        scenario.workload = Some(Workload { think: (ms(0), ms(2)), ..scenario.workload.unwrap() });
        assert_kept(&scenario, 60);
        let plain = with(&scenario, &[("variant", "plain")]);
        assert_eq!(violations(&plain, "EM1", 0..20), 0, "{sets} of {processes}");
        assert!(violations(&plain, "EM2", 0..20) > 10, "{sets} of {processes}");
    }
}

/// Three messages for each other member of the set without conflict; with conflict Maekawa counts five, and
/// six is what can be proved: a vote that is given back must be given again.
#[test]
fn maekawa_costs_three_to_six_messages_for_each_voter() {
    for (sets, processes, others) in [("plane", 7, 2), ("plane", 31, 5), ("grid", 25, 8)] {
        let mut scenario = with(&loops("maekawa", processes, 3), &[("sets", sets)]);
        scenario.workload = Some(Workload { think: (ms(0), ms(0)), ..scenario.workload.unwrap() });
        let (mut messages, mut entries) = (0, 0);
        for seed in 0..10 {
            let report = play(&Scenario { seed, ..scenario.clone() });
            let each = others * report.statistics.entries;
            assert!((3 * each..=6 * each).contains(&report.statistics.messages), "{sets} of {processes}");
            (messages, entries) = (messages + report.statistics.messages, entries + each);
        }
        assert!(messages <= 5 * entries, "{messages} messages for {entries} votes");
    }
}

#[test]
fn every_figure_of_theory_holds() {
    use Arrangement::{Best, Random, Worst};
    for arrangement in [Best, Random, Worst] {
        for algorithm in ALL {
            measure(algorithm, arrangement, Start::One, &[], &[2, 3, 8, 25, 40]);
        }
        for algorithm in ["token-ring", "lamport", "ricart-agrawala", "maekawa", "suzuki-kasami", "raymond"] {
            measure(algorithm, arrangement, Start::All, &[], &[2, 3, 8, 25]);
        }
        for start in [Start::One, Start::All] {
            measure("maekawa", arrangement, start, &[("sets", "plane")], &[3, 7, 31]);
            measure("maekawa", arrangement, start, &[("sets", "all")], &[2, 9]);
            measure("raymond", arrangement, start, &[("topology", "star")], &[2, 9, 30]);
            measure("raymond", arrangement, start, &[("topology", "line")], &[2, 9, 30]);
        }
    }
}

#[track_caller]
fn measure(algorithm: &str, arrangement: Arrangement, start: Start, options: Choices<'_>, sizes: &[usize]) {
    let mut request = cost_request(algorithm, arrangement, start, options, sizes);
    request.topology = request.options.remove("topology").map(Shape::Named);
    assert_theory_holds(&request);
}

/// S4: the token is passed on "para quem não necessariamente quer acessar", between 1 and n times per entry.
#[test]
fn a_moving_token_serves_everybody_with_one_to_n_messages_each() {
    let mut scenario = with(&loops("token-ring", 5, 10), &[("idle", "move")]);
    scenario.workload = Some(Workload { think: (ms(0), ms(0)), ..scenario.workload.unwrap() });
    scenario.until = Until::Time(ms(3000));
    for seed in 1..10 {
        let report = play(&Scenario { seed, ..scenario.clone() });
        assert_eq!((report.statistics.entries, verdict(&report, "EM2")), (50, Finding::Holds));
        assert!(report.failures.is_empty() && !report.quiet);
    }
    // While all want to enter, every message is an entry.
    let busy = play(&Scenario { until: Until::Events(100), ..scenario });
    assert!(busy.statistics.messages <= busy.statistics.entries + 1, "{:?}", busy.statistics);
}

fn faults() -> RandomFaults {
    RandomFaults {
        crashes: 8.0,
        recover_after: Some((ms(30), ms(250))),
        amnesia: false,
        max_down: 3,
        pauses: 0.0,
        pause_for: (ms(1), ms(1)),
        cuts: 0.0,
        cut_for: (ms(1), ms(1)),
        until: ms(1500),
        ..RandomFaults::usual(5)
    }
}

/// Everybody asks again and again while processes crash and recover.
fn requests_under_faults(algorithm: &str, processes: u64) -> Scenario {
    let mut scenario = loops(algorithm, processes, 30);
    let ask = |at| Cue {
        occasion: Occasion::At(ms(at)),
        action: Action::Command { word: "acquire".to_owned(), processes: scenario.ids.clone() },
    };
    scenario.script = (1..20).map(|round| ask(round * 97)).collect();
    scenario.random = Some(faults());
    scenario
}

/// S4: "se o processo acessando o recurso falha, a permissão é perdida e os demais processos sofrerão
/// inanição".
#[test]
fn the_ring_is_repaired_and_exactly_one_token_issued_whoever_crashes() {
    for (processes, max_down) in [(2, 1), (3, 1), (5, 2), (4, 3)] {
        for idle in ["stop", "move"] {
            let options = [("idle", idle), ("fencing", "true")];
            let mut scenario = with(&requests_under_faults("token-ring", processes), &options);
            scenario.random = Some(RandomFaults { max_down, ..faults() });
            assert_hold(&scenario, &["EM1", "EM2"], 0..60);
            if 2 * max_down < processes as usize {
                assert_hold(&scenario, &["fencing"], 0..60);
            }
            assert!(sent(&play(&scenario), "Recall") > 0, "nothing was tested");
        }
    }
}

/// A crash that is over before anybody could notice it is told by whoever had it.
#[test]
fn over_heartbeats_the_ring_is_repaired_after_crashes_long_and_short() {
    for after in [(1, 150), (500, 900)] {
        let mut scenario = requests_under_faults("token-ring", 4);
        scenario.detector = Some("heartbeat".to_owned());
        scenario.random = Some(RandomFaults { recover_after: Some((ms(after.0), ms(after.1))), ..faults() });
        assert_hold(&scenario, &["EM1", "EM2"], 0..40);
    }
}

/// S4: "Tolera falhas de coordenadores".
#[test]
fn a_quorum_survives_crashes_if_the_coordinators_store_their_grants() {
    for (coordinators, processes) in [("3", 5), ("5", 5), ("1", 3)] {
        let mut scenario =
            with(&requests_under_faults("quorum", processes), &[("coordinators", coordinators)]);
        scenario.expect.holds = vec!["EM1".to_owned(), "EM2".to_owned()];
        assert_kept(&scenario, 30);
        let crashes = (1..5).map(|seed| play(&Scenario { seed, ..scenario.clone() }).statistics.crashes);
        assert!(crashes.sum::<u64>() > 10, "nothing was tested");
    }
}

/// S4: "Quando um coordenador falha, esquece que deu ok … a propriedade de Exclusão Mútua é violada".
#[test]
fn coordinators_that_forget_let_two_in_and_those_that_remember_do_not() {
    let restarts = |amnesia: bool| {
        let mut scenario = with(&loops("quorum", 5, 10), &[("coordinators", "3")]);
        scenario.ids = vec![1, 2, 3, 4, 5];
        let (hold, think) = ((ms(20), ms(60)), (ms(0), ms(20)));
        scenario.workload = Some(Workload { entries: 10, clients: vec![4, 5], hold, think, rate: 0.0 });
        let at = |time, action| Cue { occasion: Occasion::At(ms(time)), action };
        let restart = |round: u64| {
            let processes = vec![round % 3 + 1];
            let crash = at(30 * round, Action::Crash(processes.clone()));
            [crash, at(30 * round + 1, Action::Recover { processes, amnesia })]
        };
        scenario.script = (1..30).flat_map(restart).collect();
        scenario
    };
    assert!(violations(&restarts(true), "EM1", 0..20) > 10);
    assert_eq!(violations(&restarts(false), "EM1", 0..40), 0);
}

/// S4: "E se cada participante obtiver o ok de um coordenador?"
#[test]
fn without_the_timer_a_quorum_deadlocks_and_with_it_all_enter() {
    let mut scenario = loops("quorum", 5, 3);
    scenario.workload = Some(Workload { think: (ms(0), ms(0)), ..scenario.workload.unwrap() });
    assert_eq!(violations(&scenario, "EM2", 0..20), 0);
    assert!(violations(&with(&scenario, &[("timeout", "none")]), "EM2", 0..20) > 10);
}

#[test]
fn every_mutant_breaks_a_promise() {
    for (algorithm, mutant, property) in [
        ("token-ring", "mutant-hasty", "EM1"),
        ("lamport", "mutant-no-wait", "EM1"),
        ("ricart-agrawala", "mutant-no-tie-break", "EM1"),
        ("maekawa", "mutant-one-short", "EM1"),
        ("maekawa", "mutant-untold", "EM2"),
        ("quorum", "mutant-one-short", "EM1"),
        ("suzuki-kasami", "mutant-forgetful", "EM2"),
        ("raymond", "mutant-no-follow-up", "EM2"),
    ] {
        let scenario = with(&loops(algorithm, 5, 8), &[("variant", mutant)]);
        assert!(violations(&scenario, property, 0..100) > 0, "{mutant} of {algorithm} breaks nothing");
    }
}

#[test]
fn senseless_options_are_refused() {
    for (algorithm, option, value, hint) in [
        ("quorum", "quorum", "2", "from 3 to 5"),
        ("quorum", "coordinators", "6", "from 1 to 5"),
        ("quorum", "timeout", "0ms", "above zero"),
        ("quorum", "back-off", "0s", "above zero"),
        ("maekawa", "sets", "plane", "3, 7, 13"),
        ("maekawa", "sets", "circle", "grid"),
        ("token-ring", "idle", "sleep", "stop"),
        ("suzuki-kasami", "holder", "9", "identifier"),
    ] {
        let error =
            run(&with(&loops(algorithm, 5, 1), &[(option, value)]), false).expect_err("it makes no sense");
        assert!(error.to_string().contains(hint), "{algorithm} {option}={value}: {error}");
    }
}

/// An open loop: wishes come up at their rate, whatever became of the earlier ones.
#[test]
fn at_a_rate_the_load_does_not_wait_for_the_lock() {
    let at_rate = |rate: f64| {
        let mut scenario = loops("coordinator", 5, 200);
        let (hold, think) = ((ms(5), ms(5)), (ms(0), ms(0)));
        scenario.workload = Some(Workload { entries: 200, clients: Vec::new(), hold, think, rate });
        play(&scenario)
    };
    let (calm, busy) = (at_rate(2.0), at_rate(1000.0));
    assert_eq!((calm.statistics.entries, busy.statistics.entries), (1000, 1000));
    // Two hundred wishes at two a second take some hundred seconds.
    assert!((80e9..130e9).contains(&(calm.statistics.time as f64)), "{}", calm.statistics.time);
    let mean = |report: &Report| report.statistics.waiting.mean().expect("somebody waited");
    assert!(mean(&calm) < 20e6, "hardly anybody meets another: {}", mean(&calm));
    assert!(mean(&busy) > 40e6, "all five want in at all times: {}", mean(&busy));
}

#[test]
fn a_report_says_how_much_and_how_fairly_a_lock_serves() {
    let report = play(&loops("ricart-agrawala", 5, 4));
    assert_eq!((report.statistics.min_entries, report.statistics.max_entries), (4, 4));
    assert_eq!(report.statistics.unfairness(), Some(1.0));
    let throughput = report.statistics.throughput().expect("they entered");
    assert!((0.1..=1.0).contains(&throughput), "{throughput}");
    let mut one = loops("coordinator", 3, 0);
    one.script = vec![Cue {
        occasion: Occasion::At(ms(0)),
        action: Action::Command { word: "acquire".to_owned(), processes: vec![2, 3] },
    }];
    let report = play(&one);
    assert_eq!((report.statistics.min_entries, report.statistics.max_entries), (1, 1), "1 did not ask");
}

/// S1's car park, and those who only look.
#[test]
fn permits_and_sharing_let_more_inside_and_no_more_than_that() {
    for (permits, seeds) in [("2", 10), ("3", 10)] {
        let scenario = with(&loops("coordinator", 6, 5), &[("permits", permits)]);
        assert_kept(&scenario, seeds);
    }
    let share = |at, id| Cue {
        occasion: Occasion::At(ms(at)),
        action: Action::Command { word: "share".to_owned(), processes: vec![id] },
    };
    let mut scenario = loops("coordinator", 4, 0);
    scenario.workload.as_mut().expect("it has clients").hold = (ms(50), ms(50));
    scenario.script = vec![share(0, 1), share(0, 2), share(0, 3)];
    let together = play(&scenario);
    assert!(together.succeeded(), "{:?}", together.failures);
    assert!(together.statistics.time < ms(150).as_nanos() as u64, "they are inside at the same time");
}

/// The dead client waits behind a holder that renews its session for longer than a session lives.
#[test]
fn a_waiter_that_outlasts_its_session_blocks_the_queue_of_the_service() {
    let text = r#"
        algorithm = "service"
        ids = "0..3"
        script = ["0ms acquire 1", "3ms acquire 2", "5ms crash 2", "100ms acquire 3"]
        time-limit = "2s"
        [options]
        ttl = "20ms"
        [network]
        latency = "1ms"
        [workload]
        entries = 0
        hold = "60ms"
    "#;
    let mut scenario = habemus_scenario::parse("waiter", text).expect("it is well formed").scenario;
    assert_eq!(verdict(&play(&scenario), "EM2"), Finding::Holds);
    scenario.options.insert("variant".to_owned(), "mutant-keeps-waiter".to_owned());
    assert_eq!(verdict(&play(&scenario), "EM2"), Finding::Open);
}
