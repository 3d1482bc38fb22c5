//! The console at a terminal: a prompt with history and completion, which events do not disturb.

use std::io::{self, Write};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, ExternalPrinter, Helper};
use tokio::sync::mpsc;

/// What came of asking for a line.
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
}

/// A prompt, at which somebody types in a thread of its own.
pub(super) struct Prompt {
    said: mpsc::Receiver<Typed>,
    /// Asks for the next line, when what the last one asked for has been done.
    next: std::sync::mpsc::Sender<()>,
    printer: Box<dyn ExternalPrinter + Send>,
    /// As the terminal was, should the conversation end while somebody types.
    before: Option<Termios>,
}

impl Prompt {
    /// A prompt that completes these words and identifiers.
    pub(super) fn open(name: &str, words: Vec<&'static str>, ids: &[u64]) -> rustyline::Result<Prompt> {
        let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
        let mut editor = Editor::<Completions, DefaultHistory>::with_config(config)?;
        let ids = ids.iter().map(u64::to_string).collect();
        editor.set_helper(Some(Completions { words, ids }));
        let printer = Box::new(editor.create_external_printer()?);
        let before = tcgetattr(io::stdin()).ok();
        let (says, said) = mpsc::channel(1);
        let (next, asked) = std::sync::mpsc::channel();
        let name = format!("{name}> ");
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                let line = match editor.readline(&name) {
                    Ok(line) => Typed::Line(line),
                    Err(ReadlineError::Interrupted) => Typed::Interrupt,
                    // The end of the input, or a terminal that is gone.
                    Err(_) => return,
                };
                if says.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Prompt { said, next, printer, before })
    }

    /// Shows the prompt. What is typed comes from [`said`](Prompt::said).
    pub(super) fn show(&self) {
        let _ = self.next.send(());
    }

    /// What was typed; `None` when no more will be.
    pub(super) async fn said(&mut self) -> Option<Typed> {
        self.said.recv().await
    }

    /// Shows a line above the prompt.
    pub(super) fn print(&mut self, line: &str) {
        // Nobody would read of a terminal that is gone.
        let _ = self.printer.print(format!("{line}\n"));
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        let Some(before) = &self.before else { return };
        let is_raw = tcgetattr(io::stdin()).is_ok_and(|now| now.local_modes != before.local_modes);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        if is_raw {
            // The prompt that nobody answered.
            let _ = io::stdout().write_all(b"\r\n");
        }
    }
}

/// Words at the beginning of a line, and identifiers after them.
struct Completions {
    words: Vec<&'static str>,
    ids: Vec<String>,
}

impl Completions {
    fn at(&self, before: &str) -> (usize, Vec<String>) {
        let start = before.rfind([' ', ',', '-', '|', '>']).map_or(0, |place| place + 1);
        let begun = &before[start..];
        let fits = |word: &&str| word.starts_with(begun);
        let first = before.split_whitespace().next().unwrap_or_default();
        let found: Vec<String> = match (start, first) {
            (0, _) => self.words.iter().copied().filter(fits).map(|word| format!("{word} ")).collect(),
            (_, "wait") => ["leader"].into_iter().filter(fits).map(str::to_owned).collect(),
            _ => self.ids.iter().map(String::as_str).filter(fits).map(str::to_owned).collect(),
        };
        (start, found)
    }
}

impl Completer for Completions {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.at(&line[..at]))
    }
}

impl Hinter for Completions {
    type Hint = String;
}
impl Highlighter for Completions {}
impl Validator for Completions {}
impl Helper for Completions {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_first_and_then_identifiers() {
        let completions = Completions {
            words: vec!["pause", "partition", "kill", "wait"],
            ids: vec!["1".into(), "12".into()],
        };
        let at = |line: &str| completions.at(line);
        assert_eq!(at("pa"), (0, vec!["pause ".to_owned(), "partition ".to_owned()]));
        assert_eq!(at("kill "), (5, vec!["1".to_owned(), "12".to_owned()]));
        assert_eq!(at("partition 1,12"), (12, vec!["12".to_owned()]));
        assert_eq!(at("wait l"), (5, vec!["leader".to_owned()]));
        assert_eq!(at("xyz"), (0, Vec::new()));
    }
}
