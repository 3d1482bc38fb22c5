//! Each rule of elections that are held again, on one process.

use super::*;
use crate::DEFAULT_PULSE;
use crate::election::all_to_all::{self, AllToAll};
use crate::election::anonymous_ring::{self, AnonymousRing};
use crate::election::chang_roberts::{self, ChangRoberts};
use crate::rounds::{Beat, Synchronous};
use crate::testing::Harness;
use crate::topology::{Complete, Ring};
use crate::{Effect, Id};

type Subject = Recurring<ChangRoberts>;

fn system() -> System<ChangRoberts> {
    let ids: Vec<Id> = [3, 17, 24, 9].into_iter().map(Id).collect();
    System::new(Ring::logical(4), ids, chang_roberts::Config::default()).expect("well formed")
}

/// The process 17 on the logical ring 3 → 17 → 24 → 9.
fn seventeen() -> Harness<Subject> {
    Harness::new(Ring::logical(4), [3, 17, 24, 9], system(), Address(1))
}

fn election(epoch: u64, id: u64) -> Message<chang_roberts::Message> {
    Message::Of { epoch: Term::of(epoch), message: chang_roberts::Message::Election(Id(id)) }
}

fn elected(epoch: u64, id: u64) -> Message<chang_roberts::Message> {
    Message::Of { epoch: Term::of(epoch), message: chang_roberts::Message::Elected(Id(id)) }
}

/// S4: "Uma nova eleição deve acontecer sempre que o líder se tornar indisponível".
#[test]
fn when_the_leader_fails_the_next_epoch_begins_and_the_ring_closes_over_it() {
    let mut p = seventeen();
    p.message(Address(0), election(1, 24));
    p.message(Address(0), elected(1, 24));
    let step = p.suspicion(Suspicion::Suspect(Address(2)));
    assert_eq!(step.persist, Some(Term::of(2)));
    assert_eq!(step.outputs(), [Output::Leaderless]);
    assert_eq!(step.sent(), [(Address(3), election(2, 17))]);
}

#[test]
fn a_later_epoch_is_joined_and_who_speaks_of_an_earlier_one_is_told() {
    let mut p = seventeen();
    p.message(Address(0), election(3, 24));
    assert_eq!(p.process.epoch, Term::of(3));
    let later = Message::Later { answers: Term::of(2), epoch: Term::of(3), over: false };
    assert_eq!(
        p.message(Address(0), elected(2, 3)).effects,
        [Effect::Send { to: Address(0), message: later }]
    );
}

#[test]
fn one_who_is_behind_joins_the_present_epoch_or_begins_the_next_if_that_is_over() {
    for (over, next) in [(false, 7), (true, 8)] {
        let mut p = seventeen();
        p.command(Command::Elect);
        let step = p.message(Address(2), Message::Later { answers: Term::of(1), epoch: Term::of(7), over });
        assert_eq!(
            (step.persist, step.sent()),
            (Some(Term::of(next)), vec![(Address(2), election(next, 17))])
        );
        // An answer to what was said before is old news.
        assert!(
            p.message(Address(2), Message::Later { answers: Term::of(1), epoch: Term::of(9), over })
                .is_empty()
        );
    }
}

#[test]
fn who_is_behind_hears_that_the_present_epoch_is_over_once_it_is() {
    let mut p = seventeen();
    p.message(Address(0), election(3, 24));
    p.message(Address(0), elected(3, 24));
    let later = Message::Later { answers: Term::of(2), epoch: Term::of(3), over: true };
    assert_eq!(p.message(Address(0), elected(2, 3)).sent(), [(Address(0), later)]);
}

#[test]
fn an_election_that_comes_to_nothing_is_held_again() {
    let mut p = seventeen();
    p.command(Command::Elect);
    assert_eq!(p.timer(Timer::Undecided).sent(), [(Address(2), election(2, 17))]);
    p.message(Address(0), elected(2, 24));
    assert!(p.process.decided);
}

/// S0: "O que acontece se processo falha durante eleição?"
#[test]
fn a_failure_during_the_election_begins_another() {
    let mut p = seventeen();
    p.command(Command::Elect);
    let step = p.suspicion(Suspicion::Suspect(Address(3)));
    assert_eq!(step.sent(), [(Address(2), election(2, 17))]);
}

#[test]
fn the_failure_of_a_follower_disturbs_nobody_once_there_is_a_leader() {
    let mut p = seventeen();
    p.message(Address(0), election(1, 24));
    p.message(Address(0), elected(1, 24));
    assert!(p.suspicion(Suspicion::Suspect(Address(3))).is_empty());
}

/// S4: "Quando um processo falho se recupera: inicia uma eleição".
#[test]
fn one_who_comes_back_stands_in_a_new_epoch() {
    let p = Harness::<Subject>::recovered(
        Ring::logical(4),
        [3, 17, 24, 9],
        system(),
        Address(1),
        Some(Term::of(5)),
    );
    assert_eq!(p.started().persist, Some(Term::of(6)));
    assert_eq!(p.started().sent(), [(Address(2), election(6, 17))]);
}

#[test]
fn who_was_excluded_has_no_say_in_the_epoch_and_begins_the_next_when_it_is_trusted_again() {
    let mut p = seventeen();
    p.message(Address(0), election(1, 24));
    p.suspicion(Suspicion::Suspect(Address(0)));
    let later = Message::Later { answers: Term::of(2), epoch: Term::of(2), over: true };
    assert_eq!(p.message(Address(0), election(2, 3)).sent(), [(Address(0), later)]);
    let step = p.suspicion(Suspicion::Restore(Address(0)));
    assert_eq!((step.persist, step.sent()), (Some(Term::of(3)), vec![(Address(2), election(3, 17))]));
}

/// What the dead have said would go round the ring for ever.
#[test]
fn who_is_taken_for_dead_calls_nobody_and_is_called_when_it_is_trusted_again() {
    let mut p = seventeen();
    p.suspicion(Suspicion::Suspect(Address(2)));
    assert!(p.message(Address(2), election(1, 24)).is_empty());
    let step = p.suspicion(Suspicion::Restore(Address(2)));
    // In the epoch of its call it may wait for an answer to what I did not take.
    assert_eq!((step.persist, step.sent()), (Some(Term::of(2)), vec![(Address(2), election(2, 17))]));
}

/// Before the first election there is none to be held again.
#[test]
fn who_comes_and_goes_before_the_first_election_begins_none() {
    let mut p = seventeen();
    p.suspicion(Suspicion::Suspect(Address(2)));
    assert!(p.suspicion(Suspicion::Restore(Address(2))).is_empty());
}

#[test]
fn one_who_is_taken_for_dead_and_wins_is_replaced_at_once() {
    let mut p = seventeen();
    p.suspicion(Suspicion::Suspect(Address(2)));
    p.message(Address(0), election(1, 24));
    assert!(p.message(Address(0), elected(1, 24)).sent().contains(&(Address(3), election(2, 17))));
}

#[test]
fn where_nobody_has_a_name_any_failure_begins_another_election() {
    let ring = Ring::logical(4);
    let ids: Vec<Id> = (1..=4).map(Id).collect();
    let system: System<AnonymousRing> =
        System::new(ring.clone(), ids, anonymous_ring::Config::default()).expect("well formed");
    let mut p = Harness::<Recurring<AnonymousRing>>::new(ring, 1..=4, system, Address(1));
    let vote = |epoch| Message::Of { epoch: Term::of(epoch), message: anonymous_ring::Message::VoteForMe };
    p.message(Address(0), vote(1));
    p.message(
        Address(0),
        Message::Of { epoch: Term::of(1), message: anonymous_ring::Message::HabemosLeader },
    );
    assert!(p.process.decided && p.process.leader.is_none());
    assert_eq!(p.suspicion(Suspicion::Suspect(Address(3))).sent(), [(Address(2), vote(2))]);
}

type Pulsing = Recurring<Synchronous<AllToAll>>;

/// The process at address 1 of four that all tell all.
fn pulsing() -> Harness<Pulsing> {
    let ids: Vec<Id> = (1..=4).map(Id).collect();
    let system = System::new(Complete::new(4), ids, all_to_all::Config::default());
    Harness::new(Complete::new(4), 1..=4, system.expect("well formed"), Address(1))
}

/// S2: "todo nó recebeu a identificação dos outros candidatos" needs pulses that all have in common.
#[test]
fn to_a_synchronous_election_everybody_who_is_left_is_called() {
    let mut p = pulsing();
    assert!(p.started().effects.is_empty(), "pulses beat within epochs only");
    p.suspicion(Suspicion::Suspect(Address(3)));
    let call = Message::Call { epoch: Term::of(1) };
    let step = p.command(Command::Elect);
    assert_eq!(step.sent(), [(Address(0), call.clone()), (Address(2), call)]);
}

#[test]
fn the_called_enter_at_once_and_pulses_are_long_enough_for_the_first_and_the_last() {
    let mut p = pulsing();
    let step = p.message(Address(0), Message::Call { epoch: Term::of(1) });
    let beat = Timer::Of { epoch: Term::of(1), timer: Beat };
    // Half a pulse of start-up, a pulse being two of the network.
    let begins = Effect::SetTimer { timer: beat.clone(), after: DEFAULT_PULSE.into() };
    assert!(step.effects.contains(&begins) && step.sent().is_empty());
    assert!(p.message(Address(2), Message::Call { epoch: Term::of(1) }).is_empty(), "it is in already");
    let sent = p.timer(beat).sent();
    assert_eq!(sent.len(), 3, "it stands, as everybody does");
}

#[test]
fn who_calls_when_pulses_beat_already_is_told_to_call_again() {
    let mut p = pulsing();
    p.message(Address(0), Message::Call { epoch: Term::of(1) });
    p.timer(Timer::Of { epoch: Term::of(1), timer: Beat });
    let later = Message::Later { answers: Term::of(1), epoch: Term::of(1), over: true };
    assert_eq!(p.message(Address(2), Message::Call { epoch: Term::of(1) }).sent(), [(Address(2), later)]);
}

#[test]
fn who_missed_the_call_calls_everybody_to_another_epoch() {
    let mut sender = pulsing();
    sender.message(Address(0), Message::Call { epoch: Term::of(4) });
    let beat = Timer::Of { epoch: Term::of(4), timer: Beat };
    let (_, candidate) = sender.timer(beat).sent().remove(0);
    let step = pulsing().message(Address(0), candidate);
    assert_eq!(step.sent(), [0, 2, 3].map(|to| (Address(to), Message::Call { epoch: Term::of(5) })));
}

#[test]
fn a_leader_that_dies_before_it_is_announced_is_replaced() {
    let mut p = seventeen();
    p.message(Address(0), election(1, 24));
    p.process.suspected.insert(Address(2));
    let step = p.message(Address(0), elected(1, 24));
    assert_eq!(p.process.epoch, Term::of(2));
    assert!(step.sent().contains(&(Address(3), election(2, 17))));
}
