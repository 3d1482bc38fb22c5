//! How long messages took, measured from a trace.

use std::collections::BTreeMap;

use crate::{Dropped, Happening, MessageId, Trace};

/// What became of the messages of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageDelays {
    /// From sending to the first delivery, in nanoseconds, in the order of delivery.
    pub delays: Vec<u64>,
    /// Lost by chance or on a cut link.
    pub lost: u64,
    /// Sent to a process that was down: they say nothing of the network.
    pub to_the_dead: u64,
    /// Still on their way when the trace ends.
    pub under_way: u64,
}

impl MessageDelays {
    /// Follows every message of the trace, or those of one kind.
    pub fn of(trace: &Trace, kind: Option<&str>) -> Self {
        let mut result = MessageDelays::default();
        let mut sent: BTreeMap<MessageId, u64> = BTreeMap::new();
        for record in &trace.records {
            let Some(message) = record.message() else { continue };
            match &record.what {
                Happening::Send { kind: sort, .. } if kind.is_none_or(|kind| *sort == *kind) => {
                    sent.insert(message, record.at);
                }
                // What is duplicated counts once: the first decides.
                Happening::Deliver { .. } => {
                    if let Some(at) = sent.remove(&message) {
                        result.delays.push(record.at.saturating_sub(at));
                    }
                }
                Happening::Drop { why, .. } if sent.remove(&message).is_some() => match why {
                    Dropped::Loss | Dropped::Cut => result.lost += 1,
                    Dropped::Down => result.to_the_dead += 1,
                },
                _ => {}
            }
        }
        result.under_way = sent.len() as u64;
        result
    }
}

#[cfg(test)]
mod tests {
    use habemus::ProblemKind;

    use super::*;
    use crate::{Header, Record};

    fn trace(events: Vec<(u64, Happening)>) -> Trace {
        let header = Header {
            format: crate::FORMAT,
            algorithm: "bully".to_owned(),
            problem: ProblemKind::Election,
            title: None,
            processes: vec![1, 2],
            topology: "complete".to_owned(),
            seed: None,
            origin: None,
            cycle: None,
        };
        let record = |(at, what)| Record { at, process: Some(1), clock: BTreeMap::new(), what };
        Trace { header, records: events.into_iter().map(record).collect() }
    }

    fn send(message: u64, kind: &str) -> Happening {
        let (kind, label) = (kind.into(), kind.into());
        Happening::Send { message, to: 2, kind, label, background: false }
    }

    fn deliver(message: u64) -> Happening {
        let (kind, label) = ("Any".into(), "Any".into());
        Happening::Deliver { message, from: 1, kind, label, background: false }
    }

    fn lose(message: u64, why: Dropped) -> Happening {
        Happening::Drop { message, from: 1, why }
    }

    #[test]
    fn every_message_comes_to_one_end() {
        let trace = trace(vec![
            (0, send(0, "Election")),
            (1, send(1, "Ok")),
            (2, send(2, "Ok")),
            (2, send(3, "Election")),
            (3, send(4, "Election")),
            (3, lose(2, Dropped::Loss)),
            (5, deliver(0)),
            (7, deliver(1)),
            // Once more, and one that nobody sent.
            (8, deliver(1)),
            (8, deliver(99)),
            (9, lose(3, Dropped::Down)),
        ]);
        let all = MessageDelays::of(&trace, None);
        assert_eq!(all, MessageDelays { delays: vec![5, 6], lost: 1, to_the_dead: 1, under_way: 1 });
        let some = MessageDelays::of(&trace, Some("Ok"));
        assert_eq!(some, MessageDelays { delays: vec![6], lost: 1, ..MessageDelays::default() });
    }
    #[test]
    fn two_senders_may_give_the_same_number() {
        let mut trace = trace(vec![(0, send(0, "Ok")), (2, send(0, "Ok")), (5, deliver(0)), (9, deliver(0))]);
        // The second sender is process 2, and its message arrives first.
        trace.records[1].process = Some(2);
        if let Happening::Deliver { from, .. } = &mut trace.records[2].what {
            *from = 2;
        }
        assert_eq!(MessageDelays::of(&trace, None).delays, [3, 9]);
    }
}
