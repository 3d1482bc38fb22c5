//! Ample sets: see the module [`reduction`](crate::reduction).

use super::Worker;
use super::local_transition::LocalTransition;
use crate::protocol::Trouble;
use crate::reduction::{may_move, senders};
use crate::row::situation;

impl Worker<'_> {
    /// A process whose steps are an ample set: they may be taken before those of all others, without losing a
    /// run that any property could tell apart.
    pub(crate) fn ample_process(&mut self, state: &[u32]) -> Result<Option<usize>, Trouble> {
        let n = self.world.processes;
        // Faults may strike anywhere.
        if self.world.crowded || state[self.world.environment_at()] != 0 {
            return Ok(None);
        }
        let mut active = 0_u32;
        let mut steps = [0_u32; u32::BITS as usize];
        let mut visible = 0_u32;
        for (address, steps) in steps.iter_mut().enumerate().take(n) {
            let range = self.ordinary_transitions_of(situation(state, address))?;
            let transitions = &self.blocks.transitions[range.start as usize..range.end as usize];
            *steps = range.len() as u32;
            active |= u32::from(!range.is_empty()) << address;
            let is_visible = |transition: &LocalTransition| transition.reflex.observations != 0;
            visible |= u32::from(transitions.iter().any(is_visible)) << address;
        }
        if active.count_ones() < 2 {
            return Ok(None);
        }
        let mut best: Option<usize> = None;
        for address in 0..n {
            let bit = 1_u32 << address;
            if active & bit == 0 || visible & bit != 0 {
                continue;
            }
            if best.is_some_and(|best| steps[best] <= steps[address]) {
                continue;
            }
            let moving = may_move(&self.world.receivers, active, address);
            let senders = senders(&self.world.receivers, moving, address);
            if senders & !self.mail.blocked(situation(state, address).1) == 0 {
                best = Some(address);
            }
        }
        Ok(best)
    }
}
