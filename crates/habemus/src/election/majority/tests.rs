//! One process at a time, each rule by the sentence it comes from.

use std::time::Duration;

use super::*;
use crate::election::Output;
use crate::testing::Harness;
use crate::{Effect, Id, Step};

/// The process 3 of 1 … 5; addresses are one less than identifiers.
const ME: Address = Address(2);

fn three(config: Config) -> Harness<Majority> {
    Harness::new(Complete::new(5), 1..=5, config, ME)
}

fn recovered(config: Config, stable: Stable) -> Harness<Majority> {
    Harness::recovered(Complete::new(5), 1..=5, config, ME, Some(stable))
}

/// Without the safety catches: terms and votes alone.
fn bare() -> Config {
    Config { pre_vote: false, lease: false, ..Config::default() }
}

fn mutant(variant: Variant) -> Config {
    Config { variant, ..bare() }
}

fn to_all(message: Message) -> Vec<(Address, Message)> {
    [0, 1, 3, 4].map(|to| (Address(to), message)).to_vec()
}

fn sets(step: &Step<Majority>, timer: Timer, after: impl Into<crate::Delay>) -> bool {
    step.effects.contains(&Effect::SetTimer { timer, after: after.into() })
}

fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Elects process 3 in term 1 with the votes of 1 and 2.
fn elected(config: &Config) -> Harness<Majority> {
    let mut p = three(config.clone());
    p.timer(Timer::Election);
    if config.pre_vote {
        p.message(Address(0), Message::PreGranted { term: Term::of(0) });
        p.message(Address(1), Message::PreGranted { term: Term::of(0) });
    }
    p.message(Address(0), Message::Granted { term: Term::of(1) });
    p.message(Address(1), Message::Granted { term: Term::of(1) });
    assert!(p.process.is_leader());
    p
}

/// S4: "Para substituir um líder que tenha falhado": whoever hears of none stands, after a time of its own.
#[test]
fn whoever_misses_a_leader_begins_a_new_term_with_its_own_vote() {
    let mut p = three(bare());
    assert!(sets(p.started(), Timer::Election, millis(150)..=millis(300)));
    let step = p.timer(Timer::Election);
    assert_eq!(step.persist, Some(Stable { term: Term::of(1), voted_for: Some(ME) }));
    assert_eq!(step.sent(), to_all(Message::VoteForMe { term: Term::of(1) }));
    assert!(sets(&step, Timer::Election, millis(150)..=millis(300)));
}

/// S4: "só aceitar que um líder seja declarado se o mesmo seus votos carregarem mais da metade do peso do
/// sistema".
#[test]
fn more_than_half_of_the_votes_make_a_leader() {
    let mut p = three(bare());
    p.timer(Timer::Election);
    assert!(p.message(Address(0), Message::Granted { term: Term::of(1) }).is_empty());
    // The same vote twice is one vote.
    assert!(p.message(Address(0), Message::Granted { term: Term::of(1) }).is_empty());
    let step = p.message(Address(4), Message::Granted { term: Term::of(1) });
    assert_eq!(step.outputs(), [Output::Leads { term: 1 }]);
    assert_eq!(step.sent(), to_all(Message::Heartbeat { term: Term::of(1), round: Term::of(1) }));
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::Election)));
}

/// S4: "atribuir um 'peso' para cada processo".
#[test]
fn weights_decide_not_heads() {
    let mut p = three(Config { weights: vec![1, 1, 1, 1, 5], ..bare() });
    p.timer(Timer::Election);
    for voter in [0, 1, 3] {
        assert!(p.message(Address(voter), Message::Granted { term: Term::of(1) }).is_empty());
    }
    let step = p.message(Address(4), Message::Granted { term: Term::of(1) });
    assert_eq!(step.outputs(), [Output::Leads { term: 1 }]);
}

/// S4: "garante, com pesos, que somente um líder existe em cada mandato": one vote in a term, and it is
/// stored.
#[test]
fn it_votes_once_in_a_term_and_stores_the_vote_first() {
    let mut p = three(bare());
    let step = p.message(Address(0), Message::VoteForMe { term: Term::of(4) });
    assert_eq!(step.persist, Some(Stable { term: Term::of(4), voted_for: Some(Address(0)) }));
    assert_eq!(step.sent(), [(Address(0), Message::Granted { term: Term::of(4) })]);
    assert!(p.message(Address(1), Message::VoteForMe { term: Term::of(4) }).is_empty());
    // The answer may have been lost.
    let again = p.message(Address(0), Message::VoteForMe { term: Term::of(4) });
    assert_eq!(again.sent(), [(Address(0), Message::Granted { term: Term::of(4) })]);
    // In the next term it is free again.
    let next = p.message(Address(1), Message::VoteForMe { term: Term::of(5) });
    assert_eq!(next.sent(), [(Address(1), Message::Granted { term: Term::of(5) })]);
}

#[test]
fn a_crash_does_not_undo_a_vote() {
    let stable = Stable { term: Term::of(4), voted_for: Some(Address(0)) };
    let mut p = recovered(bare(), stable);
    assert!(p.message(Address(1), Message::VoteForMe { term: Term::of(4) }).is_empty());
    // The mutant has nothing on its disk but the term.
    let mut p = three(mutant(Variant::NoPersistedVote));
    let stored = p.message(Address(0), Message::VoteForMe { term: Term::of(4) }).persist;
    assert_eq!(stored, Some(Stable { term: Term::of(4), voted_for: None }));
    let mut p = recovered(mutant(Variant::NoPersistedVote), stored.unwrap_or_default());
    assert_eq!(p.message(Address(1), Message::VoteForMe { term: Term::of(4) }).sent().len(), 1);
}

/// S4: "mensagens recebidas de mandatos anteriores são sumariamente descartadas".
#[test]
fn messages_of_older_terms_are_discarded_and_requests_are_told_so() {
    let stable = Stable { term: Term::of(7), voted_for: None };
    for request in [
        Message::PreVote { term: Term::of(6) },
        Message::VoteForMe { term: Term::of(6) },
        Message::Heartbeat { term: Term::of(6), round: Term::of(3) },
    ] {
        let mut p = recovered(bare(), stable);
        let step = p.message(Address(0), request);
        assert_eq!(
            step.effects,
            [Effect::Send { to: Address(0), message: Message::Outdated { term: Term::of(7) } }]
        );
        assert_eq!(step.persist, None);
    }
    let mut p = recovered(bare(), stable);
    p.timer(Timer::Election);
    for answer in [
        Message::PreGranted { term: Term::of(7) },
        Message::Granted { term: Term::of(7) },
        Message::Heard { term: Term::of(7), round: Term::of(1) },
        Message::Outdated { term: Term::of(7) },
    ] {
        assert!(p.message(Address(0), answer).is_empty(), "{answer:?}");
        assert!(p.message(Address(1), answer).is_empty(), "{answer:?}");
    }
    // The mutant counts the votes of the term before.
    let mut p = recovered(mutant(Variant::NoTermCheck), stable);
    p.timer(Timer::Election);
    p.message(Address(0), Message::Granted { term: Term::of(7) });
    assert_eq!(
        p.message(Address(1), Message::Granted { term: Term::of(7) }).outputs(),
        [Output::Leads { term: 8 }]
    );
}

/// S4: "processos podem se achar em mandatos distintos": the newer one counts.
#[test]
fn a_newer_term_ends_a_leadership() {
    let mut p = elected(&bare());
    let step = p.message(Address(4), Message::Outdated { term: Term::of(3) });
    assert_eq!(step.persist, Some(Stable { term: Term::of(3), voted_for: None }));
    assert_eq!(step.outputs(), [Output::Leaderless]);
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::Beat)));
    assert!(sets(&step, Timer::Election, millis(150)..=millis(300)));
}

#[test]
fn a_heartbeat_makes_a_follower_that_answers_and_is_bound() {
    let mut p = three(Config::default());
    let step = p.message(Address(4), Message::Heartbeat { term: Term::of(2), round: Term::of(1) });
    assert_eq!(step.persist, Some(Stable { term: Term::of(2), voted_for: None }));
    assert_eq!(step.sent(), [(Address(4), Message::Heard { term: Term::of(2), round: Term::of(1) })]);
    assert_eq!(step.outputs(), [Output::Follows { leader: Some(Id(5)), term: 2 }]);
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::Election)));
    assert!(sets(&step, Timer::Loyalty, millis(150)));
    // The next one brings no news.
    let step = p.message(Address(4), Message::Heartbeat { term: Term::of(2), round: Term::of(2) });
    assert!(step.outputs().is_empty() && sets(&step, Timer::Loyalty, millis(150)));
}

/// S4: "uma vez que um líder é eleito, uma nova eleição só acontece se o líder falha".
#[test]
fn whoever_has_just_heard_of_a_leader_supports_nobody_else() {
    let mut p = three(Config::default());
    p.message(Address(4), Message::Heartbeat { term: Term::of(2), round: Term::of(1) });
    let before = p.process.clone();
    assert!(p.message(Address(0), Message::PreVote { term: Term::of(2) }).is_empty());
    assert!(p.message(Address(0), Message::VoteForMe { term: Term::of(9) }).is_empty());
    assert!(p.command(Command::Elect).is_empty());
    assert_eq!(p.process, before);
    // The leader is silent: first the loyalty ends, then, when 1 and 2 have had their turns after 5, it
    // stands.
    let step = p.timer(Timer::Loyalty);
    let turn = Duration::from_micros(67_500)..=Duration::from_micros(82_500);
    assert!(sets(&step, Timer::Election, turn) && step.outputs().is_empty());
    // Who stands follows nobody, and says so.
    assert_eq!(p.clone().timer(Timer::Election).outputs(), [Output::Leaderless]);
    let step = p.message(Address(0), Message::VoteForMe { term: Term::of(9) });
    assert_eq!(step.sent(), [(Address(0), Message::Granted { term: Term::of(9) })]);
    assert_eq!(step.outputs(), [Output::Leaderless]);
}

/// It may have answered a heartbeat just before it crashed.
#[test]
fn a_recovered_process_is_bound_for_a_while_too() {
    let mut p = recovered(Config::default(), Stable { term: Term::of(2), voted_for: None });
    assert!(sets(p.started(), Timer::Loyalty, millis(150)));
    assert!(p.message(Address(0), Message::VoteForMe { term: Term::of(3) }).is_empty());
    let step = p.timer(Timer::Loyalty);
    assert!(
        sets(&step, Timer::Election, millis(0)..=millis(150)),
        "it does not know after whom its turn comes"
    );
    assert_eq!(p.message(Address(0), Message::VoteForMe { term: Term::of(3) }).sent().len(), 1);
    // The mutant forgets it.
    let config = Config { variant: Variant::UnboundRecovery, ..Config::default() };
    let mut p = recovered(config, Stable { term: Term::of(2), voted_for: None });
    assert_eq!(p.message(Address(0), Message::VoteForMe { term: Term::of(3) }).sent().len(), 1);
}

#[test]
fn before_it_stands_it_asks_and_no_term_is_wasted() {
    let mut p = three(Config::default());
    let step = p.timer(Timer::Election);
    assert_eq!((step.persist, step.sent()), (None, to_all(Message::PreVote { term: Term::of(0) })));
    assert!(p.message(Address(1), Message::PreGranted { term: Term::of(0) }).is_empty());
    let step = p.message(Address(3), Message::PreGranted { term: Term::of(0) });
    assert_eq!(step.persist, Some(Stable { term: Term::of(1), voted_for: Some(ME) }));
    assert_eq!(step.sent(), to_all(Message::VoteForMe { term: Term::of(1) }));
    // A third answer comes late.
    assert!(p.message(Address(4), Message::PreGranted { term: Term::of(1) }).is_empty());
}

#[test]
fn whoever_misses_a_leader_too_encourages_and_is_not_bound_by_it() {
    let mut p = three(Config::default());
    let before = p.process.clone();
    for asking in [0, 4] {
        let step = p.message(Address(asking), Message::PreVote { term: Term::of(0) });
        assert_eq!(step.effects.len(), 1);
        assert_eq!(step.sent(), [(Address(asking), Message::PreGranted { term: Term::of(0) })]);
    }
    assert_eq!(p.process, before);
}

/// The votes say that a quorum would have it; the lease begins with the answers to its first heartbeat.
#[test]
fn with_a_lease_it_leads_when_a_quorum_has_heard_of_it() {
    let mut p = elected(&Config::default());
    assert_eq!(p.process.leader, None);
    assert!(p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(1) }).is_empty());
    let step = p.message(Address(4), Message::Heard { term: Term::of(1), round: Term::of(1) });
    assert_eq!(step.effects, [Effect::Output(Output::Leads { term: 1 })]);
}

#[test]
fn a_lease_counts_from_the_heartbeat_not_from_its_answer() {
    let mut p = elected(&Config { max_drift_percent: 20, ..Config::default() });
    let step = p.timer(Timer::Beat);
    assert_eq!(step.sent(), to_all(Message::Heartbeat { term: Term::of(1), round: Term::of(2) }));
    // 150 ms by a clock that is a fifth fast are 125 ms; 100 ms by one that is a fifth slow are as many: it
    // is a little less.
    let reliance = Timer::Reliance { term: Term::of(1), round: Term::of(2) };
    assert!(sets(&step, reliance, millis(100) - Duration::from_nanos(1)));
    // Answers set no timer.
    for follower in [0, 1, 3, 4] {
        let step = p.message(Address(follower), Message::Heard { term: Term::of(1), round: Term::of(2) });
        assert!(step.effects.iter().all(|effect| matches!(effect, Effect::Output(_))));
    }
    // Those of the mutant do.
    let mut p = elected(&Config { variant: Variant::LeaseFromAnswers, ..Config::default() });
    let step = p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(1) });
    assert!(matches!(
        step.effects[..],
        [Effect::SetTimer { timer, .. }] if timer == Timer::Reliance { term: Term::of(1), round: Term::of(1) }
    ));
}

#[test]
fn without_a_quorum_it_steps_down() {
    let mut p = elected(&Config::default());
    p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(1) });
    p.message(Address(1), Message::Heard { term: Term::of(1), round: Term::of(1) });
    p.timer(Timer::Beat);
    p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(2) });
    p.message(Address(4), Message::Heard { term: Term::of(1), round: Term::of(2) });
    // The first heartbeat counts no more, but the second does.
    assert!(p.timer(Timer::Reliance { term: Term::of(1), round: Term::of(1) }).is_empty());
    p.timer(Timer::Beat);
    p.message(Address(3), Message::Heard { term: Term::of(1), round: Term::of(3) });
    let step = p.timer(Timer::Reliance { term: Term::of(1), round: Term::of(2) });
    assert_eq!(step.outputs(), [Output::Leaderless]);
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::Beat)));
    assert!(sets(&step, Timer::Election, millis(150)..=millis(300)));
    // What is left of the leadership means nothing any more.
    assert!(p.timer(Timer::Reliance { term: Term::of(1), round: Term::of(3) }).is_empty());
    assert!(p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(3) }).is_empty());
    assert!(p.timer(Timer::Beat).is_empty());
}

/// An answer that was under way for long does not bring a lease back.
#[test]
fn late_answers_to_early_heartbeats_are_of_no_use() {
    let mut p = elected(&Config::default());
    p.timer(Timer::Beat);
    for follower in [0, 1, 3, 4] {
        p.message(Address(follower), Message::Heard { term: Term::of(1), round: Term::of(1) });
    }
    assert_eq!(
        p.timer(Timer::Reliance { term: Term::of(1), round: Term::of(1) }).outputs(),
        [Output::Leaderless]
    );
}

#[test]
fn a_leader_with_a_lease_cannot_be_disturbed() {
    let mut p = elected(&Config::default());
    let before = p.process.clone();
    assert!(p.message(Address(4), Message::PreVote { term: Term::of(5) }).is_empty());
    assert!(p.message(Address(4), Message::VoteForMe { term: Term::of(5) }).is_empty());
    assert!(p.command(Command::Elect).is_empty());
    assert!(p.message(Address(4), Message::Heartbeat { term: Term::of(1), round: Term::of(1) }).is_empty());
    assert_eq!(p.process, before);
}

fn stands_no_more() -> Effect<Majority> {
    Effect::CancelTimer(Timer::Election)
}

fn is_about(effect: &Effect<Majority>, which: Timer) -> bool {
    matches!(effect, Effect::SetTimer { timer, .. } | Effect::CancelTimer(timer) if *timer == which)
}

/// It is the last word on its timer, or the leader would stand against itself.
#[test]
fn alone_it_is_its_own_majority() {
    let mut p = Harness::<Majority>::new(Complete::new(1), [9], Config::default(), Address(0));
    let step = p.timer(Timer::Election);
    assert_eq!(step.outputs(), [Output::Leads { term: 1 }]);
    assert_eq!(
        step.effects.iter().rfind(|effect| is_about(effect, Timer::Election)),
        Some(&stands_no_more())
    );
    assert!(p.timer(Timer::Reliance { term: Term::of(1), round: Term::of(1) }).is_empty());
}

/// A term that nobody can have reached: there is none after it, and the vote in it may be given.
#[test]
fn after_the_last_term_nobody_stands() {
    let mut p = recovered(bare(), Stable { term: Term::of(u64::MAX), voted_for: Some(Address(0)) });
    assert!(p.timer(Timer::Election).persist.is_none());
    assert_eq!(p.process.role, Role::Follower);
}

#[test]
fn half_of_the_weight_is_enough_for_the_mutant() {
    let mut p = Harness::<Majority>::new(Complete::new(2), 1..=2, mutant(Variant::HalfQuorum), Address(0));
    assert_eq!(p.timer(Timer::Election).outputs(), [Output::Leads { term: 1 }]);
}

#[test]
fn only_the_first_heartbeat_is_worth_drawing() {
    use crate::Message as _;
    assert!(!Message::Heartbeat { term: Term::of(1), round: Term::of(1) }.is_background());
    assert!(Message::Heard { term: Term::of(1), round: Term::of(2) }.is_background());
    assert!(!Majority::is_background(&Timer::Election) && Majority::is_background(&Timer::Beat));
}

#[test]
fn a_leader_that_is_to_stop_steps_down_and_names_the_one_that_answered_last() {
    let mut p = elected(&Config::default());
    p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(1) });
    p.timer(Timer::Beat);
    p.message(Address(3), Message::Heard { term: Term::of(1), round: Term::of(2) });
    let step = p.stop();
    assert_eq!(step.outputs(), [Output::Leaderless]);
    assert_eq!(step.sent(), to_all(Message::Resign { term: Term::of(1), heir: Address(3) }));
    assert!(p.stop().is_empty(), "it leads no longer");
    assert!(three(Config::default()).stop().is_empty(), "who does not lead has nothing to hand over");
}

#[test]
fn nobody_is_bound_to_a_leader_that_has_resigned() {
    let mut p = three(Config::default());
    p.message(Address(0), Message::Heartbeat { term: Term::of(1), round: Term::of(1) });
    assert!(p.message(Address(1), Message::PreVote { term: Term::of(1) }).is_empty(), "it is bound");
    let step = p.message(Address(0), Message::Resign { term: Term::of(1), heir: Address(1) });
    assert_eq!(step.outputs(), [Output::Leaderless]);
    let step = p.message(Address(1), Message::PreVote { term: Term::of(1) });
    assert_eq!(step.sent(), [(Address(1), Message::PreGranted { term: Term::of(1) })]);
}

#[test]
fn the_heir_stands_at_once() {
    let mut p = three(Config::default());
    p.message(Address(0), Message::Heartbeat { term: Term::of(1), round: Term::of(1) });
    let step = p.message(Address(0), Message::Resign { term: Term::of(1), heir: ME });
    assert!(sets(&step, Timer::Election, millis(5)));
    assert_eq!(p.timer(Timer::Election).sent(), to_all(Message::PreVote { term: Term::of(1) }));
}

/// A message may be late: the loyalty to another leader is not its business.
#[test]
fn a_resignation_of_the_past_frees_nobody() {
    let mut p = three(Config::default());
    p.message(Address(0), Message::Heartbeat { term: Term::of(1), round: Term::of(1) });
    p.message(Address(1), Message::Heartbeat { term: Term::of(2), round: Term::of(1) });
    assert!(p.message(Address(0), Message::Resign { term: Term::of(1), heir: ME }).is_empty());
    assert!(p.process.loyal);
}

#[test]
fn the_lease_ends_with_the_latest_heartbeat_that_a_quorum_has_answered() {
    let mut p = three(Config { pre_vote: false, ..Config::default() });
    p.command(Command::Elect);
    p.message(Address(0), Message::Granted { term: Term::of(1) });
    p.message(Address(1), Message::Granted { term: Term::of(1) });
    let lease = |p: &Harness<Majority>| p.asked(Majority::lease);
    let until = |round| Some(Timer::Reliance { term: Term::of(1), round: Term::of(round) });
    p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(1) });
    assert_eq!((lease(&p), p.asked(Majority::leadership)), (None, Some(Output::Leaderless)), "no quorum yet");
    p.message(Address(1), Message::Heard { term: Term::of(1), round: Term::of(1) });
    assert_eq!((lease(&p), p.asked(Majority::leadership)), (until(1), Some(Output::Leads { term: 1 })));
    p.timer(Timer::Beat);
    p.message(Address(0), Message::Heard { term: Term::of(1), round: Term::of(2) });
    assert_eq!(lease(&p), until(1), "one answer is no quorum");
    p.message(Address(4), Message::Heard { term: Term::of(1), round: Term::of(2) });
    assert_eq!(lease(&p), until(2));
    p.timer(Timer::Reliance { term: Term::of(1), round: Term::of(2) });
    assert_eq!((lease(&p), p.asked(Majority::leadership)), (None, Some(Output::Leaderless)));
}

#[test]
fn without_a_lease_no_time_ends_what_a_leader_says() {
    let mut p = three(bare());
    p.command(Command::Elect);
    p.message(Address(0), Message::Granted { term: Term::of(1) });
    assert_eq!(
        p.message(Address(1), Message::Granted { term: Term::of(1) }).outputs(),
        [Output::Leads { term: 1 }]
    );
    assert_eq!((p.asked(Majority::lease), p.asked(Majority::leadership)), (None, None));
}

#[test]
fn who_goes_on_among_others_has_voted_for_nobody_in_a_term_of_its_own() {
    let stable = Stable { term: Term::of(7), voted_for: Some(Address(4)) };
    assert_eq!(Majority::renumbered(stable), Some(Stable { term: Term::of(8), voted_for: None }));
}
