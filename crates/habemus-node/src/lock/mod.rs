//! Named locks, as an application sees them.

mod keeper;
mod queue;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot, watch};

use crate::engine::Ask;
use crate::is_name;
use crate::lease::Lease;
use keeper::{Keeper, Wish};
use queue::{Mode, Ticket};

/// Why a lock cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The name will not do.
    #[error("'{0}' will not do as the name of a lock: use 1 to 64 letters, digits, hyphens and underscores")]
    Name(String),
    /// The algorithm gives no fencing tokens.
    #[error(
        "{0} gives no fencing token, so a holder of the past could not be told from the present one. Choose \
         majority or elected-coordinator, or set fencing = true where the algorithm has it; a resource that \
         needs no token \
         takes Node::unfenced_locks"
    )]
    NoToken(&'static str),
    /// The node refuses.
    #[error("{0}")]
    Refused(String),
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// The locks that a node takes part in, for resources that check fencing tokens: every guard has one.
#[derive(Clone, Debug)]
pub struct Locks {
    locks: UnfencedLocks,
    algorithm: &'static str,
}

/// The locks that a node takes part in, for resources that check no fencing token. Nothing then protects the
/// resource from a holder that was stopped for longer than its lease and goes on writing.
#[derive(Clone, Debug)]
pub struct UnfencedLocks {
    asks: mpsc::Sender<Ask>,
    keepers: Keepers,
}

/// The task that looks after each lock that somebody of this program has or wants.
#[derive(Clone, Debug, Default)]
struct Keepers(Arc<Mutex<BTreeMap<String, mpsc::UnboundedSender<Wish>>>>);

impl Keepers {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, mpsc::UnboundedSender<Wish>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, name: &str) {
        self.all().remove(name);
    }

    /// Takes a keeper out that has nothing to do; says whether it has not. Wishes are sent under the same
    /// lock, so none is lost.
    fn remove_if_unwanted(&self, name: &str, wished: &mpsc::UnboundedReceiver<Wish>) -> bool {
        let mut keepers = self.all();
        let unwanted = wished.is_empty();
        if unwanted {
            keepers.remove(name);
        }
        unwanted
    }
}

/// What a guard is made of.
#[derive(Debug)]
struct Grant {
    ticket: Ticket,
    token: Option<u64>,
    lease: Lease,
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
    pub(crate) fn new(locks: UnfencedLocks, algorithm: &'static str) -> Self {
        Locks { locks, algorithm }
    }

    /// Waits until this node holds the lock called `name`, and until the tasks of this program that asked
    /// before have had it. Giving up the wait is safe: a lock that comes too late is passed on.
    ///
    /// # Errors
    /// If the name will not do, if there are too many, if the algorithm gives no tokens, or if the node has
    /// stopped.
    pub async fn acquire(&self, name: &str) -> Result<LockGuard, LockError> {
        self.fenced(self.locks.enter(name, Mode::Alone).await?)
    }

    /// As [`acquire`](Locks::acquire), but together with others that share it: for those who only look. Tasks
    /// of one program always share; nodes do where the algorithm has such a mode, as the coordinator has, and
    /// otherwise have it one after the other. Nobody overtakes one who waits to be alone.
    ///
    /// # Errors
    /// As [`acquire`](Locks::acquire).
    pub async fn acquire_shared(&self, name: &str) -> Result<LockGuard, LockError> {
        self.fenced(self.locks.enter(name, Mode::Shared).await?)
    }

    fn fenced(&self, (guard, token): (UnfencedGuard, Option<u64>)) -> Result<LockGuard, LockError> {
        let token = token.ok_or(LockError::NoToken(self.algorithm))?;
        Ok(LockGuard { guard, token })
    }
}

impl UnfencedLocks {
    pub(crate) fn new(asks: mpsc::Sender<Ask>) -> Self {
        UnfencedLocks { asks, keepers: Keepers::default() }
    }

    /// As [`Locks::acquire`], without a token.
    ///
    /// # Errors
    /// If the name will not do, if there are too many, or if the node has stopped.
    pub async fn acquire(&self, name: &str) -> Result<UnfencedGuard, LockError> {
        self.enter(name, Mode::Alone).await.map(|(guard, _)| guard)
    }

    /// As [`Locks::acquire_shared`], without a token.
    ///
    /// # Errors
    /// As [`acquire`](UnfencedLocks::acquire).
    pub async fn acquire_shared(&self, name: &str) -> Result<UnfencedGuard, LockError> {
        self.enter(name, Mode::Shared).await.map(|(guard, _)| guard)
    }

    async fn enter(&self, name: &str, mode: Mode) -> Result<(UnfencedGuard, Option<u64>), LockError> {
        if !is_name(name) {
            return Err(LockError::Name(name.to_owned()));
        }
        let (to, granted) = oneshot::channel();
        let keeper = self.wish(name, Wish::Enter(mode, to))?;
        let mut grant = granted.await.map_err(|_| LockError::Stopped)??;
        grant.taken = true;
        let (ticket, token) = (grant.ticket, grant.token);
        let (lease, lost) = (grant.lease.clone(), grant.lost.clone());
        Ok((UnfencedGuard { name: name.to_owned(), ticket, lease, lost, keeper }, token))
    }

    /// Tells the keeper of the lock, which begins its work if there is none.
    fn wish(&self, name: &str, wish: Wish) -> Result<mpsc::UnboundedSender<Wish>, LockError> {
        let mut keepers = self.keepers.all();
        if let Some(keeper) = keepers.get(name).filter(|keeper| !keeper.is_closed()) {
            keeper.send(wish).map_err(|_| LockError::Stopped)?;
            return Ok(keeper.clone());
        }
        let (wishes, wished) = mpsc::unbounded_channel();
        wishes.send(wish).map_err(|_| LockError::Stopped)?;
        let (asks, known) = (self.asks.clone(), self.keepers.clone());
        tokio::spawn(Keeper::new(name.to_owned(), asks, known, wishes.downgrade()).run(wished));
        keepers.insert(name.to_owned(), wishes.clone());
        Ok(wishes)
    }
}

/// Being inside, with a fencing token. Dropping it leaves. As long as it lives, the node renews the lease,
/// where the algorithm has renewable ones.
#[derive(Debug)]
pub struct LockGuard {
    guard: UnfencedGuard,
    token: u64,
}

impl LockGuard {
    /// The fencing token: it grows with every grant. Show it to the protected resource with every write; the
    /// resource refuses a smaller token than it has seen.
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Waits until the lock is taken away.
    pub async fn lost(&mut self) {
        self.guard.lost().await;
    }
}

impl Deref for LockGuard {
    type Target = UnfencedGuard;

    fn deref(&self) -> &UnfencedGuard {
        &self.guard
    }
}

/// Being inside, without a fencing token. Dropping it leaves.
#[derive(Debug)]
pub struct UnfencedGuard {
    name: String,
    ticket: Ticket,
    lease: Lease,
    lost: watch::Receiver<bool>,
    keeper: mpsc::UnboundedSender<Wish>,
}

impl UnfencedGuard {
    /// The lock's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the lock was taken away: its lease is over, or the node has stopped. Nobody need be asked for
    /// that, and it is true on time even if the node is stuck. Only a token protects against being too late.
    pub fn is_lost(&self) -> bool {
        !self.lease.is_valid()
    }

    /// For how long it is held unless the node renews it. Algorithms without leases have no bound.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Waits until the lock is taken away. Releasing it is no loss.
    pub async fn lost(&mut self) {
        tokio::select! {
            // If the keeper is gone, so is the node, and with it the lock.
            _ = self.lost.wait_for(|lost| *lost) => {}
            () = self.lease.run_out() => {}
        }
    }
}

impl Drop for UnfencedGuard {
    fn drop(&mut self) {
        // Who has lost it has nothing to give back; the keeper knows.
        let _ = self.keeper.send(Wish::Leave(self.ticket));
    }
}
