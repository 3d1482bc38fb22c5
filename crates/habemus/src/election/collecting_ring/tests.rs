//! Each step of the collecting ring beside the sentence of the notes that it is taken from.

use super::*;
use crate::testing::Harness;
use crate::{Effect, Step};

/// The process 3 of 1 … 5 on their ring; addresses are one less than identifiers.
fn three(config: Config) -> Harness<CollectingRing> {
    Harness::new(Ring::logical(5), 1..=5, config, Address(2))
}

fn member(id: u32) -> Member {
    Member { id: Id(id.into()), address: Address(id - 1) }
}

fn election(ids: impl IntoIterator<Item = u32>) -> Message {
    Message::Election(ids.into_iter().map(member).collect())
}

fn coordinator(leader: u32, told: impl IntoIterator<Item = u32>) -> Message {
    Message::Coordinator {
        leader: member(leader),
        told: told.into_iter().map(|id| Address(id - 1)).collect(),
    }
}

fn to(id: u32, message: Message) -> (Address, Message) {
    (Address(id - 1), message)
}

/// It waits for two turns of the ring, and for so many hops more.
fn waits(step: &Step<CollectingRing>, hops: u32) -> bool {
    let after = Config::default().hop_timeout * (10 + hops);
    step.effects.contains(&Effect::SetTimer { timer: Timer::NoResult, after: after.into() })
}

/// S0: "envia mensagem de eleição com seu ID ao próximo processo operacional no anel".
#[test]
fn who_starts_sends_a_list_of_itself_to_the_next_operational_process() {
    let mut p = three(Config::default());
    p.suspicion(Suspicion::Suspect(Address(3)));
    let step = p.command(Command::Elect);
    assert_eq!(step.sent(), [to(5, election([3]))]);
    assert!(waits(&step, 0));
    assert!(p.command(Command::Elect).is_empty(), "it waits for the result already");
}

/// S0: "Processo P que detecta falha do coordenador inicia uma eleição".
#[test]
fn who_suspects_the_leader_starts() {
    let mut p = three(Config { leader: Some(member(5)), ..Config::default() });
    assert_eq!(p.started().outputs(), [Output::follows(Id(5))]);
    assert!(p.suspicion(Suspicion::Suspect(Address(0))).is_empty(), "it was not the leader");
    let step = p.suspicion(Suspicion::Suspect(Address(4)));
    assert_eq!(step.outputs(), [Output::Leaderless]);
    assert_eq!(step.sent(), [to(4, election([3]))]);
}

/// S0: "adiciona seu ID na mensagem; envia mensagem de eleição ao próximo processo operacional".
#[test]
fn who_is_not_on_the_list_adds_itself_and_passes_it_on() {
    let mut p = three(Config::default());
    let step = p.message(Address(1), election([1, 2]));
    assert_eq!(step.sent(), [to(4, election([1, 2, 3]))]);
    assert!(waits(&step, 2), "if nothing comes of it, it will start a round of its own");
}

/// S0: "ao receber mensagem que circulou o anel, envia mensagem coordenador a todos (maior ID recebido)".
#[test]
fn when_the_list_has_come_round_the_best_on_it_is_announced() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    let step = p.message(Address(1), election([3, 4, 5, 1, 2]));
    assert_eq!(step.outputs(), [Output::follows(Id(5))]);
    assert_eq!(step.sent(), [to(4, coordinator(5, [3]))]);
    assert!(waits(&step, 0), "until it has come home");
    let step = p.message(Address(1), coordinator(5, [3, 4, 5, 1, 2]));
    assert_eq!(step.effects, [Effect::CancelTimer(Timer::NoResult)]);
}

/// It was lost, or has gone past one that lives.
#[test]
fn an_announcement_that_does_not_come_home_from_everybody_is_followed_by_another_round() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    p.message(Address(1), election([3, 4, 5, 1, 2]));
    assert!(p.message(Address(1), coordinator(5, [3, 4, 5, 2])).is_empty(), "1 lives");
    let mut dead = p.clone();
    assert_eq!(p.timer(Timer::NoResult).sent(), [to(4, election([3]))]);
    dead.suspicion(Suspicion::Suspect(Address(0)));
    let step = dead.message(Address(1), coordinator(5, [3, 4, 5, 2]));
    assert_eq!(step.effects, [Effect::CancelTimer(Timer::NoResult)]);
}

#[test]
fn who_has_announced_a_leader_follows_a_better_one_and_waits_no_more() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    p.message(Address(1), election([3, 4, 1, 2]));
    let step = p.message(Address(1), coordinator(5, [2]));
    assert_eq!(step.outputs(), [Output::follows(Id(5))]);
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::NoResult)));
    assert!(p.message(Address(1), coordinator(4, [3, 4, 1, 2])).is_empty());
}

#[test]
fn the_announcement_can_go_to_each() {
    let mut p = three(Config { announce: Announce::All, ..Config::default() });
    p.suspicion(Suspicion::Suspect(Address(4)));
    p.command(Command::Elect);
    let step = p.message(Address(1), election([3, 4, 1, 2]));
    assert_eq!(step.sent(), [4, 1, 2].map(|id| to(id, coordinator(4, []))));
    // Who gets it keeps it.
    let mut p = three(Config { announce: Announce::All, ..Config::default() });
    assert_eq!(p.message(Address(0), coordinator(5, [])).effects, [Effect::Output(Output::follows(Id(5)))]);
}

/// S4: "Se p ∈ l: escolhe menor id em l como líder", and that is all.
#[test]
fn the_fourth_notes_choose_the_lowest_and_announce_nothing() {
    let config = Config { wins: Wins::Lowest, announce: Announce::Nobody, ..Config::default() };
    let mut p = three(config.clone());
    p.command(Command::Elect);
    let step = p.message(Address(1), election([3, 4, 5, 1, 2]));
    assert_eq!(step.outputs(), [Output::follows(Id(1))]);
    assert!(step.sent().is_empty());
    // Who only passes a list on has nothing to wait for.
    let step = three(config).message(Address(1), election([2]));
    assert_eq!(step.effects.len(), 1);
}

#[test]
fn the_announcement_is_learnt_and_passed_on_and_ends_where_it_is_known() {
    let mut p = three(Config::default());
    let step = p.message(Address(1), coordinator(5, [1, 2]));
    assert_eq!(step.outputs(), [Output::follows(Id(5))]);
    assert_eq!(step.sent(), [to(4, coordinator(5, [1, 2, 3]))]);
    assert!(p.message(Address(1), coordinator(5, [3, 4, 5, 1, 2])).is_empty());
}

/// S0: "eleições independentes, funciona mas dobra número de mensagens".
#[test]
fn a_second_announcement_of_the_same_leader_is_passed_on_but_no_news() {
    let mut p = three(Config::default());
    p.message(Address(1), coordinator(5, [1, 2]));
    let step = p.message(Address(1), coordinator(5, [2]));
    assert_eq!(step.outputs(), []);
    assert_eq!(step.sent(), [to(4, coordinator(5, [2, 3]))]);
}

/// S0: "O que acontece se processo falha durante eleição?"
#[test]
fn the_dead_are_not_chosen_and_not_followed() {
    let mut p = three(Config::default());
    p.suspicion(Suspicion::Suspect(Address(4)));
    p.command(Command::Elect);
    let step = p.message(Address(1), election([3, 4, 5, 1, 2]));
    assert_eq!(step.outputs(), [Output::follows(Id(4))]);
    let step = p.message(Address(1), coordinator(5, [1, 2]));
    assert_eq!(step.outputs(), []);
    assert_eq!(step.sent(), [to(4, election([3]))]);
}

#[test]
fn a_round_without_a_result_is_repeated() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    let step = p.timer(Timer::NoResult);
    assert_eq!(step.sent(), [to(4, election([3]))]);
    assert!(waits(&step, 0));
}

#[test]
fn the_list_of_a_dead_initiator_ends_at_the_next_one_on_it() {
    let mut p = three(Config::default());
    p.message(Address(1), election([2]));
    p.suspicion(Suspicion::Suspect(Address(1)));
    let step = p.message(Address(0), election([2, 3, 4, 5, 1]));
    assert_eq!(step.sent(), [to(4, coordinator(5, [3]))]);
}

#[test]
fn a_worse_leader_is_objected_to() {
    let step = three(Config::default()).message(Address(1), coordinator(2, [1, 2]));
    assert_eq!(step.outputs(), []);
    assert_eq!(step.sent(), [to(4, election([3]))]);
    assert!(waits(&step, 0));
}

/// The list that is under way may have passed the others before they heard of the worse leader.
#[test]
fn a_worse_leader_is_objected_to_even_while_a_list_is_under_way() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    assert_eq!(p.message(Address(1), coordinator(2, [1, 2])).sent(), [to(4, election([3]))]);
}

/// An announcement can be overtaken by a later one.
#[test]
fn who_has_a_better_leader_starts_a_round_instead_of_following() {
    let mut p = three(Config::default());
    p.message(Address(1), coordinator(5, [1, 2]));
    let step = p.message(Address(1), coordinator(4, [1, 2]));
    assert_eq!(step.outputs(), []);
    assert_eq!(step.sent(), [to(4, election([3]))]);
    // The leader may have died since: in a round, its successor is accepted. But the round goes on.
    let step = p.message(Address(1), coordinator(4, [1, 2]));
    assert_eq!(step.outputs(), [Output::follows(Id(4))]);
    assert!(!step.effects.contains(&Effect::CancelTimer(Timer::NoResult)));
}

#[test]
fn who_is_trusted_again_is_told_who_leads_and_nobody_else_is() {
    let mut p = three(Config::default());
    p.suspicion(Suspicion::Suspect(Address(0)));
    assert!(p.suspicion(Suspicion::Restore(Address(0))).is_empty(), "nobody leads yet");
    p.message(Address(1), coordinator(5, [1, 2]));
    p.suspicion(Suspicion::Suspect(Address(0)));
    let step = p.suspicion(Suspicion::Restore(Address(0)));
    assert_eq!(step.sent(), [to(1, coordinator(5, []))]);
    let step = three(Config::default()).message(Address(0), coordinator(5, []));
    assert!(step.sent().is_empty(), "it is not passed on");
}

#[test]
fn who_leads_announces_it_again_when_somebody_is_trusted_again() {
    let mut p = three(Config { leader: Some(member(3)), ..Config::default() });
    p.suspicion(Suspicion::Suspect(Address(0)));
    let step = p.suspicion(Suspicion::Restore(Address(0)));
    assert_eq!(step.sent(), [to(4, coordinator(3, [3]))]);
    assert!(waits(&step, 0));
}

#[test]
fn a_recovered_process_starts_a_round() {
    let p = Harness::<CollectingRing>::recovered(
        Ring::logical(3),
        1..=3,
        Config::default(),
        Address(1),
        Some(()),
    );
    assert_eq!(p.started().sent(), [to(3, election([2]))]);
    let after = Config::default().hop_timeout * 6;
    assert!(p.started().effects.contains(&Effect::SetTimer { timer: Timer::NoResult, after: after.into() }));
}

#[test]
fn who_is_left_alone_elects_itself() {
    let mut p = three(Config::default());
    for other in [0, 1, 3, 4] {
        p.suspicion(Suspicion::Suspect(Address(other)));
    }
    assert_eq!(p.command(Command::Elect).sent(), [to(3, election([3]))]);
    let step = p.message(Address(2), election([3]));
    assert_eq!(step.outputs(), [Output::leads()]);
    let step = p.message(Address(2), coordinator(3, [3]));
    assert_eq!(step.effects, [Effect::CancelTimer(Timer::NoResult)]);
}

#[test]
fn the_mutants_choose_the_first_and_do_not_repeat() {
    let mut p = three(Config { variant: Variant::MutantFirstListed, ..Config::default() });
    let step = p.message(Address(1), election([1, 3]));
    assert_eq!(step.outputs(), [Output::follows(Id(1))]);
    let mut p = three(Config { variant: Variant::MutantNoRestart, ..Config::default() });
    p.command(Command::Elect);
    assert!(p.timer(Timer::NoResult).is_empty());
}
