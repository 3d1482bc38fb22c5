//! What generals tell each other about orders, and what one of them makes of it: the heart of OM(m).
//!
//! A *path* tells how an order came: `[1, 3, 4]` is "4 says that 3 said that 1 ordered". Lamport's recursive
//! OM(m) unrolled: in pulse k everyone passes on what it has heard over paths of length k, and in the end it
//! judges each path by the majority of what was heard over it directly and of what the others say about it.

use std::collections::BTreeMap;
use std::fmt;

use super::Value;
use super::treason::Treason;
use crate::topology::Complete;
use crate::{Address, Context, Id, Process};

/// What generals send each other.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Message {
    /// "The order that came over this path, of which I am the last, is this." The commander's own has a path
    /// of one. Who receives it passes it on to all that are not yet on the path, until m+1 are.
    Order {
        /// Those who have passed it on, the commander first.
        path: Vec<Id>,
        /// The order.
        value: Value,
    },
}
crate::kinds!(Message: Order);

/// As Lamport writes it: `attack:1:3`.
impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message::Order { path, value } = self;
        write!(f, "{value}")?;
        path.iter().try_for_each(|id| write!(f, ":{id}"))
    }
}

/// What one general has heard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hearsay {
    heard: BTreeMap<Vec<Id>, Value>,
}

/// Something to be sent.
pub(super) type Letter = (Address, Message);

impl Hearsay {
    /// Takes note of the messages of the last pulse, which has the number `length` − 1. What does not come
    /// over a path of this length that ends with its sender is no message of the protocol and counts nothing;
    /// neither does a second one over the same path.
    pub(super) fn hear(&mut self, length: usize, arrived: impl IntoIterator<Item = (Id, Message)>, me: Id) {
        for (from, Message::Order { path, value }) in arrived {
            let proper = path.len() == length && path.last() == Some(&from);
            if proper && is_path(&path) && !path.contains(&me) {
                self.heard.entry(path).or_insert(value);
            }
        }
    }

    /// An order of mine: to all, as a traitor would or as it is.
    pub(super) fn order<P: Process<Topology = Complete>>(
        value: Value,
        treason: &Treason,
        cx: &mut Context<'_, P>,
    ) -> Vec<Letter> {
        letters(&[], value, treason, cx)
    }

    /// What I pass on of what came over paths of this length from these commanders. Of those that said
    /// nothing I say that they ordered to retreat.
    pub(super) fn passed_on<P: Process<Topology = Complete>>(
        &self,
        commanders: &[Id],
        length: usize,
        treason: &Treason,
        cx: &mut Context<'_, P>,
    ) -> Vec<Letter> {
        let mut sent = Vec::new();
        for path in paths(commanders, length, &others(cx)) {
            let value = self.direct(&path);
            sent.extend(letters(&path, value, treason, cx));
        }
        sent
    }

    /// What this commander has ordered, as far as OM(m) can tell.
    pub(super) fn judge(&self, commander: Id, m: usize, others: &[Id]) -> Value {
        self.judge_path(&mut vec![commander], m, others)
    }

    /// What came over `path`: the majority of what I heard and of what the others say that they heard.
    fn judge_path(&self, path: &mut Vec<Id>, m: usize, others: &[Id]) -> Value {
        let mut votes = vec![self.direct(path)];
        for &other in others.iter().filter(|_| m > 0) {
            if !path.contains(&other) {
                path.push(other);
                votes.push(self.judge_path(path, m - 1, others));
                path.pop();
            }
        }
        majority(&votes)
    }

    /// What I was told over this path; silence is an order to retreat.
    pub(super) fn direct(&self, path: &[Id]) -> Value {
        self.heard.get(path).copied().unwrap_or(Value::Retreat)
    }
}

/// The letters in which I say to all that are not on `path` that `value` came over it.
fn letters<P: Process<Topology = Complete>>(
    path: &[Id],
    value: Value,
    treason: &Treason,
    cx: &mut Context<'_, P>,
) -> Vec<Letter> {
    let mut longer = path.to_vec();
    longer.push(cx.id());
    let mut letters = Vec::new();
    for to in cx.neighbours() {
        if !path.contains(&cx.id_of(to))
            && let Some(value) = treason.told(value, to, false, cx)
        {
            letters.push((to, Message::Order { path: longer.clone(), value }));
        }
    }
    letters
}

/// Those that I can hear of something from.
pub(super) fn others<P: Process<Topology = Complete>>(cx: &Context<'_, P>) -> Vec<Id> {
    cx.neighbours().map(|other| cx.id_of(other)).collect()
}

/// Every path of this length over which I may hear of one of these commanders.
fn paths(commanders: &[Id], length: usize, others: &[Id]) -> Vec<Vec<Id>> {
    let of_another = commanders.iter().filter(|commander| others.contains(commander));
    let mut paths: Vec<Vec<Id>> = of_another.map(|commander| vec![*commander]).collect();
    for _ in 1..length {
        let longer = |path: Vec<Id>| {
            let next: Vec<Id> = others.iter().copied().filter(|other| !path.contains(other)).collect();
            next.into_iter().map(move |other| path.iter().copied().chain([other]).collect())
        };
        paths = paths.into_iter().flat_map(longer).collect();
    }
    paths
}

/// Nobody passes on twice.
fn is_path(path: &[Id]) -> bool {
    path.iter().enumerate().all(|(index, id)| !path[..index].contains(id))
}

/// What more than half say; retreat if no order has so many voices.
fn majority(votes: &[Value]) -> Value {
    let voices = |value: &Value| votes.iter().filter(|other| *other == value).count();
    votes.iter().copied().find(|value| 2 * voices(value) > votes.len()).unwrap_or(Value::Retreat)
}

/// The messages of one commander's OM(m) among `n` generals: (n−1) + (n−1)(n−2) + … + (n−1)(n−2)⋯(n−m−1).
pub(crate) fn messages(n: usize, m: usize) -> f64 {
    let mut total = 0.0;
    let mut round = 1.0;
    for pulse in 1..=m + 1 {
        round *= n.saturating_sub(pulse) as f64;
        total += round;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_majority_needs_more_than_half() {
        let (attack, retreat) = (Value::Attack, Value::Retreat);
        assert_eq!(majority(&[attack, attack, retreat]), attack);
        assert_eq!(majority(&[attack, retreat]), retreat);
        assert_eq!(majority(&[attack, Value::Number(1), Value::Number(2)]), retreat);
        assert_eq!(majority(&[attack]), attack);
    }

    #[test]
    fn messages_are_counted_as_lamport_does() {
        assert_eq!(messages(4, 0), 3.0);
        assert_eq!(messages(4, 1), 9.0);
        assert_eq!(messages(7, 2), 156.0);
        assert_eq!(messages(2, 3), 1.0);
        assert_eq!(messages(1, 1), 0.0);
    }

    #[test]
    fn messages_over_impossible_paths_count_nothing() {
        let order = |path: &[u64]| {
            let path = path.iter().copied().map(Id).collect();
            (Id(3), Message::Order { path, value: Value::Attack })
        };
        let mut hearsay = Hearsay::default();
        for length in 1..3 {
            let arrived = [&[1, 3][..], &[1], &[], &[2], &[2, 3], &[3, 3], &[3, 2]].map(order);
            hearsay.hear(length, arrived, Id(2));
        }
        // Only "3 says what 1 ordered" can have come from 3 to 2.
        assert_eq!(hearsay.heard, BTreeMap::from([(vec![Id(1), Id(3)], Value::Attack)]));
    }

    #[test]
    fn of_two_messages_over_one_path_the_first_counts() {
        let order = |value| (Id(1), Message::Order { path: vec![Id(1)], value });
        let mut hearsay = Hearsay::default();
        hearsay.hear(1, [order(Value::Attack), order(Value::Retreat)], Id(2));
        assert_eq!(hearsay.direct(&[Id(1)]), Value::Attack);
    }

    /// Lamport's figure 3: the commander attacks, 4 says that he did not, and the majority is right.
    #[test]
    fn one_traitor_among_four_is_outvoted() {
        let order = |path: &[u64], value| {
            let path: Vec<Id> = path.iter().copied().map(Id).collect();
            (path[path.len() - 1], Message::Order { path, value })
        };
        let mut hearsay = Hearsay::default();
        hearsay.hear(1, [order(&[1], Value::Attack)], Id(2));
        hearsay.hear(2, [order(&[1, 3], Value::Attack), order(&[1, 4], Value::Retreat)], Id(2));
        assert_eq!(hearsay.judge(Id(1), 1, &[Id(1), Id(3), Id(4)]), Value::Attack);
    }

    #[test]
    fn an_order_is_shown_as_lamport_writes_it() {
        let message = Message::Order { path: vec![Id(1), Id(3)], value: Value::Attack };
        assert_eq!(format!("{message:?}"), "attack:1:3");
    }
}
