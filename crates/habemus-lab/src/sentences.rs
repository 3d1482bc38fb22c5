//! What happened, in sentences.

use habemus::Status;
use habemus_trace::{Dropped, Happening, Record};

use crate::history::History;
use crate::language::Language;
use crate::texts::property_words;

/// What an event was, in a sentence: what happened first, and what the application was told.
/// `act` is what was done by hand to make it happen.
pub(crate) fn in_words(history: &History, event: u64, act: Option<&str>, language: Language) -> String {
    if event == 0 {
        return language.of("everybody starts", "todos começam").to_owned();
    }
    let records = history.records_of(event);
    let mut words: Vec<String> = Vec::new();
    for record in records {
        let is_first = words.is_empty();
        let told = matches!(
            record.what,
            Happening::Output { .. }
                | Happening::Violation { .. }
                | Happening::Crash
                | Happening::Command { .. }
                | Happening::Start { .. }
                | Happening::Pause
                | Happening::Resume
        );
        if (is_first || told)
            && let Some(sentence) = sentence(record, language)
        {
            words.push(sentence);
        }
    }
    if words.is_empty() {
        return act.map_or_else(|| language.of("nothing", "nada").to_owned(), str::to_owned);
    }
    const SHOWN: usize = 6;
    let more = words.len().saturating_sub(SHOWN);
    words.truncate(SHOWN);
    let text = words.join(" · ");
    if more > 0 { format!("{text} · +{more}") } else { text }
}

/// Everything that happened with an event, each in a sentence.
pub fn sentences_of(history: &History, event: u64, language: Language) -> Vec<String> {
    history.records_of(event).iter().filter_map(|record| sentence(record, language)).collect()
}

fn sentence(record: &Record, language: Language) -> Option<String> {
    let who = record.process.map(|id| id.to_string()).unwrap_or_default();
    Some(match &record.what {
        Happening::Start { recovered: false } => format!("{who} {}", language.of("starts", "começa")),
        Happening::Start { recovered: true } => format!("{who} {}", language.of("recovers", "recupera")),
        Happening::Crash => format!("{who} {}", language.of("crashes", "falha")),
        Happening::Pause => format!("{who} {}", language.of("is paused", "é pausado")),
        Happening::Resume => format!("{who} {}", language.of("goes on", "continua")),
        Happening::Send { to, label, .. } => {
            format!("{who} {} {label} → {to}", language.of("sends", "envia"))
        }
        Happening::Deliver { from, label, .. } => {
            format!(
                "{who} {} {label} {} {from}",
                language.of("receives", "recebe"),
                language.of("from", "de")
            )
        }
        Happening::Drop { from, why, .. } => {
            let why = match why {
                Dropped::Cut => language.of("the link is cut", "o enlace está cortado"),
                Dropped::Down => language.of("the receiver is down", "o destinatário caiu"),
                _ => language.of("it was lost", "perdeu-se"),
            };
            format!("{} {from} → {who}: {why}", language.of("a message", "uma mensagem"))
        }
        Happening::Timer { label, .. } => {
            format!("{who}: {} {label}", language.of("timer", "temporizador"))
        }
        Happening::Command { label, .. } => format!("{who}: {label}"),
        Happening::Output { label, status, .. } => format!("{who} {}", told(label, *status, language)),
        Happening::Suspect { suspect } => {
            format!("{who} {} {suspect}", language.of("suspects", "suspeita de"))
        }
        Happening::Restore { restored } => {
            format!("{who} {} {restored}", language.of("trusts again", "volta a confiar em"))
        }
        Happening::State { variables } => {
            let values: Vec<String> =
                variables.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            format!("{who}: {}", values.join(", "))
        }
        Happening::Cut { links } => format!("{} {}", language.of("cut:", "corte:"), show_links(links)),
        Happening::Heal { links } => format!("{} {}", language.of("healed:", "refeito:"), show_links(links)),
        Happening::Violation { property, .. } => {
            let property = property_words(property, language);
            format!("✗ {property} {}", language.of("is broken", "não vale"))
        }
    })
}

/// What a process told its application; a value that it tells is the end of the English words.
fn told(label: &str, status: Option<Status>, language: Language) -> String {
    let value = || label.split_once(' ').map(|(_, value)| format!(" {value}")).unwrap_or_default();
    match (language, status) {
        (Language::English, _) | (_, None) => label.to_owned(),
        (_, Some(Status::Leading)) => "lidera".to_owned(),
        (_, Some(Status::Following(Some(leader)))) => format!("segue {leader}"),
        (_, Some(Status::Following(None))) => "sabe que há um líder".to_owned(),
        (_, Some(Status::Inside)) => "entra".to_owned(),
        (_, Some(Status::Waiting)) => "espera".to_owned(),
        (_, Some(Status::Idle)) => "sai".to_owned(),
        (_, Some(Status::Decided)) => format!("decide{}", value()),
    }
}

fn show_links(links: &[(u64, u64)]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = links.iter().take(SHOWN).map(|(from, to)| format!("{from}→{to}")).collect();
    let more = if links.len() > SHOWN { " …" } else { "" };
    shown.join(", ") + more
}
