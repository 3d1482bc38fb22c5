//! A whole synchronous system for the tests: everyone takes its pulses together, and nothing is lost.

use super::{Agreement, Command, Output};
use crate::Address;
use crate::rounds::{Beat, Round, Synchronous};
use crate::testing::Harness;
use crate::topology::Complete;

/// Pulses after which every algorithm of a test has halted.
const ENOUGH: usize = 8;

/// Lets `n` processes with the identifiers 1 … n run to their end, with these commands and these choices,
/// both by address; what each told its application.
pub(super) fn lockstep<R>(
    n: usize,
    config: &R::Config,
    commands: &[(u32, Command)],
    choices: &[(u32, Vec<u32>)],
) -> Vec<Vec<Output>>
where
    R: Round<Problem = Agreement, Topology = Complete>,
{
    let process = |address| {
        Harness::<Synchronous<R>>::new(Complete::new(n), 1..=n as u64, config.clone(), Address(address))
    };
    let mut processes: Vec<_> = (0..n as u32).map(process).collect();
    let mut outputs: Vec<Vec<Output>> = processes.iter().map(|process| process.started().outputs()).collect();
    for (address, command) in commands {
        processes[*address as usize].command(*command);
    }
    for (address, choices) in choices {
        processes[*address as usize].will_choose(choices.iter().copied());
    }
    for _ in 0..ENOUGH {
        let mut on_the_way = Vec::new();
        for (from, process) in processes.iter_mut().enumerate() {
            let step = process.timer(Beat);
            outputs[from].extend(step.outputs());
            on_the_way
                .extend(step.sent().into_iter().map(|(to, message)| (Address(from as u32), to, message)));
        }
        for (from, to, message) in on_the_way {
            processes[to.index()].message(from, message);
        }
    }
    outputs
}
