//! The space-time diagram: a row for each event, a column for each process, arrows for messages.

use habemus::Status;
use habemus_trace::{Dropped, Happening, Record};
use serde::Serialize;

use crate::branch::Branch;
use crate::frame::show_time;
use crate::language::Language;

/// A piece of the diagram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagramWindow {
    /// The identifiers of the processes, by column.
    pub columns: Vec<u64>,
    /// How many rows there are in all.
    pub total: usize,
    /// How many events are left out because they are background traffic.
    pub hidden: usize,
    /// The number of the first row of this piece.
    pub first: usize,
    /// Its rows.
    pub rows: Vec<DiagramRow>,
    /// The messages that are on their way somewhere in it.
    pub arrows: Vec<Arrow>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagramRow {
    /// Its number; 0 is the beginning.
    pub event: u64,
    /// When.
    pub time: String,
    /// What happened, in words.
    pub words: String,
    /// Whether it was done by hand.
    pub by_hand: bool,
    /// What is drawn.
    pub marks: Vec<Mark>,
}

/// Something at a process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The column of the process.
    pub column: usize,
    /// What happened, in a word: the page knows a sign for it.
    pub kind: &'static str,
    /// What it became by it, if it became something.
    pub label: String,
}

/// A message. Where it begins or ends outside the piece, its row lies outside, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrow {
    /// Its number.
    pub message: u64,
    /// The row and the column where it was sent.
    pub from: (usize, usize),
    /// The row where it ends (that behind the last row of the diagram if it is still on its way), and the column.
    pub to: (usize, usize),
    /// How it ends.
    pub end: ArrowEnd,
    /// Its kind.
    pub kind: String,
    /// All of it.
    pub label: String,
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrowEnd {
    /// It arrived.
    Arrived,
    /// It was lost.
    Lost,
    /// It is still on its way.
    OnItsWay,
}

/// Which events are rows.
pub(crate) fn visible(branch: &Branch, background: bool) -> Vec<u64> {
    let shown = |event: &u64| {
        background
            || *event == 0
            || branch.records_of(*event).iter().any(|record| !is_background(branch, record))
    };
    (0..=branch.known()).filter(shown).collect()
}

fn is_background(branch: &Branch, record: &Record) -> bool {
    match &record.what {
        Happening::Send { background, .. }
        | Happening::Deliver { background, .. }
        | Happening::Timer { background, .. } => *background,
        Happening::Drop { message, .. } => {
            let sent = branch.passages().get(*message as usize).map(|passage| passage.sent as usize);
            sent.is_some_and(|sent| is_background(branch, &branch.records()[sent]))
        }
        _ => false,
    }
}

impl DiagramWindow {
    pub(crate) fn new(
        branch: &Branch,
        rows: &[u64],
        first: usize,
        count: usize,
        background: bool,
        language: Language,
    ) -> Self {
        let columns = branch.scenario().ids.clone();
        let column = |id: u64| columns.iter().position(|other| *other == id);
        let first = first.min(rows.len());
        let end = first.saturating_add(count).min(rows.len());
        let shown = rows[first..end].iter().map(|event| row(branch, *event, &column, language)).collect();
        let row_of = |record: u32| rows.partition_point(|event| *event < branch.event_of(record as usize));
        let mut arrows = Vec::new();
        for (number, passage) in branch.passages().iter().enumerate() {
            let record = &branch.records()[passage.sent as usize];
            let Happening::Send { to, kind, label, background: behind, .. } = &record.what else { continue };
            if *behind && !background {
                continue;
            }
            let begins = row_of(passage.sent);
            let (ends, how) = match (passage.delivered, passage.dropped) {
                (Some(delivered), _) => (row_of(delivered), ArrowEnd::Arrived),
                (None, Some(dropped)) => (row_of(dropped).max(begins), ArrowEnd::Lost),
                (None, None) => (rows.len(), ArrowEnd::OnItsWay),
            };
            if begins >= end || ends < first {
                continue;
            }
            if let (Some(from), Some(to)) = (record.process.and_then(column), column(*to)) {
                arrows.push(Arrow {
                    message: number as u64,
                    from: (begins, from),
                    to: (ends, to),
                    end: how,
                    kind: kind.to_string(),
                    label: label.to_string(),
                });
            }
        }
        let hidden = branch.known() as usize + 1 - rows.len();
        DiagramWindow { total: rows.len(), hidden, first, rows: shown, arrows, columns }
    }
}

fn row(branch: &Branch, event: u64, column: &dyn Fn(u64) -> Option<usize>, language: Language) -> DiagramRow {
    let records = branch.records_of(event);
    let mut marks = Vec::new();
    for record in records {
        let Some(at) = record.process.and_then(column) else { continue };
        if let Some((kind, label)) = mark(&record.what) {
            marks.push(Mark { column: at, kind, label });
        }
    }
    DiagramRow {
        event,
        time: show_time(records.first().map_or(0, |record| record.at)),
        words: in_words(branch, event, language),
        by_hand: branch.acts().iter().any(|(at, _)| at + 1 == event),
        marks,
    }
}

fn mark(what: &Happening) -> Option<(&'static str, String)> {
    Some(match what {
        Happening::Start { recovered: true } => ("recover", String::new()),
        Happening::Start { .. } => ("start", String::new()),
        Happening::Crash => ("crash", String::new()),
        Happening::Pause => ("pause", String::new()),
        Happening::Resume => ("resume", String::new()),
        Happening::Deliver { .. } => ("deliver", String::new()),
        Happening::Drop { .. } => ("lost", String::new()),
        Happening::Timer { .. } => ("timer", String::new()),
        Happening::Command { label, .. } => ("command", label.to_string()),
        Happening::Output { label, .. } => ("output", label.to_string()),
        Happening::Suspect { .. } => ("suspect", String::new()),
        Happening::Restore { .. } => ("restore", String::new()),
        Happening::Violation { property, .. } => ("violation", property.clone()),
        Happening::Send { .. } | Happening::Cut { .. } | Happening::Heal { .. } => return None,
    })
}

/// What an event was, in a sentence: what happened first, and what the application was told.
pub(crate) fn in_words(branch: &Branch, event: u64, language: Language) -> String {
    if event == 0 {
        return language.of("everybody starts", "todos começam").to_owned();
    }
    let records = branch.records_of(event);
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
        let act = branch.acts().iter().find(|(at, _)| at + 1 == event);
        return act
            .map_or_else(|| language.of("nothing", "nada").to_owned(), |(_, action)| action.to_string());
    }
    const SHOWN: usize = 6;
    let more = words.len().saturating_sub(SHOWN);
    words.truncate(SHOWN);
    let text = words.join(" · ");
    if more > 0 { format!("{text} · +{more}") } else { text }
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
        Happening::Cut { links } => format!("{} {}", language.of("cut:", "corte:"), show_links(links)),
        Happening::Heal { links } => format!("{} {}", language.of("healed:", "refeito:"), show_links(links)),
        Happening::Violation { property, .. } => {
            format!("✗ {property} {}", language.of("is broken", "é violada"))
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
