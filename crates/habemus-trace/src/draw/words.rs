//! The words and signs that the pictures share, so that one event is called the same in all of them.

use std::collections::BTreeSet;

use habemus::Status;

use super::phrase;
use super::scene::{Flight, SceneEvent};
use crate::{Dropped, Happening};

/// Something that a process does or suffers without a partner, and that is marked on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    Start,
    Recover,
    Crash,
    Pause,
    Resume,
    Timer,
    Command,
    Output,
    Lead,
    Enter,
    Decide,
    Suspect,
    Restore,
    State,
}

impl Mark {
    /// The mark of an event and the words beside it; none for messages and for what happens to the network.
    pub(super) fn of(what: &Happening) -> Option<(Mark, String)> {
        let mark = match what {
            Happening::Start { recovered: false } => (Mark::Start, "starts".into()),
            Happening::Start { recovered: true } => (Mark::Recover, "recovers".into()),
            Happening::Crash => (Mark::Crash, "crashes".into()),
            Happening::Pause => (Mark::Pause, "pauses".into()),
            Happening::Resume => (Mark::Resume, "resumes".into()),
            Happening::Timer { label, .. } => (Mark::Timer, phrase::phrase(label)),
            Happening::Command { label, .. } => (Mark::Command, label.to_string()),
            Happening::Output { label, status, .. } => match status {
                Some(Status::Leading) => (Mark::Lead, label.to_string()),
                Some(Status::Inside) => (Mark::Enter, label.to_string()),
                Some(Status::Decided) => (Mark::Decide, label.to_string()),
                _ => (Mark::Output, label.to_string()),
            },
            Happening::Suspect { suspect } => (Mark::Suspect, format!("suspects {suspect}")),
            Happening::Restore { restored } => (Mark::Restore, format!("trusts {restored} again")),
            Happening::State { variables } => (Mark::State, assignments(variables).join(", ")),
            Happening::Send { .. }
            | Happening::Deliver { .. }
            | Happening::Drop { .. }
            | Happening::Cut { .. }
            | Happening::Heal { .. }
            | Happening::Violation { .. } => return None,
        };
        Some(mark)
    }

    /// The mark as one character.
    pub(super) fn sign(self) -> char {
        match self {
            Mark::Start => '○',
            Mark::Recover => '↺',
            Mark::Crash => '✗',
            Mark::Pause => '‖',
            Mark::Resume => '▷',
            Mark::Timer => '◷',
            Mark::Command => '»',
            Mark::Output => '«',
            Mark::Lead => '★',
            Mark::Enter => '■',
            Mark::Decide => '◆',
            Mark::Suspect => '?',
            Mark::Restore => '✓',
            Mark::State => '≔',
        }
    }

    /// What the mark stands for, in a legend.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Mark::Start => "starts",
            Mark::Recover => "recovers",
            Mark::Crash => "crashes",
            Mark::Pause => "pauses",
            Mark::Resume => "resumes",
            Mark::Timer => "timer",
            Mark::Command => "command",
            Mark::Output => "output",
            Mark::Lead => "becomes leader",
            Mark::Enter => "enters",
            Mark::Decide => "decides",
            Mark::Suspect => "suspects",
            Mark::Restore => "trusts again",
            Mark::State => "variables change",
        }
    }
}

/// Variables and their values, each in a few words.
pub(super) fn assignments(variables: &[(String, String)]) -> Vec<String> {
    variables.iter().map(|(name, value)| format!("{name} = {value}")).collect()
}

/// An event as a sentence about its process.
pub(super) fn sentence(moment: &SceneEvent<'_>, flight: Option<&Flight<'_>>) -> String {
    let message = flight.map_or_else(|| "?".to_owned(), |flight| phrase::full(flight.label));
    let text = match &moment.record.what {
        Happening::Send { to, label, .. } => format!("sends {} to {to}", phrase::full(label)),
        Happening::Deliver { from, label, .. } => format!("receives {} from {from}", phrase::full(label)),
        Happening::Drop { from, why, .. } => format!("misses {message} from {from}: {}", reason(*why)),
        Happening::Timer { label, .. } => format!("timer {}", phrase::full(label)),
        Happening::Command { label, .. } => format!("is told: {label}"),
        Happening::Output { label, .. } => format!("says: {label}"),
        Happening::Cut { links: cut } => format!("cut {}", links(cut)),
        Happening::Heal { links: healed } => format!("healed {}", links(healed)),
        Happening::Violation { property, explanation } => format!("{property} violated: {explanation}"),
        other => Mark::of(other).map(|(_, text)| text).unwrap_or_default(),
    };
    plain(&text)
}

/// What is said where a cycle begins.
pub(super) const CYCLE: &str = "from here on it goes round in a cycle";

/// Why a message was lost, in a word or two.
pub(super) fn reason(why: Dropped) -> &'static str {
    match why {
        Dropped::Loss => "lost",
        Dropped::Cut => "link cut",
        Dropped::Down => "receiver down",
    }
}

/// The links of a cut: as the two sides if it parts the processes, otherwise one by one.
pub(super) fn links(links: &[(u64, u64)]) -> String {
    let all: BTreeSet<(u64, u64)> = links.iter().copied().collect();
    sides(&all).unwrap_or_else(|| one_by_one(&all))
}

/// "1 2 | 3 4" if every link between the two sides is there, in both directions.
fn sides(links: &BTreeSet<(u64, u64)>) -> Option<String> {
    let &(first, _) = links.first()?;
    let right: BTreeSet<u64> = links.range((first, 0)..=(first, u64::MAX)).map(|&(_, to)| to).collect();
    let opposite = *right.first()?;
    let left: BTreeSet<u64> = links.range((opposite, 0)..=(opposite, u64::MAX)).map(|&(_, to)| to).collect();
    let both_ways = left
        .iter()
        .all(|&l| right.iter().all(|&r| l != r && links.contains(&(l, r)) && links.contains(&(r, l))));
    let pairs = left.len().checked_mul(right.len())?.checked_mul(2)?;
    (both_ways && pairs == links.len() && pairs > 2).then(|| format!("{} | {}", list(&left), list(&right)))
}

fn one_by_one(links: &BTreeSet<(u64, u64)>) -> String {
    let mut shown = Vec::new();
    for &(from, to) in links {
        let back = from != to && links.contains(&(to, from));
        match back {
            true if from < to => shown.push(format!("{from}↔{to}")),
            true => {}
            false => shown.push(format!("{from}→{to}")),
        }
    }
    shown.join(", ")
}

fn list(ids: &BTreeSet<u64>) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// The text on one line and without control characters, which would break any picture.
pub(super) fn plain(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if breaks(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::links;

    #[test]
    fn a_partition_is_shown_by_its_sides() {
        let cut = [(1, 3), (3, 1), (1, 4), (4, 1), (2, 3), (3, 2), (2, 4), (4, 2)];
        assert_eq!(links(&cut), "1 2 | 3 4");
    }

    #[test]
    fn other_cuts_are_shown_link_by_link() {
        assert_eq!(links(&[(1, 2)]), "1→2");
        assert_eq!(links(&[(2, 1), (1, 2)]), "1↔2");
        assert_eq!(links(&[(1, 2), (2, 1), (1, 3)]), "1↔2, 1→3");
        assert_eq!(links(&[(4, 4)]), "4→4");
        assert_eq!(links(&[]), "");
    }
}
