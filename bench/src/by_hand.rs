//! The election as one would write it by hand for speed alone: one loop, the algorithm in its body, no
//! process, no effects, no network that could fail.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use habemus::Id;
use habemus::election::chang_roberts::ChangRoberts;
use habemus_sim::Queue;

use crate::measurement::Measurement;
use crate::ring::Election;

/// The loop over the simulator's own queue: what a general simulator costs beyond it is its overhead.
pub(crate) fn over_the_queue(election: &Election) -> Measurement {
    measure::<Queue<Letter>>(election)
}

/// The loop over what the standard library offers for the purpose.
pub(crate) fn over_a_heap(election: &Election) -> Measurement {
    measure::<Heap>(election)
}

/// A message on its way.
struct Letter {
    /// The candidate, or the leader.
    id: Id,
    to: u32,
    elected: bool,
}

/// Letters by time, and in the order of sending among equals.
trait Schedule: Default {
    fn push(&mut self, time: u64, letter: Letter);
    fn pop(&mut self) -> Option<(u64, Letter)>;
}

fn measure<S: Schedule>(election: &Election) -> Measurement {
    let build = || (election.ids(), vec![ChangRoberts::default(); election.processes], S::default());
    let run = |(ids, processes, schedule): &mut (Vec<Id>, Vec<ChangRoberts>, S)| {
        elect(ids, processes, schedule, election.draw())
    };
    let (measurement, (_, processes, _)) = Measurement::take(build, run);
    let leader = Some(Id(election.processes as u64));
    assert!(processes.iter().all(|process| process.elected == leader), "everybody knows the leader");
    measurement
}

/// Runs the election to its end; gives the number of messages delivered.
fn elect<S: Schedule>(
    ids: &[Id],
    processes: &mut [ChangRoberts],
    schedule: &mut S,
    mut latency: impl FnMut() -> u64,
) -> u64 {
    let successor = |of: u32| if of as usize + 1 == ids.len() { 0 } else { of + 1 };
    for (address, id) in (0..).zip(ids) {
        processes[address as usize].participant = true;
        schedule.push(latency(), Letter { id: *id, to: successor(address), elected: false });
    }
    let mut delivered = 0;
    while let Some((now, Letter { id, to: me, elected })) = schedule.pop() {
        delivered += 1;
        let (my_id, process) = (ids[me as usize], &mut processes[me as usize]);
        let answer = if elected {
            if id == my_id {
                continue;
            }
            process.participant = false;
            process.elected = Some(id);
            Letter { id, to: successor(me), elected: true }
        } else if id == my_id {
            process.participant = false;
            process.elected = Some(id);
            Letter { id, to: successor(me), elected: true }
        } else if id > my_id {
            process.participant = true;
            Letter { id, to: successor(me), elected: false }
        } else if !process.participant {
            process.participant = true;
            Letter { id: my_id, to: successor(me), elected: false }
        } else {
            continue;
        };
        schedule.push(now + latency(), answer);
    }
    delivered
}

impl Schedule for Queue<Letter> {
    #[inline]
    fn push(&mut self, time: u64, letter: Letter) {
        Queue::push(self, time, letter);
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, Letter)> {
        Queue::pop(self, u64::MAX)
    }
}

/// A binary heap, earliest first, and a number for each letter to keep equals in order.
#[derive(Default)]
struct Heap {
    entries: BinaryHeap<Reverse<Entry>>,
    pushed: u64,
}

struct Entry {
    time: u64,
    number: u64,
    letter: Letter,
}

impl Schedule for Heap {
    #[inline]
    fn push(&mut self, time: u64, letter: Letter) {
        self.entries.push(Reverse(Entry { time, number: self.pushed, letter }));
        self.pushed += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<(u64, Letter)> {
        self.entries.pop().map(|Reverse(entry)| (entry.time, entry.letter))
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}
