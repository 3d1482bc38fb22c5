//! Bounded waiting: nobody is overtaken again and again.

use std::collections::{BTreeMap, BTreeSet};

use super::inside::Inside;
use crate::Address;
use crate::mutex::{Command, Mutex, Output};
use crate::property::{End, Monitor, Observation, ObservedEvent, Population, Verdict, Violation, at};

/// Bounded waiting (S4, "ideally"): while a process waits, the other n−1 enter at most 2·(n−1) times.
///
/// A fair queue lets everyone in once per round. A request that is still on its way finds at most one earlier
/// request of each other process before it, and each of them may have asked once more by the time it is
/// queued: twice for each. Time is no measure here, because a holder may stay inside as long as it likes.
/// A request that is very slow to arrive can break the bound without any fault of the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BoundedWaiting {
    requests: Requests,
    inside: Inside,
}

impl Monitor<Mutex> for BoundedWaiting {
    fn name(&self) -> &'static str {
        "bounded-waiting"
    }

    fn demand(&self) -> &'static str {
        "While a process waits, the others enter at most twice each."
    }

    fn observe(&mut self, seen: &Observation<'_, Mutex>, who: &Population) -> Result<(), Violation> {
        let process = seen.process;
        self.inside.observe(seen);
        match seen.what {
            ObservedEvent::Command(Command::Acquire | Command::Share) if !self.inside.contains(process) => {
                self.requests.add(process);
                return Ok(());
            }
            ObservedEvent::Command(_) => return Ok(()),
            ObservedEvent::Output(Output::Left) | ObservedEvent::Crashed | ObservedEvent::Started => {
                self.requests.remove(process);
                return Ok(());
            }
            ObservedEvent::Output(Output::Entered { .. }) => {}
        }
        self.requests.remove(process);
        self.requests.overtake();
        let bound = bound(who);
        match self.requests.oldest() {
            Some((waiting, entries)) if entries > bound => Err(Violation(format!(
                "others entered {entries} times, the last {}, since {} asked; {bound} would be fair",
                at(seen.at),
                who.id(waiting),
            ))),
            _ => Ok(()),
        }
    }

    fn is_at_stake(&self, who: &Population) -> bool {
        // Somebody has been overtaken as often as is fair, and another wants to enter.
        let is_due = self.requests.oldest().is_some_and(|(_, entries)| entries >= bound(who));
        is_due && self.requests.made_at.len() > 1
    }

    fn at_end(&self, _: End, _: &Population) -> Verdict {
        Verdict::Holds
    }
}

/// How often others may enter while one waits.
fn bound(who: &Population) -> u64 {
    2 * (who.len() as u64).saturating_sub(1)
}

/// The requests that wait, and how often each has been overtaken.
///
/// Every entry overtakes everyone who waits. To count that for each would be slow where a million wait, so
/// entries are counted once for all, and each request remembers the count at which it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Requests {
    entries: u64,
    made_at: BTreeMap<Address, u64>,
    by_age: BTreeSet<(u64, Address)>,
}

impl Requests {
    /// A request is made, unless the process waits already.
    fn add(&mut self, process: Address) {
        let made_at = *self.made_at.entry(process).or_insert(self.entries);
        self.by_age.insert((made_at, process));
    }

    /// A request is granted or given up.
    fn remove(&mut self, process: Address) {
        if let Some(made_at) = self.made_at.remove(&process) {
            self.by_age.remove(&(made_at, process));
            self.forget_the_past();
        }
    }

    /// Everyone who waits is overtaken once.
    fn overtake(&mut self) {
        if !self.by_age.is_empty() {
            self.entries += 1;
        }
    }

    /// The request that was made first, and how often it has been overtaken.
    fn oldest(&self) -> Option<(Address, u64)> {
        self.by_age.first().map(|(made_at, process)| (*process, self.entries - made_at))
    }

    /// Counts from the oldest request on, so that systems which differ only in what is long past are equal:
    /// the model checker relies on it to come to an end. It looks at small systems only, and in a large one
    /// this would take too long.
    fn forget_the_past(&mut self) {
        const SMALL: usize = 16;
        let past = self.by_age.first().map_or(self.entries, |(made_at, _)| *made_at);
        if past == 0 || self.by_age.len() > SMALL {
            return;
        }
        self.entries -= past;
        self.made_at.values_mut().for_each(|made_at| *made_at -= past);
        self.by_age = self.made_at.iter().map(|(process, made_at)| (*made_at, *process)).collect();
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

    fn visit(run: &mut Rehearsal<Mutex, BoundedWaiting>, id: u32) {
        run.command(id, Command::Acquire);
        run.output(id, ENTERED);
        run.output(id, Output::Left);
    }

    #[test]
    fn others_may_enter_twice_each_before_a_request_is_served() {
        let mut run = run();
        for _ in 0..3 {
            run.command(1, Command::Acquire);
            for id in [2, 3, 2, 3] {
                visit(&mut run, id);
            }
            run.output(1, ENTERED);
            run.output(1, Output::Left);
        }
        assert_eq!(run.violation(), None);
        assert_eq!(run.at_end(End::Quiet), Verdict::Holds);
    }

    #[test]
    fn it_is_at_stake_when_one_more_entry_would_be_unfair() {
        let mut run = run();
        run.command(1, Command::Acquire);
        for id in [2, 3, 2] {
            visit(&mut run, id);
            assert!(!run.monitor.is_at_stake(&run.who));
        }
        visit(&mut run, 3);
        assert!(!run.monitor.is_at_stake(&run.who), "nobody else asks");
        run.command(2, Command::Acquire);
        assert!(run.monitor.is_at_stake(&run.who));
    }

    #[test]
    fn more_than_that_is_unfair() {
        let mut run = run();
        run.command(1, Command::Acquire);
        for id in [2, 3, 2, 2, 3] {
            visit(&mut run, id);
        }
        let unfair = "others entered 5 times, the last at 18ms, since 1 asked; 4 would be fair";
        assert_eq!(run.violation(), Some(unfair));
    }

    #[test]
    fn each_request_counts_from_when_it_was_first_made() {
        let mut run = run();
        visit(&mut run, 3);
        run.command(1, Command::Acquire);
        visit(&mut run, 3);
        visit(&mut run, 3);
        run.command(2, Command::Acquire);
        run.command(1, Command::Acquire);
        visit(&mut run, 3);
        visit(&mut run, 3);
        run.output(1, ENTERED);
        run.output(1, Output::Left);
        visit(&mut run, 3);
        assert_eq!(run.violation(), None, "1 was overtaken four times, and 2 as often");
        visit(&mut run, 3);
        let unfair = "others entered 5 times, the last at 28ms, since 2 asked; 4 would be fair";
        assert_eq!(run.violation(), Some(unfair));
    }

    #[test]
    fn a_crash_takes_the_request_back() {
        let mut run = run();
        run.command(1, Command::Acquire);
        for _ in 0..4 {
            visit(&mut run, 2);
        }
        run.crash(1);
        visit(&mut run, 2);
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn whoever_is_inside_does_not_wait() {
        let mut run = run();
        run.output(1, ENTERED);
        run.command(1, Command::Acquire);
        for _ in 0..5 {
            visit(&mut run, 2);
        }
        assert_eq!(run.violation(), None);
    }

    #[test]
    fn what_is_long_past_leaves_no_mark() {
        let (mut long, mut short) = (run(), run());
        long.command(1, Command::Acquire);
        visit(&mut long, 2);
        long.command(2, Command::Acquire);
        visit(&mut long, 3);
        long.output(1, ENTERED);
        long.output(1, Output::Left);
        short.command(2, Command::Acquire);
        visit(&mut short, 3);
        assert_ne!(long.monitor, short.monitor, "2 was overtaken twice in the long run, once in the short");
        visit(&mut short, 3);
        assert_eq!(long.monitor, short.monitor);
    }

    #[test]
    fn crowds_are_counted_like_small_systems() {
        let mut requests = Requests::default();
        (0..1000).for_each(|process| requests.add(Address(process)));
        for process in (0..1000).rev().take(999) {
            requests.remove(Address(process));
            requests.overtake();
        }
        assert_eq!(requests.oldest(), Some((Address(0), 999)));
    }
}
