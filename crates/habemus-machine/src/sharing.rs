//! A lock among many that share the election of their node.

use std::sync::Arc;
use std::time::Duration;

use habemus::election::Output;
use habemus::election::borrowed::Borrowed;
use habemus::mutex::elected::{self, Config, Elected, Reigns, Standing, Variant};
use habemus::topology::Complete;
use habemus::{Address, Id, Status, Suspicion, System, SystemError};

use crate::erased::Erased;
use crate::machine::Machine;
use crate::plain::{Encoded, Garbled, Label, Labels, PlainStep, encode};

/// A lock whose coordinator is whoever leads the election that it shares.
struct Sharing(Erased<Elected<Borrowed>>);

/// Makes the process at the address `me` of a lock whose coordinator is whoever leads an election between
/// `ids`, with leases that are renewed and fencing tokens. The weights are those of the votes.
///
/// # Errors
/// If there is no such system.
pub fn sharing(
    ids: &[Id],
    weights: Vec<u64>,
    lease: Duration,
    me: Address,
) -> Result<Box<dyn Machine>, SystemError> {
    let network = Complete::new(ids.len());
    let config = Config {
        election: System::<Borrowed>::new(network.clone(), ids.to_vec(), ())?,
        lease: Some(lease),
        retry: lease / 4,
        majority: Some(weights),
        fencing: true,
        keep_alive: true,
        reigns: Reigns::Terms,
        variant: Variant::Complete,
    };
    let system = Arc::new(System::new(network, ids.to_vec(), config)?);
    Ok(Box::new(Sharing(Erased::new(system, me, Labels::Omitted))))
}

/// What a lock recovers that is opened for the time `incarnation`, counted over all lives of the node.
pub fn shared_memory(incarnation: u64) -> Vec<u8> {
    encode(&elected::memory(incarnation))
}

impl Machine for Sharing {
    fn fresh(&self) -> Box<dyn Machine> {
        Box::new(Sharing(self.0.another()))
    }

    fn blank(&self) -> Vec<u8> {
        self.0.blank()
    }

    fn renumbered(&self, stored: &[u8]) -> Option<Vec<u8>> {
        self.0.renumbered(stored)
    }

    fn start(&mut self, recovered: Option<&[u8]>, now: Duration, out: &mut PlainStep) -> Result<(), Garbled> {
        self.0.start(recovered, now, out)
    }

    fn message(
        &mut self,
        from: Address,
        bytes: &[u8],
        now: Duration,
        out: &mut PlainStep,
    ) -> Result<Label, Garbled> {
        self.0.message(from, bytes, now, out)
    }

    fn timer(&mut self, key: &[u8], now: Duration, out: &mut PlainStep) -> Result<Label, Garbled> {
        self.0.timer(key, now, out)
    }

    fn command(&mut self, word: &str, now: Duration, out: &mut PlainStep) -> Option<Encoded> {
        self.0.command(word, now, out)
    }

    fn suspicion(&mut self, suspicion: Suspicion, now: Duration, out: &mut PlainStep) {
        self.0.suspicion(suspicion, now, out);
    }

    fn stop(&mut self, now: Duration, out: &mut PlainStep) {
        self.0.stop(now, out);
    }

    fn lease(&self) -> Option<Vec<u8>> {
        self.0.lease()
    }

    fn leadership(&self) -> Option<Output> {
        None
    }

    fn tell_standing(&mut self, standing: Standing, now: Duration, out: &mut PlainStep) {
        self.0.with(now, out, |lock, cx| lock.on_borrowed(standing, cx));
    }

    fn at_rest(&self) -> Option<u64> {
        self.0.process.as_ref()?.at_rest()
    }

    fn state(&self) -> String {
        self.0.state()
    }

    fn next_command(&self, status: &Status) -> Option<String> {
        self.0.next_command(status)
    }
}
