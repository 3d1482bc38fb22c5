//! Theorem 5.1 and Corollary 5.2, counted.

use super::*;

/// ⌈log₂ n⌉.
fn sets(n: usize) -> u32 {
    n.next_power_of_two().ilog2()
}

/// Corollary 5.2. Its first figure is −1 for n = 1, where nothing is sent.
#[track_caller]
fn keeps_to_corollary_5_2(n: usize, report: &Report) {
    let (count, sets) = (n as u64, u64::from(sets(n)));
    assert!(sent(report, "Capture") <= (2 * count * sets).saturating_sub(count));
    assert!(sent(report, "Ack") <= count * sets);
    assert_eq!(sent(report, "Elected"), count - 1);
}

/// S2: "um candidato que tenha capturado todos os nós no final seja eleito o líder": the best candidate.
#[test]
fn the_best_of_any_set_of_candidates_leads() {
    for n in 1..=7 {
        for bits in 1..1 << n {
            let ids = shuffled(n, bits);
            let start = subset(&ids, bits);
            for order in ["ring", "address"] {
                let report = elects(&scenario("capture-sync", &ids, &start, &[("order", order)]));
                assert_eq!(report.leader, start.iter().max().copied());
                keeps_to_corollary_5_2(n, &report);
            }
        }
    }
    let lowest = scenario("capture-sync", &[4, 2, 3], &[4, 3], &[("wins", "lowest")]);
    assert_eq!(elects(&lowest).leader, Some(3));
}

/// A run in which these addresses start, before its first pulse.
fn simulation<O: Observer<Synchronous<CaptureSync>>>(
    ids: &[u64],
    start: impl IntoIterator<Item = usize>,
    order: VisitOrder,
    observer: O,
) -> Simulation<Synchronous<CaptureSync>, O> {
    let config = capture_sync::Config { order, ..capture_sync::Config::default() };
    let all: Vec<Id> = ids.iter().copied().map(Id).collect();
    let system: System<Synchronous<CaptureSync>> =
        System::new(Complete::new(ids.len()), all, config).expect("the identifiers differ");
    let mut simulation = Simulation::plain(system, &network("capture-sync"), 1, observer);
    simulation.start();
    for address in start {
        simulation.command(Address(address as u32), Command::Elect);
    }
    simulation
}

/// The candidates left at each even pulse.
fn survivors(ids: &[u64], start: impl IntoIterator<Item = usize>, order: VisitOrder) -> Vec<usize> {
    let mut simulation = simulation(ids, start, order, ());
    let mut survivors = Vec::new();
    for pulse in (0..=2 * sets(ids.len())).step_by(2) {
        // Pulse s begins s and a half pulses after the start: half a pulse later it is over.
        let until = Until::Time(DEFAULT_PULSE * (pulse + 1));
        simulation.run(Limits { until, ..Limits::quiet() });
        let process = |address| simulation.process(Address(address)).expect("nobody crashes");
        survivors.push((0..ids.len() as u32).filter(|&address| process(address).round.candidate).count());
    }
    survivors
}

/// Theorem 5.1: at pulse 2k at most ⌊n/2^(k−1)⌋ candidates are left, for 1 ≤ k ≤ ⌈log₂ n⌉ − 1.
#[track_caller]
fn keeps_to_theorem_5_1(
    ids: &[u64],
    start: impl IntoIterator<Item = usize>,
    order: VisitOrder,
) -> Vec<usize> {
    let survivors = survivors(ids, start, order);
    let last = sets(ids.len()).saturating_sub(1) as usize;
    for (k, &left) in survivors.iter().enumerate().take(last + 1).skip(1) {
        assert!(left <= ids.len() >> (k - 1), "{left} candidates at pulse {} of {ids:?}", 2 * k);
    }
    assert_eq!(survivors.last(), Some(&1), "the leader");
    survivors
}

#[test]
fn candidates_get_fewer_as_theorem_5_1_says() {
    for n in POWERS.into_iter().chain(OTHERS) {
        let ids = shuffled(n, n as u64);
        keeps_to_theorem_5_1(&ids, 0..n, VisitOrder::Ring);
        keeps_to_theorem_5_1(&ids, (0..n).step_by(3), VisitOrder::Address);
    }
    for bits in 1_usize..1 << 6 {
        let start = (0..6).filter(|address| bits >> address & 1 == 1);
        keeps_to_theorem_5_1(&shuffled(6, bits as u64), start, VisitOrder::Ring);
    }
}

/// The dearest order halves the candidates at each set; the theorem would allow twice as many.
#[test]
fn in_the_worst_order_each_set_halves_the_candidates() {
    let ids = [8, 1, 5, 2, 7, 3, 6, 4];
    assert_eq!(keeps_to_theorem_5_1(&ids, 0..8, VisitOrder::Ring), [8, 4, 2, 1]);
}

/// Every order of the identifiers from this address on.
fn for_each_order(ids: &mut Vec<u64>, from: usize, see: &mut impl FnMut(&[u64])) {
    if from == ids.len() {
        see(ids);
    }
    for other in from..ids.len() {
        ids.swap(from, other);
        for_each_order(ids, from + 1, see);
        ids.swap(from, other);
    }
}

/// The order that the cost model calls the worst is: it is compared with all others (but for turning the
/// ring, which changes nothing), if all stand.
#[test]
fn no_order_costs_more_than_the_one_like_a_ruler() {
    for (n, messages) in [(2, 4), (4, 15), (8, 43)] {
        let mut max = 0;
        for_each_order(&mut (1..=n).rev().collect(), 1, &mut |ids| {
            let mut simulation = simulation(ids, 0..ids.len(), VisitOrder::Ring, Messages(0));
            simulation.run(Limits::quiet());
            max = max.max(simulation.observer().0);
        });
        assert_eq!(max, messages, "n = {n}");
    }
}

/// Counts messages.
struct Messages(u64);

impl Observer<Synchronous<CaptureSync>> for Messages {
    type Stamp = ();

    fn sent(&mut self, _: Time, _: Address, _: Address, _: &<Synchronous<CaptureSync> as Process>::Message) {
        self.0 += 1;
    }
}

#[test]
fn messages_are_as_many_as_corollary_5_2_says_and_exactly_so_where_the_order_is_known() {
    for n in POWERS.into_iter().chain(OTHERS) {
        let ids = shuffled(n, 7);
        keeps_to_corollary_5_2(n, &elects(&scenario("capture-sync", &ids, &ids, &[])));
    }
    keeps_to_theory("capture-sync", &POWERS, &[]);
    keeps_to_theory("capture-sync", &OTHERS, &[]);
    keeps_to_theory("capture-sync", &OTHERS, &[("order", "address"), ("wins", "lowest")]);
    let worst = CostRequest { arrangement: Arrangement::Worst, ..request("capture-sync", &[16], &[]) };
    let kinds = [("Ack", 32.0), ("Capture", 64.0), ("Elected", 15.0)];
    assert_eq!(measure(&worst)[0].by_kind, kinds.map(|(kind, count)| (kind.to_owned(), count)).into());
}

#[test]
fn without_candidates_nobody_leads_and_the_run_ends() {
    let report = run(&scenario("capture-sync", &[1, 2, 3], &[], &[]), false).expect("it makes sense");
    assert!(report.quiet && report.leaders.is_empty());
}

#[test]
fn the_mutant_is_caught() {
    let mutant = [("variant", "mutant-ignores-owner")];
    let report = run(&scenario("capture-sync", &[1, 2], &[1, 2], &mutant), false).expect("it makes sense");
    assert!(!report.succeeded());
}
