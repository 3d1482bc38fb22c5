//! The properties of mutual exclusion (S1: EM1, EM2, EM3; S4: no deadlock, no starvation, bounded waiting)
//! and of what it protects.

use super::Population;
use super::dispatch::dispatch;
use crate::mutex::Mutex;

mod bounded_waiting;
mod entry_in_order;
mod every_request_served;
mod fencing;
mod inside;
mod no_deadlock;
mod no_starvation;
mod one_inside;
mod sharing;
mod stages;

pub use bounded_waiting::BoundedWaiting;
pub use entry_in_order::EntryInOrder;
pub use every_request_served::EveryRequestServed;
pub use fencing::{Fencing, Resource};
pub use no_deadlock::NoDeadlock;
pub use no_starvation::NoStarvation;
pub use one_inside::OneInside;

dispatch! {
    /// A property of mutual exclusion, watched.
    MutexMonitor watches Mutex:
        OneInside, EveryRequestServed, EntryInOrder, NoDeadlock, NoStarvation, BoundedWaiting, Fencing,
}

impl MutexMonitor {
    /// The monitors of every property: all make sense for any population.
    pub fn all(_: &Population) -> Vec<Self> {
        vec![
            Self::OneInside(OneInside::default()),
            Self::EveryRequestServed(EveryRequestServed::default()),
            Self::EntryInOrder(EntryInOrder::default()),
            Self::NoDeadlock(NoDeadlock::default()),
            Self::NoStarvation(NoStarvation::default()),
            Self::BoundedWaiting(BoundedWaiting::default()),
            Self::Fencing(Fencing::default()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::VectorClock;
    use crate::mutex::{Command, Output, Token};
    use crate::property::rehearsal::Rehearsal;
    use crate::property::{End, Monitor, Verdict};

    #[test]
    fn a_textbook_run_has_every_property() {
        let mut names = Vec::new();
        for index in 0..7 {
            let mut run = Rehearsal::started([1, 2], |who| MutexMonitor::all(who).swap_remove(index));
            let mut now = VectorClock::default();
            for (id, token) in [(1, 1), (2, 2), (1, 3)] {
                now.tick(run.address(id));
                run.command_at(id, &now, Command::Acquire);
                run.output(id, Output::Entered { token: Some(Token(token)) });
                run.command(id, Command::Release);
                run.output(id, Output::Left);
            }
            assert_eq!(run.violation(), None, "{}", run.monitor.name());
            assert_eq!(run.at_end(End::Quiet), Verdict::Holds, "{}", run.monitor.name());
            names.push(run.monitor.name());
        }
        assert_eq!(
            names,
            ["EM1", "EM2", "EM3", "no-deadlock", "no-starvation", "bounded-waiting", "fencing"]
        );
    }

    #[test]
    fn refused_writes_are_counted_through_the_list_of_monitors() {
        let refused = [0, 1, 2, 3, 4, 5, 6].map(|index| {
            let mut run = Rehearsal::started([1, 2], |who| MutexMonitor::all(who).swap_remove(index));
            run.output(1, Output::Entered { token: Some(Token(1)) });
            run.output(2, Output::Entered { token: Some(Token(2)) });
            run.command(1, Command::Release);
            run.monitor.refused_writes()
        });
        assert_eq!(refused, [0, 0, 0, 0, 0, 0, 1]);
    }
}
