//! The election that is measured: Chang–Roberts on a ring of random identifiers, all of whom start at once.

use std::time::Duration;

use habemus::{Address, Id};
use habemus_scenario as scenario;
use habemus_sim::{Stream, Use};

/// One election.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Election {
    /// The size of the ring.
    pub(crate) processes: usize,
    /// How long messages take.
    pub(crate) latency: Latency,
    /// What draws identifiers and latencies.
    pub(crate) seed: u64,
}

/// How long messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latency {
    /// From one to ten milliseconds; messages overtake each other.
    Uniform,
    /// Five milliseconds: a million events fall on the same instant.
    Constant,
}

/// The bounds of the latency, in nanoseconds.
const SHORTEST: u64 = 1_000_000;
const LONGEST: u64 = 10_000_000;
const USUAL: u64 = 5_000_000;

impl Election {
    /// The identifiers 1 … n, shuffled.
    pub(crate) fn ids(&self) -> Vec<Id> {
        let mut stream = Stream::new(self.seed, Use::Layout);
        let mut ids: Vec<Id> = (1..=self.processes as u64).map(Id).collect();
        for last in (1..ids.len()).rev() {
            ids.swap(last, stream.below(last as u64 + 1) as usize);
        }
        ids
    }

    /// Where the processes are.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Address> + use<> {
        (0..self.processes as u32).map(Address)
    }

    /// The network as the simulator takes it.
    pub(crate) fn network(&self) -> scenario::Network {
        let latency = match self.latency {
            Latency::Uniform => uniform(),
            Latency::Constant => scenario::Latency::Constant(Duration::from_nanos(USUAL)),
        };
        scenario::Network { latency, fifo: false, ..scenario::Network::default() }
    }

    /// The same latency for the loops written by hand, drawn from the same stream.
    pub(crate) fn draw(&self) -> impl FnMut() -> u64 + use<> {
        let mut stream = Stream::new(self.seed, Use::Network);
        let uniform = self.latency == Latency::Uniform;
        move || if uniform { stream.between(SHORTEST, LONGEST) } else { USUAL }
    }
}

/// From one to ten milliseconds: what every simulator of the token ring is set to.
pub(crate) fn uniform() -> scenario::Latency {
    scenario::Latency::Uniform { min: Duration::from_nanos(SHORTEST), max: Duration::from_nanos(LONGEST) }
}
