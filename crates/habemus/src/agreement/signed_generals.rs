//! Byzantine generals with signed messages, SM(m) (S1 poses the problem; L. Lamport, R. Shostak and M. Pease,
//! *The Byzantine Generals Problem*, 1982).
//!
//! If a general's signature cannot be forged, a traitor can no longer say that he heard what he did not.
//! Every order carries the signatures of all who passed it on; whoever gets one that is new to him adds his
//! own and passes it on, for m+1 rounds. In the end all loyal generals know the same orders: if it is one,
//! they obey it; if the commander signed two, or none, they retreat. This withstands any number m of
//! traitors, where oral messages need n ≥ 3m+1. An order whose signatures are not what they should be is
//! refused. (n−1)² messages, exactly, if all are loyal and m > 0.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::treason::Treason;
use super::{Agreement, Command, Output, Value};
use crate::rounds::{Next, Pulse, Round, Synchronous};
use crate::signatures::{Signature, Signatures};
use crate::topology::Complete;
use crate::{Address, Context, Id};

/// Who commands whom with which keys, how much treason to withstand, and how much there is.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whose rules.
    pub variant: Variant,
    /// How many traitors to withstand.
    pub m: usize,
    /// Who commands.
    pub commander: Address,
    /// Who betrays.
    pub treason: Treason,
    /// The keys.
    pub signatures: Arc<dyn Signatures>,
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Lamport's.
    Signed,
    /// A mutant: nobody looks at the signatures, kept to show that the checker catches it.
    MutantNoVerification,
}

/// What generals send each other.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "This is an order, signed by the commander and by all who passed it on." Who receives an order that is
    /// new to him adds his signature and passes it on to all who have not signed, until m+1 have.
    Order {
        /// The order.
        value: Value,
        /// Who signed, the commander first, and how.
        signatures: Vec<(Id, Signature)>,
    },
}
crate::kinds!(Message: Order);

/// As Lamport writes it: `attack:1:3`.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message::Order { value, signatures } = self;
        write!(f, "{value}")?;
        signatures.iter().try_for_each(|(id, _)| write!(f, ":{id}"))
    }
}

/// The variables of one general.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SignedGenerals {
    /// What the application wants to order. It counts for the commander alone, and before the first pulse.
    pub told: Option<Command>,
    /// The orders that he has seen, properly signed: Lamport's V.
    pub orders: BTreeSet<Value>,
}

impl Round for SignedGenerals {
    type Problem = Agreement;
    type Topology = Complete;
    type Config = Config;
    type Message = Message;

    fn start(cx: &mut Context<'_, Synchronous<Self>>) -> Self {
        if cx.config().treason.is_traitor(cx.me()) {
            cx.output(Output::Betrays);
        }
        SignedGenerals::default()
    }

    fn on_command(&mut self, command: Command) {
        self.told.get_or_insert(command);
    }

    fn on_pulse(
        &mut self,
        pulse: u32,
        arrived: Vec<(Address, Message)>,
        cx: &mut Pulse<'_, '_, Self>,
    ) -> Next {
        let config = cx.context().config();
        if pulse == 0 && cx.context().me() == config.commander {
            self.order(cx);
        }
        for (from, message) in arrived {
            self.on_order(from, pulse as usize, message, cx);
        }
        if pulse as usize <= config.m {
            return Next::Continue;
        }
        self.obey(cx);
        Next::Halt
    }
}

impl SignedGenerals {
    /// A general who is told to propose, and not what, orders to attack.
    fn order(&mut self, cx: &mut Pulse<'_, '_, Self>) {
        let Some(Command::Propose(value)) = self.told else { return };
        let value = value.unwrap_or(Value::Attack);
        cx.output(Output::Proposed(value));
        self.orders.insert(value);
        pass_on(value, &[], cx);
    }

    /// An order with `length` signatures, as it must have in this pulse: one with fewer may have been held
    /// back, so that too little time is left to tell the others.
    fn on_order(&mut self, from: Address, length: usize, message: Message, cx: &mut Pulse<'_, '_, Self>) {
        let Message::Order { value, signatures } = message;
        let from = cx.context().id_of(from);
        let Config { variant, m, .. } = cx.context().config();
        if *variant == Variant::Signed && !is_proper(value, &signatures, from, length, cx) {
            cx.output(Output::Refused(from));
            return;
        }
        if self.orders.insert(value) && length <= *m {
            pass_on(value, &signatures, cx);
        }
    }

    /// Lamport's choice: the only order there is; or to retreat, if there is none or more than one.
    fn obey(&self, cx: &mut Pulse<'_, '_, Self>) {
        let mut orders = self.orders.iter();
        let order = match (orders.next(), orders.next()) {
            (Some(only), None) => *only,
            _ => Value::Retreat,
        };
        if !cx.context().config().treason.is_traitor(cx.context().me()) {
            cx.output(Output::Decided(order));
        }
    }
}

/// Adds my signature and sends it to all who have not signed. A traitor may sign what he likes, but the
/// signatures of the others are for the order that they saw.
fn pass_on(value: Value, signatures: &[(Id, Signature)], cx: &mut Pulse<'_, '_, SignedGenerals>) {
    let Config { treason, signatures: keys, .. } = cx.context().config();
    let me = cx.context().id();
    for to in cx.context().neighbours() {
        let id = cx.context().id_of(to);
        if signatures.iter().any(|(signer, _)| *signer == id) {
            continue;
        }
        // Silence is not an order to retreat here: who has heard of another order obeys that.
        let Some(value) = treason.told(value, to, true, cx.context()) else { continue };
        // Without a key nobody can pass anything on; the others take it for silence.
        let Some(signature) = keys.sign(me, &statement(value, signatures)) else { continue };
        let signatures = signatures.iter().cloned().chain([(me, signature)]).collect();
        cx.send(to, Message::Order { value, signatures });
    }
}

/// Whether these are the signatures of `length` different generals other than me, the commander first and the
/// sender last, each of the order and of all signatures before.
fn is_proper(
    value: Value,
    signatures: &[(Id, Signature)],
    from: Id,
    length: usize,
    cx: &mut Pulse<'_, '_, SignedGenerals>,
) -> bool {
    let cx = cx.context();
    let Config { commander, signatures: keys, .. } = cx.config();
    let signers: BTreeSet<Id> = signatures.iter().map(|(signer, _)| *signer).collect();
    signatures.len() == length
        && signers.len() == length
        && !signers.contains(&cx.id())
        && signatures.first().is_some_and(|(signer, _)| *signer == cx.id_of(*commander))
        && signatures.last().is_some_and(|(signer, _)| *signer == from)
        && signatures.iter().enumerate().all(|(place, (signer, signature))| {
            keys.verify(*signer, &statement(value, &signatures[..place]), signature)
        })
}

/// What is signed: the order, and who has signed it so far and how.
fn statement(value: Value, signatures: &[(Id, Signature)]) -> Vec<u8> {
    let mut statement = b"habemus order".to_vec();
    match value {
        Value::Retreat => statement.push(0),
        Value::Attack => statement.push(1),
        Value::Number(number) => {
            statement.push(2);
            statement.extend(number.to_be_bytes());
        }
    }
    for (Id(signer), Signature(signature)) in signatures {
        statement.extend(signer.to_be_bytes());
        statement.extend((signature.len() as u64).to_be_bytes());
        statement.extend(signature);
    }
    statement
}

#[cfg(test)]
mod tests;
