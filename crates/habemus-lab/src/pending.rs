//! What is on its way, and what may come next.

use habemus_sim::{PendingEvent, PendingKind, Stepper};
use habemus_trace::MessageId;

use crate::branch::Branch;
use crate::frame::{MessageView, NextView, show_time};
use crate::language::Language;
use crate::texts::refusal_words;

/// So many of the next events are listed.
const MAX_NEXT: usize = 40;

pub(crate) fn message_views(
    branch: &Branch,
    here: &Stepper,
    pending: &[PendingEvent],
    language: Language,
) -> Vec<MessageView> {
    let view = |pending: &PendingEvent| {
        let PendingKind::Message { from, number, nth, kind, label, background } = &pending.what else {
            return None;
        };
        let to = pending.process;
        let message = MessageId { sender: *from, number: *number };
        let sent = branch.history().passage(message)?.sent;
        let sent = branch.history().records()[sent as usize].at;
        let way = match pending.due {
            _ if *nth == 0 => 1.0,
            Some(due) if due > sent => (here.now() - sent.min(here.now())) as f64 / (due - sent) as f64,
            _ => 0.5,
        };
        let which = ordinal(*nth);
        let message = format!("{which}{from}->{to}");
        let act = |word: &str, english: &str, portuguese: &str| {
            (format!("{word} {message}"), language.of(english, portuguese).to_owned())
        };
        let mut actions = Vec::new();
        if *nth > 0 {
            actions.extend([
                act("deliver", "Deliver now", "Entregar agora"),
                act("lose", "Lose", "Perder"),
                act("duplicate", "Deliver and duplicate", "Entregar e duplicar"),
            ]);
            let delay = language.of("Delay by 50 ms", "Atrasar em 50 ms");
            actions.push((format!("delay {message} by 50ms"), delay.to_owned()));
        }
        Some(MessageView {
            from: *from,
            to,
            number: *number,
            way: (way.min(1.0) * 1000.0).round() / 1000.0,
            kind: kind.clone(),
            label: label.clone(),
            background: *background,
            actions,
            refusal: pending.refusal.map(|refusal| refusal_words(refusal, language).to_owned()),
        })
    };
    pending.iter().filter_map(view).collect()
}

/// `2nd `, and nothing for the first.
pub(crate) fn ordinal(nth: u32) -> String {
    let ending = match (nth % 10, nth % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    if nth <= 1 { String::new() } else { format!("{nth}{ending} ") }
}

pub(crate) fn next_views(pending: &[PendingEvent], now: u64, language: Language) -> Vec<NextView> {
    let view = |pending: &PendingEvent| {
        let at = pending.process;
        let (words, action, background) = match &pending.what {
            PendingKind::Message { from, nth, label, background, .. } => {
                let words = format!("{label}: {from} → {at}");
                let action = (*nth > 0).then(|| format!("deliver {}{from}->{at}", ordinal(*nth)));
                (words, action, *background)
            }
            PendingKind::Timer { label, background } => {
                let words = format!("{at}: {} {label}", language.of("timer", "temporizador"));
                (words, Some(format!("fire {at} {label}")), *background)
            }
            PendingKind::Command { label } => (format!("{at}: {label}"), None, false),
            PendingKind::Suspicion { suspect } => {
                (format!("{at} {} {suspect}", language.of("suspects", "suspeita de")), None, false)
            }
            PendingKind::Trust { restored } => {
                let words = language.of("trusts again", "volta a confiar em");
                (format!("{at} {words} {restored}"), None, false)
            }
        };
        NextView {
            process: at,
            words,
            due: pending.due.map(|due| format!("+{}", show_time(due.saturating_sub(now), language))),
            background,
            action: action.filter(|_| pending.refusal.is_none()),
            refusal: pending.refusal.map(|refusal| refusal_words(refusal, language).to_owned()),
        }
    };
    pending.iter().take(MAX_NEXT).map(view).collect()
}
