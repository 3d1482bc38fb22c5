//! Named locks, as an application sees them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use habemus::mutex::Output;
use tokio::sync::{mpsc, oneshot, watch};

use crate::engine::{Ask, Heard};
use crate::is_name;

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

/// What is wished of the keeper of a lock.
#[derive(Debug)]
enum Wish {
    Enter(Mode, oneshot::Sender<Result<Grant, LockError>>),
    /// The holder with this number is done.
    Leave(u64),
}

/// Whether a holder shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Alone,
    Shared,
}

/// Those who wait, in the order in which they came.
type Waiting = VecDeque<(Mode, oneshot::Sender<Result<Grant, LockError>>)>;

/// What a guard is made of.
#[derive(Debug)]
struct Grant {
    number: u64,
    token: Option<u64>,
    lost: watch::Receiver<bool>,
    keeper: mpsc::UnboundedSender<Wish>,
    /// Set once the guard exists: a grant that nobody picks up is given back.
    taken: bool,
}

impl Drop for Grant {
    fn drop(&mut self) {
        if !self.taken {
            let _ = self.keeper.send(Wish::Leave(self.number));
        }
    }
}

impl Locks {
    pub(crate) fn new(asks: mpsc::Sender<Ask>) -> Self {
        Locks { asks, keepers: Arc::default() }
    }

    /// Waits until this node holds the lock called `name`, and until the tasks of this program that asked before have
    /// had it. Giving up the wait is safe: a lock that comes too late is passed on.
    ///
    /// # Errors
    /// If the name will not do, or the node has stopped.
    pub async fn acquire(&self, name: &str) -> Result<LockGuard, LockError> {
        self.enter(name, Mode::Alone).await
    }

    /// As [`acquire`](Locks::acquire), but together with others that share it: for those who only look. Tasks of one
    /// program always share; nodes do where the algorithm has such a mode, as the coordinator has, and otherwise have it
    /// one after the other. Nobody overtakes one who waits to be alone.
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
        let (number, token, lost) = (grant.number, grant.token, grant.lost.clone());
        Ok(LockGuard { name: name.to_owned(), number, token, lost, keeper })
    }

    fn keeper(&self, name: &str) -> mpsc::UnboundedSender<Wish> {
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = keepers.get(name).filter(|keeper| !keeper.is_closed()) {
            return keeper.clone();
        }
        let (wishes, wished) = mpsc::unbounded_channel();
        let keeper = Keeper { name: name.to_owned(), asks: self.asks.clone(), wishes: wishes.downgrade() };
        tokio::spawn(keeper.run(wished));
        keepers.insert(name.to_owned(), wishes.clone());
        wishes
    }
}

/// Being inside. Dropping it leaves.
#[derive(Debug)]
pub struct LockGuard {
    name: String,
    number: u64,
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
            let _ = self.keeper.send(Wish::Leave(self.number));
        }
    }
}

/// Looks after one lock: the process enters for one task of this program after the other, or for some that share.
struct Keeper {
    name: String,
    asks: mpsc::Sender<Ask>,
    wishes: mpsc::WeakUnboundedSender<Wish>,
}

impl Keeper {
    async fn run(self, mut wished: mpsc::UnboundedReceiver<Wish>) {
        let (to, mut outputs) = mpsc::unbounded_channel();
        if self.asks.send(Ask::Listen { name: self.name.clone(), to }).await.is_err() {
            return;
        }
        let mut waiting = Waiting::default();
        // In which mode the process was asked to enter, if it has not left since, and with which token it did.
        let mut engaged: Option<(Mode, Option<u64>)> = None;
        // The numbers of the holders, and how to tell each that it is one no longer.
        let mut holders: BTreeMap<u64, watch::Sender<bool>> = BTreeMap::new();
        let mut next_holder = 0;
        loop {
            let mut may_grant = false;
            tokio::select! {
                wish = wished.recv() => match wish {
                    Some(Wish::Enter(mode, to)) => {
                        waiting.push_back((mode, to));
                        // Those who share may join those who do, unless somebody waits to be alone.
                        may_grant = !holders.is_empty();
                    }
                    Some(Wish::Leave(number)) => {
                        // A holder of the past has nothing to give back.
                        if holders.remove(&number).is_some()
                            && holders.is_empty()
                            && self.command("release").await.is_err()
                        {
                            return;
                        }
                    }
                    None => return,
                },
                heard = outputs.recv() => {
                    let Some(Heard(bytes)) = heard else { return };
                    match (postcard::from_bytes::<Output>(&bytes), &mut engaged) {
                        (Ok(Output::Entered { token }), Some((_, known))) => {
                            *known = token.map(|token| token.0);
                            may_grant = true;
                        }
                        (Ok(Output::Left), _) => {
                            for lost in std::mem::take(&mut holders).into_values() {
                                lost.send_replace(true);
                            }
                            engaged = None;
                        }
                        _ => {}
                    }
                }
            }
            waiting.retain(|(_, to)| !to.is_closed());
            if let (Some((mode, token)), true) = (engaged, may_grant) {
                // One who is to be alone gets it only if nobody has it; who shares, if all before do.
                while let Some((_, to)) = waiting.pop_front_if(|(wanted, _)| {
                    *wanted == mode && (mode == Mode::Shared || holders.is_empty())
                }) {
                    let (lost, seen) = watch::channel(false);
                    let Some(keeper) = self.wishes.upgrade() else { return };
                    next_holder += 1;
                    let grant = Grant { number: next_holder, token, lost: seen, keeper, taken: false };
                    match to.send(Ok(grant)) {
                        Ok(()) => drop(holders.insert(next_holder, lost)),
                        // It has given up just now; nobody has had this grant.
                        Err(unused) => unused.into_iter().for_each(|mut grant| grant.taken = true),
                    }
                }
                if holders.is_empty() && self.command("release").await.is_err() {
                    return;
                }
            }
            if engaged.is_none()
                && let Some((mode, _)) = waiting.front()
            {
                match self.command(if *mode == Mode::Shared { "share" } else { "acquire" }).await {
                    Ok(()) => engaged = Some((*mode, None)),
                    Err(why) => waiting.drain(..).for_each(|(_, to)| drop(to.send(Err(why.clone())))),
                }
            }
        }
    }

    async fn command(&self, word: &'static str) -> Result<(), LockError> {
        let (done, result) = oneshot::channel();
        let command = Ask::Command { name: self.name.clone(), word, done };
        self.asks.send(command).await.map_err(|_| LockError::Stopped)?;
        result.await.map_err(|_| LockError::Stopped)?.map_err(LockError::Refused)
    }
}
