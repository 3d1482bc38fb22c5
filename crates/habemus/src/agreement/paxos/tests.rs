//! The rules, one by one.

use super::*;
use crate::testing::Harness;
use crate::{Effect, Step};

const ONE: Address = Address(0);
const TWO: Address = Address(1);
const THREE: Address = Address(2);

/// The process at this address of 1, 2 and 3.
fn process(at: Address, variant: Variant) -> Harness<Paxos> {
    Harness::new(Complete::new(3), 1..=3, Config { variant, ..Config::default() }, at)
}

fn paxos(at: Address) -> Harness<Paxos> {
    process(at, Variant::Paxos)
}

fn ballot(round: u64, leader: u64) -> Ballot {
    Ballot { round: Term::of(round), leader }
}

fn seven() -> Value {
    Value::Number(7)
}

fn propose(value: u64) -> Command {
    Command::Propose(Some(Value::Number(value)))
}

fn retry() -> Effect<Paxos> {
    let retry = Config::default().retry;
    Effect::SetTimer { timer: Timer::Retry, after: (retry..=retry * 2).into() }
}

/// Lamport: "A proposer selects a proposal number n and sends a prepare request with number n to a majority
/// of acceptors."
#[test]
fn the_leader_prepares_a_ballot_that_it_has_promised_itself() {
    let mut p = paxos(ONE);
    let step = p.command(propose(7));
    let send = |to| Effect::Send { to, message: Message::Prepare(ballot(1, 1)) };
    assert_eq!(step.effects, [send(TWO), send(THREE), retry()]);
    let stable = Stable { promised: ballot(1, 1), proposal: Some(seven()), ..Stable::default() };
    assert_eq!(step.persist, Some(stable));
}

/// S3: whoever does not lead leaves it to the one that does.
#[test]
fn another_hands_its_value_to_the_leader_until_it_hears_of_a_decision() {
    let mut p = paxos(TWO);
    let request = Effect::Send { to: ONE, message: Message::Request(seven()) };
    assert_eq!(p.command(propose(7)).effects, [request.clone(), retry()]);
    assert_eq!(p.timer(Timer::Retry).effects, [request, retry()]);
}

/// And the leader takes the first value that it is handed, if it has none.
#[test]
fn the_leader_takes_the_first_value_that_it_is_handed() {
    let mut p = paxos(ONE);
    assert_eq!(p.message(TWO, Message::Request(seven())).sent()[0].1, Message::Prepare(ballot(1, 1)));
    assert!(p.message(THREE, Message::Request(Value::Number(8))).is_empty());
    assert_eq!(p.process.stable.proposal, Some(seven()));
}

/// Lamport: "If an acceptor receives a prepare request with number n greater than that of any prepare request
/// to which it has already responded, then it responds with a promise not to accept any more proposals
/// numbered less than n and with the highest-numbered proposal (if any) that it has accepted."
#[test]
fn an_acceptor_promises_says_what_it_has_accepted_and_refuses_what_is_earlier() {
    let mut p = paxos(TWO);
    let step = p.message(ONE, Message::Prepare(ballot(1, 1)));
    assert_eq!(step.sent(), [(ONE, Message::Promise(ballot(1, 1), None))]);
    assert_eq!(step.persist.map(|stable| stable.promised), Some(ballot(1, 1)));
    p.message(ONE, Message::Accept(ballot(1, 1), seven()));
    let accepted = Some((ballot(1, 1), seven()));
    assert_eq!(
        p.message(THREE, Message::Prepare(ballot(1, 3))).sent(),
        [(THREE, Message::Promise(ballot(1, 3), accepted))]
    );
    let refused = p.message(ONE, Message::Prepare(ballot(1, 1)));
    assert_eq!(refused.sent(), [(ONE, Message::Refuse(ballot(1, 3)))]);
    assert_eq!(refused.persist, None);
}

/// Lamport: "If an acceptor receives an accept request for a proposal numbered n, it accepts the proposal
/// unless it has already responded to a prepare request having a number greater than n."
#[test]
fn an_acceptor_accepts_unless_it_has_promised_something_later() {
    let mut p = paxos(TWO);
    let step = p.message(ONE, Message::Accept(ballot(2, 1), seven()));
    assert_eq!(step.sent(), [(ONE, Message::Accepted(ballot(2, 1)))]);
    assert_eq!(step.persist.and_then(|stable| stable.accepted), Some((ballot(2, 1), seven())));
    p.message(THREE, Message::Prepare(ballot(2, 3)));
    assert_eq!(
        p.message(ONE, Message::Accept(ballot(2, 1), seven())).sent(),
        [(ONE, Message::Refuse(ballot(2, 3)))]
    );
}

/// Lamport: "If the proposer receives a response to its prepare requests from a majority, it sends an accept
/// request for a proposal numbered n with a value v, where v is the value of the highest-numbered proposal
/// among the responses, or is any value if the responses reported no proposals."
#[test]
fn a_majority_of_promises_lets_the_leader_ask_for_its_own_value_or_binds_it_to_another() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    let asked = p.message(TWO, Message::Promise(ballot(1, 1), None)).sent();
    assert_eq!(asked, [TWO, THREE].map(|to| (to, Message::Accept(ballot(1, 1), seven()))));
    let mut p = paxos(ONE);
    p.command(propose(7));
    let before = Some((ballot(0, 3), Value::Number(9)));
    let asked = p.message(TWO, Message::Promise(ballot(1, 1), before)).sent();
    assert_eq!(asked[0].1, Message::Accept(ballot(1, 1), Value::Number(9)));
}

/// A leader is an acceptor as well: what it has asked others to accept, it must not forget in a crash.
#[test]
fn a_leader_has_accepted_and_stored_its_own_ballot_when_it_asks_others_to() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    let step = p.message(TWO, Message::Promise(ballot(1, 1), None));
    assert_eq!(step.persist.and_then(|stable| stable.accepted), Some((ballot(1, 1), seven())));
    let promise = p.message(THREE, Message::Prepare(ballot(2, 3)));
    let accepted = Some((ballot(1, 1), seven()));
    assert_eq!(promise.sent(), [(THREE, Message::Promise(ballot(2, 3), accepted))]);
}

/// Whoever crashes after it was asked still wants what it was asked for.
#[test]
fn a_proposal_is_stored_before_it_is_handed_on() {
    let stored = paxos(TWO).command(propose(7)).persist;
    assert_eq!(stored.and_then(|stable| stable.proposal), Some(seven()));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let mut p = paxos(TWO);
    for _ in 0..2 {
        let step = p.message(ONE, Message::Prepare(ballot(1, 1)));
        assert_eq!(step.sent(), [(ONE, Message::Promise(ballot(1, 1), None))]);
    }
}

#[test]
fn whoever_has_learned_the_decision_leads_its_ballot_no_further() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    p.message(THREE, Message::Decide(Value::Number(9)));
    let late = p.message(TWO, Message::Promise(ballot(1, 1), None));
    assert!(late.is_empty(), "{late:?}");
}

#[test]
fn what_a_majority_has_accepted_is_decided_and_told_until_it_is_acknowledged() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    p.message(TWO, Message::Promise(ballot(1, 1), None));
    let step = p.message(TWO, Message::Accepted(ballot(1, 1)));
    assert_eq!(step.outputs(), [Output::Decided(seven())]);
    assert_eq!(step.sent(), [TWO, THREE].map(|to| (to, Message::Decide(seven()))));
    assert_eq!(step.persist.and_then(|stable| stable.decided), Some(seven()));
    // A late acceptance changes nothing.
    assert!(p.message(THREE, Message::Accepted(ballot(1, 1))).is_empty());
    p.message(TWO, Message::Learned);
    assert_eq!(p.timer(Timer::Retry).sent(), [(THREE, Message::Decide(seven()))]);
    let last = p.message(THREE, Message::Learned);
    assert_eq!(last.effects, [Effect::CancelTimer(Timer::Retry)]);
}

#[test]
fn promises_and_acceptances_of_another_ballot_count_nothing() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    p.timer(Timer::Retry);
    assert!(p.message(TWO, Message::Promise(ballot(1, 1), None)).is_empty());
    assert!(p.message(TWO, Message::Accepted(ballot(2, 1))).is_empty());
    assert!(!p.message(TWO, Message::Promise(ballot(2, 1), None)).is_empty());
    assert!(p.message(TWO, Message::Accepted(ballot(1, 1))).is_empty());
}

/// A leader that has promised a later ballot to another since must not accept its own.
#[test]
fn a_leader_is_bound_by_its_promises_as_everyone() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    p.message(THREE, Message::Prepare(ballot(5, 3)));
    assert!(p.message(TWO, Message::Promise(ballot(1, 1), None)).is_empty());
    assert_eq!(p.timer(Timer::Retry).sent()[0].1, Message::Prepare(ballot(6, 1)));
}

#[test]
fn one_who_is_refused_tries_a_later_ballot_after_a_while() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    assert!(p.message(TWO, Message::Refuse(ballot(9, 2))).is_empty());
    assert_eq!(p.timer(Timer::Retry).sent()[0].1, Message::Prepare(ballot(10, 1)));
}

/// S3: the leader is the best of those that are not suspected.
#[test]
fn the_next_leader_takes_over_when_the_first_is_suspected() {
    let mut p = paxos(TWO);
    p.command(propose(7));
    let step = p.suspicion(Suspicion::Suspect(ONE));
    assert_eq!(step.sent()[0], (ONE, Message::Prepare(ballot(1, 2))));
    // It is back: the value is its business again.
    assert_eq!(p.suspicion(Suspicion::Restore(ONE)).sent(), [(ONE, Message::Request(seven()))]);
}

#[test]
fn what_one_has_accepted_for_a_dead_leader_it_pursues() {
    let mut p = paxos(TWO);
    p.message(ONE, Message::Accept(ballot(1, 1), seven()));
    assert_eq!(p.suspicion(Suspicion::Suspect(ONE)).sent()[0].1, Message::Prepare(ballot(2, 2)));
}

#[test]
fn one_who_is_told_the_decision_acknowledges_it_each_time_and_decides_once() {
    let mut p = paxos(THREE);
    let step = p.message(ONE, Message::Decide(seven()));
    assert_eq!(step.sent(), [(ONE, Message::Learned)]);
    assert_eq!(step.outputs(), [Output::Decided(seven())]);
    let again = p.message(ONE, Message::Decide(seven()));
    assert_eq!((again.sent(), again.outputs()), (vec![(ONE, Message::Learned)], vec![]));
}

#[test]
fn whoever_asks_for_what_is_decided_is_told() {
    let mut p = paxos(THREE);
    p.message(ONE, Message::Decide(seven()));
    assert_eq!(p.message(TWO, Message::Prepare(ballot(8, 2))).sent(), [(TWO, Message::Decide(seven()))]);
    assert_eq!(p.message(TWO, Message::Request(seven())).sent(), [(TWO, Message::Decide(seven()))]);
    assert_eq!(
        p.message(TWO, Message::Accept(ballot(8, 2), seven())).sent(),
        [(TWO, Message::Decide(seven()))]
    );
}

/// The leader may be dead that told only this one.
#[test]
fn a_new_leader_is_told_by_those_that_know() {
    let mut p = paxos(THREE);
    p.message(ONE, Message::Decide(seven()));
    assert_eq!(p.suspicion(Suspicion::Suspect(ONE)).sent(), [(TWO, Message::Decide(seven()))]);
}

/// S3: "retrieve" what was stored.
#[test]
fn after_a_crash_promises_and_the_decision_are_still_there() {
    let recovered = |stable| {
        let config = Config::default();
        Harness::<Paxos>::recovered(Complete::new(3), 1..=3, config, TWO, Some(stable))
    };
    let mut p = recovered(Stable { promised: ballot(4, 3), ..Stable::default() });
    assert!(p.started().is_empty() || p.started().effects == [Effect::CancelTimer(Timer::Retry)]);
    assert_eq!(p.message(ONE, Message::Prepare(ballot(3, 1))).sent(), [(ONE, Message::Refuse(ballot(4, 3)))]);
    let p = recovered(Stable { decided: Some(seven()), ..Stable::default() });
    assert_eq!(p.started().outputs(), [Output::Decided(seven())]);
    let p = recovered(Stable { proposal: Some(seven()), ..Stable::default() });
    assert_eq!(p.started().sent(), [(ONE, Message::Request(seven()))]);
}

#[test]
fn alone_it_decides_at_once() {
    let mut p = Harness::<Paxos>::new(Complete::new(1), [9], Config::default(), ONE);
    let step = p.command(Command::Propose(None));
    assert_eq!((step.outputs(), step.sent()), (vec![Output::Decided(Value::Number(9))], vec![]));
}

#[test]
fn the_mutants_are_what_they_say() {
    let mut p = process(ONE, Variant::MutantIgnoresAccepted);
    p.command(propose(7));
    let before = Some((ballot(0, 3), Value::Number(9)));
    let asked = p.message(TWO, Message::Promise(ballot(1, 1), before)).sent();
    assert_eq!(asked[0].1, Message::Accept(ballot(1, 1), seven()));
    let config = Config { variant: Variant::MutantHalfQuorum, ..Config::default() };
    let mut p = Harness::<Paxos>::new(Complete::new(2), 1..=2, config, ONE);
    assert_eq!(p.command(propose(7)).outputs(), [Output::Decided(seven())]);
    let config = Config { variant: Variant::MutantForgetsPromise, ..Config::default() };
    let stable =
        Stable { promised: ballot(4, 3), accepted: Some((ballot(4, 3), seven())), ..Stable::default() };
    let p = Harness::<Paxos>::recovered(Complete::new(3), 1..=3, config, TWO, Some(stable));
    assert_eq!(p.process.stable, Stable::default());
}

/// Lamport: "An acceptor can accept a proposal numbered n iff it has not responded to a prepare request
/// having a number greater than n." To accept a later ballot binds as much: else what a majority has accepted
/// could be undone.
#[test]
fn to_accept_a_ballot_is_to_promise_it() {
    let accept = |p: &mut Harness<Paxos>| {
        p.message(THREE, Message::Accept(ballot(2, 3), seven()));
        p.message(ONE, Message::Accept(ballot(1, 1), Value::Number(5))).sent()
    };
    assert_eq!(accept(&mut paxos(TWO)), [(ONE, Message::Refuse(ballot(2, 3)))]);
    let mut unbound = process(TWO, Variant::MutantUnboundAcceptance);
    assert_eq!(accept(&mut unbound), [(ONE, Message::Accepted(ballot(1, 1)))]);
}

/// Lamport: "the value of the highest-numbered proposal among the responses".
#[test]
fn of_what_was_accepted_the_latest_is_proposed() {
    let proposed = |variant| {
        let mut p = process(ONE, variant);
        p.message(TWO, Message::Accept(ballot(1, 2), Value::Number(5)));
        p.command(propose(7));
        let promise = Message::Promise(ballot(2, 1), Some((ballot(1, 3), Value::Number(9))));
        p.message(THREE, promise).sent().pop()
    };
    let accept = |value| Some((THREE, Message::Accept(ballot(2, 1), Value::Number(value))));
    assert_eq!(proposed(Variant::Paxos), accept(9));
    assert_eq!(proposed(Variant::MutantEarliestAccepted), accept(5));
}

fn say(to: Address, message: Message) -> Effect<Paxos> {
    Effect::Send { to, message }
}

fn recovered(at: Address, stable: Stable) -> Harness<Paxos> {
    Harness::recovered(Complete::new(3), 1..=3, Config::default(), at, Some(stable))
}

/// Lamport: "A proposer selects a proposal number n and sends a prepare request". It is kept before anybody
/// hears of it, and whoever waits for answers is woken if none come.
#[test]
fn however_it_comes_to_lead_it_stores_its_ballot_asks_everybody_and_waits() {
    let wanted = Stable { proposal: Some(seven()), ..Stable::default() };
    let is_prepared = |step: &Step<Paxos>, round, leader, others: [Address; 2]| {
        let ballot = ballot(round, leader);
        let [one, other] = others.map(|to| say(to, Message::Prepare(ballot)));
        assert_eq!(step.effects, [one, other, retry()]);
        assert_eq!(step.persist, Some(Stable { promised: ballot, ..wanted }));
    };
    let mut asked = paxos(ONE);
    is_prepared(&asked.message(TWO, Message::Request(seven())), 1, 1, [TWO, THREE]);
    is_prepared(&asked.timer(Timer::Retry), 2, 1, [TWO, THREE]);
    is_prepared(recovered(ONE, wanted).started(), 1, 1, [TWO, THREE]);
    let mut next = paxos(TWO);
    next.command(propose(7));
    is_prepared(&next.suspicion(Suspicion::Suspect(ONE)), 1, 2, [ONE, THREE]);
}

/// S3: whoever does not lead leaves it to the one that does, whoever that is at the time.
#[test]
fn a_value_is_handed_to_whoever_leads_now_and_again_if_nothing_comes_of_it() {
    let request = |to| [say(to, Message::Request(seven())), retry()];
    let wanted = Stable { proposal: Some(seven()), ..Stable::default() };
    assert_eq!(recovered(THREE, wanted).started().effects, request(ONE));
    let mut p = paxos(THREE);
    // Whoever asked took it for the leader.
    let step = p.message(TWO, Message::Request(seven()));
    assert_eq!((step.effects.as_slice(), step.persist), (&request(ONE)[..], Some(wanted)));
    assert_eq!(p.suspicion(Suspicion::Suspect(ONE)).effects, request(TWO));
    assert_eq!(p.suspicion(Suspicion::Restore(ONE)).effects, request(ONE));
}

#[test]
fn whoever_decides_stores_it_and_tells_all_until_each_has_acknowledged_it() {
    let mut p = paxos(ONE);
    p.command(propose(7));
    p.message(TWO, Message::Promise(ballot(1, 1), None));
    let tell = |to| say(to, Message::Decide(seven()));
    let step = p.message(TWO, Message::Accepted(ballot(1, 1)));
    let decided = Effect::Output(Output::Decided(seven()));
    assert_eq!(step.effects, [decided.clone(), tell(TWO), tell(THREE), retry()]);
    assert_eq!(p.timer(Timer::Retry).effects, [tell(TWO), tell(THREE), retry()]);
    assert_eq!(p.message(TWO, Message::Learned).effects, [retry()]);
    assert_eq!(p.timer(Timer::Retry).effects, [tell(THREE), retry()]);
    // It is as true after a crash, and those who were told may have been told by a dead one alone.
    let known = Stable { decided: Some(seven()), ..Stable::default() };
    assert_eq!(recovered(ONE, known).started().effects, [decided.clone(), tell(TWO), tell(THREE), retry()]);
    assert_eq!(recovered(TWO, known).started().effects, [decided, tell(ONE), retry()]);
}

#[test]
fn whoever_is_told_stores_it_and_sees_that_its_leader_knows() {
    let told = Some(Stable { decided: Some(seven()), ..Stable::default() });
    let decided = Effect::Output(Output::Decided(seven()));
    let mut p = paxos(THREE);
    let step = p.message(TWO, Message::Decide(seven()));
    let leader = say(ONE, Message::Decide(seven()));
    assert_eq!(step.effects, [say(TWO, Message::Learned), decided.clone(), leader, retry()]);
    assert_eq!(step.persist, told);
    let step = paxos(THREE).message(ONE, Message::Decide(seven()));
    assert_eq!(step.effects, [say(ONE, Message::Learned), decided, Effect::CancelTimer(Timer::Retry)]);
    assert_eq!(step.persist, told);
    // The next leader may not have heard of it.
    let next = [say(TWO, Message::Decide(seven())), retry()];
    let mut p = paxos(THREE);
    p.message(ONE, Message::Decide(seven()));
    assert_eq!(p.suspicion(Suspicion::Suspect(ONE)).effects, next);
}

/// A leader that asks does not know; it is told until it says that it does.
#[test]
fn a_leader_that_asks_for_what_is_decided_is_told_until_it_knows() {
    for question in [
        Message::Prepare(ballot(8, 1)),
        Message::Accept(ballot(8, 1), Value::Number(9)),
        Message::Request(Value::Number(9)),
    ] {
        let mut p = paxos(THREE);
        p.message(ONE, Message::Decide(seven()));
        assert_eq!(p.message(ONE, question).effects, [say(ONE, Message::Decide(seven())), retry()]);
        assert_eq!(p.timer(Timer::Retry).effects, [say(ONE, Message::Decide(seven())), retry()]);
    }
}

/// What was decided stays so, whatever is proposed later.
#[test]
fn whoever_proposes_after_the_decision_only_tells_it_again() {
    let mut p = paxos(ONE);
    p.message(TWO, Message::Decide(Value::Number(9)));
    let step = p.command(propose(7));
    assert_eq!(step.effects, [say(THREE, Message::Decide(Value::Number(9))), retry()]);
    let kept = Stable { proposal: Some(seven()), decided: Some(Value::Number(9)), ..Stable::default() };
    assert_eq!(step.persist, Some(kept));
}
