//! Each rule of the elected coordinator, on one process.

use super::*;
use crate::election::bully::{self, Bully};
use crate::mutex::{Output, Token};
use crate::testing::Harness;
use crate::{Effect, Id};

const FIRST: Address = Address(0);
const SECOND: Address = Address(1);
/// The best of three, whom bully elects.
const BEST: Address = Address(2);
const LEASE: Duration = Duration::from_secs(1);

fn config(lease: Option<Duration>, majority: bool) -> Config<Bully> {
    let ids: Vec<Id> = (1..=3).map(Id).collect();
    let election = System::new(Complete::new(3), ids, bully::Config::default()).expect("it is well formed");
    let retry = Duration::from_millis(200);
    let majority = majority.then(Vec::new);
    Config {
        election,
        lease,
        retry,
        majority,
        fencing: true,
        keep_alive: false,
        reigns: Reigns::Counted,
        variant: Variant::Complete,
    }
}

/// A process whose holders renew their leases.
fn renewing(me: Address) -> Harness<Elected<Bully>> {
    let config = Config { keep_alive: true, ..config(Some(LEASE), true) };
    Harness::new(Complete::new(3), 1..=3, config, me)
}

fn process(me: Address) -> Harness<Elected<Bully>> {
    Harness::new(Complete::new(3), 1..=3, config(None, false), me)
}

/// A process that has leases, with or without the rule of the majority.
fn leased(me: Address, majority: bool) -> Harness<Elected<Bully>> {
    Harness::new(Complete::new(3), 1..=3, config(Some(LEASE), majority), me)
}

fn lock(message: LockMessage) -> Message<bully::Message> {
    Message::Lock(message)
}

/// Everything of the lock that a step sends; the election's own messages are its own affair.
fn said(step: &Step<Elected<Bully>>) -> Vec<(Address, LockMessage)> {
    let of_lock = |effect: &Effect<Elected<Bully>>| match effect {
        Effect::Send { to, message: Message::Lock(message) } => Some((*to, *message)),
        _ => None,
    };
    step.effects.iter().filter_map(of_lock).collect()
}

fn term(number: u64) -> Term {
    Term::of(number)
}

/// The grant with this token.
fn grant(token: u64) -> GrantId {
    GrantId { reign: term(token / 1_000_000), number: token % 1_000_000 }
}

fn ticket(number: u64) -> Ticket {
    Ticket { incarnation: 0, number }
}

fn here(reign: u64, place: Place) -> Message<bully::Message> {
    lock(LockMessage::Here { reign: term(reign), ticket: ticket(1), place })
}

fn request(number: u64) -> Message<bully::Message> {
    lock(LockMessage::Request { reign: term(1), ticket: ticket(number) })
}

/// The best process, in office, with nobody inside.
fn coordinator() -> Harness<Elected<Bully>> {
    let mut best = process(BEST);
    let asked = best.command(Command::Acquire);
    assert_eq!(
        said(&asked),
        [(FIRST, LockMessage::Ask { reign: term(1) }), (SECOND, LockMessage::Ask { reign: term(1) })]
    );
    best.message(FIRST, here(1, Place::Outside));
    let entered = best.message(SECOND, here(1, Place::Outside));
    assert_eq!(entered.outputs(), [Output::Entered { token: Some(Token(1_000_001)) }]);
    best.command(Command::Release);
    best
}

#[test]
fn a_new_coordinator_grants_nothing_until_everybody_has_said_where_it_stands() {
    let mut best = process(BEST);
    best.command(Command::Acquire);
    assert_eq!(best.message(FIRST, here(1, Place::Outside)).outputs(), []);
    assert_eq!(best.message(SECOND, here(1, Place::Outside)).outputs().len(), 1);
}

#[test]
fn whoever_is_inside_stays_so_under_the_new_coordinator() {
    let mut best = process(BEST);
    best.command(Command::Acquire);
    let inside = Place::Inside { ticket: ticket(1), grant: grant(7) };
    best.message(FIRST, here(1, inside));
    assert_eq!(best.message(SECOND, here(1, Place::Outside)).outputs(), [], "1 is inside");
    let released = best.message(FIRST, lock(LockMessage::Release { reign: term(1), ticket: ticket(1) }));
    assert_eq!(released.outputs(), [Output::Entered { token: Some(Token(1_000_001)) }]);
}

#[test]
fn those_who_wait_are_not_forgotten_when_the_coordinator_changes() {
    let mut best = process(BEST);
    best.suspicion(Suspicion::Suspect(SECOND));
    best.command(Command::Acquire);
    best.message(FIRST, here(1, Place::Waiting));
    let left = best.command(Command::Release);
    let granted = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_002) };
    assert_eq!(said(&left), [(FIRST, granted)]);
}

#[test]
fn a_coordinator_grants_in_the_order_of_the_requests_one_at_a_time() {
    let mut best = coordinator();
    let first = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_002) };
    let second = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_003) };
    assert_eq!(said(&best.message(FIRST, request(1))), [(FIRST, first)]);
    assert_eq!(said(&best.message(SECOND, request(1))), []);
    let step = best.message(FIRST, lock(LockMessage::Release { reign: term(1), ticket: ticket(1) }));
    assert_eq!(said(&step), [(FIRST, LockMessage::Released { ticket: ticket(1) }), (SECOND, second)]);
}

#[test]
fn a_request_that_is_made_again_is_granted_once() {
    let mut best = coordinator();
    let grant = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_002) };
    assert_eq!(said(&best.message(FIRST, request(1))), [(FIRST, grant)]);
    assert_eq!(
        said(&best.message(FIRST, request(2))),
        [(FIRST, grant)],
        "the grant was lost, or is on its way"
    );
}

#[test]
fn the_dead_hold_nothing_if_the_detector_is_believed() {
    let mut best = coordinator();
    best.message(FIRST, request(1));
    best.message(SECOND, request(1));
    let step = best.suspicion(Suspicion::Suspect(FIRST));
    let granted = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_003) };
    assert!(said(&step).contains(&(SECOND, granted)), "{step:?}");
}

#[test]
fn what_the_dead_have_said_before_is_not_heeded_until_they_are_trusted_again() {
    let mut best = process(BEST);
    best.command(Command::Acquire);
    best.suspicion(Suspicion::Suspect(SECOND));
    best.message(SECOND, here(1, Place::Waiting));
    assert_eq!(best.message(FIRST, here(1, Place::Outside)).outputs().len(), 1);
    assert_eq!(said(&best.command(Command::Release)), [], "nothing is granted to the dead");
    let ask = LockMessage::Ask { reign: term(1) };
    assert!(said(&best.suspicion(Suspicion::Restore(SECOND))).contains(&(SECOND, ask)));
    let step = best.message(SECOND, here(1, Place::Waiting));
    assert_eq!(said(&step).len(), 1, "it waits for its turn, and that is now: {step:?}");
}

#[test]
fn with_a_lease_the_dead_hold_until_it_is_over() {
    let mut best = leased(BEST, false);
    best.command(Command::Acquire);
    best.message(FIRST, here(1, Place::Waiting));
    best.message(SECOND, here(1, Place::Waiting));
    best.command(Command::Release);
    assert_eq!(said(&best.suspicion(Suspicion::Suspect(FIRST))), []);
    let granted = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_003) };
    let step = best.timer(Timer::Reclaim(grant(1_000_002)));
    assert_eq!(said(&step), [(SECOND, granted)]);
}

#[test]
fn with_a_majority_the_silent_are_waited_for_until_their_leases_are_over() {
    let mut best = leased(BEST, true);
    best.command(Command::Acquire);
    assert_eq!(best.message(FIRST, here(1, Place::Outside)).outputs(), [], "2 may be inside");
    assert_eq!(best.timer(Timer::Grace { reign: term(1) }).outputs().len(), 1);
}

#[test]
fn a_participant_obeys_the_latest_reign_and_stores_it_before_it_answers() {
    let mut p = process(FIRST);
    p.command(Command::Acquire);
    let step = p.message(BEST, lock(LockMessage::Ask { reign: term(3) }));
    let place = Place::Waiting;
    assert_eq!(said(&step), [(BEST, LockMessage::Here { reign: term(3), ticket: ticket(1), place })]);
    assert_eq!(step.persist.map(|memory| memory.reign), Some(Reign { number: term(3), coordinator: BEST }));
    let late = p.message(SECOND, lock(LockMessage::Ask { reign: term(2) }));
    assert_eq!(said(&late), [(SECOND, LockMessage::Outdated { reign: term(3) })]);
    // A grant of a reign that is over is no grant.
    let grant = LockMessage::Grant { reign: term(2), ticket: ticket(1), grant: grant(2_000_001) };
    let refused = p.message(SECOND, lock(grant));
    assert_eq!(refused.outputs(), []);
    assert_eq!(said(&refused), [(SECOND, LockMessage::Release { reign: term(2), ticket: ticket(1) })]);
}

#[test]
fn a_leader_that_hears_of_a_later_reign_begins_one_after_it() {
    let mut best = coordinator();
    let step = best.message(FIRST, lock(LockMessage::Outdated { reign: term(8) }));
    let ask = LockMessage::Ask { reign: term(9) };
    assert_eq!(said(&step), [(FIRST, ask), (SECOND, ask)]);
}

#[test]
fn a_lease_runs_from_the_request_and_ends_the_visit() {
    let mut p = leased(FIRST, true);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    let asked = p.command(Command::Acquire);
    let timer = Effect::SetTimer { timer: Timer::LeaseOver(ticket(1)), after: LEASE.into() };
    assert!(asked.effects.contains(&timer), "{asked:?}");
    p.message(BEST, lock(LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1) }));
    assert_eq!(p.timer(Timer::LeaseOver(ticket(1))).outputs(), [Output::Left]);
}

#[test]
fn a_grant_whose_lease_is_over_is_refused() {
    let mut p = leased(FIRST, true);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    p.command(Command::Acquire);
    p.timer(Timer::LeaseOver(ticket(1)));
    let late =
        p.message(BEST, lock(LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1) }));
    assert_eq!(late.outputs(), []);
}

#[test]
fn one_that_comes_back_says_that_it_is_outside() {
    let reign = Reign { number: term(4), coordinator: BEST };
    let memory = Memory { election: Default::default(), incarnation: 2, reign };
    let back = Harness::<Elected<Bully>>::recovered(
        Complete::new(3),
        1..=3,
        config(None, false),
        FIRST,
        Some(memory),
    );
    let release = LockMessage::Release { reign: term(4), ticket: Ticket { incarnation: 3, number: 0 } };
    assert!(said(back.started()).contains(&(BEST, release)), "{:?}", back.started());
    assert_eq!(back.started().persist.as_ref().map(|memory| memory.incarnation), Some(3));
}

#[test]
fn what_is_not_answered_is_said_again() {
    let mut p = process(FIRST);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    p.command(Command::Acquire);
    let again = p.timer(Timer::Retry);
    assert_eq!(said(&again), [(BEST, LockMessage::Request { reign: term(1), ticket: ticket(1) })]);
}

#[test]
fn with_a_lease_it_is_said_again_with_a_new_ticket_whose_lease_runs_from_then() {
    let mut p = leased(FIRST, true);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    p.command(Command::Acquire);
    let again = p.timer(Timer::Retry);
    assert_eq!(said(&again), [(BEST, LockMessage::Request { reign: term(1), ticket: ticket(2) })]);
    let lease = Effect::SetTimer { timer: Timer::LeaseOver(ticket(2)), after: LEASE.into() };
    assert!(again.effects.contains(&lease), "{again:?}");
}

#[test]
fn who_is_owed_nothing_does_not_ask_again() {
    let mut p = process(FIRST);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    p.command(Command::Acquire);
    let rests = Effect::CancelTimer(Timer::Retry);
    let grant = LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(1_000_001) };
    assert!(p.message(BEST, lock(grant)).effects.contains(&rests));
    p.command(Command::Release);
    let released = p.message(BEST, lock(LockMessage::Released { ticket: ticket(1) }));
    assert_eq!(released.effects, [rests]);
}

#[test]
fn a_holder_asks_to_stay_and_its_lease_runs_from_when_it_asked() {
    let mut p = renewing(FIRST);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    p.command(Command::Acquire);
    let grant = grant(1_000_001);
    p.message(BEST, lock(LockMessage::Grant { reign: term(1), ticket: ticket(1), grant }));
    let asked = p.timer(Timer::Renew);
    assert_eq!(said(&asked), [(BEST, LockMessage::Renew { reign: term(1), ticket: ticket(2), grant })]);
    let lease = Effect::SetTimer { timer: Timer::LeaseOver(ticket(2)), after: LEASE.into() };
    assert!(asked.effects.contains(&lease), "{asked:?}");
    let renewed = p.message(BEST, lock(LockMessage::Renewed { reign: term(1), ticket: ticket(2) }));
    assert_eq!(renewed.effects, [Effect::CancelTimer(Timer::LeaseOver(ticket(1)))]);
    assert!(p.timer(Timer::LeaseOver(ticket(1))).outputs().is_empty());
    assert_eq!(p.timer(Timer::LeaseOver(ticket(2))).outputs(), [Output::Left]);
}

#[test]
fn a_renewal_that_comes_after_the_end_of_its_own_lease_or_of_another_reign_renews_nothing() {
    for late in [
        LockMessage::Renewed { reign: term(1), ticket: ticket(2) },
        LockMessage::Renewed { reign: term(9), ticket: ticket(3) },
    ] {
        let mut p = renewing(FIRST);
        p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
        p.command(Command::Acquire);
        p.message(BEST, lock(LockMessage::Grant { reign: term(1), ticket: ticket(1), grant: grant(7) }));
        p.timer(Timer::Renew);
        p.timer(Timer::Renew);
        p.timer(Timer::LeaseOver(ticket(2)));
        p.message(BEST, lock(late));
        assert_eq!(p.timer(Timer::LeaseOver(ticket(1))).outputs(), [Output::Left], "{late:?}");
    }
}

#[test]
fn a_coordinator_lets_stay_whom_it_knows_to_be_inside_and_nobody_else() {
    let mut best = renewing(BEST);
    best.command(Command::Acquire);
    let grant = grant(7);
    best.message(FIRST, here(1, Place::Inside { ticket: ticket(1), grant }));
    best.message(SECOND, here(1, Place::Outside));
    let renew = |number| lock(LockMessage::Renew { reign: term(1), ticket: ticket(number), grant });
    let step = best.message(FIRST, renew(2));
    assert_eq!(said(&step), [(FIRST, LockMessage::Renewed { reign: term(1), ticket: ticket(2) })]);
    let after = LEASE + LEASE / 4;
    let watch = Effect::SetTimer { timer: Timer::Reclaim(grant), after: after.into() };
    assert!(step.effects.contains(&watch), "{step:?}");
    assert_eq!(said(&best.message(SECOND, renew(2))), []);
    best.timer(Timer::Reclaim(grant));
    assert_eq!(said(&best.message(FIRST, renew(3))), [], "its permission was taken back");
}

#[test]
fn a_holder_tells_a_new_coordinator_at_once_that_it_wants_to_stay() {
    let mut p = renewing(FIRST);
    p.message(BEST, lock(LockMessage::Ask { reign: term(1) }));
    p.command(Command::Acquire);
    let grant = grant(7);
    p.message(BEST, lock(LockMessage::Grant { reign: term(1), ticket: ticket(1), grant }));
    let step = p.message(SECOND, lock(LockMessage::Ask { reign: term(2) }));
    let place = Place::Inside { ticket: ticket(1), grant };
    let here = LockMessage::Here { reign: term(2), ticket: ticket(1), place };
    let renew = LockMessage::Renew { reign: term(2), ticket: ticket(2), grant };
    assert_eq!(said(&step), [(SECOND, here), (SECOND, renew)]);
}
