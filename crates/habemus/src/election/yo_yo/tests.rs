//! Each rule of Yo-Yo, on one process.

use std::time::Duration;

use super::*;
use crate::testing::Harness;
use crate::{Effect, Step};

const TWO: Address = Address(1);
const THREE: Address = Address(2);
const SEVEN: Address = Address(3);
const EIGHT: Address = Address(4);

/// The process `id` amid its neighbours 2, 3, 7 and 8.
fn asleep(id: u64, config: Config) -> Harness<YoYo> {
    let star = Graph::new(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]);
    Harness::new(star, [id, 2, 3, 7, 8], config, Address(0))
}

/// As before, when everybody has said hello; and what it does then.
fn greeted(id: u64, config: Config) -> (Harness<YoYo>, Step<YoYo>) {
    let mut p = asleep(id, config);
    p.command(Command::Elect);
    p.message(TWO, Message::Hello(Id(2)));
    p.message(THREE, Message::Hello(Id(3)));
    p.message(SEVEN, Message::Hello(Id(7)));
    let step = p.message(EIGHT, Message::Hello(Id(8)));
    (p, step)
}

fn variant(variant: Variant) -> Config {
    Config { variant, ..Config::default() }
}

/// The internal process 5, which has passed 2 on to 7 and 8.
fn internal(variant: Variant) -> Harness<YoYo> {
    let (mut p, _) = greeted(5, Config { variant, ..Config::default() });
    p.message(TWO, Message::Yo(Id(2)));
    p.message(THREE, Message::Yo(Id(3)));
    p
}

fn yo(id: u64, to: &[Address]) -> Vec<(Address, Message)> {
    to.iter().map(|&to| (to, Message::Yo(Id(id)))).collect()
}

/// S4: "p envia seu identificador para seus vizinhos".
#[test]
fn who_wakes_says_hello_to_its_neighbours_once() {
    let mut p = asleep(5, Config::default());
    let hello = [TWO, THREE, SEVEN, EIGHT].map(|to| (to, Message::Hello(Id(5))));
    assert_eq!(p.command(Command::Elect).sent(), hello);
    assert!(p.command(Command::Elect).is_empty());
    assert_eq!(asleep(5, Config::default()).message(SEVEN, Message::Hello(Id(7))).sent(), hello);
}

/// S4: "Se p>q marca a aresta em que recebeu q como sendo de chegada, senão … de saída".
#[test]
fn links_lead_from_the_lower_to_the_higher_identifier() {
    let (p, _) = greeted(5, Config::default());
    let links = [(TWO, Link::In), (THREE, Link::In), (SEVEN, Link::Out(None)), (EIGHT, Link::Out(None))];
    assert_eq!(p.process.links, links.into());
}

#[test]
fn the_order_can_be_turned_round() {
    let (_, step) = greeted(9, Config { wins: Wins::Highest, ..Config::default() });
    assert_eq!(step.sent(), yo(9, &[TWO, THREE, SEVEN, EIGHT]));
    let (mut p, _) = greeted(5, Config { wins: Wins::Highest, ..Config::default() });
    p.message(SEVEN, Message::Yo(Id(7)));
    assert_eq!(p.message(EIGHT, Message::Yo(Id(8))).sent(), yo(8, &[TWO, THREE]));
}

/// S4, source: "p envia seu identificador em todas as suas arestas de saída".
#[test]
fn a_source_sends_its_identifier_down() {
    let (_, step) = greeted(1, Config::default());
    assert_eq!(step.sent(), yo(1, &[TWO, THREE, SEVEN, EIGHT]));
}

/// S4, internal: "Quando p receber identificadores em todas as suas arestas de entrada: escolhe o menor id
/// recebido m; envia m em todas as suas arestas de saída".
#[test]
fn an_internal_process_waits_for_all_and_passes_the_lowest_down() {
    let (mut p, step) = greeted(5, Config::default());
    assert!(step.is_empty());
    assert!(p.message(THREE, Message::Yo(Id(3))).is_empty());
    assert_eq!(p.message(TWO, Message::Yo(Id(2))).sent(), yo(2, &[SEVEN, EIGHT]));
    assert_eq!(p.process.phase, Phase::Up(Id(2)));
}

/// S4, sink: "envia S para vizinhos de onde recebeu m; envia N para vizinhos de onde recebeu m' ≠ m"; "N
/// inverte a direção das arestas em que trafega".
#[test]
fn a_sink_answers_yes_to_the_lowest_and_no_to_the_others_and_turns_these_links() {
    let (mut p, _) = greeted(9, Config::default());
    for (from, id) in [(TWO, 2), (THREE, 3), (SEVEN, 1)] {
        assert!(p.message(from, Message::Yo(Id(id))).is_empty());
    }
    let step = p.message(EIGHT, Message::Yo(Id(4)));
    let votes = [(TWO, Message::No), (THREE, Message::No), (SEVEN, Message::Yes), (EIGHT, Message::No)];
    assert_eq!(step.sent(), votes);
    let out = Link::Out(None);
    assert_eq!(p.process.links, [(TWO, out), (THREE, out), (SEVEN, Link::In), (EIGHT, out)].into());
}

#[test]
fn an_internal_process_that_heard_only_yes_answers_like_a_sink() {
    let mut p = internal(Variant::Pruned);
    assert!(p.message(SEVEN, Message::Yes).is_empty());
    let step = p.message(EIGHT, Message::Yes);
    assert_eq!(step.sent(), [(TWO, Message::Yes), (THREE, Message::No)]);
}

#[test]
fn an_internal_process_that_heard_a_no_answers_no_everywhere() {
    let mut p = internal(Variant::Pruned);
    p.message(SEVEN, Message::No);
    let step = p.message(EIGHT, Message::Yes);
    assert_eq!(step.sent(), [(TWO, Message::No), (THREE, Message::No)]);
    let out = Link::Out(None);
    assert_eq!(p.process.links, [(TWO, out), (THREE, out), (SEVEN, Link::In), (EIGHT, out)].into());
}

/// S4: "Se recebeu algum S: envia S para vizinhos de onde recebeu m"; "se não recebeu S: envia N".
#[test]
fn by_the_notes_a_single_yes_is_enough() {
    for rule in [Variant::SomeYes, Variant::AsPrinted] {
        let mut p = internal(rule);
        p.message(SEVEN, Message::No);
        let step = p.message(EIGHT, Message::Yes);
        assert_eq!(step.sent(), [(TWO, Message::Yes), (THREE, Message::No)]);
        let mut p = internal(rule);
        p.message(SEVEN, Message::No);
        let step = p.message(EIGHT, Message::No);
        assert_eq!(step.sent(), [(TWO, Message::No), (THREE, Message::No)]);
    }
}

/// S4, source: "Se recebeu apenas S: executa fase 2 novamente".
#[test]
fn a_source_that_heard_only_yes_begins_again_and_one_that_heard_a_no_waits() {
    let (mut p, _) = greeted(1, Config::default());
    for neighbour in [TWO, THREE, SEVEN] {
        assert!(p.message(neighbour, Message::Yes).is_empty());
    }
    let mut other = p.clone();
    let again = p.message(EIGHT, Message::Yes);
    assert_eq!(again.sent(), yo(1, &[TWO, THREE, SEVEN, EIGHT]));
    assert!(other.message(EIGHT, Message::No).is_empty());
    assert_eq!(other.process.links[&EIGHT], Link::In);
    assert_eq!(other.message(EIGHT, Message::Yo(Id(0))).sent(), yo(0, &[TWO, THREE, SEVEN]));
}

/// Pruning: of several links that brought the same, one is kept.
#[test]
fn links_that_brought_the_same_are_struck_out_but_one() {
    let (mut p, _) = greeted(9, Config::default());
    for (from, id) in [(TWO, 1), (THREE, 1), (SEVEN, 1)] {
        p.message(from, Message::Yo(Id(id)));
    }
    let step = p.message(EIGHT, Message::Yo(Id(4)));
    let redundant = Message::Redundant;
    let votes = [(TWO, Message::Yes), (THREE, redundant), (SEVEN, redundant), (EIGHT, Message::No)];
    assert_eq!(step.sent(), votes);
    assert_eq!(p.process.links, [(TWO, Link::In), (EIGHT, Link::Out(None))].into());
}

/// Pruning: a link that brought nothing new is gone at both its ends, and what it said is an answer.
#[test]
fn who_hears_that_a_link_is_redundant_waits_for_the_others_without_it() {
    let mut p = internal(Variant::Pruned);
    assert!(p.message(SEVEN, Message::Redundant).is_empty());
    let step = p.message(EIGHT, Message::Yes);
    assert_eq!(step.sent(), [(TWO, Message::Yes), (THREE, Message::No)]);
    assert!(!p.process.links.contains_key(&SEVEN));
}

/// Pruning: a sink with a single link strikes itself out, and so does who becomes one by this.
#[test]
fn who_has_only_links_that_brought_the_same_leaves() {
    let (mut p, _) = greeted(5, Config::default());
    p.message(TWO, Message::Yo(Id(2)));
    p.message(THREE, Message::Yo(Id(2)));
    p.message(SEVEN, Message::Leaf);
    let step = p.message(EIGHT, Message::Redundant);
    assert_eq!(step.sent(), [(TWO, Message::Leaf), (THREE, Message::Redundant)]);
    assert_eq!((p.process.phase, p.process.links.len()), (Phase::Over, 0));
    // Only 7 left as a leaf; 8 has another link, through which it will hear.
    let step = p.message(TWO, Message::Elected(Id(2)));
    assert_eq!(step.outputs(), [Output::follows(Id(2))]);
    assert_eq!(step.sent(), [(SEVEN, Message::Elected(Id(2)))]);
    assert!(p.message(TWO, Message::Elected(Id(2))).is_empty());
}

#[test]
fn a_no_keeps_its_link_whatever_else_brought_the_same() {
    let (mut p, _) = greeted(5, Config::default());
    p.message(TWO, Message::Yo(Id(2)));
    p.message(THREE, Message::Yo(Id(2)));
    p.message(SEVEN, Message::No);
    let step = p.message(EIGHT, Message::Leaf);
    assert_eq!(step.sent(), [(TWO, Message::No), (THREE, Message::No)]);
    // Otherwise a process could be left with outgoing links alone, and pass for a source.
    assert_eq!(p.process.links[&SEVEN], Link::In);
}

#[test]
fn a_source_without_links_leads_and_tells_its_children() {
    let (mut p, _) = greeted(1, Config::default());
    for neighbour in [TWO, THREE, SEVEN] {
        p.message(neighbour, Message::Leaf);
    }
    let step = p.message(EIGHT, Message::Redundant);
    let tell = |to| Effect::Send { to, message: Message::Elected(Id(1)) };
    assert_eq!(step.effects, [Effect::Output(Output::leads()), tell(TWO), tell(THREE), tell(SEVEN)]);
}

#[test]
fn who_is_alone_leads_at_once() {
    let mut p = Harness::<YoYo>::new(Graph::new(1, &[]), [4], Config::default(), Address(0));
    assert_eq!(p.command(Command::Elect).effects, [Effect::Output(Output::leads())]);
}

#[test]
fn as_printed_no_link_is_struck_out_and_nobody_ever_leads() {
    let (mut p, _) = greeted(9, variant(Variant::AsPrinted));
    for from in [TWO, THREE, SEVEN] {
        p.message(from, Message::Yo(Id(1)));
    }
    let step = p.message(EIGHT, Message::Yo(Id(1)));
    assert_eq!(step.sent(), [TWO, THREE, SEVEN, EIGHT].map(|to| (to, Message::Yes)));
    let graph = Graph::new(1, &[]);
    let mut alone = Harness::<YoYo>::new(graph, [4], variant(Variant::AsPrinted), Address(0));
    assert!(alone.command(Command::Elect).is_empty());
}

#[test]
fn the_mutant_strikes_out_the_links_of_those_that_lost() {
    let (mut p, _) = greeted(9, variant(Variant::MutantPruneUnequal));
    for (from, id) in [(TWO, 2), (THREE, 3), (SEVEN, 1)] {
        p.message(from, Message::Yo(Id(id)));
    }
    let redundant = Message::Redundant;
    let votes = [(TWO, Message::Leaf), (THREE, redundant), (SEVEN, redundant), (EIGHT, redundant)];
    assert_eq!(p.message(EIGHT, Message::Yo(Id(1))).sent(), votes);
}

#[test]
fn an_identifier_may_overtake_the_hello() {
    let mut p = asleep(5, Config::default());
    p.message(TWO, Message::Yo(Id(2)));
    for (from, id) in [(THREE, 3), (SEVEN, 7), (EIGHT, 8)] {
        p.message(from, Message::Hello(Id(id)));
    }
    p.message(THREE, Message::Yo(Id(3)));
    assert_eq!(p.message(TWO, Message::Hello(Id(2))).sent(), yo(2, &[SEVEN, EIGHT]));
}

#[test]
fn an_identifier_may_overtake_the_no_that_turned_its_link() {
    let mut p = internal(Variant::Pruned);
    assert!(p.message(SEVEN, Message::Yo(Id(1))).is_empty());
    p.message(EIGHT, Message::Yes);
    let step = p.message(SEVEN, Message::No);
    let no = vec![(TWO, Message::No), (THREE, Message::No)];
    assert_eq!(step.sent(), [no, yo(1, &[TWO, THREE, EIGHT])].concat());
}

#[test]
fn what_comes_twice_or_out_of_place_changes_nothing() {
    let mut p = internal(Variant::Pruned);
    let before = p.process.clone();
    assert!(p.message(SEVEN, Message::Hello(Id(7))).is_empty());
    assert!(p.message(TWO, Message::No).is_empty());
    assert_eq!(p.process, before);
    p.message(SEVEN, Message::Yes);
    let before = p.process.clone();
    assert!(p.message(SEVEN, Message::No).is_empty());
    assert_eq!(p.process, before);
}

#[test]
fn a_link_without_a_hello_is_given_up_if_so_asked() {
    let timeout = Duration::from_millis(100);
    let mut p = asleep(5, Config { hello_timeout: Some(timeout), ..Config::default() });
    let wait = Effect::SetTimer { timer: Timer::NoHello, after: timeout.into() };
    assert!(p.command(Command::Elect).effects.contains(&wait));
    p.message(SEVEN, Message::Hello(Id(7)));
    p.message(EIGHT, Message::Hello(Id(8)));
    assert_eq!(p.timer(Timer::NoHello).sent(), yo(5, &[SEVEN, EIGHT]));
    // Too late: the link counts as broken.
    assert!(p.message(TWO, Message::Hello(Id(2))).is_empty());
    assert!(p.message(TWO, Message::Yo(Id(2))).is_empty());
}

#[test]
fn when_all_have_said_hello_nothing_is_waited_for() {
    let (_, step) = greeted(1, Config { hello_timeout: Some(Duration::from_secs(1)), ..Config::default() });
    assert!(step.effects.contains(&Effect::CancelTimer(Timer::NoHello)));
}
