//! How the story is told: one line for each step, with its time.

use std::io::Write;
use std::time::Instant;

use owo_colors::OwoColorize;

/// Tells the story to a person.
pub(crate) struct Teller {
    begin: Instant,
}

impl Teller {
    pub(crate) fn new() -> Teller {
        Teller { begin: Instant::now() }
    }

    /// What happened just now, in a word and a sentence.
    pub(crate) fn step(&self, word: &str, sentence: &str) {
        let seconds = self.begin.elapsed().as_secs_f64();
        say(&format!("{seconds:5.1} s  {:<11} {sentence}", word.bold()));
    }

    /// A line without a time.
    pub(crate) fn line(&self, text: &str) {
        say(text);
    }

    /// A verdict: a mark, a name, and what it is about.
    pub(crate) fn verdict(&self, is_good: bool, name: &str, sentence: &str) {
        let mark = if is_good { "✓".green().to_string() } else { "✗".red().to_string() };
        let mut rest = sentence;
        let mut before = format!("{mark} {name:<20} ");
        // A sentence of the simulator may be longer than a line.
        while let Some(space) = rest.char_indices().nth(57).and_then(|(end, _)| rest[..end].rfind(' ')) {
            say(&format!("{before}{}", &rest[..space]));
            (before, rest) = (" ".repeat(23), &rest[space + 1..]);
        }
        say(&format!("{before}{rest}"));
    }
}

/// Prints a line at once. A reader who has gone away does not end the story.
fn say(text: &str) {
    let mut out = anstream::stdout().lock();
    drop(writeln!(out, "{text}").and_then(|()| out.flush()));
}
