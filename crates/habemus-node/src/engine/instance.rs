//! One process of a node: the process itself, its stable storage, its record and those who listen to it.

use habemus::Status;
use habemus_machine::Machine;
use tokio::sync::mpsc;

use super::Heard;
use crate::recorder::Recorder;
use crate::store::{Store, StoreError};

/// One process of the node.
pub(super) struct Instance {
    pub(super) machine: Box<dyn Machine>,
    pub(super) store: Option<Store>,
    pub(super) recorder: Option<Recorder>,
    pub(super) status: Status,
    /// Whether the request to enter was taken back: it leaves as soon as it is in.
    pub(super) taken_back: bool,
    /// The last output, for those who begin to listen later.
    last_output: Option<Heard>,
    listeners: Vec<mpsc::UnboundedSender<Heard>>,
}

impl Instance {
    pub(super) fn new(machine: Box<dyn Machine>, store: Option<Store>, recorder: Option<Recorder>) -> Self {
        let (status, last_output, listeners) = (Status::Idle, None, Vec::new());
        Instance { machine, store, recorder, status, taken_back: false, last_output, listeners }
    }

    /// Somebody listens from now on, and hears the last output at once.
    pub(super) fn listen(&mut self, to: mpsc::UnboundedSender<Heard>) {
        if let Some(last) = &self.last_output {
            let _ = to.send(last.clone());
        }
        self.listeners.push(to);
    }

    /// Tells an output to all who listen.
    pub(super) fn tell(&mut self, heard: Heard) {
        self.listeners.retain(|listener| listener.send(heard.clone()).is_ok());
        self.last_output = Some(heard);
    }

    /// Nothing more is to be heard of it.
    pub(super) fn fall_silent(&mut self) {
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

/// Stores on another thread: the disk may be slow, and heartbeats must go on.
pub(super) async fn save(mut store: Store, value: Vec<u8>) -> Result<Store, StoreError> {
    let saved = tokio::task::spawn_blocking(move || store.save(&value).map(|()| store)).await;
    saved.expect("storing does not panic")
}
