//! Named locks, as an application sees them.

mod keeper;
mod queue;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};

use crate::engine::Ask;
use crate::is_name;
use keeper::{Keeper, Wish};
use queue::{Mode, Ticket};

/// Why a lock cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The name will not do.
    #[error("'{0}' will not do as the name of a lock: use 1 to 64 letters, digits, hyphens and underscores")]
    Name(String),
    /// The node refuses.
    #[error("{0}")]
    Refused(String),
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// The locks that a node takes part in.
#[derive(Clone, Debug)]
pub struct Locks {
    asks: mpsc::Sender<Ask>,
    /// The task that looks after each lock that was asked for.
    keepers: Arc<Mutex<BTreeMap<String, mpsc::UnboundedSender<Wish>>>>,
}

/// What a guard is made of.
#[derive(Debug)]
struct Grant {
    ticket: Ticket,
    token: Option<u64>,
    lost: watch::Receiver<bool>,
    keeper: mpsc::UnboundedSender<Wish>,
    /// Set once the guard exists: a grant that nobody picks up is given back.
    taken: bool,
}

impl Drop for Grant {
    fn drop(&mut self) {
        if !self.taken {
            let _ = self.keeper.send(Wish::Leave(self.ticket));
        }
    }
}

impl Locks {
    pub(crate) fn new(asks: mpsc::Sender<Ask>) -> Self {
        Locks { asks, keepers: Arc::default() }
    }

    /// Waits until this node holds the lock called `name`, and until the tasks of this program that asked
    /// before have had it. Giving up the wait is safe: a lock that comes too late is passed on.
    ///
    /// # Errors
    /// If the name will not do, or the node has stopped.
    pub async fn acquire(&self, name: &str) -> Result<LockGuard, LockError> {
        self.enter(name, Mode::Alone).await
    }

    /// As [`acquire`](Locks::acquire), but together with others that share it: for those who only look. Tasks
    /// of one program always share; nodes do where the algorithm has such a mode, as the coordinator has, and
    /// otherwise have it one after the other. Nobody overtakes one who waits to be alone.
    ///
    /// # Errors
    /// As [`acquire`](Locks::acquire).
    pub async fn acquire_shared(&self, name: &str) -> Result<LockGuard, LockError> {
        self.enter(name, Mode::Shared).await
    }

    async fn enter(&self, name: &str, mode: Mode) -> Result<LockGuard, LockError> {
        if !is_name(name) {
            return Err(LockError::Name(name.to_owned()));
        }
        let keeper = self.keeper(name);
        let (to, granted) = oneshot::channel();
        keeper.send(Wish::Enter(mode, to)).map_err(|_| LockError::Stopped)?;
        let mut grant = granted.await.map_err(|_| LockError::Stopped)??;
        grant.taken = true;
        let (ticket, token, lost) = (grant.ticket, grant.token, grant.lost.clone());
        Ok(LockGuard { name: name.to_owned(), ticket, token, lost, keeper })
    }

    fn keeper(&self, name: &str) -> mpsc::UnboundedSender<Wish> {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = keepers.get(name).filter(|keeper| !keeper.is_closed()) {
            return keeper.clone();
        }
        let (wishes, wished) = mpsc::unbounded_channel();
        let keeper = Keeper::new(name.to_owned(), self.asks.clone(), wishes.downgrade());
        tokio::spawn(keeper.run(wished));
        keepers.insert(name.to_owned(), wishes.clone());
        wishes
    }
}

/// Being inside. Dropping it leaves.
#[derive(Debug)]
pub struct LockGuard {
    name: String,
    ticket: Ticket,
    token: Option<u64>,
    lost: watch::Receiver<bool>,
    keeper: mpsc::UnboundedSender<Wish>,
}

impl LockGuard {
    /// The lock's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fencing token, where the algorithm gives one: it grows with every grant. Show it to the protected
    /// resource with every write; the resource refuses a smaller token than it has seen.
    pub fn token(&self) -> Option<u64> {
        self.token
    }

    /// Whether the lock was taken away: a lease is over. Only the token protects against being too late.
    pub fn is_lost(&self) -> bool {
        *self.lost.borrow() || self.lost.has_changed().is_err()
    }

    /// Waits until the lock is taken away.
    pub async fn lost(&mut self) {
        // If the keeper is gone, so is the node, and with it the lock.
        let _ = self.lost.wait_for(|lost| *lost).await;
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        if !self.is_lost() {
            let _ = self.keeper.send(Wish::Leave(self.ticket));
        }
    }
}
