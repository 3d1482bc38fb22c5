//! Which steps can wait: partial-order reduction.
//!
//! Steps at different processes commute: each changes its own local state, takes from its own inbox, and adds
//! to the inboxes of others, on channels of its own. So the order between them makes no difference, unless
//! both are seen by monitors. In some states it is therefore enough to explore the steps of one process and
//! to let all others wait (an *ample*, or persistent, set). It must hold that:
//!
//! 1. Whatever the others do before, they cannot add a choice to those the process has. They add one only if
//!    they send to it. On FIFO links, a message behind another one of the same sender has to wait and adds no
//!    choice. Who is not active, and is not sent to by anybody active, sends nothing: this is what
//!    [`may_move`] finds.
//! 2. No monitor sees any of these steps, so that their order with others' steps cannot matter to a property.
//! 3. Nobody waits for ever: some step leads to a state that was not reached on a shorter way. Otherwise all
//!    steps are explored. As exploration goes level by level, this does not depend on the number of threads.
//! 4. No fault is left that could strike the process.
//!
//! Then every way in which a run can end, and every sequence of observations, is found as before (D. Peled's
//! conditions, with the proviso for breadth-first search by D. Bošnački and G. Holzmann). Runs without end
//! are not looked for among the chosen runs: if these all end, all runs do; otherwise everything is explored.

/// The processes, as a set of bits, that may take a step before the one at `address` does: those that are
/// active, and those that get messages from such.
pub(crate) fn may_move(receivers: &[u32], active: u32, address: usize) -> u32 {
    let others = !(1_u32 << address);
    let mut moving = active & others;
    loop {
        let mut more = moving;
        for (process, reached) in receivers.iter().enumerate() {
            if moving >> process & 1 == 1 {
                more |= reached & others;
            }
        }
        if more == moving {
            return moving;
        }
        moving = more;
    }
}

/// Those among `moving`, as a set of bits, that may send to the process at `address`.
pub(crate) fn senders(receivers: &[u32], moving: u32, address: usize) -> u32 {
    let sends = |process: &usize| moving >> process & 1 == 1 && receivers[*process] >> address & 1 == 1;
    (0..receivers.len()).filter(sends).fold(0, |set, process| set | 1 << process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_line_only_those_before_can_send() {
        // 0 → 1 → 2, one way.
        let receivers = [0b010, 0b100, 0];
        assert_eq!(may_move(&receivers, 0b001, 2), 0b011);
        assert_eq!(senders(&receivers, 0b011, 2), 0b010);
        // Nobody before 0 is there, whoever is active.
        assert_eq!(senders(&receivers, may_move(&receivers, 0b111, 0), 0), 0);
        // 1 cannot be moved by 0 past 2 itself.
        assert_eq!(may_move(&receivers, 0b100, 2), 0);
    }
}
