//! Everybody tells everybody.

use super::*;

/// S2: "Complexidade de mensagens: O(n²)", n(n−1) of them; "Complexidade de tempo global: O(1)".
#[test]
fn everybody_hears_everybody_in_one_pulse() {
    for n in [1, 2, 3, 7, 8, 40] {
        let ids = shuffled(n, 1);
        let report = elects(&scenario("all-to-all", &ids, &ids, &[]));
        assert_eq!(report.leader, Some(n as u64));
        assert_eq!(report.statistics.messages, (n * (n - 1)) as u64);
        assert_eq!(report.statistics.longest_chain, u32::from(n > 1));
        let lowest = elects(&scenario("all-to-all", &ids, &[], &[("wins", "lowest")]));
        assert_eq!(lowest.leader, Some(1));
    }
    keeps_to_theory("all-to-all", &[1, 2, 3, 16, 64], &[]);
    keeps_to_theory("all-to-all", &[1, 2, 3, 16, 64], &[("candidates", "told")]);
}

#[test]
fn the_best_of_any_set_of_candidates_leads() {
    let ids = shuffled(5, 2);
    for bits in 1..1 << 5 {
        let start = subset(&ids, bits);
        let report = elects(&scenario("all-to-all", &ids, &start, &[("candidates", "told")]));
        assert_eq!(report.leader, start.iter().max().copied());
        assert_eq!(report.statistics.messages, start.len() as u64 * 4);
    }
}

#[test]
fn without_candidates_nobody_leads_and_the_run_ends() {
    let scenario = scenario("all-to-all", &[1, 2], &[], &[("candidates", "told")]);
    let report = run(&scenario, false).expect("the scenario makes sense");
    assert!(report.quiet && report.leaders.is_empty());
}

#[test]
fn the_mutant_is_caught() {
    let scenario = scenario("all-to-all", &[1, 2], &[1, 2], &[("variant", "mutant-forgets-itself")]);
    assert!(!run(&scenario, false).expect("the scenario makes sense").succeeded());
}
