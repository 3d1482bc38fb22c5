//! Theorem 5.3 on global states, Corollary 5.4, and the errata.

use super::*;
use capture_async::Variant;
use habemus_report::Finding;

fn system(n: usize, variant: Variant, order: VisitOrder) -> System<CaptureAsync> {
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

/// Every global state that can come about if these addresses start, each at any time.
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
    for order in [VisitOrder::Ring, VisitOrder::Address] {
        for n in 1..=4 {
            let system = system(n, Variant::Corrected, order);
            for bits in 1_u32..1 << n {
                let start = (0..n as u32).filter(|address| bits >> address & 1 == 1);
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
    let rivals = |variant| reachable(&system(5, variant, VisitOrder::Address), [3, 4]);
    let theorem = |state: &Global| keeps_to_theorem_5_3(&state.processes);
    assert!(rivals(Variant::Corrected).iter().all(theorem));
    assert!(!rivals(Variant::MutantNoCheck).iter().all(theorem));
}

/// The erratum: as S2 prints it, two candidates capture each other, and both lead.
#[test]
fn as_printed_two_processes_elect_two_leaders() {
    let printed = system(2, Variant::AsPrinted, VisitOrder::Ring);
    assert!(reachable(&printed, [0, 1]).iter().any(|state| state.leaders() == 2));
    let scenario = scenario("capture-async", &[1, 2], &[1, 2], &[("variant", "as-printed")]);
    let report = run(&scenario, false).expect("the scenario makes sense");
    assert_eq!(report.leaders, [1, 2]);
    assert!(!report.succeeded());
}

/// As S2 prints it, one candidate among bystanders waits for ever.
#[test]
fn as_printed_a_bystander_keeps_the_only_candidate_waiting() {
    let printed = system(2, Variant::AsPrinted, VisitOrder::Ring);
    assert!(reachable(&printed, [0]).iter().all(|state| state.leaders() == 0));
}

#[test]
fn the_mutant_that_does_not_own_itself_is_caught() {
    let mutant = system(2, Variant::MutantUnowned, VisitOrder::Ring);
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
fn keeps_to_the_theorems(n: usize, step: usize, order: VisitOrder, seed: u64) {
    let latency = Latency::LogNormal { median: Duration::from_millis(5), sigma: 2.0 };
    let network = Network { latency, fifo: seed.is_multiple_of(2), ..Network::default() };
    let system = system(n, Variant::Corrected, order);
    let mut simulation = Simulation::plain(system, &network, seed, Attempts::default());
    simulation.start();
    for address in (0..n).step_by(step) {
        simulation.command(Address(address as u32), Command::Elect);
    }
    let mut event = 0;
    loop {
        event += 1;
        let process = |address| simulation.process(Address(address)).cloned();
        let processes: Vec<CaptureAsync> = (0..n as u32).filter_map(process).collect();
        assert!(keeps_to_theorem_5_3(&processes), "n = {n}, seed {seed}, before event {event}");
        let limits = Limits { until: Until::Events(event), ..Limits::quiet() };
        if simulation.run(limits) == Stop::Quiet {
            break;
        }
    }
    assert_eq!((0..n as u32).filter(|&address| leads(&simulation, address)).count(), 1);
    let Attempts { tried, messages } = simulation.into_observer();
    assert!(tried.len() >= n - 1 && event as usize > 2 * tried.len(), "each attempt takes two events");
    assert!(tried.len() <= 2 * n * n.ilog2() as usize + n, "n = {n}, seed {seed}: {}", tried.len());
    assert!(messages <= 6 * tried.len(), "n = {n}, seed {seed}: {messages} for {}", tried.len());
}

fn leads(simulation: &Simulation<CaptureAsync, Attempts>, address: u32) -> bool {
    simulation.status(Address(address)) == Status::Leading
}

#[test]
fn theorem_5_3_holds_after_every_event_and_corollary_5_4_in_the_end() {
    for n in [1, 2, 3, 5, 8, 13, 16, 31] {
        for seed in 0..6 {
            for order in [VisitOrder::Ring, VisitOrder::Address] {
                keeps_to_the_theorems(n, 1 + seed as usize / 2, order, seed);
            }
        }
    }
    keeps_to_the_theorems(64, 1, VisitOrder::Address, 1);
    keeps_to_the_theorems(64, 1, VisitOrder::Ring, 1);
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
        assert_eq!(unique.map(|line| line.verdict), Some(Finding::Holds), "seed {seed}");
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
    for CostPoint { processes: n, min, max, .. } in measure(&request) {
        let messages = (3 * n * n.ilog2() as usize + 1 - n) as u64;
        assert_eq!((min, max), (messages, messages), "n = {n}");
    }
}

#[test]
fn messages_are_no_more_than_corollary_5_4_allows() {
    keeps_to_theory("capture-async", &POWERS, &[]);
    keeps_to_theory("capture-async", &OTHERS, &[("order", "address")]);
    keeps_to_theory("capture-async", &OTHERS, &[("wins", "lowest")]);
}
