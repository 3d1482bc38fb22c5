//! A lock among many that share one election: what came of it is told to the lock.

use std::time::Duration;

use super::{Elected, Place, Reign, Timer};
use crate::election::Output;
use crate::election::borrowed::Borrowed;
use crate::term::Term;
use crate::{Address, Context, Id, Process};

/// What a lock is told of the election that it shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What the election says.
    pub said: Output,
    /// If this process leads: after how long from now no lease of an earlier reign can be left.
    pub grace: Duration,
    /// If this process leads: how many grants there may have been in this term, of any lock, that are
    /// forgotten.
    pub given: u64,
}

impl Elected<Borrowed> {
    /// The election that this lock shares says something.
    pub fn on_borrowed(&mut self, standing: Standing, cx: &mut Context<'_, Self>) {
        let before = self.reign;
        self.on_result(standing.said, cx);
        if let Output::Follows { leader: Some(leader), term } = standing.said {
            self.obey_leader(leader, term, cx);
        }
        if self.reign != before
            && let Some(office) = &mut self.office
        {
            office.given = office.given.max(standing.given);
            let reign = self.reign.number;
            cx.set_timer(Timer::Grace { reign }, standing.grace);
        }
    }

    /// Somebody else leads: no coordinator need ask everybody first, for the election has told them.
    fn obey_leader(&mut self, leader: Id, term: u64, cx: &mut Context<'_, Self>) {
        let place = cx.system.ids.iter().position(|id| *id == leader);
        let Some(coordinator) = place.map(|index| Address(index as u32)) else { return };
        if Term::of(term) > self.reign.number {
            self.obey(Reign { number: Term::of(term), coordinator }, cx);
            match self.place {
                Place::Outside => {}
                Place::Waiting => self.request_again(cx),
                Place::Inside { .. } => self.on_renewal_due(cx),
            }
        }
    }

    /// If it can be forgotten: how many grants there were in this reign. Nobody is inside here or waits,
    /// nobody is owed an answer, and if this process coordinates, it knows that nobody is inside anywhere.
    pub fn at_rest(&self) -> Option<u64> {
        let outside = self.place == Place::Outside && self.unreleased.is_none();
        match &self.office {
            None => outside.then_some(0),
            Some(office) => {
                let unused = office.open && office.holders.is_empty() && office.queue.is_empty();
                (outside && unused).then_some(office.given)
            }
        }
    }
}

/// The incarnation of each process of a lock that is opened again must be new: tickets of the last one are
/// void.
pub fn memory(incarnation: u64) -> <Elected<Borrowed> as Process>::Stable {
    super::Memory { election: (), incarnation: incarnation.saturating_sub(1), reign: Reign::default() }
}

#[cfg(test)]
mod tests {
    use super::super::message::{LockMessage, Message, Ticket};
    use super::super::{Config, Reigns, Variant};
    use super::*;
    use crate::mutex::{Command, Output as Said, Token};
    use crate::testing::Harness;
    use crate::topology::Complete;
    use crate::{Effect, Step, System};

    const LEASE: Duration = Duration::from_secs(1);
    const FIRST: Address = Address(0);
    const SECOND: Address = Address(1);

    fn process(me: Address) -> Harness<Elected<Borrowed>> {
        let ids: Vec<Id> = (1..=3).map(Id).collect();
        let config = Config {
            election: System::new(Complete::new(3), ids, ()).expect("it is well formed"),
            lease: Some(LEASE),
            retry: LEASE / 4,
            majority: Some(Vec::new()),
            fencing: true,
            keep_alive: true,
            reigns: Reigns::Terms,
            variant: Variant::Complete,
        };
        Harness::recovered(Complete::new(3), 1..=3, config, me, Some(memory(9)))
    }

    fn tell(process: &mut Harness<Elected<Borrowed>>, said: Output, given: u64) -> Step<Elected<Borrowed>> {
        let standing = Standing { said, grace: Duration::ZERO, given };
        process.handle(|lock, cx| lock.on_borrowed(standing, cx))
    }

    fn sent(step: &Step<Elected<Borrowed>>) -> Vec<(Address, LockMessage)> {
        let of_lock = |effect: &Effect<Elected<Borrowed>>| match effect {
            Effect::Send { to, message: Message::Lock(message) } => Some((*to, *message)),
            _ => None,
        };
        step.effects.iter().filter_map(of_lock).collect()
    }

    #[test]
    fn whoever_waits_asks_the_leader_of_the_election_as_soon_as_there_is_one() {
        let mut p = process(SECOND);
        assert_eq!(sent(&p.command(Command::Acquire)), []);
        let step = tell(&mut p, Output::Follows { leader: Some(Id(1)), term: 5 }, 0);
        let ticket = Ticket { incarnation: 9, number: 2 };
        assert_eq!(sent(&step), [(FIRST, LockMessage::Request { reign: Term::of(5), ticket })]);
    }

    #[test]
    fn a_reign_is_a_term_and_its_tokens_go_on_where_a_forgotten_lock_ended() {
        let mut c = process(FIRST);
        tell(&mut c, Output::Leads { term: 5 }, 7);
        c.command(Command::Acquire);
        let here = LockMessage::Here { reign: Term::of(5), ticket: Ticket::default(), place: Place::Outside };
        c.message(SECOND, Message::Lock(here));
        let open = c.timer(Timer::Grace { reign: Term::of(5) });
        assert_eq!(open.outputs(), [Said::Entered { token: Some(Token((5 << 32) + 8)) }]);
        assert_eq!(c.process.at_rest(), None, "it is inside");
        c.command(Command::Release);
        assert_eq!(c.process.at_rest(), Some(8));
        // A participant that knows of a later term does not make up another reign in this one.
        let step = c.message(SECOND, Message::Lock(LockMessage::Outdated { reign: Term::of(6) }));
        assert!(step.is_empty(), "{step:?}");
        tell(&mut c, Output::Leaderless, 0);
        assert_eq!(c.process.at_rest(), Some(0));
    }
}
