//! The ring elections under many sizes and seeds: promises are kept, theory's figures hold, and what is not
//! promised goes wrong as the catalogue says.

use std::time::Duration;

use habemus::analysis::{Arrangement, Start};
use habemus_report::Finding;
use habemus_scenario::{Action, Cue, Occasion, RandomFaults, Scenario, Trigger, TriggerKind};
use habemus_sim::{CostRequest, Stream, Sweeping, Use, sweep};

use crate::support::{
    Choices, assert_kept, assert_theory_holds, at, cost_request, elect, play, verdict, with,
};

/// An election on a ring of `ids` that `starters` begin at once.
fn election(algorithm: &str, ids: &[u64], starters: &[u64]) -> Scenario {
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: ids.to_vec(),
        script: vec![at(0, elect(starters))],
        ..Scenario::default()
    }
}

/// A system drawn by lot: the identifiers in any order, and some of them, at least one, start.
fn drawn(algorithm: &str, processes: usize, seed: u64) -> Scenario {
    let mut stream = Stream::new(seed, Use::Layout);
    let ids: Vec<u64> =
        habemus::analysis::shuffled_ids(processes, &mut stream).iter().map(|id| id.0).collect();
    let mut starters: Vec<u64> = ids.iter().copied().filter(|_| stream.between(0, 2) == 0).collect();
    if starters.is_empty() {
        starters.push(ids[0]);
    }
    Scenario { seed, ..election(algorithm, &ids, &starters) }
}

const ORDERED: [&str; 4] = ["franklin", "hirschberg-sinclair", "dolev-klawe-rodeh", "collecting-ring"];

#[test]
fn whoever_starts_and_however_they_lie_the_best_is_elected_and_all_know_it() {
    for algorithm in ORDERED {
        for processes in (1..=12).chain([31, 32, 33]) {
            for seed in 0..8 {
                let scenario = drawn(algorithm, processes, seed);
                let report = play(&scenario);
                assert!(report.succeeded() && report.quiet, "{scenario:?}: {:?}", report.failures);
                assert_eq!(report.leader, Some(processes as u64), "{scenario:?}");
                let report = play(&with(&scenario, &[("wins", "lowest")]));
                assert_eq!(
                    (report.leader, report.failures),
                    (Some(1), vec![]),
                    "{algorithm} {processes} {seed}"
                );
            }
        }
    }
}

#[test]
fn on_an_anonymous_ring_lots_elect_exactly_one() {
    for variant in ["numbered", "unnumbered"] {
        for processes in (1..=12).chain([33]) {
            for seed in 0..10 {
                let scenario = with(&drawn("itai-rodeh", processes, seed), &[("variant", variant)]);
                let report = play(&scenario);
                assert!(report.succeeded() && report.quiet, "{scenario:?}: {:?}", report.failures);
                assert_eq!(report.leaders.len(), 1, "{scenario:?}");
            }
        }
    }
}

#[test]
fn where_rounds_are_numbered_messages_may_overtake_each_other() {
    for algorithm in ["franklin", "hirschberg-sinclair", "itai-rodeh"] {
        for seed in 0..40 {
            let mut scenario = drawn(algorithm, 9, seed);
            scenario.network.fifo = false;
            let report = play(&scenario);
            assert!(report.succeeded() && report.leaders.len() == 1, "{scenario:?}: {:?}", report.failures);
        }
    }
}

#[test]
fn where_they_are_not_links_must_be_fifo() {
    for (algorithm, variant) in [("dolev-klawe-rodeh", "announced"), ("itai-rodeh", "unnumbered")] {
        let ids: Vec<u64> = (1..=9).collect();
        let mut scenario = with(&election(algorithm, &ids, &ids), &[("variant", variant)]);
        scenario.network.fifo = false;
        let fails = |seed| {
            let report = play(&Scenario { seed, ..scenario.clone() });
            report.properties.iter().any(|line| line.name == "E2" && line.verdict == Finding::Violated)
        };
        assert!((0..200).any(fails), "{algorithm} does not mind");
    }
}

/// S4: "Como não há nada que diferencie os processos entre si … violamos a propriedade da Unicidade".
#[test]
fn on_the_anonymous_ring_of_the_notes_everyone_that_stands_at_once_is_elected() {
    for processes in 1..=9 {
        let ids: Vec<u64> = (1..=processes).collect();
        for last in 1..=processes {
            let report = play(&election("anonymous-ring", &ids, &ids[..last as usize]));
            assert_eq!(report.leaders, ids[..last as usize], "{processes}");
            assert_eq!(report.failures, [""; 0], "termination is all that is promised");
            let alone = if last == 1 { Finding::Holds } else { Finding::Violated };
            assert_eq!((verdict(&report, "uniqueness"), verdict(&report, "agreement")), (alone, alone));
            assert_eq!(report.statistics.messages, 2 * processes);
        }
    }
}

/// Who stands when the vote has passed it already waits for ever: S4 gives a candidate no rule for the news.
#[test]
fn on_the_anonymous_ring_of_the_notes_a_late_candidate_never_learns_the_result() {
    let mut scenario = election("anonymous-ring", &[1, 2, 3], &[1]);
    let late = Action::Command { word: "elect".to_owned(), processes: vec![2] };
    let passed = Trigger { process: Some(3), what: TriggerKind::Receives("VoteForMe".to_owned()), nth: 1 };
    scenario.script.push(Cue { occasion: Occasion::When(passed), action: late });
    let report = play(&scenario);
    assert_eq!((report.leaders.as_slice(), verdict(&report, "E2")), ([1].as_slice(), Finding::Violated));
}

#[track_caller]
fn measure(algorithm: &str, arrangement: Arrangement, start: Start, options: Choices<'_>, sizes: &[usize]) {
    let request = cost_request(algorithm, arrangement, start, options, sizes);
    assert_theory_holds(&CostRequest { seeds: 4, ..request });
}

const ARRANGEMENTS: [Arrangement; 3] = [Arrangement::Best, Arrangement::Random, Arrangement::Worst];
const SIZES: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 64, 100];

/// Franklin at most 2n(⌊log₂ n⌋+1) + n, Hirschberg–Sinclair at most 8n(1+⌈log₂ n⌉) + n, Dolev–Klawe–Rodeh at
/// most 2n⌊log₂ n⌋ + 2n; exactly that for the first and the last where the identifiers lie worst.
#[test]
fn the_rings_that_halve_cost_what_theory_says() {
    for algorithm in ["franklin", "hirschberg-sinclair", "dolev-klawe-rodeh"] {
        for arrangement in ARRANGEMENTS {
            measure(algorithm, arrangement, Start::All, &[], &SIZES);
            measure(algorithm, arrangement, Start::One, &[], &SIZES);
        }
    }
}

/// S0: "2 voltas no anel"; S4: "envia até n² mensagens, se todos iniciarem a eleição ao mesmo tempo".
#[test]
fn a_list_costs_two_turns_for_each_that_starts() {
    for announce in ["ring", "all", "nobody"] {
        for start in [Start::One, Start::All] {
            // If nobody is told, the best must start, or it never learns that it leads.
            let arrangement = if announce == "nobody" { Arrangement::Best } else { Arrangement::Random };
            measure("collecting-ring", arrangement, start, &[("announce", announce)], &[1, 2, 3, 8, 20]);
        }
    }
}

#[test]
fn the_anonymous_rings_cost_two_turns_if_one_starts() {
    measure("anonymous-ring", Arrangement::Random, Start::One, &[], &SIZES);
    measure("anonymous-ring", Arrangement::Random, Start::All, &[], &SIZES);
    measure("itai-rodeh", Arrangement::Random, Start::One, &[], &SIZES);
}

/// A million is for the command line; this shows that nothing grows but the messages.
#[test]
fn large_rings_are_no_trouble() {
    for algorithm in ["franklin", "hirschberg-sinclair", "dolev-klawe-rodeh"] {
        measure(algorithm, Arrangement::Worst, Start::All, &[], &[2048]);
    }
}

/// S4's −p: a round against each loser makes it quadratic.
#[test]
fn franklin_as_printed_elects_the_best_but_at_a_quadratic_price() {
    let options = [("variant", "as-printed")];
    measure("franklin", Arrangement::Best, Start::All, &options, &[2, 3, 8, 50]);
    for seed in 0..20 {
        let ids: Vec<u64> = drawn("franklin", 10, seed).ids;
        let report = play(&Scenario { seed, ..with(&election("franklin", &ids, &ids), &options) });
        assert_eq!((report.leaders.as_slice(), verdict(&report, "E2")), ([10].as_slice(), Finding::Violated));
        assert!(report.statistics.messages > 300, "the other rules need at most 90");
    }
}

#[test]
fn franklin_as_printed_waits_for_ever_for_those_that_have_not_started() {
    let report = play(&with(&election("franklin", &[1, 2, 3], &[3]), &[("variant", "as-printed")]));
    assert_eq!((report.quiet, verdict(&report, "termination")), (true, Finding::Violated));
}

/// S4's exercise: the winner "se declara líder, mas os outros não necessariamente ficam sabendo".
#[test]
fn chang_roberts_as_printed_lacks_the_announcement() {
    let ids: Vec<u64> = (1..=8).collect();
    let scenario = election("chang-roberts", &ids, &ids);
    assert_eq!(verdict(&play(&scenario), "E2"), Finding::Holds);
    assert_eq!(verdict(&play(&with(&scenario, &[("variant", "as-printed")])), "E2"), Finding::Violated);
}

/// S0: "O que acontece se processo falha durante eleição?" Whoever fails, and whenever: the best of the
/// living leads.
#[test]
fn a_collecting_ring_survives_a_failure_at_any_moment() {
    let ids: Vec<u64> = (0..=6).collect();
    let kinds = ["Election", "Coordinator"];
    let events = kinds
        .iter()
        .flat_map(|kind| [TriggerKind::Sends((*kind).to_owned()), TriggerKind::Receives((*kind).to_owned())]);
    for what in events {
        for victim in &ids {
            for announce in ["ring", "all"] {
                let mut scenario = with(&election("collecting-ring", &ids, &[2]), &[("announce", announce)]);
                let moment = Trigger { process: Some(*victim), what: what.clone(), nth: 1 };
                scenario
                    .script
                    .push(Cue { occasion: Occasion::When(moment), action: Action::Crash(vec![*victim]) });
                let report = play(&scenario);
                let best = ids.iter().rev().find(|id| !report.down.contains(id)).copied();
                assert!(report.succeeded() && report.quiet, "{scenario:?}: {:?}", report.failures);
                assert_eq!(report.leader, best, "{scenario:?}");
            }
        }
    }
}

#[test]
fn a_collecting_ring_keeps_its_promises_through_crashes_and_recoveries_over_either_detector() {
    let ms = Duration::from_millis;
    for detector in ["oracle", "heartbeat"] {
        let mut scenario = election("collecting-ring", &[4, 2, 5, 1, 3], &[1]);
        scenario.detector = Some(detector.to_owned());
        scenario.random = Some(RandomFaults {
            crashes: 3.0,
            recover_after: Some((ms(200), ms(900))),
            amnesia: false,
            max_down: 2,
            pauses: 0.0,
            pause_for: (ms(1), ms(1)),
            cuts: 0.0,
            cut_for: (ms(1), ms(1)),
            until: ms(3000),
            ..RandomFaults::usual(5)
        });
        let report = sweep(&scenario, 1, 60, 2, &Sweeping::default()).expect("it makes sense");
        assert_eq!((report.runs, report.failures), (60, 0), "{detector}: {:?}", report.first_failure);
        assert!(report.crashes > 100 && report.leader_changes > 10, "nothing was tested");
    }
}

/// An announcement can be overtaken by a later one, and must not count then. One run in a thousand shows it.
#[test]
fn an_old_announcement_does_not_depose_a_better_leader() {
    let mut scenario = election("collecting-ring", &[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5]);
    scenario.random = Some(RandomFaults { crashes: 5.0, ..RandomFaults::usual(5) });
    assert_kept(&scenario, 4000);
}

/// A partition that the detector notices gives each side a leader, and one that it does not notice loses
/// lists.
#[test]
fn after_a_partition_a_collecting_ring_has_one_leader_again() {
    let ms = Duration::from_millis;
    for detector in ["oracle", "heartbeat", "phi-accrual"] {
        let mut scenario = election("collecting-ring", &[1, 2, 3, 4, 5], &[1]);
        scenario.detector = Some(detector.to_owned());
        scenario.random = Some(RandomFaults {
            crashes: 1.0,
            cuts: 2.0,
            cut_for: (ms(10), ms(1500)),
            until: Duration::from_secs(3),
            ..RandomFaults::usual(5)
        });
        for seed in 1..=60 {
            let report = play(&Scenario { seed, ..scenario.clone() });
            assert_eq!(verdict(&report, "agreement"), Finding::Holds, "{detector}, seed {seed}");
            assert_eq!(report.leader, Some(5), "{detector}, seed {seed}");
        }
    }
}

#[test]
fn every_mutant_breaks_a_promise() {
    let eight = [4, 1, 3, 2, 8, 5, 7, 6];
    for (algorithm, variant) in [
        ("anonymous-ring", "mutant-swallow"),
        ("itai-rodeh", "mutant-ignores-ties"),
        ("franklin", "mutant-local-winner"),
        ("hirschberg-sinclair", "mutant-local-winner"),
        ("dolev-klawe-rodeh", "mutant-keeps-own"),
        ("collecting-ring", "mutant-first-listed"),
    ] {
        let scenario = with(&election(algorithm, &eight, &eight), &[("variant", variant)]);
        let fails = |seed| !play(&Scenario { seed, ..scenario.clone() }).succeeded();
        assert!((0..30).any(fails), "{algorithm} {variant}");
    }
    let mut scenario = with(&election("collecting-ring", &eight, &[4]), &[("variant", "mutant-no-restart")]);
    let moment = Trigger { process: Some(8), what: TriggerKind::Receives("Election".to_owned()), nth: 1 };
    scenario.script.push(Cue { occasion: Occasion::When(moment), action: Action::Crash(vec![8]) });
    assert!(!play(&scenario).succeeded());
}
