//! The task that looks after one lock: it carries out what the queue says.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use habemus::mutex::Output;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep;

use super::queue::{Action, Input, LockQueue, Mode, Ticket};
use super::{Grant, Keepers, LockError};
use crate::engine::{Ask, Heard};
use crate::lease::Lease;

/// Whoever wants the lock again so soon finds its keeper still there.
const LINGER: Duration = Duration::from_secs(1);

/// What is wished of the keeper of a lock.
#[derive(Debug)]
pub(super) enum Wish {
    Enter(Mode, oneshot::Sender<Result<Grant, LockError>>),
    Leave(Ticket),
}

/// Looks after one lock.
pub(super) struct Keeper {
    name: String,
    asks: mpsc::Sender<Ask>,
    keepers: Keepers,
    wishes: mpsc::WeakUnboundedSender<Wish>,
    queue: LockQueue,
    next_ticket: u64,
    /// For how long the process is inside, if it is.
    lease: Lease,
    /// How to tell those who wait that they have it.
    waiting: BTreeMap<Ticket, oneshot::Sender<Result<Grant, LockError>>>,
    /// How to tell each holder that it is one no longer.
    holders: BTreeMap<Ticket, watch::Sender<bool>>,
}

impl Keeper {
    pub(super) fn new(
        name: String,
        asks: mpsc::Sender<Ask>,
        keepers: Keepers,
        wishes: mpsc::WeakUnboundedSender<Wish>,
    ) -> Self {
        Keeper {
            name,
            asks,
            keepers,
            wishes,
            queue: LockQueue::new(),
            next_ticket: 0,
            lease: Lease::default(),
            waiting: BTreeMap::new(),
            holders: BTreeMap::new(),
        }
    }

    /// Works until nobody wants the lock, or until the node has stopped.
    pub(super) async fn run(mut self, mut wished: mpsc::UnboundedReceiver<Wish>) {
        let (to, mut outputs) = mpsc::unbounded_channel();
        if let Err(why) = self.listen(to).await {
            self.keepers.remove(&self.name);
            while let Ok(wish) = wished.try_recv() {
                if let Wish::Enter(_, to) = wish {
                    let _ = to.send(Err(why.clone()));
                }
            }
            return;
        }
        loop {
            let lease = self.lease.clone();
            let (held, rests) = (!self.holders.is_empty(), self.queue.is_at_rest());
            let input = tokio::select! {
                wish = wished.recv() => wish.map(|wish| Some(self.take_note(wish))),
                heard = outputs.recv() => heard.map(|heard| self.understand(heard)),
                () = lease.run_out(), if held => Some(None),
                () = sleep(LINGER), if rests => {
                    if self.keepers.remove_if_unwanted(&self.name, &wished) {
                        return;
                    }
                    Some(None)
                }
            };
            let Some(input) = input else { return };
            let mut inputs = VecDeque::new();
            if held && !lease.is_valid() {
                inputs.push_back(Input::Expired);
            }
            let given_up = self.waiting.iter().filter(|(_, to)| to.is_closed()).map(|(ticket, _)| *ticket);
            inputs.extend(given_up.map(Input::GiveUp));
            inputs.extend(input);
            if self.feed(inputs).await.is_err() {
                return;
            }
        }
    }

    async fn listen(&self, to: mpsc::UnboundedSender<Heard>) -> Result<(), LockError> {
        let (done, result) = oneshot::channel();
        let listen = Ask::Listen { name: self.name.clone(), to, done };
        self.asks.send(listen).await.map_err(|_| LockError::Stopped)?;
        result.await.map_err(|_| LockError::Stopped)?.map_err(LockError::Refused)
    }

    fn take_note(&mut self, wish: Wish) -> Input {
        match wish {
            Wish::Enter(mode, to) => {
                self.next_ticket += 1;
                let ticket = Ticket(self.next_ticket);
                self.waiting.insert(ticket, to);
                Input::Enter(mode, ticket)
            }
            Wish::Leave(ticket) => {
                self.holders.remove(&ticket);
                Input::Leave(ticket)
            }
        }
    }

    /// What the process says, if it says anything about being inside.
    fn understand(&mut self, Heard { output, lease }: Heard) -> Option<Input> {
        let input = match postcard::from_bytes::<Output>(&output) {
            Ok(Output::Entered { token }) => Input::Entered(token.map(|token| token.0)),
            Ok(Output::Left) => Input::Left,
            Err(_) => return None,
        };
        self.lease = lease;
        Some(input)
    }

    /// Tells the queue what happened, does what it says, and tells it what came of that.
    async fn feed(&mut self, mut inputs: VecDeque<Input>) -> Result<(), LockError> {
        while let Some(input) = inputs.pop_front() {
            if let Input::GiveUp(ticket) = &input {
                self.waiting.remove(ticket);
            }
            for action in self.queue.on(input) {
                inputs.extend(self.carry_out(action).await?);
            }
        }
        Ok(())
    }

    async fn carry_out(&mut self, action: Action) -> Result<Option<Input>, LockError> {
        match action {
            Action::Enter(Mode::Alone) => Ok(self.command("acquire").await.err().map(Input::Refused)),
            Action::Enter(Mode::Shared) => Ok(self.command("share").await.err().map(Input::Refused)),
            Action::Leave => self.leave().await.map(|()| None),
            Action::Grant(ticket, token) => {
                let granted = self.grant(ticket, token)?;
                Ok((!granted).then_some(Input::GiveUp(ticket)))
            }
            Action::Lose(ticket) => {
                if let Some(lost) = self.holders.remove(&ticket) {
                    lost.send_replace(true);
                }
                Ok(None)
            }
            Action::Refuse(ticket, why) => {
                if let Some(to) = self.waiting.remove(&ticket) {
                    let _ = to.send(Err(why));
                }
                Ok(None)
            }
        }
    }

    /// Hands the lock to a task; says whether the task was still there to take it.
    fn grant(&mut self, ticket: Ticket, token: Option<u64>) -> Result<bool, LockError> {
        let Some(to) = self.waiting.remove(&ticket) else { return Ok(false) };
        let (lost, seen) = watch::channel(false);
        let keeper = self.wishes.upgrade().ok_or(LockError::Stopped)?;
        let lease = self.lease.clone();
        match to.send(Ok(Grant { ticket, token, lease, lost: seen, keeper, taken: false })) {
            Ok(()) => {
                self.holders.insert(ticket, lost);
                Ok(true)
            }
            Err(unused) => {
                // It has given up just now; nobody has had this grant, so nobody gives it back.
                unused.into_iter().for_each(|mut grant| grant.taken = true);
                Ok(false)
            }
        }
    }

    /// Tells the process to leave. It says itself when it has: a node that is stuck must not keep this task
    /// from telling the others of the program what it knows.
    async fn leave(&self) -> Result<(), LockError> {
        let (done, _) = oneshot::channel();
        let command = Ask::Command { name: self.name.clone(), word: "release", done };
        self.asks.send(command).await.map_err(|_| LockError::Stopped)
    }

    async fn command(&self, word: &'static str) -> Result<(), LockError> {
        let (done, result) = oneshot::channel();
        let command = Ask::Command { name: self.name.clone(), word, done };
        self.asks.send(command).await.map_err(|_| LockError::Stopped)?;
        result.await.map_err(|_| LockError::Stopped)?.map_err(LockError::Refused)
    }
}
