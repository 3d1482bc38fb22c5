//! The elections on the complete graph, run and counted: all-to-all, both captures, the one for large groups.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use habemus::analysis::{Arrangement, Start};
use habemus::catalogue::SetupError;
use habemus::election::capture_async::{self, CaptureAsync, Message, candidates_at_level};
use habemus::election::capture_sync::{self, CaptureSync};
use habemus::election::large_group::{Config, LargeGroup, Relay};
use habemus::election::tried::Order;
use habemus::election::{Command, Output};
use habemus::rounds::Synchronous;
use habemus::topology::Complete;
use habemus::{Address, Context, DEFAULT_PULSE, Effect, Id, Process, Status, Step, System};
use habemus_scenario::{Action, Cue, Latency, Network, Occasion, Scenario, TimeModel, Until};
use habemus_sim::{
    CostError, CostPoint, CostRequest, Limits, Observer, Report, RunError, Simulation, Stop, Stream, Time,
    Use, cost, run,
};

type Choices<'a> = &'a [(&'a str, &'a str)];

/// A run in which these processes are told to elect at the beginning.
fn scenario(algorithm: &str, ids: &[u64], start: &[u64], options: Choices<'_>) -> Scenario {
    let elect = Action::Command { word: "elect".to_owned(), processes: start.to_vec() };
    Scenario {
        algorithm: algorithm.to_owned(),
        ids: ids.to_vec(),
        options: texts(options),
        network: network(algorithm),
        script: vec![Cue { occasion: Occasion::At(Duration::ZERO), action: elect }],
        ..Scenario::default()
    }
}

fn texts(options: Choices<'_>) -> BTreeMap<String, String> {
    options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn network(algorithm: &str) -> Network {
    let in_pulses = matches!(algorithm, "all-to-all" | "capture-sync");
    let pulses = TimeModel::Synchronous { pulse: DEFAULT_PULSE };
    Network { model: if in_pulses { pulses } else { TimeModel::Asynchronous }, ..Network::default() }
}

/// Plays a scenario out of which one leader must come, known to all.
#[track_caller]
fn elects(scenario: &Scenario) -> Report {
    let report = run(scenario, false).expect("the scenario makes sense");
    assert!(report.succeeded() && report.quiet, "{scenario:?}: {:?}", report.failures);
    assert!(report.leader.is_some(), "{scenario:?}: {:?}", report.properties);
    assert_eq!(report.leaders.len(), 1);
    report
}

fn sent(report: &Report, kind: &str) -> u64 {
    report.statistics.by_kind.get(kind).copied().unwrap_or(0)
}

/// The identifiers 1 … n in an order drawn from the seed.
fn shuffled(n: usize, seed: u64) -> Vec<u64> {
    let mut stream = Stream::new(seed, Use::Layout);
    habemus::analysis::shuffled_ids(n, &mut stream).into_iter().map(|id| id.0).collect()
}

/// The members of `ids` that a number names by its bits.
fn subset(ids: &[u64], bits: u64) -> Vec<u64> {
    ids.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1).map(|(_, id)| *id).collect()
}

fn request(algorithm: &str, sizes: &[usize], options: Choices<'_>) -> CostRequest {
    CostRequest {
        topology: None,
        algorithm: algorithm.to_owned(),
        options: texts(options),
        sizes: sizes.to_vec(),
        arrangement: Arrangement::Random,
        start: Start::All,
        seeds: 3,
        first_seed: 1,
        network: network(algorithm),
    }
}

fn measure(request: &CostRequest) -> Vec<CostPoint> {
    cost(request, 1, &AtomicBool::new(false), |_| {}).expect("every run comes to its end")
}

/// Every layout at these sizes keeps to what theory says.
#[track_caller]
fn keeps_to_theory(algorithm: &str, sizes: &[usize], options: Choices<'_>) {
    for arrangement in [Arrangement::Random, Arrangement::Best, Arrangement::Worst] {
        for start in [Start::All, Start::One] {
            let request = CostRequest { arrangement, start, ..request(algorithm, sizes, options) };
            for point in measure(&request) {
                assert_eq!(point.broken, None, "{algorithm}, n = {}", point.processes);
                assert!(point.theory.is_some(), "{algorithm}, n = {}", point.processes);
            }
        }
    }
}

const POWERS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const OTHERS: [usize; 8] = [3, 5, 6, 7, 9, 12, 33, 100];

mod synchrony {
    use super::*;

    /// Pulses need a network that keeps them, and the refusal says so.
    #[test]
    fn an_algorithm_in_pulses_is_refused_where_there_are_none() {
        let (gst, delta) = (Duration::from_secs(1), Duration::from_millis(10));
        let models = [
            (TimeModel::Asynchronous, "asynchronous"),
            (TimeModel::PartiallySynchronous { gst, delta }, "partially-synchronous"),
            (TimeModel::Synchronous { pulse: Duration::ZERO }, "synchronous"),
        ];
        for algorithm in ["all-to-all", "capture-sync"] {
            for (model, name) in models {
                let network = Network { model, ..Network::default() };
                let scenario =
                    Scenario { network: network.clone(), ..scenario(algorithm, &[1, 2], &[1], &[]) };
                let error = run(&scenario, false).expect_err("there are no pulses");
                let unfit = match &error {
                    RunError::Setup(SetupError::Unfit { what: "network", name, .. }) => Some(name.as_str()),
                    _ => None,
                };
                assert_eq!(unfit, Some(name), "{error}");
                assert!(error.to_string().contains(&format!("{algorithm} works in pulses")), "{error}");
                let request = CostRequest { network, ..request(algorithm, &[2], &[]) };
                let refused = cost(&request, 1, &AtomicBool::new(false), |_| {});
                assert!(matches!(refused, Err(CostError::Setup(SetupError::Unfit { what: "network", .. }))));
            }
        }
    }

    /// The pulse of the network is the pulse of the processes, whatever its length.
    #[test]
    fn pulses_of_any_length_will_do() {
        for pulse in [Duration::from_nanos(2), Duration::from_micros(7), Duration::from_secs(3)] {
            let network = Network { model: TimeModel::Synchronous { pulse }, ..Network::default() };
            let scenario = scenario("capture-sync", &[4, 1, 3, 2], &[1, 4, 3], &[]);
            assert_eq!(elects(&Scenario { network: network.clone(), ..scenario }).leader, Some(4));
            let points = measure(&CostRequest { network, ..request("all-to-all", &[5], &[]) });
            assert_eq!((points[0].least, points[0].most), (20, 20));
        }
    }
}

mod all_to_all {
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
}

mod synchronous_capture {
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

    /// A run in which these places start, before its first pulse.
    fn simulation<O: Observer<Synchronous<CaptureSync>>>(
        ids: &[u64],
        start: impl IntoIterator<Item = usize>,
        order: Order,
        observer: O,
    ) -> Simulation<Synchronous<CaptureSync>, O> {
        let config = capture_sync::Config { order, ..capture_sync::Config::default() };
        let all: Vec<Id> = ids.iter().copied().map(Id).collect();
        let system: System<Synchronous<CaptureSync>> =
            System::new(Complete::new(ids.len()), all, config).expect("the identifiers differ");
        let mut simulation = Simulation::plain(system, &network("capture-sync"), 1, observer);
        simulation.start();
        for place in start {
            simulation.command(Address(place as u32), Command::Elect);
        }
        simulation
    }

    /// The candidates left at each even pulse.
    fn survivors(ids: &[u64], start: impl IntoIterator<Item = usize>, order: Order) -> Vec<usize> {
        let mut simulation = simulation(ids, start, order, ());
        let mut survivors = Vec::new();
        for pulse in (0..=2 * sets(ids.len())).step_by(2) {
            // Pulse s begins s and a half pulses after the start: half a pulse later it is over.
            let until = Until::Time(DEFAULT_PULSE * (pulse + 1));
            simulation.run(Limits { until, ..Limits::quiet() });
            let process = |place| simulation.process(Address(place)).expect("nobody crashes");
            survivors.push((0..ids.len() as u32).filter(|&place| process(place).round.candidate).count());
        }
        survivors
    }

    /// Theorem 5.1: at pulse 2k at most ⌊n/2^(k−1)⌋ candidates are left, for 1 ≤ k ≤ ⌈log₂ n⌉ − 1.
    #[track_caller]
    fn keeps_to_theorem_5_1(ids: &[u64], start: impl IntoIterator<Item = usize>, order: Order) -> Vec<usize> {
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
            keeps_to_theorem_5_1(&ids, 0..n, Order::Ring);
            keeps_to_theorem_5_1(&ids, (0..n).step_by(3), Order::Address);
        }
        for bits in 1_usize..1 << 6 {
            let start = (0..6).filter(|place| bits >> place & 1 == 1);
            keeps_to_theorem_5_1(&shuffled(6, bits as u64), start, Order::Ring);
        }
    }

    /// The dearest order halves the candidates at each set; the theorem would allow twice as many.
    #[test]
    fn in_the_worst_order_each_set_halves_the_candidates() {
        let ids = [8, 1, 5, 2, 7, 3, 6, 4];
        assert_eq!(keeps_to_theorem_5_1(&ids, 0..8, Order::Ring), [8, 4, 2, 1]);
    }

    /// Every order of the identifiers from this place on.
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
            let mut most = 0;
            for_each_order(&mut (1..=n).rev().collect(), 1, &mut |ids| {
                let mut simulation = simulation(ids, 0..ids.len(), Order::Ring, Messages(0));
                simulation.run(Limits::quiet());
                most = most.max(simulation.observer().0);
            });
            assert_eq!(most, messages, "n = {n}");
        }
    }

    /// Counts messages.
    struct Messages(u64);

    impl Observer<Synchronous<CaptureSync>> for Messages {
        type Stamp = ();

        fn sent(
            &mut self,
            _: Time,
            _: Address,
            _: Address,
            _: &<Synchronous<CaptureSync> as Process>::Message,
        ) {
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
        let report =
            run(&scenario("capture-sync", &[1, 2], &[1, 2], &mutant), false).expect("it makes sense");
        assert!(!report.succeeded());
    }
}

mod asynchronous_capture {
    use super::*;
    use capture_async::Variant;

    fn system(n: usize, variant: Variant, order: Order) -> System<CaptureAsync> {
        let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
        let config = capture_async::Config { variant, order, ..capture_async::Config::default() };
        System::new(Complete::new(n), ids, config).expect("the identifiers differ")
    }

    /// Theorem 5.3: at most ⌊n/(2^k −1)⌋ candidates at level k, for 1 ≤ k ≤ ⌊log₂ n⌋.
    fn keeps_to_theorem_5_3(processes: &[CaptureAsync]) -> bool {
        let n = processes.len();
        (1..=n.ilog2()).all(|level| candidates_at_level(processes, level) <= n / ((1 << level) - 1))
    }

    /// A global state: the processes, who has still to start, what is on its way, and what each has said.
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Global {
        processes: Vec<CaptureAsync>,
        to_start: BTreeSet<Address>,
        on_its_way: Vec<(Address, Address, Message)>,
        said: Vec<Option<Output>>,
    }

    impl Global {
        fn leaders(&self) -> usize {
            self.said.iter().filter(|said| **said == Some(Output::leads())).count()
        }

        fn is_over(&self) -> bool {
            self.to_start.is_empty() && self.on_its_way.is_empty()
        }

        /// The state after one more event at `at`.
        fn after(
            mut self,
            system: &System<CaptureAsync>,
            at: Address,
            handler: impl FnOnce(&mut CaptureAsync, &mut Context<'_, CaptureAsync>),
        ) -> Self {
            let mut step = Step::default();
            let mut chooser = |_| 0;
            let mut cx = Context::new(at, system, Duration::ZERO, &mut step, &mut chooser);
            handler(&mut self.processes[at.index()], &mut cx);
            for effect in step.effects {
                match effect {
                    Effect::Send { to, message } => self.on_its_way.push((at, to, message)),
                    Effect::Output(output) => self.said[at.index()] = Some(output),
                    other => panic!("{other:?} is nothing that this algorithm does"),
                }
            }
            self.on_its_way.sort_unstable();
            self
        }

        /// Every state that one event leads to: a process starts, or a message arrives, in any order.
        fn successors(&self, system: &System<CaptureAsync>) -> Vec<Global> {
            let starts = self.to_start.iter().map(|&at| {
                let mut next = self.clone();
                next.to_start.remove(&at);
                next.after(system, at, |process, cx| process.on_command(Command::Elect, cx))
            });
            let arrivals = (0..self.on_its_way.len()).map(|index| {
                let mut next = self.clone();
                let (from, to, message) = next.on_its_way.remove(index);
                next.after(system, to, |process, cx| process.on_message(from, message, cx))
            });
            starts.chain(arrivals).collect()
        }
    }

    /// Every global state that can come about if these places start, each at any time.
    fn reachable(system: &System<CaptureAsync>, start: impl IntoIterator<Item = u32>) -> HashSet<Global> {
        let first = Global {
            processes: vec![CaptureAsync::default(); system.len()],
            to_start: start.into_iter().map(Address).collect(),
            on_its_way: Vec::new(),
            said: vec![None; system.len()],
        };
        let mut open = vec![first.clone()];
        let mut seen = HashSet::from([first]);
        while let Some(state) = open.pop() {
            for next in state.successors(system) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    }

    /// All interleavings, for every set of candidates: never two leaders, and in the end one that all know.
    #[test]
    fn in_every_interleaving_exactly_one_leads_and_theorem_5_3_holds() {
        for order in [Order::Ring, Order::Address] {
            for n in 1..=4 {
                let system = system(n, Variant::Corrected, order);
                for bits in 1_u32..1 << n {
                    let start = (0..n as u32).filter(|place| bits >> place & 1 == 1);
                    for state in reachable(&system, start) {
                        assert!(keeps_to_theorem_5_3(&state.processes));
                        assert!(state.leaders() <= 1);
                        if state.is_over() {
                            let leads = |said: &Option<Output>| *said == Some(Output::leads());
                            let leader = state.said.iter().position(leads).expect("somebody leads");
                            let follows = Some(Output::follows(system.ids[leader]));
                            assert_eq!(state.said.iter().filter(|said| **said == follows).count(), n - 1);
                        }
                    }
                }
            }
        }
    }

    /// Two candidates fight for the same processes: CHECK and ELIMINATE keep them from owning one both.
    #[test]
    fn in_every_interleaving_of_two_rivals_theorem_5_3_holds_and_without_checks_it_does_not() {
        let rivals = |variant| reachable(&system(5, variant, Order::Address), [3, 4]);
        let theorem = |state: &Global| keeps_to_theorem_5_3(&state.processes);
        assert!(rivals(Variant::Corrected).iter().all(theorem));
        assert!(!rivals(Variant::MutantNoCheck).iter().all(theorem));
    }

    /// The erratum: as S2 prints it, two candidates capture each other, and both lead.
    #[test]
    fn as_printed_two_processes_elect_two_leaders() {
        let printed = system(2, Variant::AsPrinted, Order::Ring);
        assert!(reachable(&printed, [0, 1]).iter().any(|state| state.leaders() == 2));
        let scenario = scenario("capture-async", &[1, 2], &[1, 2], &[("variant", "as-printed")]);
        let report = run(&scenario, false).expect("the scenario makes sense");
        assert_eq!(report.leaders, [1, 2]);
        assert!(!report.succeeded());
    }

    /// As S2 prints it, one candidate among bystanders waits for ever.
    #[test]
    fn as_printed_a_bystander_keeps_the_only_candidate_waiting() {
        let printed = system(2, Variant::AsPrinted, Order::Ring);
        assert!(reachable(&printed, [0]).iter().all(|state| state.leaders() == 0));
    }

    #[test]
    fn the_mutant_that_does_not_own_itself_is_caught() {
        let mutant = system(2, Variant::MutantUnowned, Order::Ring);
        assert!(reachable(&mutant, [0, 1]).iter().any(|state| state.is_over() && state.leaders() == 0));
    }

    /// Counts captures: a candidate tries each process once, however many messages that takes.
    #[derive(Default)]
    struct Attempts {
        tried: BTreeSet<(Address, Address)>,
        messages: usize,
    }

    impl Observer<CaptureAsync> for Attempts {
        type Stamp = ();

        fn sent(&mut self, _: Time, from: Address, to: Address, message: &Message) {
            if let Message::Capture(..) = message {
                self.tried.insert((from, to));
            }
            self.messages += usize::from(*message != Message::Elected);
        }
    }

    /// Runs one election event by event under Theorem 5.3, and holds its cost against Corollary 5.4.
    #[track_caller]
    fn keeps_to_the_theorems(n: usize, step: usize, order: Order, seed: u64) {
        let latency = Latency::LogNormal { median: Duration::from_millis(5), sigma: 2.0 };
        let network = Network { latency, fifo: seed.is_multiple_of(2), ..Network::default() };
        let system = system(n, Variant::Corrected, order);
        let mut simulation = Simulation::plain(system, &network, seed, Attempts::default());
        simulation.start();
        for place in (0..n).step_by(step) {
            simulation.command(Address(place as u32), Command::Elect);
        }
        let mut event = 0;
        loop {
            event += 1;
            let process = |place| simulation.process(Address(place)).cloned();
            let processes: Vec<CaptureAsync> = (0..n as u32).filter_map(process).collect();
            assert!(keeps_to_theorem_5_3(&processes), "n = {n}, seed {seed}, before event {event}");
            let limits = Limits { until: Until::Events(event), ..Limits::quiet() };
            if simulation.run(limits) == Stop::Quiet {
                break;
            }
        }
        assert_eq!((0..n as u32).filter(|&place| leads(&simulation, place)).count(), 1);
        let Attempts { tried, messages } = simulation.into_observer();
        assert!(tried.len() >= n - 1 && event as usize > 2 * tried.len(), "each attempt takes two events");
        assert!(tried.len() <= 2 * n * n.ilog2() as usize + n, "n = {n}, seed {seed}: {}", tried.len());
        assert!(messages <= 6 * tried.len(), "n = {n}, seed {seed}: {messages} for {}", tried.len());
    }

    fn leads(simulation: &Simulation<CaptureAsync, Attempts>, place: u32) -> bool {
        simulation.status(Address(place)) == Status::Leading
    }

    #[test]
    fn theorem_5_3_holds_after_every_event_and_corollary_5_4_in_the_end() {
        for n in [1, 2, 3, 5, 8, 13, 16, 31] {
            for seed in 0..6 {
                for order in [Order::Ring, Order::Address] {
                    keeps_to_the_theorems(n, 1 + seed as usize / 2, order, seed);
                }
            }
        }
        keeps_to_the_theorems(64, 1, Order::Address, 1);
        keeps_to_the_theorems(64, 1, Order::Ring, 1);
    }

    #[test]
    fn every_set_of_candidates_elects_one_leader() {
        for n in 1..=6 {
            for bits in 1..1 << n {
                let ids = shuffled(n, bits);
                let order = if bits % 2 == 0 { "address" } else { "ring" };
                let mut scenario = scenario("capture-async", &ids, &subset(&ids, bits), &[("order", order)]);
                scenario.seed = bits;
                scenario.network.fifo = bits % 3 == 0;
                elects(&scenario);
            }
        }
    }

    /// Links that duplicate are beyond the model: a stale refusal may leave nobody in the race, but never
    /// two.
    #[test]
    fn messages_that_arrive_twice_do_not_make_two_leaders() {
        let mut elected = 0;
        for seed in 0..60 {
            let ids = shuffled(8, seed);
            let order = if seed % 2 == 0 { "address" } else { "ring" };
            let mut scenario = scenario("capture-async", &ids, &ids, &[("order", order)]);
            scenario.seed = seed;
            scenario.network.duplication = 0.3;
            scenario.network.fifo = false;
            let report = run(&scenario, false).expect("the scenario makes sense");
            let unique = report.properties.iter().find(|line| line.name == "uniqueness");
            assert_eq!(unique.map(|line| line.verdict), Some("holds"), "seed {seed}");
            elected += report.leaders.len();
        }
        assert!(elected > 50, "{elected} of 60 elections had a winner");
    }

    /// Where delays are equal nothing is left to chance.
    #[test]
    fn with_equal_delays_the_worst_order_known_costs_3n_log_n_less_n_plus_1() {
        let network = Network { latency: Latency::Constant(Duration::from_millis(5)), ..Network::default() };
        let arrangement = Arrangement::Worst;
        let request = CostRequest { network, arrangement, ..request("capture-async", &POWERS, &[]) };
        for CostPoint { processes: n, least, most, .. } in measure(&request) {
            let messages = (3 * n * n.ilog2() as usize + 1 - n) as u64;
            assert_eq!((least, most), (messages, messages), "n = {n}");
        }
    }

    #[test]
    fn messages_are_no_more_than_corollary_5_4_allows() {
        keeps_to_theory("capture-async", &POWERS, &[]);
        keeps_to_theory("capture-async", &OTHERS, &[("order", "address")]);
        keeps_to_theory("capture-async", &OTHERS, &[("wins", "lowest")]);
    }
}

mod large_group {
    use super::*;

    /// A group in which one process calls; each seed is another election with other candidates.
    fn group(n: u64, seed: u64, options: Choices<'_>) -> Scenario {
        let election = seed.to_string();
        let options = [options, &[("election", election.as_str())]].concat();
        let ids: Vec<u64> = (1..=n).collect();
        Scenario { seed, ..scenario("large-group", &ids, &[1 + seed % n], &options) }
    }

    /// On reliable links the ring completes what chance leaves out.
    #[test]
    fn all_agree_in_groups_of_any_size() {
        for n in [1, 2, 3, 5, 6, 10, 100, 1000] {
            for seed in 0..10 {
                elects(&group(n, seed, &[]));
            }
        }
        let all: Vec<u64> = (1..=300).collect();
        elects(&scenario("large-group", &all, &all, &[("wins", "lowest"), ("fanout", "2")]));
    }

    #[test]
    fn messages_per_process_do_not_grow_with_the_group() {
        let request =
            CostRequest { start: Start::One, seeds: 12, ..request("large-group", &[100, 600, 3600], &[]) };
        for point in measure(&request) {
            let per_process = point.mean / point.processes as f64;
            assert!((6.0..15.0).contains(&per_process), "{per_process} with {}", point.processes);
            let ratio = point.ratio.expect("there is a figure");
            assert!((0.6..1.2).contains(&ratio), "{ratio} of theory with {}", point.processes);
        }
    }

    /// With K candidates expected nobody stands in the first round with probability e^(−K): another follows.
    #[test]
    fn a_round_without_candidates_is_followed_by_another() {
        let runs = 200;
        let late = |seed: &u64| {
            let options = [("candidates", "1"), ("patience", "100ms"), ("fanout", "8")];
            elects(&group(30, *seed, &options)).statistics.time > 200_000_000
        };
        let late = (0..runs).filter(late).count() as f64 / runs as f64;
        assert!((late - (-1.0_f64).exp()).abs() < 0.08, "{late} of the runs needed another round");
    }

    /// How many of a group hear of a call that reaches no candidate; `None` if it reaches one.
    fn reached(n: usize, fanout: u32, relay: Relay, seed: u64) -> Option<usize> {
        let config = Config { fanout, relay, candidates: 1, election: seed, ..Config::default() };
        let ids: Vec<Id> = (1..=n as u64).map(Id).collect();
        let system: System<LargeGroup> =
            System::new(Complete::new(n), ids, config.clone()).expect("the identifiers differ");
        let mut simulation = Simulation::plain(system, &Network::default(), seed, ());
        simulation.start();
        simulation.command(Address(0), Command::Elect);
        simulation.run(Limits { until: Until::Time(config.patience / 2), ..Limits::quiet() });
        let process = |place| simulation.process(Address(place)).expect("nobody crashes");
        let places = 0..n as u32;
        let nobody_stands = places.clone().all(|place| process(place).best.is_none());
        nobody_stands.then(|| places.filter(|&place| process(place).round.is_some()).count())
    }

    /// A fanout f drawn by chance alone reaches the share π of the group for which π = 1 − e^(−f·π).
    #[test]
    fn gossip_by_chance_alone_misses_as_many_as_theory_says_and_with_the_ring_nobody() {
        for (fanout, share) in [(2, 0.7968), (3, 0.9405), (4, 0.9802)] {
            let n = 2000;
            let runs: Vec<usize> =
                (0..40).filter_map(|seed| reached(n, fanout, Relay::Random, seed)).take(5).collect();
            let mean = runs.iter().sum::<usize>() as f64 / (runs.len() * n) as f64;
            assert!(runs.len() == 5 && (mean - share).abs() < 0.01, "fanout {fanout}: {mean}");
            let with_ring = (0..40).find_map(|seed| reached(n, fanout, Relay::Hybrid, seed));
            assert_eq!(with_ring, Some(n));
        }
    }

    /// Lost messages cost certainty, and a wider fanout buys it back.
    #[test]
    fn loss_costs_agreement_and_fanout_buys_it_back() {
        let agreed = |fanout: &str| {
            let agrees = |seed: &u64| {
                let mut scenario = group(600, *seed, &[("fanout", fanout)]);
                scenario.network.loss = 0.1;
                run(&scenario, false).expect("the scenario makes sense").leader.is_some()
            };
            (0..20).filter(agrees).count()
        };
        let (narrow, wide) = (agreed("3"), agreed("12"));
        assert!(narrow < 10 && wide == 20, "{narrow} and {wide} of 20");
    }

    #[test]
    fn the_mutant_is_caught() {
        let leaders = |seed| {
            let options = [("variant", "mutant-first-heard"), ("candidates", "3"), ("fanout", "9")];
            run(&group(6, seed, &options), false).expect("the scenario makes sense").leaders.len()
        };
        assert!((0..20).any(|seed| leaders(seed) > 1));
    }
}
