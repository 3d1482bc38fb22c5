//! Bounded waiting: nobody is overtaken again and again by those who know.

use std::collections::{BTreeMap, BTreeSet};

use super::inside::Inside;
use crate::Address;
use crate::clock::VectorClock;
use crate::mutex::{Command, Mutex, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// Bounded waiting (S4's property 4, "ideally"): whoever knows of a request when it asks itself enters at
/// most once before that request is served.
///
/// No algorithm can be held to a request before it knows of it: while the request is on its way, others may
/// enter as often as they like. A process knows of a request from the moment at which something that it heard
/// happened after it, which is read off the vector clocks of the requests. Time is no measure here, because a
/// holder may stay inside as long as it likes. Where the driver keeps no clocks, the property stays open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BoundedWaiting {
    /// The requests that wait.
    pending: BTreeMap<Address, Pending>,
    inside: Inside,
    /// Whether there was a request without a clock.
    blind: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    clock: VectorClock,
    /// Whether it asked to share: those who share are let in together, whoever hears of it first.
    shares: bool,
    /// Those that have entered since, with a request that they made when they knew of this one.
    overtaken_by: BTreeSet<Address>,
}

impl BoundedWaiting {
    fn ask(&mut self, process: Address, shares: bool, clock: Option<&VectorClock>) {
        let Some(clock) = clock else {
            self.blind = true;
            return;
        };
        let pending = || Pending { clock: clock.clone(), shares, overtaken_by: BTreeSet::new() };
        self.pending.entry(process).or_insert_with(pending);
    }

    /// Somebody enters; gives the one that it has overtaken twice, if there is one.
    fn enter(&mut self, process: Address) -> Option<Address> {
        let mine = self.pending.remove(&process)?;
        let mut overtaken_twice = None;
        for (other, theirs) in &mut self.pending {
            let knew = theirs.clock.happened_before(&mine.clock) && !(theirs.shares && mine.shares);
            if knew && !theirs.overtaken_by.insert(process) {
                overtaken_twice = Some(*other);
            }
        }
        overtaken_twice
    }
}

impl Monitor<Mutex> for BoundedWaiting {
    fn name(&self) -> &'static str {
        "bounded-waiting"
    }

    fn demand(&self) -> &'static str {
        "While a request waits, each other process that knows of it enters at most once."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, who: &Population) -> Result<(), Violation> {
        let process = seen.process;
        self.inside.observe(seen);
        match seen.what {
            // Whoever asks once more than needed asks for nothing.
            ObservedEvent::Command(Command::Release) => {}
            ObservedEvent::Command(command) => {
                if !self.inside.contains(process) {
                    self.ask(process, *command == Command::Share, seen.clock);
                }
            }
            ObservedEvent::Output(Output::Left) | ObservedEvent::Crashed | ObservedEvent::Started => {
                self.pending.remove(&process);
            }
            ObservedEvent::Output(Output::Entered { .. }) => {
                if let Some(other) = self.enter(process) {
                    let (process, time, other) = (who.id(process), at(seen.at), who.id(other));
                    return Err(Violation(format!(
                        "{process} entered {time} for the second time before {other}, of whose request it \
                            knew"
                    )));
                }
            }
        }
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Somebody wants to enter who knows of another that waits.
        let knows = |one: &Pending| self.pending.values().any(|two| two.clock.happened_before(&one.clock));
        self.pending.values().any(knows)
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        if self.blind { Verdict::Open("no vector clocks were kept".to_owned()) } else { Verdict::Holds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::rehearsal::Rehearsal;

    const ENTERED: Output = Output::Entered { token: None };

    fn run() -> Rehearsal<Mutex, BoundedWaiting> {
        Rehearsal::started([1, 2, 3], |_| BoundedWaiting::default())
    }

    /// The clock of an event that knows of this many events of processes 1, 2 and 3.
    fn clock(ticks: [u32; 3]) -> VectorClock {
        (0..).map(Address).zip(ticks).collect()
    }

    fn visit(run: &mut Rehearsal<Mutex, BoundedWaiting>, id: u32, ticks: [u32; 3]) {
        run.command_at(id, &clock(ticks), Command::Acquire);
        run.output(id, ENTERED);
        run.output(id, Output::Left);
    }

    #[test]
    fn who_does_not_know_of_a_request_may_enter_again_and_again() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        for ticks in 1..9 {
            visit(&mut run, 2, [0, ticks, 0]);
            assert!(!run.monitor.is_at_stake(&run.who));
        }
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn who_knows_of_it_may_enter_once_and_each_other_as_well() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        visit(&mut run, 2, [1, 2, 0]);
        visit(&mut run, 3, [1, 2, 2]);
        run.command_at(2, &clock([1, 4, 2]), Command::Acquire);
        assert!(run.monitor.is_at_stake(&run.who), "if 2 enters now, it is unfair");
        run.output(1, ENTERED);
        run.output(1, Output::Left);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn who_knows_of_it_may_not_enter_twice() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        visit(&mut run, 2, [1, 2, 0]);
        visit(&mut run, 2, [1, 4, 0]);
        let unfair = "2 entered at 9ms for the second time before 1, of whose request it knew";
        assert_eq!(run.violation(), Some(unfair));
    }

    #[test]
    fn a_crash_takes_the_request_back() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        visit(&mut run, 2, [1, 2, 0]);
        run.crash(1);
        visit(&mut run, 2, [1, 4, 0]);
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn without_clocks_it_cannot_be_told_who_knew() {
        let mut run = run();
        run.command(1, Command::Acquire);
        assert_eq!(run.at_end(End::Quiet), Verdict::Open("no vector clocks were kept".to_owned()));
    }
}
