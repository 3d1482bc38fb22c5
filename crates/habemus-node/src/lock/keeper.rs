//! The task that looks after one lock: it carries out what the queue says.

use std::collections::{BTreeMap, VecDeque};

use habemus::mutex::Output;
use tokio::sync::{mpsc, oneshot, watch};

use super::queue::{Action, Input, LockQueue, Mode, Ticket};
use super::{Grant, LockError};
use crate::engine::{Ask, Heard};

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
    wishes: mpsc::WeakUnboundedSender<Wish>,
    queue: LockQueue,
    next_ticket: u64,
    /// How to tell those who wait that they have it.
    waiting: BTreeMap<Ticket, oneshot::Sender<Result<Grant, LockError>>>,
    /// How to tell each holder that it is one no longer.
    holders: BTreeMap<Ticket, watch::Sender<bool>>,
}

impl Keeper {
    pub(super) fn new(
        name: String,
        asks: mpsc::Sender<Ask>,
        wishes: mpsc::WeakUnboundedSender<Wish>,
    ) -> Self {
        let (queue, waiting, holders) = (LockQueue::new(), BTreeMap::new(), BTreeMap::new());
        Keeper { name, asks, wishes, queue, next_ticket: 0, waiting, holders }
    }

    /// Works until nobody is left who could wish anything, or until the node has stopped.
    pub(super) async fn run(mut self, mut wished: mpsc::UnboundedReceiver<Wish>) {
        let (to, mut outputs) = mpsc::unbounded_channel();
        if self.asks.send(Ask::Listen { name: self.name.clone(), to }).await.is_err() {
            return;
        }
        loop {
            let input = tokio::select! {
                wish = wished.recv() => wish.map(|wish| Some(self.take_note(wish))),
                heard = outputs.recv() => heard.map(|heard| understand(&heard)),
            };
            let Some(input) = input else { return };
            let given_up = self.waiting.iter().filter(|(_, to)| to.is_closed()).map(|(ticket, _)| *ticket);
            let mut inputs: VecDeque<Input> = given_up.map(Input::GiveUp).collect();
            inputs.extend(input);
            if self.feed(inputs).await.is_err() {
                return;
            }
        }
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
            Action::Leave => self.command("release").await.map(|()| None),
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
        match to.send(Ok(Grant { ticket, token, lost: seen, keeper, taken: false })) {
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

    async fn command(&self, word: &'static str) -> Result<(), LockError> {
        let (done, result) = oneshot::channel();
        let command = Ask::Command { name: self.name.clone(), word, done };
        self.asks.send(command).await.map_err(|_| LockError::Stopped)?;
        result.await.map_err(|_| LockError::Stopped)?.map_err(LockError::Refused)
    }
}

/// What the process says, if it says anything about being inside.
fn understand(Heard(bytes): &Heard) -> Option<Input> {
    match postcard::from_bytes::<Output>(bytes) {
        Ok(Output::Entered { token }) => Some(Input::Entered(token.map(|token| token.0))),
        Ok(Output::Left) => Some(Input::Left),
        Err(_) => None,
    }
}
