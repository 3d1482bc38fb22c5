//! EM3: who asked first enters first.

use std::collections::BTreeMap;

use super::inside::Inside;
use crate::Address;
use crate::clock::VectorClock;
use crate::mutex::{Command, Mutex, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// EM3 (S1, order): if one request to enter happened before another, they enter in that order.
///
/// Happened-before is read off the vector clocks of the requests. Requests of which neither happened before
/// the other may enter in any order. Where the driver keeps no clocks, the property stays open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EntryInOrder {
    /// The requests that wait, with their clocks.
    pending: BTreeMap<Address, VectorClock>,
    inside: Inside,
    /// Whether there was a request without a clock.
    blind: bool,
}

impl Monitor<Mutex> for EntryInOrder {
    fn name(&self) -> &'static str {
        "EM3"
    }

    fn demand(&self) -> &'static str {
        "If one request to enter happened before another, they enter in that order."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, who: &Population) -> Result<(), Violation> {
        let process = seen.process;
        self.inside.observe(seen);
        match seen.what {
            // Whoever asks once more than needed asks for nothing.
            ObservedEvent::Command(Command::Acquire | Command::Share) if !self.inside.contains(process) => {
                match seen.clock {
                    Some(clock) => {
                        self.pending.entry(process).or_insert_with(|| clock.clone());
                    }
                    None => self.blind = true,
                }
            }
            ObservedEvent::Command(_) => {}
            ObservedEvent::Output(Output::Entered { .. }) => {
                let Some(mine) = self.pending.remove(&process) else {
                    return Ok(());
                };
                let earlier = self.pending.iter().find(|(_, theirs)| theirs.happened_before(&mine));
                let Some((earlier, _)) = earlier else {
                    return Ok(());
                };
                let (process, time, earlier) = (who.id(process), at(seen.at), who.id(*earlier));
                return Err(Violation(format!(
                    "{process} entered {time} before {earlier}, which had asked before it"
                )));
            }
            ObservedEvent::Output(Output::Left) | ObservedEvent::Crashed | ObservedEvent::Started => {
                self.pending.remove(&process);
            }
        }
        Ok(())
    }

    fn is_at_stake(&self, _: &Population) -> bool {
        // Two wait, and one had asked before the other.
        self.pending.values().any(|one| self.pending.values().any(|other| one.happened_before(other)))
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

    fn run() -> Rehearsal<Mutex, EntryInOrder> {
        Rehearsal::started([1, 2, 3], |_| EntryInOrder::default())
    }

    /// The clock of an event that knows of this many events of processes 1, 2 and 3.
    fn clock(ticks: [u32; 3]) -> VectorClock {
        (0..).map(Address).zip(ticks).collect()
    }

    #[test]
    fn requests_may_enter_in_the_order_in_which_they_happened() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        run.command_at(2, &clock([2, 3, 0]), Command::Acquire);
        run.output(1, ENTERED);
        run.output(1, Output::Left);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn concurrent_requests_may_enter_in_any_order() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        run.command_at(2, &clock([0, 1, 0]), Command::Acquire);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn nobody_may_enter_before_one_that_had_asked_before() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        run.command_at(2, &clock([2, 3, 0]), Command::Acquire);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), Some("2 entered at 6ms before 1, which had asked before it"));
    }

    #[test]
    fn a_crash_gives_up_the_place() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        run.command_at(2, &clock([2, 3, 0]), Command::Acquire);
        run.crash(1);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn asking_again_changes_nothing() {
        let mut run = run();
        run.command_at(1, &clock([1, 0, 0]), Command::Acquire);
        run.output(1, ENTERED);
        run.command_at(1, &clock([2, 0, 0]), Command::Acquire);
        run.command_at(2, &clock([3, 1, 0]), Command::Acquire);
        run.output(2, ENTERED);
        assert_eq!(run.violation(), None, "a request from inside is none");
        run.command_at(3, &clock([3, 2, 1]), Command::Acquire);
        run.output(1, Output::Left);
        run.command_at(1, &clock([4, 0, 0]), Command::Acquire);
        run.command_at(1, &clock([9, 9, 9]), Command::Acquire);
        run.output(1, ENTERED);
        assert_eq!(run.violation(), None, "the first of two requests counts");
    }

    #[test]
    fn without_clocks_the_order_cannot_be_told() {
        let mut run = run();
        run.command(1, Command::Acquire);
        run.output(1, ENTERED);
        assert_eq!(run.at_end(End::Quiet), Verdict::Open("no vector clocks were kept".to_owned()));
    }
}
