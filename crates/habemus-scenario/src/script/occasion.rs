//! Reads when something happens.

use std::ops::Range;

use super::parser::Parser;
use super::scan::TokenKind;
use super::{FAULTS, ScriptError};
use crate::names;
use crate::scenario::{Occasion, Trigger, TriggerKind};

/// The occasion at the beginning of a line, and where the kind of message is for which it waits.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<(Occasion, Option<Range<usize>>), ScriptError> {
    if parser.take_word("after") {
        let occasion = after(parser)?;
        if parser.take(TokenKind::Sign(':')).is_none() {
            return Err(parser.expected("a colon and an action, as in `after 17 events: crash 3`"));
        }
        return Ok((occasion, None));
    }
    if !parser.take_word("when") {
        return Ok((time(parser)?, None));
    }
    let (trigger, message) = trigger(parser)?;
    if parser.take(TokenKind::Sign(':')).is_none() {
        let error = parser.expected("a colon and an action, as in `when 3 sends Ok: crash 3`");
        return Err(if parser.peek_text() == "for" { error } else { error.with_help(NTH) });
    }
    Ok((Occasion::When(trigger), message))
}

/// An occasion without an action behind it.
pub(super) fn read_alone(parser: &mut Parser<'_>) -> Result<Occasion, ScriptError> {
    if parser.take_word("after") {
        let occasion = after(parser)?;
        parser.take(TokenKind::Sign(':'));
        return Ok(occasion);
    }
    if !parser.take_word("when") {
        return time(parser);
    }
    let (trigger, _) = trigger(parser)?;
    parser.take(TokenKind::Sign(':'));
    Ok(Occasion::When(trigger))
}

const NTH: &str = "to wait for a later time, write `when 3 sends Ok for the 2nd time: crash 3`";
const MESSAGE: &str = "a kind of message such as `Election`";

/// `17 events`.
fn after(parser: &mut Parser<'_>) -> Result<Occasion, ScriptError> {
    let (events, _) = parser.identifier("a number of events, as in `after 17 events: crash 3`")?;
    if !parser.take_word("event") {
        parser.expect_word("events", "after 17 events: crash 3")?;
    }
    Ok(Occasion::After(events))
}

fn time(parser: &mut Parser<'_>) -> Result<Occasion, ScriptError> {
    let word = parser.peek_text();
    if parser.peek().is_none_or(|token| token.kind == TokenKind::Word) {
        let error = parser.expected("a time such as `20ms`, or `when`, or `after`");
        return Err(match word {
            "at" => error.with_help("write the time alone, as in `20ms crash 5`"),
            _ if FAULTS.contains(&word) => error.with_help(format!("say when, as in `20ms {word} 5`")),
            _ => error,
        });
    }
    let time = parser.duration()?;
    if parser.peek_text() == ":" {
        let error = parser.expected("an action right after the time");
        return Err(error.with_help("only `when …` and `after …` end with a colon"));
    }
    Ok(Occasion::At(time))
}

fn trigger(parser: &mut Parser<'_>) -> Result<(Trigger, Option<Range<usize>>), ScriptError> {
    let process = match parser.take_word("anyone") {
        true => None,
        false => Some(parser.process("a process such as `3`, or `anyone`")?),
    };
    let (what, message) = kind(parser)?;
    let nth = if parser.take_word("for") { nth(parser)? } else { 1 };
    Ok((Trigger { process, what, nth }, message))
}

fn kind(parser: &mut Parser<'_>) -> Result<(TriggerKind, Option<Range<usize>>), ScriptError> {
    const VERBS: &[&str] =
        &["sends", "receives", "leads", "follows", "enters", "leaves", "decides", "crashes", "suspects"];
    let verb = parser.peek_text();
    if !VERBS.contains(&verb) {
        let error = match names::nearest(verb, VERBS.iter().copied()) {
            Some(meant) => {
                ScriptError::new(parser.here(), format!("unknown event `{verb}`: did you mean `{meant}`?"))
            }
            None => parser.expected("something that happens, such as `sends Election` or `leads`"),
        };
        return Err(error.with_help(format!("a process {}", names::alternatives(VERBS))));
    }
    parser.take_word(verb);
    Ok(match verb {
        "sends" => {
            let (kind, span) = message(parser)?;
            (TriggerKind::Sends(kind), Some(span))
        }
        "receives" => {
            let (kind, span) = message(parser)?;
            (TriggerKind::Receives(kind), Some(span))
        }
        "leads" => (TriggerKind::Leads, None),
        "follows" => (TriggerKind::Follows, None),
        "enters" => (TriggerKind::Enters, None),
        "leaves" => (TriggerKind::Leaves, None),
        "decides" => (TriggerKind::Decides, None),
        "crashes" => (TriggerKind::Crashes, None),
        _ => (TriggerKind::Suspects, None),
    })
}

fn message(parser: &mut Parser<'_>) -> Result<(String, Range<usize>), ScriptError> {
    let span = parser.take(TokenKind::Word).ok_or_else(|| parser.expected(MESSAGE))?;
    Ok((parser.text_of(&span).to_owned(), span))
}

/// `the 2nd time`.
fn nth(parser: &mut Parser<'_>) -> Result<u32, ScriptError> {
    const EXAMPLE: &str = "when 3 sends Ok for the 2nd time: crash 3";
    parser.expect_word("the", EXAMPLE)?;
    let Some(number) = parser.ordinal() else {
        return Err(parser.expected("which time, such as `1st`, `2nd`, `3rd` or `4th`"));
    };
    parser.expect_word("time", EXAMPLE)?;
    Ok(number)
}
