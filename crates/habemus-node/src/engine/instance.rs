//! One process of a node: the process itself, its stable storage, its record and those who listen to it.

use habemus::Status;
use habemus_machine::Machine;
use tokio::sync::mpsc;

use super::Heard;
use crate::clock::BootInstant as Instant;
use crate::lease::Lease;
use crate::recorder::Recorder;
use crate::store::{Store, StoreError};

/// One process of the node.
pub(super) struct Instance {
    pub(super) machine: Box<dyn Machine>,
    pub(super) store: Option<Store>,
    pub(super) recorder: Option<Recorder>,
    pub(super) status: Status,
    /// Whether it is a lock that shares the election of the node.
    pub(super) shared: bool,
    /// Whether anything has happened to it of late.
    pub(super) used: bool,
    /// For how long it leads or is inside, if it does.
    lease: Lease,
    /// What it has said in this step.
    unsaid: Vec<(Vec<u8>, Option<Status>)>,
    /// Whether the request to enter was taken back: it leaves as soon as it is in.
    pub(super) taken_back: bool,
    /// The last output, for those who begin to listen later.
    last_output: Option<Heard>,
    listeners: Vec<mpsc::UnboundedSender<Heard>>,
}

/// Whether it is a word that others must not give at the same time.
fn is_claim(status: Status) -> bool {
    matches!(status, Status::Leading | Status::Inside)
}

impl Instance {
    pub(super) fn new(machine: Box<dyn Machine>, store: Option<Store>, recorder: Option<Recorder>) -> Self {
        Instance {
            machine,
            store,
            recorder,
            status: Status::Idle,
            shared: false,
            taken_back: false,
            used: true,
            lease: Lease::default(),
            unsaid: Vec::new(),
            last_output: None,
            listeners: Vec::new(),
        }
    }

    /// What it is now: whoever has let its lease run out neither leads nor is inside, whatever it said last.
    pub(super) fn present_status(&self) -> Status {
        if is_claim(self.status) && !self.lease.is_valid() { Status::Idle } else { self.status }
    }

    /// It says something, which makes it this. What it takes back is over at once; what it claims is told
    /// when it is known for how long it holds.
    pub(super) fn say(&mut self, output: Vec<u8>, status: Option<Status>) {
        if status.is_some_and(|status| !is_claim(status)) {
            self.lease.end();
        }
        self.unsaid.push((output, status));
    }

    /// The step is over: what it claims holds until `end`, and what it said in this step is told.
    pub(super) fn renew(&mut self, end: Option<Instant>) {
        let unsaid = std::mem::take(&mut self.unsaid);
        if unsaid.is_empty() && is_claim(self.status) && !self.lease.extend(end) {
            // Somebody has seen it run out, and it was renewed after all: to all it is a new one.
            self.lease = Lease::until(end);
            if let Some(Heard { output, .. }) = self.last_output.clone() {
                self.tell(Heard { output, lease: self.lease.clone() });
            }
        }
        for (output, status) in unsaid {
            if status.is_some() {
                self.lease.end();
                self.lease = if status.is_some_and(is_claim) { Lease::until(end) } else { Lease::default() };
            }
            self.tell(Heard { output, lease: self.lease.clone() });
        }
    }

    /// Somebody listens from now on, and hears the last output at once.
    pub(super) fn listen(&mut self, to: mpsc::UnboundedSender<Heard>) {
        if let Some(last) = &self.last_output {
            let _ = to.send(last.clone());
        }
        self.listeners.push(to);
    }

    /// Whether somebody listens.
    pub(super) fn is_listened_to(&mut self) -> bool {
        self.listeners.retain(|listener| !listener.is_closed());
        !self.listeners.is_empty()
    }

    /// Tells an output to all who listen.
    fn tell(&mut self, heard: Heard) {
        self.listeners.retain(|listener| listener.send(heard.clone()).is_ok());
        self.last_output = Some(heard);
    }

    /// Nothing more is to be heard of it, and it claims nothing.
    pub(super) fn fall_silent(&mut self) {
        self.lease.end();
        self.listeners.clear();
    }

    /// Stores what must be durable before anything else happens.
    pub(super) async fn persist(&mut self, value: Vec<u8>) -> Result<(), StoreError> {
        if let Some(store) = self.store.take() {
            self.store = Some(save(store, value).await?);
        }
        Ok(())
    }
}

/// A node that ends, however it ends, claims nothing any more.
impl Drop for Instance {
    fn drop(&mut self) {
        self.lease.end();
    }
}

/// Stores on another thread: the disk may be slow, and heartbeats must go on.
pub(super) async fn save(mut store: Store, value: Vec<u8>) -> Result<Store, StoreError> {
    let saved = tokio::task::spawn_blocking(move || store.save(&value).map(|()| store)).await;
    saved.expect("storing does not panic")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use habemus::catalogue::Request;
    use habemus::{Address, Id};
    use habemus_machine::Labels;

    use super::*;

    fn instance() -> (Instance, mpsc::UnboundedReceiver<Heard>) {
        let options = BTreeMap::new();
        let request = Request {
            algorithm: "majority",
            ids: vec![Id(1)],
            shape: None,
            detector: None,
            options: &options,
            pulse: habemus::DEFAULT_PULSE,
            seed: 0,
            signatures: None,
        };
        let (_, machine) = habemus_machine::build(&request, Address(0), Labels::Omitted).unwrap();
        let (to, heard) = mpsc::unbounded_channel();
        let mut instance = Instance::new(machine, None, None);
        instance.listen(to);
        (instance, heard)
    }

    fn claim(instance: &mut Instance, end: Option<Instant>) {
        instance.say(vec![1], Some(Status::Leading));
        instance.status = Status::Leading;
        instance.renew(end);
    }

    fn later() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(3600))
    }

    #[test]
    fn what_is_taken_back_is_over_before_anything_else_of_the_step_happens() {
        let (mut instance, mut heard) = instance();
        claim(&mut instance, later());
        let told = heard.try_recv().unwrap();
        assert!(told.lease.is_valid());
        instance.say(vec![2], Some(Status::Idle));
        assert!(!told.lease.is_valid(), "not even its effects are carried out");
        instance.status = Status::Idle;
        instance.renew(None);
        assert_eq!(heard.try_recv().unwrap().output, [2]);
    }

    #[test]
    fn a_claim_that_ran_out_is_claimed_no_longer_and_what_comes_too_late_is_a_new_one() {
        let (mut instance, mut heard) = instance();
        claim(&mut instance, Some(Instant::now()));
        assert_eq!(instance.present_status(), Status::Idle);
        let old = heard.try_recv().unwrap();
        instance.renew(later());
        assert_eq!(instance.present_status(), Status::Leading);
        let new = heard.try_recv().unwrap();
        assert!(!old.lease.is_valid() && new.lease.is_valid() && old.output == new.output);
        instance.renew(later());
        assert!(heard.try_recv().is_err() && new.lease.is_valid(), "renewing in time is no news");
    }
}
