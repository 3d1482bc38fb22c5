//! What goes wrong in a run: what a scenario asks for, or what a trace has recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use habemus::catalogue::{Circumstances, Contract, Fault, Faults};
use habemus_scenario::{Action, MessageFate, Network, RandomFaults, Scenario, TimeModel};
use habemus_trace::{Dropped, Happening, Trace};

/// The drift that a model allows where it allows any.
const DRIFT: f64 = 0.1;

/// What goes wrong in a scenario, for a system that promises this.
pub fn circumstances(scenario: &Scenario, contract: &Contract) -> Circumstances {
    let mut harm = Harm::new(&scenario.ids);
    let network = &scenario.network;
    harm.add_if(contract.max_latency.is_some_and(|max| is_slower(network, max)), Fault::WrongTimeouts);
    harm.add_if(!network.fifo, Fault::Reordering);
    harm.add_if(network.loss > 0.0, Fault::Loss);
    harm.add_if(network.duplication > 0.0, Fault::Duplication);
    scenario.script.iter().for_each(|cue| harm.act(&cue.action));
    if let Some(random) = &scenario.random {
        harm.draw(random);
    }
    harm.circumstances()
}

/// Whether a message may take longer than this.
fn is_slower(network: &Network, max: Duration) -> bool {
    let latencies = || network.links.values().chain([&network.latency]);
    let drawn = || latencies().any(|latency| latency.longest().is_none_or(|longest| longest > max));
    match network.model {
        // In pulses everything is in time; and what a script does not call is not late.
        TimeModel::Synchronous { .. } | TimeModel::Scripted => false,
        TimeModel::Asynchronous => drawn(),
        TimeModel::PartiallySynchronous { gst, delta } => drawn() && (delta > max || !gst.is_zero()),
    }
}

/// What went wrong in a run that was recorded.
pub(crate) fn circumstances_of_trace(trace: &Trace) -> Circumstances {
    let mut harm = Harm::new(&trace.header.processes);
    for record in &trace.records {
        match (&record.what, record.process) {
            (Happening::Crash, Some(process)) => harm.crash(process),
            (Happening::Start { recovered: true }, Some(process)) => harm.recover(process, false),
            (Happening::Pause, Some(process)) => harm.pause(process),
            (Happening::Resume, Some(process)) => harm.resume(process),
            (Happening::Cut { links }, _) => harm.cut(links),
            (Happening::Heal { links }, _) => harm.heal(links),
            (Happening::Drop { why: Dropped::Loss, .. }, _) => harm.add(Fault::Loss),
            _ => {}
        }
    }
    harm.circumstances()
}

/// What is known to go wrong.
struct Harm<'a> {
    ids: &'a [u64],
    faults: Faults,
    /// How often each process crashes without coming back.
    down: BTreeMap<u64, u32>,
    cut: BTreeSet<(u64, u64)>,
    paused: BTreeSet<u64>,
}

impl<'a> Harm<'a> {
    fn new(ids: &'a [u64]) -> Self {
        let (down, cut, paused) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Harm { ids, faults: Faults::NONE, down, cut, paused }
    }

    fn add(&mut self, fault: Fault) {
        self.faults = self.faults.and(Faults::of(&[fault]));
    }

    fn add_if(&mut self, happens: bool, fault: Fault) {
        if happens {
            self.add(fault);
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Command { .. } => {}
            Action::Crash(who) => who.iter().for_each(|process| self.crash(*process)),
            Action::Recover { processes, amnesia } => {
                processes.iter().for_each(|process| self.recover(*process, *amnesia));
            }
            Action::Pause(who) => who.iter().for_each(|process| self.pause(*process)),
            Action::Resume(who) => who.iter().for_each(|process| self.resume(*process)),
            Action::Slow { by, .. } => self.add_if(!by.is_zero(), Fault::WrongTimeouts),
            Action::Drift { rate, .. } => {
                self.add_if(*rate != 1.0, Fault::Drift);
                self.add_if((rate - 1.0).abs() > DRIFT + 1e-9, Fault::WrongTimeouts);
            }
            Action::Cut(links) => self.cut(links),
            Action::Partition(groups) => self.part(groups),
            Action::Heal(links) => self.heal(links),
            Action::Loss(probability) => self.add_if(*probability > 0.0, Fault::Loss),
            Action::Suspect { .. } => self.add(Fault::FalseSuspicion),
            Action::Restore { .. } => {}
            Action::Message { fate, nth, .. } => {
                self.add_if(*nth > 1, Fault::Reordering);
                match fate {
                    MessageFate::Deliver => {}
                    MessageFate::Duplicate => self.add(Fault::Duplication),
                    MessageFate::Lose => self.add(Fault::Loss),
                    MessageFate::Delay(by) => self.add_if(!by.is_zero(), Fault::WrongTimeouts),
                }
            }
            // Nothing else says whether what it waited for was still under way.
            Action::Fire { .. } => self.add(Fault::WrongTimeouts),
        }
    }

    fn draw(&mut self, random: &RandomFaults) {
        if random.crashes > 0.0 {
            match (random.recover_after, random.amnesia) {
                (None, _) => self.add(Fault::Crash),
                (Some(_), false) => self.add(Fault::Recovery),
                (Some(_), true) => self.add(Fault::Amnesia),
            }
        }
        self.add_if(random.pauses > 0.0, Fault::Pause);
        self.add_if(random.cuts > 0.0, Fault::Cut);
    }

    fn crash(&mut self, process: u64) {
        *self.down.entry(process).or_default() += 1;
    }

    fn recover(&mut self, process: u64, amnesia: bool) {
        self.add(if amnesia { Fault::Amnesia } else { Fault::Recovery });
        self.down.remove(&process);
    }

    fn pause(&mut self, process: u64) {
        self.add(Fault::Pause);
        self.paused.insert(process);
    }

    fn resume(&mut self, process: u64) {
        self.paused.remove(&process);
    }

    fn part(&mut self, groups: &[Vec<u64>]) {
        let group = |id: &u64| groups.iter().position(|group| group.contains(id));
        let pairs = self.ids.iter().flat_map(|from| self.ids.iter().map(move |to| (*from, *to)));
        let apart = pairs.filter(|(from, to)| group(from) != group(to));
        let links: Vec<(u64, u64)> = apart.collect();
        self.cut(&links);
    }

    fn cut(&mut self, links: &[(u64, u64)]) {
        self.cut.extend(links);
        let is_partition = self.is_partition();
        self.add(if is_partition { Fault::Partition } else { Fault::Cut });
    }

    /// Whether what is cut parts the processes into groups: who cannot hear another can hear none of its
    /// group.
    fn is_partition(&self) -> bool {
        let hears = |from: u64, to: u64| !self.cut.contains(&(from, to)) && !self.cut.contains(&(to, from));
        let both_ways = self.cut.iter().all(|(from, to)| self.cut.contains(&(*to, *from)));
        let triples = |one: u64, two: u64| {
            self.ids.iter().all(|three| !hears(one, two) || hears(one, *three) == hears(two, *three))
        };
        both_ways && self.ids.iter().all(|one| self.ids.iter().all(|two| triples(*one, *two)))
    }

    fn heal(&mut self, links: &[(u64, u64)]) {
        match links {
            [] => self.cut.clear(),
            links => self.cut.retain(|link| !links.contains(link)),
        }
        // What is healed piece by piece is cut piece by piece.
        let is_partition = self.is_partition();
        self.add_if(!self.cut.is_empty() && !is_partition, Fault::Cut);
    }

    fn circumstances(mut self) -> Circumstances {
        self.add_if(!self.down.is_empty(), Fault::Crash);
        Circumstances {
            faults: self.faults,
            down: self.down.len(),
            lasting: !self.cut.is_empty() || !self.paused.is_empty(),
            processes: self.ids.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use habemus::catalogue;
    use habemus_scenario::{Cue, Latency, Occasion};

    use super::*;

    fn of(actions: &[Action]) -> Circumstances {
        let cue =
            |action: &Action| Cue { occasion: Occasion::At(Default::default()), action: action.clone() };
        let script = actions.iter().map(cue).collect();
        circumstances(&Scenario { ids: vec![1, 2, 3], script, ..Scenario::default() }, &contract(None))
    }

    fn contract(max_latency: Option<Duration>) -> Contract {
        Contract { max_latency, ..catalogue::entry("bully").expect("it is there").contract() }
    }

    #[test]
    fn a_message_that_may_take_longer_than_timeouts_allow_makes_them_wrong() {
        let ms = Duration::from_millis;
        let faults = |model, latency, max| {
            let network = Network { model, latency, ..Network::default() };
            circumstances(&Scenario { network, ..Scenario::default() }, &contract(max)).faults
        };
        let (free, late) = (TimeModel::Asynchronous, Faults::of(&[Fault::WrongTimeouts]));
        let (short, long) = (Latency::Constant(ms(25)), Latency::Constant(ms(26)));
        assert_eq!(faults(free, short, Some(ms(25))), Faults::NONE);
        assert_eq!(faults(free, long.clone(), Some(ms(25))), late);
        assert_eq!(faults(free, long.clone(), None), Faults::NONE);
        assert_eq!(faults(free, Latency::Exponential { mean: ms(1) }, Some(ms(25))), late);
        let bounded = |gst, delta| TimeModel::PartiallySynchronous { gst, delta };
        assert_eq!(faults(bounded(ms(0), ms(25)), long.clone(), Some(ms(25))), Faults::NONE);
        assert_eq!(faults(bounded(ms(1), ms(25)), long, Some(ms(25))), late);
    }

    #[test]
    fn a_crash_is_for_good_unless_somebody_comes_back() {
        let crash = Action::Crash(vec![2]);
        let for_good = of(std::slice::from_ref(&crash));
        assert_eq!((for_good.faults, for_good.down), (Faults::of(&[Fault::Crash]), 1));
        let back = |amnesia| of(&[crash.clone(), Action::Recover { processes: vec![2], amnesia }]);
        assert_eq!((back(false).faults, back(false).down), (Faults::of(&[Fault::Recovery]), 0));
        assert_eq!(back(true).faults, Faults::of(&[Fault::Amnesia]));
    }

    #[test]
    fn a_cut_that_parts_the_processes_is_a_partition_and_any_other_is_not() {
        let parted = of(&[Action::Partition(vec![vec![1], vec![2, 3]]), Action::Heal(Vec::new())]);
        assert_eq!((parted.faults, parted.lasting), (Faults::of(&[Fault::Partition]), false));
        let all = vec![(1, 2), (2, 1), (1, 3), (3, 1)];
        assert_eq!(of(&[Action::Cut(all.clone()), Action::Heal(all.clone())]).faults, parted.faults);
        let link = of(&[Action::Cut(vec![(1, 2), (2, 1)])]);
        assert_eq!((link.faults, link.lasting), (Faults::of(&[Fault::Cut]), true));
        let by_pieces = of(&[Action::Cut(all), Action::Heal(vec![(1, 2), (2, 1)])]);
        assert_eq!(by_pieces.faults, Faults::of(&[Fault::Partition, Fault::Cut]));
    }

    #[test]
    fn a_pause_that_ends_does_not_last() {
        let both = of(&[Action::Pause(vec![1]), Action::Resume(vec![1])]);
        assert_eq!((both.faults, both.lasting), (Faults::of(&[Fault::Pause]), false));
        assert!(of(&[Action::Pause(vec![1])]).lasting);
    }
}
