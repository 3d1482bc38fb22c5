//! The scene as a Mermaid sequence diagram.
//!
//! A process that leads or is in its critical section is *active* in Mermaid's sense and gets a bar;
//! everything else that happens to one process is a note. Mermaid has no time axis, so only long silences
//! show.

use habemus::Status;

use super::rows::{self, Row, RowContent};
use super::scene::{Condition, Scene};
use super::time;
use super::words::{self, Mark};

/// Writes the scene.
pub(super) fn render(scene: &Scene<'_>) -> String {
    let mut diagram = Diagram { scene, active: vec![false; scene.processes.len()], source: String::new() };
    diagram.line(0, "sequenceDiagram");
    diagram.line(1, &format!("title {}", escape(&scene.title)));
    for &id in &scene.processes {
        diagram.line(1, &format!("participant p{id} as {id}"));
    }
    for sentence in scene.omissions() {
        diagram.over_all(1, &sentence);
    }
    for (column, &condition) in scene.before.iter().enumerate() {
        diagram.activate(column, condition);
    }
    for row in rows::rows(scene) {
        diagram.row(&row);
        if let Some((column, after)) = row.change {
            diagram.activate(column, after);
        }
    }
    // Mermaid draws only bars that end.
    for column in 0..scene.processes.len() {
        diagram.deactivate(column);
    }
    diagram.source
}

struct Diagram<'s> {
    scene: &'s Scene<'s>,
    active: Vec<bool>,
    source: String,
}

impl Diagram<'_> {
    fn row(&mut self, row: &Row) {
        match &row.what {
            RowContent::Silence(idle) => self.over_all(1, &format!("{} later", time::span(*idle))),
            RowContent::Sends { from, to, label } => {
                let to = to.iter().map(|&to| self.scene.processes[to].to_string()).collect::<Vec<_>>();
                self.note(*from, &format!("sends {label} to {}", to.join(", ")));
            }
            RowContent::Message { from, to, label, lost, earlier } => {
                let arrow = match (lost, earlier) {
                    (Some(_), true) => "--x",
                    (Some(_), false) => "-x",
                    (None, true) => "-->>",
                    (None, false) => "->>",
                };
                let reason = lost.map(|why| format!(" ({})", words::reason(why))).unwrap_or_default();
                self.message(*from, arrow, *to, &format!("{label}{reason}"));
            }
            RowContent::Mark { column, mark: Mark::Timer, text } => {
                self.message(*column, "->>", *column, &format!("⏱ {text}"));
            }
            RowContent::Mark { column, mark, text } => match emoji(*mark) {
                "" => self.note(*column, text),
                emoji => self.note(*column, &format!("{emoji} {text}")),
            },
            RowContent::Network { text } => self.over_all(1, &format!("✂ {text}")),
            RowContent::Cycle => self.over_all(1, &format!("↻ {}", words::CYCLE)),
            RowContent::Violation { text } => {
                self.line(1, "rect rgb(255, 205, 190)");
                self.over_all(2, &format!("⚠ {text}"));
                self.line(1, "end");
            }
        }
    }

    fn message(&mut self, from: usize, arrow: &str, to: usize, text: &str) {
        let (from, to) = (self.scene.processes[from], self.scene.processes[to]);
        self.line(1, &format!("p{from}{arrow}p{to}: {}", escape(text)));
    }

    fn note(&mut self, column: usize, text: &str) {
        let id = self.scene.processes[column];
        self.line(1, &format!("Note over p{id}: {}", escape(text)));
    }

    /// A note across all processes.
    fn over_all(&mut self, depth: usize, text: &str) {
        let (first, last) = (self.scene.processes.first(), self.scene.processes.last());
        match (first, last) {
            (Some(first), Some(last)) if first != last => {
                self.line(depth, &format!("Note over p{first},p{last}: {}", escape(text)));
            }
            (Some(only), _) => self.line(depth, &format!("Note over p{only}: {}", escape(text))),
            // Without a process there is nothing to put a note over.
            _ => {}
        }
    }

    fn activate(&mut self, column: usize, condition: Condition) {
        let active = condition.shows(Status::Leading) || condition.shows(Status::Inside);
        if active && !self.active[column] {
            self.active[column] = true;
            self.line(1, &format!("activate p{}", self.scene.processes[column]));
        } else if !active {
            self.deactivate(column);
        }
    }

    fn deactivate(&mut self, column: usize) {
        if std::mem::take(&mut self.active[column]) {
            self.line(1, &format!("deactivate p{}", self.scene.processes[column]));
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.source += &"    ".repeat(depth);
        self.source += text.trim_end();
        self.source.push('\n');
    }
}

fn emoji(mark: Mark) -> &'static str {
    match mark {
        Mark::Start => "○",
        Mark::Recover => "↺",
        Mark::Crash => "💀",
        Mark::Pause => "⏸",
        Mark::Resume => "▶",
        Mark::Timer => "⏱",
        Mark::Command => "»",
        Mark::Output => "",
        Mark::Lead => "★",
        Mark::Enter => "🔒",
        Mark::Decide => "◆",
        Mark::Suspect => "❓",
        Mark::Restore => "✓",
        Mark::State => "≔",
    }
}

/// The text such that Mermaid shows it and does not understand it.
///
/// Whatever could end a statement (`;`), begin an entity (`#`), a comment (`%%`), a wrapping mode
/// (`:wrap:`), a formula (`$$`) or markup (`<`) is written by its number. An empty text would be a syntax
/// error.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for sign in words::plain(text).chars() {
        match sign {
            ' ' | '(' | ')' | ',' | '.' | '-' | '_' | '+' | '=' | '/' | '\'' | '!' | '?' | '|' => {
                escaped.push(sign);
            }
            _ if sign.is_ascii_alphanumeric() || !sign.is_ascii() => escaped.push(sign),
            _ => escaped += &format!("#{};", u32::from(sign)),
        }
    }
    if escaped.trim().is_empty() { "…".into() } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn what_mermaid_would_understand_is_written_by_number() {
        assert_eq!(escape("Election(17)"), "Election(17)");
        assert_eq!(escape("a;b"), "a#59;b");
        assert_eq!(escape("#35;"), "#35;35#59;");
        assert_eq!(escape("Request{t:3}"), "Request#123;t#58;3#125;");
        assert_eq!(escape("%%{init}%%"), "#37;#37;#123;init#125;#37;#37;");
        assert_eq!(escape("<b>&\"$$\\"), "#60;b#62;#38;#34;#36;#36;#92;");
        assert_eq!(escape("two\nlines"), "two lines");
        assert_eq!(escape("líder → 3"), "líder → 3");
    }

    #[test]
    fn an_empty_text_is_still_a_text() {
        assert_eq!(escape(""), "…");
        assert_eq!(escape(" \n "), "…");
    }
}
