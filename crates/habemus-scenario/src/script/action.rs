//! Reads what is done to the system.

use std::ops::Range;

use super::parser::Parser;
use super::scan::TokenKind;
use super::{FAULTS, ScriptError, list};
use crate::names;
use crate::scenario::{Action, MessageFate};
use crate::units::{parse_drift, parse_probability};

/// An action, and where its first word is.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<(Action, Range<usize>), ScriptError> {
    let Some(word) = parser.take(TokenKind::Word) else {
        let error = parser.expected("an action such as `crash 5` or `elect 4`");
        return Err(error.with_help(format!("the faults are {}", names::alternatives(FAULTS))));
    };
    let action = match parser.text_of(&word) {
        "crash" => Action::Crash(list::processes(parser)?),
        "recover" => recover(parser)?,
        "pause" => Action::Pause(list::processes(parser)?),
        "resume" => Action::Resume(list::processes(parser)?),
        "slow" => {
            let processes = list::processes(parser)?;
            parser.expect_word("by", "slow 3 by 50ms")?;
            Action::Slow { processes, by: parser.duration()? }
        }
        "drift" => {
            let processes = list::processes(parser)?;
            parser.expect_word("by", "drift 3 by 10%")?;
            Action::Drift { processes, rate: parser.quantity(parse_drift)? }
        }
        "cut" => Action::Cut(list::links(parser)?),
        "partition" => Action::Partition(list::groups(parser)?),
        "heal" if parser.peek().is_none() => Action::Heal(Vec::new()),
        "heal" => Action::Heal(list::links(parser)?),
        "loss" => Action::Loss(parser.quantity(parse_probability)?),
        "suspect" => suspect(parser)?,
        "restore" => restore(parser)?,
        "deliver" => message(parser, MessageFate::Deliver)?,
        "duplicate" => message(parser, MessageFate::Duplicate)?,
        "lose" => message(parser, MessageFate::Lose)?,
        "delay" => delay(parser)?,
        "fire" => {
            let process = parser.process("the process whose timer it is")?;
            Action::Fire { process, timer: parser.rest("a timer, as traces show it: `fire 2 NoAnswer`")? }
        }
        command => {
            let command = command.to_owned();
            return self::command(parser, &command, &word).map(|action| (action, word));
        }
    };
    Ok((action, word))
}

fn recover(parser: &mut Parser<'_>) -> Result<Action, ScriptError> {
    let processes = list::processes(parser)?;
    let amnesia = parser.take_word("with");
    if amnesia {
        parser.expect_word("amnesia", "recover 5 with amnesia")?;
    }
    Ok(Action::Recover { processes, amnesia })
}

fn suspect(parser: &mut Parser<'_>) -> Result<Action, ScriptError> {
    let suspect = parser.process("the process that is suspected")?;
    parser.expect_word("by", "suspect 5 by 2")?;
    let here = parser.here();
    let by = parser.process("the process that suspects it")?;
    if by == suspect {
        return Err(ScriptError::new(here, "no process suspects itself"));
    }
    Ok(Action::Suspect { by, suspect })
}

fn restore(parser: &mut Parser<'_>) -> Result<Action, ScriptError> {
    let restored = parser.process("the process that is no longer suspected")?;
    parser.expect_word("by", "restore 5 by 2")?;
    let here = parser.here();
    let by = parser.process("the process that suspected it")?;
    if by == restored {
        return Err(ScriptError::new(here, "no process suspects itself"));
    }
    Ok(Action::Restore { by, restored })
}

/// `1->2`, or `2nd 1->2` for the second of those that wait.
fn message(parser: &mut Parser<'_>, fate: MessageFate) -> Result<Action, ScriptError> {
    let nth = parser.ordinal();
    let start = parser.here().start;
    let link = list::link(parser)?;
    let [(from, to)] = link[..] else {
        let span = start..parser.previous_end();
        return Err(ScriptError::new(span, "a message goes one way: write for example `deliver 1->2`"));
    };
    Ok(Action::Message { fate, from, to, nth: nth.unwrap_or(1) })
}

/// `1->2 by 50ms`.
fn delay(parser: &mut Parser<'_>) -> Result<Action, ScriptError> {
    let mut action = message(parser, MessageFate::Lose)?;
    parser.expect_word("by", "delay 1->2 by 50ms")?;
    let by = parser.duration()?;
    if let Action::Message { fate, .. } = &mut action {
        *fate = MessageFate::Delay(by);
    }
    Ok(action)
}

/// Any other word is a command of the problem, unless it does not look like one and resembles a fault.
fn command(parser: &mut Parser<'_>, word: &str, span: &Range<usize>) -> Result<Action, ScriptError> {
    let misspelt = names::nearest(word, FAULTS.iter().copied()).map(|fault| {
        ScriptError::new(span.clone(), format!("unknown action `{word}`: did you mean `{fault}`?"))
    });
    // `slwo 3 by 50ms` is no command with the value 3.
    let value = if misspelt.is_none() { value(parser) } else { None };
    let phrase = value.map_or_else(|| word.to_owned(), |value| format!("{word} {value}"));
    let names_somebody = parser.peek().is_some_and(|token| token.kind == TokenKind::Number);
    if let Some(misspelt) = misspelt.clone().filter(|_| !names_somebody && parser.peek_text() != "all") {
        return Err(misspelt);
    }
    let processes = list::processes(parser)?;
    parser.end().map_err(|error| misspelt.unwrap_or(error))?;
    Ok(Action::Command { word: phrase, processes })
}

/// The value of a command that takes one, up to the `by` before its processes: `attack by` in
/// `propose attack by 1,3`.
fn value(parser: &mut Parser<'_>) -> Option<String> {
    let value = parser.before_word("by")?;
    Some(parser.text_of(&value).to_owned())
}
