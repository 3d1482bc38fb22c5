//! Writes what a script says.

use std::fmt;

use crate::processes::list as list_of;
use crate::scenario::{Action, Cue, MessageFate, Occasion, Trigger, TriggerKind};
use crate::units::{show_drift, show_duration, show_probability};

impl fmt::Display for Cue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.occasion, self.action)
    }
}

impl fmt::Display for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Occasion::At(time) => f.write_str(&show_duration(*time)),
            Occasion::When(trigger) => write!(f, "when {trigger}:"),
            Occasion::After(1) => f.write_str("after 1 event:"),
            Occasion::After(events) => write!(f, "after {events} events:"),
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(id) => write!(f, "{id} {}", self.what)?,
            None => write!(f, "anyone {}", self.what)?,
        }
        match self.nth {
            0 | 1 => Ok(()),
            nth => write!(f, " for the {nth}{} time", ordinal_ending(nth)),
        }
    }
}

impl fmt::Display for TriggerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TriggerKind::Sends(kind) => write!(f, "sends {kind}"),
            TriggerKind::Receives(kind) => write!(f, "receives {kind}"),
            TriggerKind::Leads => f.write_str("leads"),
            TriggerKind::Follows => f.write_str("follows"),
            TriggerKind::Enters => f.write_str("enters"),
            TriggerKind::Leaves => f.write_str("leaves"),
            TriggerKind::Decides => f.write_str("decides"),
            TriggerKind::Crashes => f.write_str("crashes"),
            TriggerKind::Suspects => f.write_str("suspects"),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_action(self, &[]))
    }
}

/// Writes an action in a system of these processes: who names them all may say so.
pub(crate) fn show_action(action: &Action, everyone: &[u64]) -> String {
    let list = |processes: &[u64]| {
        if processes.len() > 2 && processes == everyone { "all".to_owned() } else { list_of(processes) }
    };
    match action {
        // A command with a value needs a word between the two.
        Action::Command { word, processes } if word.contains(' ') => format!("{word} by {}", list(processes)),
        Action::Command { word, processes } => format!("{word} {}", list(processes)),
        Action::Crash(processes) => format!("crash {}", list(processes)),
        Action::Recover { processes, amnesia: false } => format!("recover {}", list(processes)),
        Action::Recover { processes, amnesia: true } => format!("recover {} with amnesia", list(processes)),
        Action::Pause(processes) => format!("pause {}", list(processes)),
        Action::Resume(processes) => format!("resume {}", list(processes)),
        Action::Slow { processes, by } => format!("slow {} by {}", list(processes), show_duration(*by)),
        Action::Drift { processes, rate } => format!("drift {} by {}", list(processes), show_drift(*rate)),
        Action::Cut(links) => format!("cut {}", show_links(links)),
        Action::Partition(groups) => {
            let groups: Vec<String> = groups.iter().map(|group| list_of(group)).collect();
            format!("partition {}", groups.join(" | "))
        }
        Action::Heal(links) if links.is_empty() => "heal".to_owned(),
        Action::Heal(links) => format!("heal {}", show_links(links)),
        Action::Loss(probability) => format!("loss {}", show_probability(*probability)),
        Action::Suspect { by, suspect } => format!("suspect {suspect} by {by}"),
        Action::Restore { by, restored } => format!("restore {restored} by {by}"),
        Action::Message { fate, from, to, nth } => {
            let word = match fate {
                MessageFate::Deliver => "deliver",
                MessageFate::Duplicate => "duplicate",
                MessageFate::Lose => "lose",
                MessageFate::Delay(_) => "delay",
            };
            let message = match nth {
                0 | 1 => format!("{word} {from}->{to}"),
                nth => format!("{word} {nth}{} {from}->{to}", ordinal_ending(*nth)),
            };
            match fate {
                MessageFate::Delay(by) => format!("{message} by {}", show_duration(*by)),
                _ => message,
            }
        }
        Action::Fire { process, timer } => format!("fire {process} {timer}"),
    }
}

/// Both directions of a link, one right after the other, are written as one.
fn show_links(links: &[(u64, u64)]) -> String {
    let mut shown = Vec::new();
    let mut rest = links;
    while let [(from, to), others @ ..] = rest {
        if others.first() == Some(&(*to, *from)) {
            shown.push(format!("{from}-{to}"));
            rest = &others[1..];
        } else {
            shown.push(format!("{from}->{to}"));
            rest = others;
        }
    }
    shown.join(", ")
}

fn ordinal_ending(number: u32) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}
