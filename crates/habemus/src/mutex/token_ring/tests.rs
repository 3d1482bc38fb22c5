//! Each rule of the token ring, on one process.

use super::*;
use crate::Effect;
use crate::testing::Harness;

const FIRST: Address = Address(0);
const SECOND: Address = Address(1);
const THIRD: Address = Address(2);
const FOURTH: Address = Address(3);

/// One of S4's four participants.
fn participant(me: Address, config: Config) -> Harness<TokenRing> {
    Harness::new(Ring::logical(4), 1..=4, config, me)
}

fn moving() -> Config {
    Config { idle: Idle::Move, ..Config::default() }
}

fn token(entries: u32, idle_hops: u32) -> Message {
    Message::Token(Permission { generation: Generation::default(), entries, idle_hops })
}

fn generation(number: u32, by: Address) -> Generation {
    Generation { number, by: Some(by) }
}

fn entered(token: Option<u64>) -> Effect<TokenRing> {
    Effect::Output(Output::Entered { token: token.map(Token) })
}

fn send(to: Address, message: Message) -> Effect<TokenRing> {
    Effect::Send { to, message }
}

/// S4: "Um dos processos é iniciado com um token … e o token é passado adiante no anel".
#[test]
fn in_the_notes_the_first_holder_passes_the_token_on_at_once() {
    assert_eq!(participant(FIRST, moving()).started().sent(), [(SECOND, token(0, 4))]);
    assert!(participant(SECOND, moving()).started().is_empty());
}

/// S4: "Envia o token para o próximo nó do anel".
#[test]
fn who_does_not_want_the_token_passes_it_on() {
    assert_eq!(participant(FOURTH, moving()).message(THIRD, token(3, 0)).sent(), [(FIRST, token(3, 0))]);
    let step = participant(FOURTH, Config::default()).message(THIRD, token(3, 1));
    assert_eq!(step.sent(), [(FIRST, token(3, 2))]);
}

#[test]
fn a_moving_token_may_be_kept_for_a_while() {
    let rest = Duration::from_millis(3);
    let mut p = participant(SECOND, Config { rest, ..moving() });
    let kept = Effect::SetTimer { timer: Timer::PassOn, after: rest.into() };
    assert_eq!(p.message(FIRST, token(0, 0)).effects, [kept]);
    assert_eq!(p.clone().timer(Timer::PassOn).sent(), [(THIRD, token(0, 0))]);
    // Who comes to want it in the meantime has it already.
    assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
    assert!(p.timer(Timer::PassOn).is_empty());
}

/// S4: "Ao receber o token de acesso, se quiser acessar o recurso, acessa".
#[test]
fn who_wants_the_token_enters_with_it_and_passes_it_on_after_leaving() {
    let mut p = participant(SECOND, moving());
    assert!(p.command(Command::Acquire).is_empty(), "a moving token comes by itself");
    assert_eq!(p.message(FIRST, token(3, 0)).effects, [entered(None)]);
    assert_eq!(p.command(Command::Release).effects, [Effect::Output(Output::Left), send(THIRD, token(4, 0))]);
    assert!(p.command(Command::Release).is_empty());
}

#[test]
fn after_a_round_in_vain_the_token_rests_until_it_is_asked_for() {
    let mut p = participant(SECOND, Config::default());
    assert!(p.message(FIRST, token(3, 4)).is_empty());
    assert_eq!(p.message(FIRST, Message::Wake(Id(4))).sent(), [(THIRD, token(3, 1))]);
}

#[test]
fn a_wake_goes_on_until_it_finds_the_token_or_somebody_who_waits() {
    let mut p = participant(SECOND, Config::default());
    assert_eq!(p.message(FIRST, Message::Wake(Id(4))).sent(), [(THIRD, Message::Wake(Id(4)))]);
    assert_eq!(p.command(Command::Acquire).sent(), [(THIRD, Message::Wake(Id(2)))]);
    assert!(p.message(FIRST, Message::Wake(Id(4))).is_empty(), "my own goes ahead");
    p.message(FIRST, token(0, 2));
    assert!(p.message(FIRST, Message::Wake(Id(4))).is_empty(), "the token is here, and goes on when I leave");
    p.command(Command::Release);
    assert!(p.message(FIRST, Message::Wake(Id(2))).is_empty(), "it was mine");
}

#[test]
fn who_has_the_resting_token_needs_no_message() {
    let mut p = participant(FIRST, Config::default());
    assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
}

#[test]
fn one_alone_keeps_the_token() {
    for config in [Config::default(), moving()] {
        let mut p = Harness::<TokenRing>::new(Ring::logical(1), [1], config, FIRST);
        assert!(p.started().is_empty());
        for _ in 0..2 {
            assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
            assert_eq!(p.command(Command::Release).effects, [Effect::Output(Output::Left)]);
        }
    }
}

#[test]
fn the_fencing_token_counts_the_entries_of_a_generation() {
    let mut p = participant(SECOND, Config { fencing: true, ..Config::default() });
    p.command(Command::Acquire);
    assert_eq!(p.clone().message(FIRST, token(6, 2)).effects, [entered(Some(7))]);
    let issued = Permission { generation: generation(1, FIRST), entries: 0, idle_hops: 0 };
    assert_eq!(p.message(FIRST, Message::Token(issued)).effects, [entered(Some((1 << 32) + 1))]);
}

/// S4: "se qualquer outro processo falha, o anel é interrompido".
#[test]
fn the_ring_closes_over_the_dead() {
    let mut p = participant(SECOND, moving());
    p.suspicion(Suspicion::Suspect(THIRD));
    assert_eq!(p.message(FIRST, token(0, 0)).sent(), [(FOURTH, token(0, 0))]);
    p.suspicion(Suspicion::Restore(THIRD));
    assert_eq!(p.message(FIRST, token(0, 0)).sent(), [(THIRD, token(0, 0))]);
}

/// S4: "se o processo acessando o recurso falha, a permissão é perdida".
#[test]
fn the_first_that_is_alive_recalls_the_tokens_and_issues_a_new_one() {
    let mut p = participant(SECOND, Config::default());
    assert!(p.suspicion(Suspicion::Suspect(THIRD)).is_empty(), "the first is alive, and will do it");
    let recall = Message::Recall(generation(1, SECOND));
    assert_eq!(p.suspicion(Suspicion::Suspect(FIRST)).sent(), [(FOURTH, recall)]);
    let issued = Permission { generation: generation(1, SECOND), entries: 0, idle_hops: 1 };
    assert_eq!(p.message(FOURTH, recall).sent(), [(FOURTH, Message::Token(issued))]);
    assert!(p.message(FOURTH, recall).is_empty(), "one token for one recall");
}

#[test]
fn a_recall_voids_an_idle_token_and_whatever_comes_late() {
    let mut p = participant(SECOND, Config::default());
    p.message(FIRST, token(3, 4));
    let recall = Message::Recall(generation(1, FIRST));
    assert_eq!(p.message(FIRST, recall).sent(), [(THIRD, recall)]);
    assert_eq!(p.process.token, None);
    assert!(p.message(FIRST, token(3, 0)).is_empty(), "it is void");
    assert!(p.message(FIRST, recall).is_empty(), "it has been here");
}

#[test]
fn a_recall_waits_while_somebody_is_inside() {
    let mut p = participant(FIRST, Config::default());
    p.command(Command::Acquire);
    assert!(p.suspicion(Suspicion::Suspect(THIRD)).sent().is_empty());
    let left = p.command(Command::Release);
    let recall = Message::Recall(generation(1, FIRST));
    assert_eq!(left.effects, [Effect::Output(Output::Left), send(SECOND, recall)]);
}

#[test]
fn a_recall_that_may_have_died_with_the_successor_is_sent_again() {
    let mut p = participant(SECOND, Config::default());
    let recall = Message::Recall(generation(1, FIRST));
    p.message(FIRST, recall);
    assert_eq!(p.suspicion(Suspicion::Suspect(THIRD)).sent(), [(FOURTH, recall)]);
    assert!(p.suspicion(Suspicion::Suspect(FOURTH)).sent().contains(&(FIRST, recall)));
    assert_eq!(p.suspicion(Suspicion::Restore(THIRD)).sent(), [(THIRD, recall)]);
}

#[test]
fn a_recall_of_the_past_does_not_stop_mine() {
    let mut p = participant(SECOND, Config::default());
    p.suspicion(Suspicion::Suspect(FIRST));
    let step = p.message(FIRST, Message::Recall(generation(4, FIRST)));
    assert_eq!(step.sent(), [(THIRD, Message::Recall(generation(5, SECOND)))]);
}

#[test]
fn who_recalls_without_knowing_of_a_later_generation_is_told() {
    let mut p = participant(THIRD, Config::default());
    p.message(SECOND, Message::Recall(generation(7, SECOND)));
    let step = p.message(SECOND, Message::Recall(generation(5, FIRST)));
    let superseded = Message::Superseded(generation(7, SECOND));
    assert_eq!(step.sent(), [(FIRST, superseded)]);
    let mut first = participant(FIRST, Config::default());
    assert!(first.message(THIRD, superseded).is_empty(), "it has not recalled anything");
    first.suspicion(Suspicion::Suspect(FOURTH));
    let step = first.message(THIRD, superseded);
    assert_eq!(step.sent(), [(SECOND, Message::Recall(generation(8, FIRST)))]);
    assert!(first.message(THIRD, superseded).is_empty(), "that is not news any more");
}

#[test]
fn the_same_generation_is_not_issued_by_two() {
    let mut p = participant(SECOND, Config::default());
    p.suspicion(Suspicion::Suspect(FIRST));
    let other = Message::Recall(generation(1, FOURTH));
    assert_eq!(p.message(FIRST, other).sent(), [(THIRD, Message::Recall(generation(2, SECOND)))]);
}

#[test]
fn who_is_left_alone_issues_the_token_to_itself() {
    let mut p = participant(SECOND, Config::default());
    p.command(Command::Acquire);
    p.suspicion(Suspicion::Suspect(FIRST));
    p.suspicion(Suspicion::Suspect(THIRD));
    assert_eq!(p.suspicion(Suspicion::Suspect(FOURTH)).effects, [entered(None)]);
}

/// The last one alive: a recall that a process sent before it died comes after the news of its death.
#[test]
fn a_late_recall_of_the_dead_does_not_take_the_token_away_for_ever() {
    let mut p = Harness::<TokenRing>::new(Ring::logical(2), [1, 2], Config::default(), SECOND);
    p.suspicion(Suspicion::Suspect(FIRST));
    assert_eq!(p.process.token.map(|token| token.generation), Some(generation(1, SECOND)));
    assert!(p.message(FIRST, Message::Recall(generation(2, FIRST))).sent().is_empty());
    assert_eq!(p.process.token.map(|token| token.generation), Some(generation(3, SECOND)));
    assert_eq!(p.command(Command::Acquire).effects, [entered(None)]);
}

#[test]
fn the_first_outbids_a_recall_of_the_dead_and_whoever_is_not_first_passes_it_on() {
    let late = Message::Recall(generation(2, FIRST));
    let mut second = participant(SECOND, Config::default());
    second.suspicion(Suspicion::Suspect(FIRST));
    second.message(FOURTH, Message::Recall(generation(1, SECOND)));
    assert!(!second.process.recalling, "its own is home");
    assert_eq!(second.message(FOURTH, late).sent(), [(THIRD, Message::Recall(generation(3, SECOND)))]);
    let mut third = participant(THIRD, Config::default());
    third.suspicion(Suspicion::Suspect(FIRST));
    assert_eq!(third.message(SECOND, late).sent(), [(FOURTH, late)]);
}

#[test]
fn one_that_seemed_dead_is_told_of_the_latest_recall_when_it_is_restored() {
    let mut p = Harness::<TokenRing>::new(Ring::logical(2), [1, 2], Config::default(), SECOND);
    p.suspicion(Suspicion::Suspect(FIRST));
    p.message(FIRST, Message::Recall(generation(2, FIRST)));
    let latest = Message::Recall(generation(3, SECOND));
    assert_eq!(p.suspicion(Suspicion::Restore(FIRST)).sent(), [(FIRST, latest)]);
}

#[test]
fn who_comes_back_has_no_token_and_tells_the_first_that_it_may_be_lost() {
    let back = |me| {
        let stored = Some(generation(7, THIRD));
        Harness::<TokenRing>::recovered(Ring::logical(4), 1..=4, moving(), me, stored)
    };
    let recall = Message::Recall(generation(8, FIRST));
    assert_eq!(back(FIRST).started().sent(), [(SECOND, recall)], "it is the first itself");
    assert_eq!(back(THIRD).started().sent(), [(FOURTH, Message::Missing(Id(3)))]);
    assert!(back(THIRD).message(SECOND, Message::Missing(Id(3))).is_empty(), "it found nobody");
    let mut fourth = participant(FOURTH, moving());
    assert_eq!(fourth.message(THIRD, Message::Missing(Id(3))).sent(), [(FIRST, Message::Missing(Id(3)))]);
    let mut first = participant(FIRST, moving());
    let step = first.message(FOURTH, Message::Missing(Id(3)));
    assert_eq!(step.sent(), [(SECOND, Message::Recall(generation(1, FIRST)))]);
    assert_eq!(step.persist, Some(generation(1, FIRST)));
}

#[test]
fn the_mutant_passes_the_token_on_while_it_is_inside() {
    let mut p = participant(SECOND, Config { variant: Variant::MutantHasty, ..Config::default() });
    p.command(Command::Acquire);
    assert_eq!(p.message(FIRST, token(3, 1)).effects, [entered(None), send(THIRD, token(4, 1))]);
    assert_eq!(p.command(Command::Release).effects, [Effect::Output(Output::Left)]);
}
