//! The timers that run, apart from the processes: most events concern a message, and whatever lies beside the
//! variables of a process costs a million processes their place in the cache.

use habemus::Address;

/// The running timers of all processes.
#[derive(Clone, Debug)]
pub(crate) struct Timers<T> {
    /// By process: each timer with the number that tells it from its predecessors. It reaches up to the last
    /// process that ever set one: an algorithm without timers pays nothing.
    running: Vec<Vec<(T, u32)>>,
    next_number: u32,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Timers { running: Vec::new(), next_number: 0 }
    }
}

impl<T: Clone + Eq> Timers<T> {
    /// Sets a timer, instead of a running one of the same value; gives its number.
    pub(crate) fn set(&mut self, at: Address, timer: &T) -> u32 {
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        if self.running.len() <= at.index() {
            self.running.resize_with(at.index() + 1, Vec::new);
        }
        let timers = &mut self.running[at.index()];
        match timers.iter_mut().find(|(running, _)| running == timer) {
            Some(running) => running.1 = number,
            None => timers.push((timer.clone(), number)),
        }
        number
    }

    /// Takes a timer back.
    pub(crate) fn cancel(&mut self, at: Address, timer: &T) {
        if let Some(timers) = self.running.get_mut(at.index()) {
            timers.retain(|(running, _)| running != timer);
        }
    }

    /// Takes every timer of a process back.
    pub(crate) fn cancel_all(&mut self, at: Address) {
        if let Some(timers) = self.running.get_mut(at.index()) {
            timers.clear();
        }
    }

    /// Whether the timer with this number runs, being neither cancelled nor replaced.
    pub(crate) fn runs(&self, at: Address, number: u32) -> bool {
        self.running.get(at.index()).is_some_and(|timers| timers.iter().any(|(_, other)| *other == number))
    }

    /// A timer has run out; says whether it still counts, being neither cancelled nor replaced.
    pub(crate) fn ring(&mut self, at: Address, number: u32) -> bool {
        let Some(timers) = self.running.get_mut(at.index()) else { return false };
        let Some(running) = timers.iter().position(|(_, other)| *other == number) else { return false };
        timers.swap_remove(running);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Address = Address(0);
    const B: Address = Address(1);

    #[test]
    fn a_timer_rings_once() {
        let mut timers = Timers::default();
        let number = timers.set(A, &'x');
        assert!(!timers.ring(B, number));
        assert!(timers.ring(A, number));
        assert!(!timers.ring(A, number));
    }

    #[test]
    fn a_timer_that_is_set_again_rings_only_the_second_time() {
        let mut timers = Timers::default();
        let (first, other, second) = (timers.set(B, &'x'), timers.set(B, &'y'), timers.set(B, &'x'));
        assert!(!timers.ring(B, first));
        assert!(timers.ring(B, second));
        assert!(timers.ring(B, other));
    }

    #[test]
    fn a_cancelled_timer_does_not_ring() {
        let mut timers = Timers::default();
        timers.cancel(B, &'x');
        let numbers = [(A, timers.set(A, &'x')), (B, timers.set(B, &'x')), (B, timers.set(B, &'y'))];
        timers.cancel(B, &'x');
        assert_eq!(numbers.map(|(at, number)| timers.ring(at, number)), [true, false, true]);
    }

    #[test]
    fn all_timers_of_one_process_can_be_cancelled() {
        let mut timers = Timers::default();
        timers.cancel_all(B);
        let numbers = [(A, timers.set(A, &'x')), (B, timers.set(B, &'x')), (B, timers.set(B, &'y'))];
        timers.cancel_all(B);
        assert_eq!(numbers.map(|(at, number)| timers.ring(at, number)), [true, false, false]);
    }
}
