//! Each rule of the service's lock, in one step.

use super::*;
use crate::Effect;
use crate::testing::Harness;

const FIRST: Address = Address(1);
const SECOND: Address = Address(2);

fn process(me: Address, config: Config) -> Harness<Service> {
    Harness::new(Complete::new(3), 1..=3, config, me)
}

fn log() -> Harness<Service> {
    process(LOG, Config::default())
}

fn ticket(wish: u64, sent: u64) -> Ticket {
    Ticket { incarnation: 1, wish, sent: Term::of(sent) }
}

fn granted(wish: u64, sent: u64, token: u64) -> Message {
    Message::Granted { ticket: ticket(wish, sent), token: Token(token) }
}

fn sets(timer: Timer, after: Duration) -> Effect<Service> {
    Effect::SetTimer { timer, after: after.into() }
}

/// A client that is inside with token 1.
fn inside(config: Config) -> Harness<Service> {
    let mut p = process(FIRST, config);
    p.command(Command::Acquire);
    p.message(LOG, granted(1, 1, 1));
    p
}

#[test]
fn a_client_asks_enters_and_unlocks_what_it_was_given() {
    let mut p = process(FIRST, Config::default());
    let asked = p.command(Command::Acquire);
    assert_eq!(asked.sent(), [(LOG, Message::Lock(ticket(1, 1)))]);
    assert!(asked.effects.contains(&sets(Timer::SessionOver(ticket(1, 1)), Config::default().ttl)));
    let entered = p.message(LOG, granted(1, 1, 7));
    assert_eq!(entered.outputs(), [Output::Entered { token: Some(Token(7)) }]);
    let left = p.command(Command::Release);
    assert_eq!(left.sent(), [(LOG, Message::Unlock(Token(7)))]);
    assert_eq!(left.outputs(), [Output::Left]);
}

#[test]
fn the_log_grants_in_the_order_of_the_requests_with_tokens_that_grow() {
    let mut log = log();
    let step = log.message(FIRST, Message::Lock(ticket(1, 1)));
    assert_eq!(step.sent(), [(FIRST, granted(1, 1, 1))]);
    assert!(log.message(SECOND, Message::Lock(ticket(1, 1))).sent().is_empty());
    let step = log.message(FIRST, Message::Unlock(Token(1)));
    assert_eq!(step.sent(), [(SECOND, granted(1, 1, 2))]);
    assert_eq!(step.persist.map(|memory| memory.store.last), Some(2), "before anybody is told");
}

#[test]
fn who_waits_keeps_its_place_while_it_renews_its_session() {
    let mut log = log();
    log.message(FIRST, Message::Lock(ticket(1, 1)));
    log.message(SECOND, Message::Lock(ticket(1, 1)));
    log.command(Command::Acquire);
    let step = log.message(SECOND, Message::Lock(ticket(1, 2)));
    assert_eq!(step.effects, [sets(Timer::Expire(SECOND), Config::default().expiry())]);
    assert_eq!(log.message(FIRST, Message::Unlock(Token(1))).sent(), [(SECOND, granted(1, 2, 2))]);
}

/// A session lives from when the renewal was sent, and only if that was answered.
#[test]
fn a_client_leaves_when_its_last_answered_renewal_is_over() {
    let mut p = inside(Config::default());
    let renewed = p.timer(Timer::Renew);
    let keep_alive = Message::KeepAlive { ticket: ticket(1, 2), token: Token(1) };
    assert_eq!(renewed.sent(), [(LOG, keep_alive)]);
    let answered = p.message(LOG, granted(1, 2, 1));
    assert_eq!(answered.effects, [Effect::CancelTimer(Timer::SessionOver(ticket(1, 1)))]);
    p.timer(Timer::Renew);
    assert!(p.timer(Timer::SessionOver(ticket(1, 3))).is_empty(), "nobody has answered that one");
    let left = p.timer(Timer::SessionOver(ticket(1, 2)));
    assert_eq!(left.outputs(), [Output::Left]);
    assert_eq!(left.sent(), [(LOG, Message::Unlock(Token(1)))]);
}

#[test]
fn without_keep_alive_a_holder_leaves_by_itself() {
    let mut p = inside(Config { keep_alive: false, ..Config::default() });
    assert_eq!(p.timer(Timer::SessionOver(ticket(1, 1))).outputs(), [Output::Left]);
}

/// The log waits longer than any client by whatever clock.
#[test]
fn a_session_expires_later_at_the_log_than_at_its_client() {
    let config = Config::default();
    let (fast, slow) = (0.9, 1.1);
    assert!(config.expiry().as_secs_f64() * fast > config.ttl.as_secs_f64() * slow);
}

#[test]
fn holders_and_waiters_go_with_their_session() {
    let mut log = log();
    log.message(FIRST, Message::Lock(ticket(1, 1)));
    log.message(SECOND, Message::Lock(ticket(1, 1)));
    log.timer(Timer::Expire(SECOND));
    assert!(log.process.store.queue.is_empty());
    log.message(SECOND, Message::Lock(ticket(1, 2)));
    assert_eq!(log.timer(Timer::Expire(FIRST)).sent(), [(SECOND, granted(1, 2, 2))]);
    // The former holder is late, and changes nothing.
    assert!(log.message(FIRST, Message::Unlock(Token(1))).is_empty());
    let late = Message::KeepAlive { ticket: ticket(1, 2), token: Token(1) };
    assert!(log.message(FIRST, late).is_empty());
}

#[test]
fn nobody_unlocks_what_another_holds() {
    for (variant, freed) in [(Variant::Complete, 0), (Variant::MutantUnlocksAny, 1)] {
        let mut log = process(LOG, Config { variant, ..Config::default() });
        log.message(FIRST, Message::Lock(ticket(1, 1)));
        log.message(SECOND, Message::Lock(ticket(1, 1)));
        assert_eq!(log.message(SECOND, Message::Unlock(Token(1))).sent().len(), freed, "{variant:?}");
    }
}

#[test]
fn what_comes_twice_or_late_changes_nothing() {
    let mut log = log();
    log.message(FIRST, Message::Lock(ticket(1, 2)));
    assert!(log.message(FIRST, Message::Lock(ticket(1, 2))).is_empty());
    assert!(log.message(FIRST, Message::Lock(ticket(1, 1))).is_empty());
}

#[test]
fn a_grant_that_was_lost_is_told_again_with_the_same_token() {
    let mut log = log();
    log.message(FIRST, Message::Lock(ticket(1, 1)));
    assert_eq!(log.message(FIRST, Message::Lock(ticket(1, 2))).sent(), [(FIRST, granted(1, 2, 1))]);
    // But a new wish says that the last one is over.
    assert_eq!(log.message(FIRST, Message::Lock(ticket(2, 1))).sent(), [(FIRST, granted(2, 1, 2))]);
}

#[test]
fn a_client_takes_no_turn_of_a_wish_that_is_over() {
    let mut p = process(FIRST, Config::default());
    assert_eq!(p.message(LOG, granted(1, 1, 3)).sent(), [(LOG, Message::Unlock(Token(3)))]);
    p.command(Command::Acquire);
    p.timer(Timer::Renew);
    assert!(p.message(LOG, granted(1, 1, 4)).is_empty(), "it has asked again, and is told again");
}

#[test]
fn a_log_that_comes_back_knows_the_holder_the_queue_and_the_last_token() {
    let mut log = log();
    log.message(FIRST, Message::Lock(ticket(1, 1)));
    let stored = log.message(SECOND, Message::Lock(ticket(1, 1))).persist;
    for (variant, token) in [(Variant::Complete, 2), (Variant::MutantReusesToken, 1)] {
        let config = Config { variant, ..Config::default() };
        let mut back = Harness::<Service>::recovered(Complete::new(3), 1..=3, config, LOG, stored.clone());
        let expiry = |client| sets(Timer::Expire(client), config.expiry());
        assert_eq!(back.started().effects, [expiry(FIRST), expiry(SECOND)]);
        let step = back.message(FIRST, Message::Unlock(Token(1)));
        assert_eq!(step.sent(), [(SECOND, granted(1, 1, token))], "{variant:?}");
    }
}

/// A grant that was on its way while its client was down must not be taken for that of a later wish.
#[test]
fn every_start_has_a_number_of_its_own_and_stores_it_at_once() {
    let mut stored = process(FIRST, Config::default()).started().persist.clone();
    for number in 2..5 {
        let config = Config::default();
        let back = Harness::<Service>::recovered(Complete::new(3), 1..=3, config, FIRST, stored);
        assert_eq!(back.process.ticket.incarnation, number);
        stored = back.started().persist.clone();
        assert_eq!(stored.as_ref().map(|memory| memory.incarnation), Some(number));
    }
}

#[test]
fn the_mutants_are_what_they_say() {
    let no_grace = Config { variant: Variant::MutantNoGrace, ..Config::default() };
    assert_eq!(no_grace.expiry(), no_grace.ttl);
    let mut log = process(LOG, Config { variant: Variant::MutantKeepsWaiter, ..Config::default() });
    log.message(FIRST, Message::Lock(ticket(1, 1)));
    log.message(SECOND, Message::Lock(ticket(1, 1)));
    log.timer(Timer::Expire(SECOND));
    assert_eq!(log.process.store.queue.len(), 1);
}

#[test]
fn the_log_can_be_a_client_without_messages() {
    let mut log = log();
    assert_eq!(log.command(Command::Acquire).outputs(), [Output::Entered { token: Some(Token(1)) }]);
    assert_eq!(log.command(Command::Release).outputs(), [Output::Left]);
    assert_eq!(log.process.store.holder, None);
}
