//! The language of scripts: `20ms crash 5`, `when 3 sends Ok: pause 3`.
//!
//! A line is an occasion and an action. An occasion is a time, or `when`, something that happens, and a
//! colon, or `after 17 events:`. An action is a fault (see [`FAULTS`]) or a command of the algorithm's
//! problem, such as `elect 4`; which commands there are is not known here, so any other word is taken for
//! one.

use std::ops::Range;

use thiserror::Error;

use crate::processes::Processes;
use crate::scenario::{Action, Cue, Occasion};
use crate::units;

mod action;
mod list;
mod occasion;
mod parser;
mod scan;
mod show;

use parser::Parser;
pub(crate) use show::show_action;

/// The words of the actions that are no commands of a problem.
pub const FAULTS: &[&str] = &[
    "crash",
    "recover",
    "pause",
    "resume",
    "slow",
    "drift",
    "cut",
    "partition",
    "heal",
    "loss",
    "suspect",
    "restore",
    "deliver",
    "duplicate",
    "lose",
    "delay",
    "fire",
];

/// Why a piece of a script cannot be understood, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ScriptError {
    /// What was expected and what was found.
    pub message: String,
    /// The bytes of the text that are wrong; empty where something is missing.
    pub span: Range<usize>,
    /// What else is good to know.
    pub help: Option<String>,
}

impl ScriptError {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        ScriptError { message: message.into(), span, help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A line of a script, and where in it the words are that only an algorithm can check.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it says.
    pub cue: Cue,
    /// The first word of the action.
    pub word: Range<usize>,
    /// The kind of message that the occasion waits for, if it waits for one.
    pub message: Option<Range<usize>>,
}

/// Reads a line of a script.
///
/// # Errors
/// If it is no occasion and action, or names a process that does not exist.
pub fn parse_line(text: &str, processes: &Processes<'_>) -> Result<Line, ScriptError> {
    let mut parser = Parser::new(text, processes);
    let (occasion, message) = occasion::read(&mut parser)?;
    let (action, word) = action::read(&mut parser)?;
    parser.end()?;
    Ok(Line { cue: Cue { occasion, action }, word, message })
}

/// Reads an action such as `crash 5`.
///
/// # Errors
/// If it is none, or names a process that does not exist.
pub fn parse_action(text: &str, processes: &Processes<'_>) -> Result<Action, ScriptError> {
    let mut parser = Parser::new(text, processes);
    let (action, _) = action::read(&mut parser)?;
    parser.end()?;
    Ok(action)
}

/// Reads an occasion: `20ms`, or `when 3 sends Ok` or `after 17 events` with or without the colon.
///
/// # Errors
/// If it is none, or names a process that does not exist.
pub fn parse_occasion(text: &str, processes: &Processes<'_>) -> Result<Occasion, ScriptError> {
    let mut parser = Parser::new(text, processes);
    let occasion = occasion::read_alone(&mut parser)?;
    parser.end()?;
    Ok(occasion)
}

/// Reads the value of a flag named after an action: `--crash 5@20ms` is `parse_flag("crash", "5@20ms", …)`.
///
/// # Errors
/// If there is no `@`, or what stands before it makes no action, or what stands behind it is no time.
pub fn parse_flag(word: &str, value: &str, processes: &Processes<'_>) -> Result<Cue, ScriptError> {
    let Some(at) = value.rfind('@') else {
        let message = format!("expected the action and its time, such as `{value}@20ms`, found `{value}`");
        return Err(ScriptError::new(0..value.len(), message));
    };
    let time = units::parse_duration(&value[at + 1..])
        .map_err(|error| ScriptError::new(at + 1..value.len(), error.to_string()))?;
    let offset = word.len() + 1;
    let inside = |place: usize| place.saturating_sub(offset).min(at);
    let action = parse_action(&format!("{word} {}", &value[..at]), processes)
        .map_err(|error| ScriptError { span: inside(error.span.start)..inside(error.span.end), ..error })?;
    Ok(Cue { occasion: Occasion::At(time), action })
}

/// Reads a link, `1-2` (both ways) or `1->2`, as directions.
///
/// # Errors
/// If it is none, or one of its ends does not exist, or both are the same.
pub fn parse_link(text: &str, processes: &Processes<'_>) -> Result<Vec<(u64, u64)>, ScriptError> {
    let mut parser = Parser::new(text, processes);
    let link = list::link(&mut parser)?;
    parser.end()?;
    Ok(link)
}

/// Reads the links of a topology, `1-2, 2-3`, which all go both ways.
///
/// # Errors
/// If it is no list of links, or names one twice, or one of the ends does not exist.
pub fn parse_links(text: &str, processes: &Processes<'_>) -> Result<Vec<(u64, u64)>, ScriptError> {
    let mut parser = Parser::new(text, processes);
    let links = list::two_way_links(&mut parser)?;
    parser.end()?;
    Ok(links)
}

/// Reads the identifiers of the processes themselves: `3,17,24` or `0..7`, which may count down.
///
/// # Errors
/// If it is no list of identifiers, or names one twice, or there are more than [`MAX_PROCESSES`].
///
/// [`MAX_PROCESSES`]: crate::MAX_PROCESSES
pub fn parse_ids(text: &str) -> Result<Vec<u64>, ScriptError> {
    let anything = Processes::anything();
    let mut parser = Parser::new(text, &anything);
    let ids = list::ids(&mut parser)?;
    parser.end()?;
    Ok(ids)
}

/// Reads a list of processes: `1,2,3`, `1..4` or `all`.
///
/// # Errors
/// If it is none, or names a process twice or one that does not exist.
pub fn parse_processes(text: &str, processes: &Processes<'_>) -> Result<Vec<u64>, ScriptError> {
    let mut parser = Parser::new(text, processes);
    let list = list::processes(&mut parser)?;
    parser.end()?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const IDS: [u64; 5] = [1, 2, 3, 4, 5];

    #[test]
    fn a_flag_is_an_action_at_a_time() {
        let processes = Processes::new(&IDS);
        let cue = parse_flag("crash", "5@20ms", &processes).expect("this is right");
        let crash = Action::Crash(vec![5]);
        assert_eq!(cue, Cue { occasion: Occasion::At(Duration::from_millis(20)), action: crash });
        let cue = parse_flag("cut", "1-2@10ms", &processes).expect("this is right");
        assert_eq!(cue.action, Action::Cut(vec![(1, 2), (2, 1)]));
        let cue = parse_flag("heal", "@1s", &processes).expect("this is right");
        assert_eq!(cue.action, Action::Heal(vec![]));
    }

    #[test]
    fn identifiers_and_links_are_lists() {
        assert_eq!(parse_ids("3, 17,24"), Ok(vec![3, 17, 24]));
        assert_eq!(parse_ids("7..5,0..1"), Ok(vec![7, 6, 5, 0, 1]));
        let error = |text: &str| parse_ids(text).expect_err("this is wrong");
        assert_eq!(error("").message, "expected identifiers such as `3,17,24` or `0..7`, found nothing");
        assert_eq!(error("all").message, "expected identifiers such as `3,17,24` or `0..7`, found `all`");
        assert_eq!(
            (error("1..4,3").message.as_str(), error("1..4,3").span),
            ("process 3 is named twice", 5..6)
        );
        assert_eq!(error("1..10000001").message, "a scenario has at most 10000000 processes, found 10000001");
        let processes = Processes::new(&IDS);
        assert_eq!(parse_links("1-2, 3-2", &processes), Ok(vec![(1, 2), (3, 2)]));
        let error = |text: &str| parse_links(text, &processes).expect_err("this is wrong");
        assert_eq!(error("1-2,2-1").message, "the link between 2 and 1 is named twice");
        assert_eq!(error("1->2").message, "the links of a topology go both ways: write `1-2`");
    }

    #[test]
    fn a_wrong_flag_says_where() {
        let processes = Processes::new(&IDS);
        let error = parse_flag("crash", "9@20ms", &processes).expect_err("there is no 9");
        assert_eq!(
            (error.span, error.message.as_str()),
            (0..1, "there is no process 9: the processes are 1..5")
        );
        let error = parse_flag("crash", "5@20", &processes).expect_err("no unit");
        assert_eq!(error.span, 2..4);
        let error = parse_flag("crash", "5", &processes).expect_err("no time");
        assert_eq!(error.message, "expected the action and its time, such as `5@20ms`, found `5`");
        let error = parse_flag("crash", "@5ms", &processes).expect_err("nobody");
        assert_eq!(
            (error.span, error.message.as_str()),
            (0..0, "expected processes such as `1,3`, `1..4` or `all`, found nothing")
        );
    }
}
