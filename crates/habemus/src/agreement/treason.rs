//! Traitors: processes that follow the protocol in everything but the truth.
//!
//! A traitor sends when the protocol says so, and to whom, but what it says is a lie: scripted, or a free
//! choice for each message. The model checker takes every branch of such a choice, so it sees every run that
//! these traitors can cause. (A message that the protocol does not foresee would be ignored anyway.)

use std::collections::BTreeSet;

use super::Value;
use crate::{Address, Context, Process};

/// Who betrays, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Treason {
    /// The traitors.
    pub traitors: BTreeSet<Address>,
    /// What they say.
    pub lies: Lies,
}

/// What traitors say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lies {
    /// An order chosen anew for each message.
    #[default]
    Drawn,
    /// The same to the same process each time, by address.
    Scripted(Vec<Lie>),
}

/// What a traitor does with something that it should pass on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// It says this instead.
    Say(Value),
    /// It passes it on as it is.
    Truth,
    /// It says nothing.
    Silence,
}

impl Lie {
    /// The lie that people write as `attack`, `retreat`, a number, `truth` or `silence`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "truth" => Some(Lie::Truth),
            "silence" => Some(Lie::Silence),
            value => Value::parse(value).map(Lie::Say),
        }
    }
}

impl Treason {
    /// Whether `process` is a traitor.
    pub fn is_traitor(&self, process: Address) -> bool {
        self.traitors.contains(&process)
    }

    /// What the process of `cx` says to `to` where the truth is `truth`; `None` if it keeps silent. Whoever
    /// hears nothing takes it for an order to retreat, so silence need not be drawn where it cannot be told
    /// from one.
    pub(super) fn told<P: Process>(
        &self,
        truth: Value,
        to: Address,
        silence_is_drawn: bool,
        cx: &mut Context<'_, P>,
    ) -> Option<Value> {
        if !self.is_traitor(cx.me()) {
            return Some(truth);
        }
        let lie = match &self.lies {
            Lies::Scripted(lies) => lies.get(to.index()).copied().unwrap_or(Lie::Truth),
            Lies::Drawn => match cx.choose(if silence_is_drawn { 3 } else { 2 }) {
                0 => Lie::Say(Value::Retreat),
                1 => Lie::Say(Value::Attack),
                _ => Lie::Silence,
            },
        };
        match lie {
            Lie::Say(value) => Some(value),
            Lie::Truth => Some(truth),
            Lie::Silence => None,
        }
    }
}
