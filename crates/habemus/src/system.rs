//! The constants of a system of processes: who takes part, and how they are connected.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{Address, Id, Process, Topology};

/// The pulse of synchronous systems unless another is asked for.
pub const DEFAULT_PULSE: Duration = Duration::from_millis(10);

/// What does not change while the processes run. Drivers own it; processes see it through their context.
#[derive(Clone, Debug)]
pub struct System<P: Process> {
    /// How the processes are connected.
    pub topology: P::Topology,
    /// The identifier of each process, by address.
    pub ids: Arc<[Id]>,
    /// The constants of the algorithm.
    pub config: P::Config,
    /// The length of a pulse, for synchronous algorithms.
    pub pulse: Duration,
}

impl<P: Process> System<P> {
    /// A system of `ids.len()` processes on `topology`.
    ///
    /// # Errors
    /// If there are no processes, if an identifier occurs twice, or if the topology is for another number.
    pub fn new(
        topology: P::Topology,
        ids: impl Into<Arc<[Id]>>,
        config: P::Config,
    ) -> Result<Self, SystemError> {
        let ids = ids.into();
        fit(&ids, topology.len())?;
        Ok(System { topology, ids, config, pulse: DEFAULT_PULSE })
    }

    /// How many processes there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// A system always has a process; this exists beside [`len`](System::len) as clippy likes it.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Every address.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + use<P> {
        (0..self.ids.len() as u32).map(Address)
    }

    /// The identifier of the process at `address`.
    #[inline]
    pub fn id_of(&self, address: Address) -> Id {
        self.ids[address.index()]
    }

    /// Where each identifier lives.
    pub fn directory(&self) -> BTreeMap<Id, Address> {
        directory(&self.ids)
    }
}

// What is the same for every process need be compiled only once.

fn fit(ids: &[Id], topology: usize) -> Result<(), SystemError> {
    if ids.is_empty() {
        return Err(SystemError::Empty);
    }
    if topology != ids.len() {
        return Err(SystemError::Size { topology, ids: ids.len() });
    }
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(SystemError::Duplicate(pair[0])),
        None => Ok(()),
    }
}

fn directory(ids: &[Id]) -> BTreeMap<Id, Address> {
    ids.iter().copied().zip((0..).map(Address)).collect()
}

/// Why a system cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemError {
    /// There is nobody.
    Empty,
    /// Two processes would have the same identifier.
    Duplicate(Id),
    /// The topology was made for another number of processes.
    Size {
        /// Processes in the topology.
        topology: usize,
        /// Identifiers given.
        ids: usize,
    },
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemError::Empty => write!(f, "a system needs at least one process"),
            SystemError::Duplicate(id) => {
                write!(f, "identifier {id} is given twice; every process needs its own")
            }
            SystemError::Size { topology, ids } => {
                write!(f, "the topology connects {topology} processes, but {ids} identifiers are given")
            }
        }
    }
}

impl std::error::Error for SystemError {}
