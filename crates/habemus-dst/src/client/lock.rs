//! A client that keeps a session alive and enters a lock again and again. It believes to be inside from when
//! it is told so until it leaves, or its own clock says that its session may be over.

use std::time::Duration;

use bytes::Bytes;
use habemus_store::{
    Answer, Command, Enter, Leave, Mode, Renewal, Revision, SessionId, StoreError, WhenBusy,
};

use super::{Ask, Hands, Reply};
use crate::clock::{Micros, SkewedClock};
use crate::history::{Inside, Judge};

/// A call that is not answered by then is made again.
const PATIENCE: Micros = 1_000_000;

/// A client of a lock.
pub(crate) struct LockClient {
    name: Bytes,
    mode: Mode,
    session: Option<Kept>,
    phase: Phase,
    /// How often it was inside.
    pub(crate) entered: u64,
}

/// A session that is renewed.
struct Kept {
    id: SessionId,
    /// What the service's own client believes of it.
    renewal: Renewal,
    next: Attempt,
}

/// The next renewal, or the one that is under way.
enum Attempt {
    /// It is sent then, by the own clock.
    At(Duration),
    /// It was sent then, by the own clock and in truth, and is given up at a time of the own clock.
    Sent { call: u64, sent: Duration, sent_at: Micros, until: Duration },
}

impl Kept {
    fn new(id: SessionId, sent: Duration, ttl: Duration) -> Kept {
        let renewal = Renewal::new(sent, ttl);
        Kept { id, renewal, next: Attempt::At(sent + renewal.pause()) }
    }

    /// When there is something to do, by the own clock.
    fn next(&self) -> Duration {
        let (Attempt::At(at) | Attempt::Sent { until: at, .. }) = self.next;
        at.min(self.renewal.valid_until())
    }
}

enum Phase {
    Outside { until: Micros },
    Opening { call: u64, id: SessionId, ttl: Duration, sent: Duration, sent_at: Micros },
    Entering { call: u64, since: Micros },
    Inside { key: Bytes, token: Revision, from: Micros, until: Micros },
    Leaving { call: u64, key: Bytes, token: Revision, since: Micros },
}

impl LockClient {
    pub(crate) fn new(name: &str, mode: Mode) -> LockClient {
        let phase = Phase::Outside { until: 0 };
        LockClient { name: Bytes::copy_from_slice(name.as_bytes()), mode, session: None, phase, entered: 0 }
    }

    pub(super) fn next_wake(&self, clock: &SkewedClock, is_ending: bool) -> Micros {
        if is_ending && self.session.is_none() {
            return Micros::MAX / 4;
        }
        let phase = match &self.phase {
            Phase::Outside { until } | Phase::Inside { until, .. } => *until,
            Phase::Opening { sent_at: since, .. }
            | Phase::Entering { since, .. }
            | Phase::Leaving { since, .. } => since + PATIENCE + 1,
        };
        let session = self.session.as_ref().map_or(Micros::MAX, |kept| {
            // A clock that was set by halves of microseconds is there a moment later.
            clock.when(kept.next()) + 2
        });
        phase.min(session)
    }

    pub(crate) fn wake(&mut self, hands: &mut Hands<'_>) {
        self.notice_the_end(hands);
        self.renew(hands);
        let late = |since: Micros| hands.now > since + PATIENCE;
        match &self.phase {
            Phase::Outside { until } if hands.now >= *until && !hands.is_ending => self.go_on(hands),
            Phase::Outside { .. } => {}
            Phase::Opening { sent_at, .. } if late(*sent_at) => {
                hands.switches = true;
                self.start_over(hands);
            }
            Phase::Opening { .. } => {}
            Phase::Entering { since, .. } if late(*since) => {
                hands.switches = true;
                self.go_on(hands);
            }
            Phase::Entering { .. } => {}
            Phase::Inside { until, .. } if hands.now >= *until => self.leave(hands),
            Phase::Inside { .. } => {}
            Phase::Leaving { since, .. } if late(*since) => {
                hands.switches = true;
                self.leave(hands);
            }
            Phase::Leaving { .. } => {}
        }
        if hands.is_ending || hands.random.happens(10) {
            self.vanish(hands);
        }
    }

    pub(crate) fn hear(&mut self, call: u64, reply: Reply, hands: &mut Hands<'_>) {
        self.notice_the_end(hands);
        let is_renewal =
            |kept: &Kept| matches!(kept.next, Attempt::Sent { call: present, .. } if present == call);
        if self.session.as_ref().is_some_and(is_renewal) {
            return self.hear_of_renewal(reply, hands);
        }
        match &self.phase {
            Phase::Opening { call: present, id, ttl, sent, sent_at } if *present == call => match reply {
                Reply::Applied { answer: Ok(Answer::Done), .. } => {
                    let (id, ttl, sent, sent_at) = (*id, *ttl, *sent, *sent_at);
                    hands.history.acknowledged(id, sent_at);
                    self.session = Some(Kept::new(id, sent, ttl));
                    self.phase = Phase::Outside { until: hands.now };
                    self.notice_the_end(hands);
                    self.go_on(hands);
                }
                _ => {
                    hands.switches = true;
                    self.start_over(hands);
                }
            },
            Phase::Entering { call: present, .. } if *present == call => match reply {
                Reply::Inside { key, token } => self.enter(key, token, hands),
                Reply::SessionOver | Reply::Applied { answer: Err(StoreError::SessionNotFound(_)), .. } => {
                    self.is_told_of_the_end(hands);
                }
                // Whoever does not want to wait comes again.
                Reply::Applied { answer: Err(StoreError::Busy), .. } => {
                    self.phase = Phase::Outside { until: hands.now + hands.random.between(1, 100_000) };
                }
                Reply::Refused | Reply::Unknown => {
                    hands.switches = true;
                    self.phase = Phase::Outside { until: hands.now + 50_000 };
                }
                other => hands.history.violated(Judge::Locks, format!("entering was answered by {other:?}")),
            },
            Phase::Leaving { call: present, .. } if *present == call => match reply {
                Reply::Applied { answer: Ok(Answer::Done) | Err(StoreError::NotOwner), .. } => {
                    self.phase = Phase::Outside { until: hands.now + hands.random.between(0, 500_000) };
                }
                Reply::Refused | Reply::Unknown => hands.switches = true,
                other => hands.history.violated(Judge::Locks, format!("leaving was answered by {other:?}")),
            },
            _ => {}
        }
    }

    fn hear_of_renewal(&mut self, reply: Reply, hands: &mut Hands<'_>) {
        let local = hands.local();
        let Some(kept) = &mut self.session else { return };
        let Attempt::Sent { sent, sent_at, .. } = kept.next else { return };
        match reply {
            Reply::Applied { answer: Ok(Answer::Renewed(renewed)), .. } => match renewed[..] {
                [(_, Some(ttl))] => {
                    kept.renewal.renewed(sent, ttl);
                    kept.next = Attempt::At(local + kept.renewal.pause());
                    hands.history.acknowledged(kept.id, sent_at);
                }
                _ => self.is_told_of_the_end(hands),
            },
            Reply::Refused | Reply::Unknown => {
                kept.next = Attempt::At(local + kept.renewal.pause_after_failure());
                hands.switches = true;
            }
            other => hands.history.violated(Judge::Sessions, format!("a renewal was answered by {other:?}")),
        }
    }

    /// Renews in time, and again if nobody answers.
    fn renew(&mut self, hands: &mut Hands<'_>) {
        let local = hands.local();
        let Some(kept) = &mut self.session else { return };
        match kept.next {
            Attempt::At(at) if local >= at => {
                let call = hands.ask(Ask::Command(Command::RenewSessions(vec![kept.id])));
                let until = local + kept.renewal.patience(local);
                kept.next = Attempt::Sent { call, sent: local, sent_at: hands.now, until };
            }
            Attempt::Sent { until, .. } if local >= until => {
                kept.next = Attempt::At(local + kept.renewal.pause_after_failure());
                hands.switches = true;
            }
            _ => {}
        }
    }

    /// Opens a session if there is none, else enters.
    fn go_on(&mut self, hands: &mut Hands<'_>) {
        self.phase = match &self.session {
            None => {
                let id = SessionId((hands.random.number() >> 1).cast_signed() | 1);
                let ttl = Duration::from_millis(hands.random.between(300, 3_000));
                let call = hands.ask(Ask::Command(Command::OpenSession { id, ttl }));
                hands.history.open_session(id, ttl);
                Phase::Opening { call, id, ttl, sent: hands.local(), sent_at: hands.now }
            }
            Some(kept) => {
                let enter = Enter {
                    name: self.name.clone(),
                    session: kept.id,
                    mode: self.mode,
                    value: Bytes::from(format!("{}.{}", hands.client, hands.calls)),
                    when_busy: if hands.random.happens(150) { WhenBusy::Refuse } else { WhenBusy::Wait },
                };
                let call = hands.ask(Ask::Command(Command::Enter(enter)));
                Phase::Entering { call, since: hands.now }
            }
        };
    }

    fn enter(&mut self, key: Bytes, token: Revision, hands: &mut Hands<'_>) {
        self.entered += 1;
        let until = hands.now + hands.random.between(1_000, 300_000);
        self.phase = Phase::Inside { key, token, from: hands.now, until };
    }

    fn leave(&mut self, hands: &mut Hands<'_>) {
        self.believe_no_more(hands.now, hands);
        // Some end their whole session: if that is lost on the way, its time ends it.
        if hands.random.happens(100)
            && let Some(kept) = self.session.take()
        {
            hands.history.session(kept.id).close();
            hands.ask(Ask::Command(Command::CloseSession { id: kept.id }));
            return self.start_over(hands);
        }
        if let Phase::Inside { key, token, .. } | Phase::Leaving { key, token, .. } = &self.phase {
            let (key, token) = (key.clone(), *token);
            let leave = Leave { key: key.clone(), token };
            let call = hands.ask(Ask::Command(Command::Leave(leave)));
            self.phase = Phase::Leaving { call, key, token, since: hands.now };
        }
    }

    /// Whatever it was inside of, it is so no more since `until`.
    fn believe_no_more(&mut self, until: Micros, hands: &mut Hands<'_>) {
        if let Phase::Inside { token, from, .. } = &self.phase {
            let (name, mode, client) = (self.name.clone(), self.mode, hands.client);
            hands.history.inside.push(Inside { client, name, mode, token: *token, from: *from, until });
        }
    }

    /// The own clock says that the session may be over.
    fn notice_the_end(&mut self, hands: &mut Hands<'_>) {
        if let Some(kept) = self.session.take_if(|kept| kept.renewal.may_be_over(hands.local())) {
            self.believe_no_more(hands.clock.when(kept.renewal.valid_until()), hands);
            self.start_over(hands);
        }
    }

    /// A member says that the session is over: that must not come before the own clock says so.
    fn is_told_of_the_end(&mut self, hands: &mut Hands<'_>) {
        if let Some(kept) = self.session.take() {
            hands.history.was_surprised(kept.id);
            self.believe_no_more(hands.now, hands);
        }
        self.start_over(hands);
    }

    fn start_over(&mut self, hands: &mut Hands<'_>) {
        self.phase = Phase::Outside { until: hands.now + hands.random.between(0, 200_000) };
    }

    /// It is gone, without a word, and another one comes.
    pub(super) fn vanish(&mut self, hands: &mut Hands<'_>) {
        // Whoever stood still has not looked at its clock yet.
        self.notice_the_end(hands);
        self.believe_no_more(hands.now, hands);
        self.session = None;
        self.start_over(hands);
    }

    /// Of what it believes to be inside, and its token.
    pub(crate) fn inside(&self) -> Option<(Bytes, u64)> {
        match &self.phase {
            Phase::Inside { token, .. } => Some((self.name.clone(), token.0)),
            _ => None,
        }
    }
}
