//! The rules, one by one, with a toy in the place of cryptography.

use super::*;
use crate::Process;
use crate::agreement::lockstep::lockstep;
use crate::agreement::treason::{Lie, Lies};
use crate::rounds::Beat;
use crate::testing::Harness;

type P = Synchronous<SignedGenerals>;

/// A signature that anybody could forge who knew how; the generals of these tests do not.
#[derive(Debug)]
struct Toy;

impl Signatures for Toy {
    fn sign(&self, signer: Id, statement: &[u8]) -> Option<Signature> {
        let mixed = statement
            .iter()
            .fold(signer.0 + 1, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x1_0000_01b3));
        Some(Signature(mixed.to_be_bytes().to_vec()))
    }

    fn verify(&self, signer: Id, statement: &[u8], signature: &Signature) -> bool {
        self.sign(signer, statement).as_ref() == Some(signature)
    }
}

/// With these traitors, by identifier, who say this to 1, 2, 3, …
fn config(m: usize, traitors: &[u32], lies: &[Lie]) -> Config {
    let lies = if lies.is_empty() { Lies::Drawn } else { Lies::Scripted(lies.to_vec()) };
    let traitors = traitors.iter().map(|id| Address(id - 1)).collect();
    let treason = Treason { traitors, lies };
    Config { variant: Variant::Signed, m, commander: Address(0), treason, signatures: Arc::new(Toy) }
}

/// The general with this identifier of 1 … 4; 1 commands.
fn general(id: u32, config: Config) -> Harness<P> {
    Harness::new(Complete::new(4), 1..=4, config, Address(id - 1))
}

const ATTACK: Command = Command::Propose(Some(Value::Attack));

fn shown(sent: &[(Address, <P as Process>::Message)]) -> Vec<(u32, String)> {
    sent.iter().map(|(to, message)| (to.0 + 1, format!("{message:?}"))).collect()
}

/// What 1 sends 2 in the first pulse, with these lies.
fn first_letter(config: Config) -> <P as Process>::Message {
    let mut p = general(1, config);
    p.command(ATTACK);
    p.timer(Beat).sent().swap_remove(0).1
}

/// What the generals told their applications.
fn battle(config: &Config, choices: &[(u32, Vec<u32>)]) -> Vec<Vec<Output>> {
    lockstep::<SignedGenerals>(4, config, &[(0, ATTACK)], choices)
}

fn decisions(outputs: &[Vec<Output>]) -> Vec<Output> {
    outputs.iter().flatten().filter(|output| output.decision().is_some()).cloned().collect()
}

/// Lamport: "(1) The commander signs and sends his value to every lieutenant."
#[test]
fn the_commander_signs_and_sends_his_order() {
    let mut p = general(1, config(1, &[], &[]));
    p.command(ATTACK);
    let step = p.timer(Beat);
    assert_eq!(shown(&step.sent()), [2, 3, 4].map(|to| (to, "attack:1".to_owned())));
    assert_eq!(step.outputs(), [Output::Proposed(Value::Attack)]);
}

/// Lamport: "(2A) … he lets V_i equal {v}; he sends the message v:0:i to every other lieutenant."
#[test]
fn a_lieutenant_signs_and_passes_on_what_is_new_to_him() {
    let mut p = general(2, config(1, &[], &[]));
    p.timer(Beat);
    p.message(Address(0), first_letter(config(1, &[], &[])));
    assert_eq!(shown(&p.timer(Beat).sent()), [3, 4].map(|to| (to, "attack:1:2".to_owned())));
}

/// Lamport: "(2B) … if k < m, then he sends the message v:0:j1:…:jk:i"; with m = 0 nobody passes anything on.
#[test]
fn after_m_signatures_nothing_is_passed_on() {
    let mut p = general(2, config(0, &[], &[]));
    p.timer(Beat);
    p.message(Address(0), first_letter(config(0, &[], &[])));
    let step = p.timer(Beat);
    assert!(step.sent().is_empty());
    assert_eq!(step.outputs(), [Output::Decided(Value::Attack)]);
}

/// Lamport: "A loyal general's signature cannot be forged, and any alteration of the contents of his signed
/// messages can be detected."
#[test]
fn an_altered_order_is_refused() {
    let traitor = config(1, &[3], &[Lie::Say(Value::Retreat); 4]);
    let outputs = battle(&traitor, &[]);
    for loyal in [1, 3] {
        assert_eq!(outputs[loyal], [Output::Refused(Id(3)), Output::Decided(Value::Attack)]);
    }
    // The mutant believes it, and no longer knows what to do.
    let outputs = battle(&Config { variant: Variant::MutantNoVerification, ..traitor }, &[]);
    assert_eq!(outputs[1], [Output::Decided(Value::Retreat)]);
}

/// Lamport's figure 5: a commander who signs two orders is known to be a traitor.
#[test]
fn a_commander_who_signs_two_orders_is_not_obeyed() {
    let lies = [Lie::Truth, Lie::Say(Value::Attack), Lie::Say(Value::Retreat), Lie::Say(Value::Attack)];
    assert_eq!(decisions(&battle(&config(1, &[1], &lies), &[])), vec![Output::Decided(Value::Retreat); 3]);
}

/// Lamport: "For any m, Algorithm SM(m) solves the Byzantine Generals Problem if there are at most m
/// traitors", here even one among three and two among four.
#[test]
fn no_lie_divides_the_loyal() {
    let choices =
        |count: u32, number: u32| (0..count).map(|place| number / 3_u32.pow(place) % 3).collect::<Vec<u32>>();
    for number in 0..27 {
        let decisions = decisions(&battle(&config(1, &[1], &[]), &[(0, choices(3, number))]));
        assert!(decisions.len() == 3 && decisions.iter().all(|order| *order == decisions[0]), "{number}");
    }
    for number in 0..3_u32.pow(7) {
        let lies = [(0, choices(3, number)), (1, choices(4, number / 27))];
        let decisions = decisions(&battle(&config(2, &[1, 2], &[]), &lies));
        assert!(decisions.len() == 2 && decisions[0] == decisions[1], "{number}: {decisions:?}");
    }
}

/// With more traitors than m the last of them can reveal an order too late.
#[test]
fn two_traitors_divide_the_loyal_if_only_one_was_expected() {
    // 1 orders 2 alone, who tells 3 alone, in the last round.
    let too_few = config(1, &[1, 2], &[]);
    let (attack, silence) = (1, 2);
    let choices = [(0, vec![attack, silence, silence]), (1, vec![attack, silence])];
    let divided = decisions(&battle(&too_few, &choices));
    assert_eq!(divided, [Value::Attack, Value::Retreat].map(Output::Decided));
    let united = decisions(&battle(&Config { m: 2, ..too_few }, &choices));
    assert_eq!(united, [Value::Attack, Value::Attack].map(Output::Decided));
}

#[test]
fn orders_that_are_not_what_they_should_be_are_refused() {
    let keys = Toy;
    let sign = |signers: &[u64]| {
        let mut signatures = Vec::new();
        for &signer in signers {
            let signature =
                keys.sign(Id(signer), &statement(Value::Attack, &signatures)).expect("toys can sign");
            signatures.push((Id(signer), signature));
        }
        signatures
    };
    let mut round = SignedGenerals::default();
    // In the second pulse: held back, not by the commander, by oneself, twice the same, not by the sender,
    // nobody's.
    for signers in [&[1][..], &[3, 4], &[1, 2], &[1, 1], &[1, 4], &[]] {
        let message = Message::Order { value: Value::Attack, signatures: sign(signers) };
        let step = deliver(&mut round, 2, Address(2), message);
        assert_eq!(step, [Output::Refused(Id(3))], "{signers:?}");
    }
    let proper = Message::Order { value: Value::Attack, signatures: sign(&[1, 3]) };
    assert_eq!(deliver(&mut round, 2, Address(2), proper), [Output::Decided(Value::Attack)]);
}

/// Lets general 2 take a pulse in which this arrives.
fn deliver(round: &mut SignedGenerals, pulse: u32, from: Address, message: Message) -> Vec<Output> {
    use crate::{Step, System};
    let ids: Vec<Id> = (1..=4).map(Id).collect();
    let system: System<P> =
        System::new(Complete::new(4), ids, config(1, &[], &[])).expect("it is well formed");
    let mut step = Step::default();
    let mut chooser = |_: u32| 0;
    let mut cx = Context::new(Address(1), &system, std::time::Duration::ZERO, &mut step, &mut chooser);
    let mut pulsed = Pulse::new(&mut cx, pulse);
    round.on_pulse(pulse, vec![(from, message)], &mut pulsed);
    let outputs = step.outputs();
    // What is refused does not keep it from deciding when its time has come.
    outputs.into_iter().filter(|output| !matches!(output, Output::Decided(Value::Retreat))).collect()
}
