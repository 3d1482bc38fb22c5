//! Each step of the bully election beside the sentence of the notes that it is taken from.

use std::time::Duration;

use super::*;
use crate::testing::Harness;
use crate::{Effect, Id, Step};

/// The process 3 of 1 … 5; addresses are one less than identifiers.
fn three(config: Config) -> Harness<Bully> {
    Harness::new(Complete::new(5), 1..=5, config, Address(2))
}

fn to(ids: impl IntoIterator<Item = u32>, message: Message) -> Vec<(Address, Message)> {
    ids.into_iter().map(|id| (Address(id - 1), message)).collect()
}

fn sets(step: &Step<Bully>, timer: Timer, after: Duration) -> bool {
    step.effects.contains(&Effect::SetTimer { timer, after: after.into() })
}

/// S4: "p envia mensagem (ELEICAO,p) para todos os processos com identificador maior que p; inicia
/// temporizador de respostas".
#[test]
fn who_suspects_the_leader_asks_the_better_ones_and_waits() {
    let mut p = three(Config { leader: Some(Id(5)), ..Config::default() });
    let step = p.suspicion(Suspicion::Suspect(Address(4)));
    assert_eq!(step.sent(), to([4, 5], Message::Election));
    assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
    assert_eq!(step.outputs(), [Output::Leaderless]);
}

/// S0: "Envia mensagem eleição com seu ID a todos os processos".
#[test]
fn the_first_notes_ask_everybody() {
    let mut p = three(Config { audience: Audience::All, ..Config::default() });
    assert_eq!(p.command(Command::Elect).sent(), to([1, 2, 4, 5], Message::Election));
}

/// S4: "Quando temporizador de respostas expira: envia (COORD,p) para todos os processos".
#[test]
fn silence_is_victory() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    let step = p.timer(Timer::NoAnswer);
    assert_eq!(step.sent(), to([1, 2, 4, 5], Message::Coordinator));
    assert_eq!(step.outputs(), [Output::leads()]);
    assert_eq!(p.process.leader, Some(Address(2)));
}

/// S0: "Se recebe mensagem OK de algum processo, P desiste".
#[test]
fn an_ok_makes_it_give_up_and_wait_for_the_announcement() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    let step = p.message(Address(4), Message::Ok);
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::NoAnswer)));
    assert!(sets(&step, Timer::NoCoordinator, Config::default().coordinator_timeout));
    // The one that said OK dies: start over.
    assert_eq!(p.timer(Timer::NoCoordinator).sent(), to([4, 5], Message::Election));
}

/// S0: "Se ID for maior, envia mensagem OK a P; inicia uma eleição"; "se ID for menor, não faz nada".
#[test]
fn a_better_receiver_says_ok_and_runs_and_a_worse_one_does_nothing() {
    let mut p = three(Config::default());
    let step = p.message(Address(0), Message::Election);
    assert_eq!(step.sent(), [to([1], Message::Ok), to([4, 5], Message::Election)].concat());
    let mut p = three(Config { detector: false, ..Config::default() });
    assert!(p.message(Address(3), Message::Election).is_empty());
}

/// S1: "Ao receber uma mensagem election um processo inicia uma eleição, exceto se já tenha começado".
#[test]
fn who_already_runs_only_says_ok() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    assert_eq!(p.message(Address(1), Message::Election).sent(), to([2], Message::Ok));
}

/// The best process knows that nobody can object.
#[test]
fn the_best_asks_nobody_and_leads_at_once() {
    let mut p = Harness::<Bully>::new(Complete::new(3), 1..=3, Config::default(), Address(2));
    let step = p.command(Command::Elect);
    assert_eq!(step.sent(), to([1, 2], Message::Coordinator));
    assert_eq!(step.outputs(), [Output::leads()]);
}

#[test]
fn a_better_coordinator_is_accepted_and_a_worse_one_is_bullied() {
    let mut p = three(Config::default());
    assert_eq!(p.message(Address(0), Message::Coordinator).sent(), to([4, 5], Message::Election));
    assert_eq!(p.message(Address(4), Message::Coordinator).outputs(), [Output::follows(Id(5))]);
}

/// Two announcements can overtake each other: the better one counts, if it is still true.
#[test]
fn who_hears_of_a_worse_leader_asks_its_own_and_elects_if_that_is_silent() {
    for worse in [1, 4] {
        let mut p = three(Config::default());
        p.message(Address(4), Message::Coordinator);
        let step = p.message(Address(worse - 1), Message::Coordinator);
        assert_eq!((step.sent(), step.outputs()), (to([5], Message::Election), vec![]));
        assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
        assert!(p.message(Address(worse - 1), Message::Coordinator).is_empty(), "it has asked already");
        let mut silent = p.clone();
        let step = p.message(Address(4), Message::Ok);
        assert_eq!(step.effects, [Effect::CancelTimer(Timer::NoAnswer)]);
        assert_eq!(p.process.leader, Some(Address(4)));
        let step = silent.timer(Timer::NoAnswer);
        assert_eq!(step.sent(), to([4, 5], Message::Election));
        assert!(sets(&step, Timer::NoAnswer, Config::default().answer_timeout));
        assert_eq!(silent.message(Address(3), Message::Coordinator).outputs(), [Output::follows(Id(4))]);
    }
}

#[test]
fn without_a_detector_an_announcement_is_believed() {
    let mut p = three(Config { detector: false, leader: Some(Id(5)), ..Config::default() });
    assert_eq!(p.message(Address(3), Message::Coordinator).outputs(), [Output::follows(Id(4))]);
}

/// Or each ELECTION that comes late would begin another wave of elections.
#[test]
fn who_has_a_leader_asks_that_one_before_it_runs() {
    let mut p = three(Config::default());
    p.message(Address(4), Message::Coordinator);
    let step = p.message(Address(0), Message::Election);
    assert_eq!(step.sent(), [to([1], Message::Ok), to([5], Message::Election)].concat());
    assert_eq!(p.message(Address(1), Message::Election).sent(), to([2], Message::Ok));
}

#[test]
fn a_leader_answers_the_one_that_asks_and_objects_before_all() {
    let mut p = three(Config { leader: Some(Id(3)), ..Config::default() });
    let step = p.message(Address(0), Message::Election);
    assert_eq!(step.sent(), [to([1], Message::Ok), to([1], Message::Coordinator)].concat());
    let step = p.message(Address(1), Message::Coordinator);
    assert_eq!(step.sent(), to([1, 2, 4, 5], Message::Coordinator));
    assert_eq!(p.message(Address(3), Message::Election).sent(), to([4], Message::Heard { leads: false }));
}

/// S4: "Se o algoritmo viola a propridade de unicidade, então fica com split-brain".
#[test]
fn who_leads_goes_on_telling_those_that_live_until_they_follow_or_object() {
    let mut p = three(Config::default());
    p.command(Command::Elect);
    p.suspicion(Suspicion::Suspect(Address(4)));
    let wait = Config::default().coordinator_timeout;
    assert!(sets(&p.timer(Timer::NoAnswer), Timer::Unheard, wait));
    assert!(p.message(Address(0), Message::Heard { leads: true }).is_empty(), "two others have not");
    assert!(p.message(Address(1), Message::Heard { leads: false }).is_empty(), "that was before");
    let step = p.timer(Timer::Unheard);
    assert_eq!(step.sent(), to([2, 4], Message::Coordinator));
    assert!(sets(&step, Timer::Unheard, wait));
    p.suspicion(Suspicion::Suspect(Address(3)));
    let step = p.message(Address(1), Message::Heard { leads: true });
    assert_eq!(step.effects, [Effect::CancelTimer(Timer::Unheard)]);
    assert!(p.timer(Timer::Unheard).is_empty());
    // Without a detector silence is all one has to go by.
    let mut p = three(Config { detector: false, ..Config::default() });
    p.command(Command::Elect);
    assert!(!sets(&p.timer(Timer::NoAnswer), Timer::Unheard, wait));
}

/// Or one that missed the announcement of the next leader would follow it for ever.
#[test]
fn who_leads_no_more_goes_on_telling_the_worse_ones_and_so_does_who_recovers() {
    let mut retired = three(Config { leader: Some(Id(3)), ..Config::default() });
    let step = retired.message(Address(4), Message::Coordinator);
    assert_eq!(step.sent(), to([5], Message::Heard { leads: true }));
    let recovered =
        Harness::<Bully>::recovered(Complete::new(5), 1..=5, Config::default(), Address(2), Some(()));
    let wait = Config::default().coordinator_timeout;
    assert!(sets(&step, Timer::Unheard, wait) && sets(recovered.started(), Timer::Unheard, wait));
    for mut p in [retired, recovered] {
        assert_eq!(p.timer(Timer::Unheard).sent(), to([1, 2], Message::Election));
        p.message(Address(0), Message::Heard { leads: false });
        let step = p.message(Address(1), Message::Heard { leads: false });
        assert_eq!(step.effects, [Effect::CancelTimer(Timer::Unheard)]);
    }
}

#[test]
fn who_hears_that_its_leader_holds_an_election_has_none_and_runs() {
    let mut p = three(Config { leader: Some(Id(5)), ..Config::default() });
    assert_eq!(p.message(Address(3), Message::Election).sent(), to([4], Message::Heard { leads: false }));
    let step = p.message(Address(4), Message::Election);
    assert_eq!(
        step.sent(),
        [to([5], Message::Heard { leads: false }), to([4, 5], Message::Election)].concat()
    );
    assert_eq!(step.outputs(), [Output::Leaderless]);
    let mut p = three(Config { leader: Some(Id(5)), detector: false, ..Config::default() });
    assert!(p.message(Address(4), Message::Election).is_empty());
}

/// It is back, and the detector has not said so yet; its followers trust it.
#[test]
fn a_leader_objects_to_a_worse_one_even_if_it_suspects_it() {
    let mut p = three(Config { leader: Some(Id(3)), ..Config::default() });
    p.suspicion(Suspicion::Suspect(Address(1)));
    let step = p.message(Address(1), Message::Coordinator);
    assert_eq!(step.sent(), to([1, 2, 4, 5], Message::Coordinator));
}

#[test]
fn who_is_trusted_again_is_told_or_asked() {
    let back = |p: &mut Harness<Bully>, id: u32| {
        p.suspicion(Suspicion::Suspect(Address(id - 1)));
        p.suspicion(Suspicion::Restore(Address(id - 1))).sent()
    };
    let mut leader = three(Config { leader: Some(Id(3)), ..Config::default() });
    assert_eq!(back(&mut leader, 1), to([1], Message::Coordinator));
    assert_eq!(back(&mut leader, 5), to([5], Message::Coordinator));
    leader.suspicion(Suspicion::Suspect(Address(0)));
    let step = leader.suspicion(Suspicion::Restore(Address(0)));
    assert!(sets(&step, Timer::Unheard, Config::default().coordinator_timeout));
    let mut follower = three(Config { leader: Some(Id(4)), ..Config::default() });
    assert_eq!(back(&mut follower, 2), []);
    assert_eq!(back(&mut follower, 5), to([5], Message::Election));
    let mut asking = three(Config::default());
    assert_eq!(back(&mut asking, 4), [], "nobody has been elected");
    asking.command(Command::Elect);
    assert_eq!(back(&mut asking, 4), to([4], Message::Election));
}

#[test]
fn a_coordinator_that_has_died_since_is_not_accepted() {
    let mut p = three(Config::default());
    p.suspicion(Suspicion::Suspect(Address(4)));
    let step = p.message(Address(4), Message::Coordinator);
    assert_eq!(step.outputs(), []);
    assert_eq!(step.sent(), to([4, 5], Message::Election));
}

/// S4: "Quando um processo falho se recupera: inicia uma eleição".
#[test]
fn a_recovered_process_starts_an_election() {
    let p = Harness::<Bully>::recovered(Complete::new(3), 1..=3, Config::default(), Address(1), Some(()));
    assert_eq!(p.started().sent(), to([3], Message::Election));
}

/// S0: "Retardar início de nova eleição, se ID for pequeno".
#[test]
fn a_worse_process_waits_longer_before_it_starts() {
    let delay = Duration::from_millis(7);
    let mut p = three(Config { delay, ..Config::default() });
    let step = p.command(Command::Elect);
    assert!(step.sent().is_empty() && sets(&step, Timer::Start, delay * 2));
    // A better one is quicker: the election does not take place.
    let step = p.message(Address(4), Message::Coordinator);
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::Start)));
}

/// S4: "no caso de empate, o identificador do processo pode ser usado".
#[test]
fn a_quality_comes_before_the_identifier() {
    let quality = vec![9, 1, 5, 1, 5];
    let mut p = three(Config { quality, ..Config::default() });
    assert_eq!(p.command(Command::Elect).sent(), to([1, 5], Message::Election));
}

/// S4's listing has no rule by which the receiver runs or the yielding process starts over.
#[test]
fn as_printed_the_receiver_only_says_ok_and_an_ok_is_final() {
    let config = Config { variant: Variant::AsPrinted, ..Config::default() };
    let mut p = three(config);
    assert_eq!(p.message(Address(0), Message::Election).sent(), to([1], Message::Ok));
    p.command(Command::Elect);
    assert_eq!(p.message(Address(4), Message::Ok).effects, [Effect::CancelTimer(Timer::NoAnswer)]);
}
