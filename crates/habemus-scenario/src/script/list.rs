//! Lists of processes and of links.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ScriptError;
use super::parser::Parser;
use super::scan::TokenKind;
use crate::processes::{MAX_PROCESSES, too_many_processes};

/// `1,2,3`, `1..4` or `all`.
pub(super) fn processes(parser: &mut Parser<'_>) -> Result<Vec<u64>, ScriptError> {
    if parser.take_word("all") {
        return Ok(parser.processes.ids().to_vec());
    }
    let runs = runs(parser, PROCESSES)?;
    apart(&runs)?;
    // Of those that nobody knows there may be any number.
    Ok(if parser.processes.are_known() { members(&runs) } else { Vec::new() })
}

/// `1,2 | 3,4,5`: no process twice.
pub(super) fn groups(parser: &mut Parser<'_>) -> Result<Vec<Vec<u64>>, ScriptError> {
    let mut groups = vec![runs(parser, PROCESSES)?];
    while parser.take(TokenKind::Sign('|')).is_some() {
        groups.push(runs(parser, PROCESSES)?);
    }
    apart(&groups.concat())?;
    let are_known = parser.processes.are_known();
    Ok(groups.iter().filter(|_| are_known).map(|runs| members(runs)).collect())
}

/// `1-2, 3->4`, as directions.
pub(super) fn links(parser: &mut Parser<'_>) -> Result<Vec<(u64, u64)>, ScriptError> {
    let mut links = Vec::new();
    let mut named = BTreeSet::new();
    loop {
        let start = parser.here().start;
        let link = link(parser)?;
        if let Some((from, to)) = link.iter().find(|direction| !named.insert(**direction)) {
            let end = parser.previous_end();
            return Err(ScriptError::new(start..end, format!("the link from {from} to {to} is named twice")));
        }
        links.extend(link);
        if parser.take(TokenKind::Sign(',')).is_none() {
            return Ok(links);
        }
    }
}

/// `1-2, 2-3`, all of them both ways.
pub(super) fn two_way_links(parser: &mut Parser<'_>) -> Result<Vec<(u64, u64)>, ScriptError> {
    let mut links = Vec::new();
    let mut named = BTreeSet::new();
    loop {
        let start = parser.here().start;
        let directions = link(parser)?;
        let (one, other) = directions[0];
        let span = start..parser.previous_end();
        if directions.len() == 1 {
            let message = format!("the links of a topology go both ways: write `{one}-{other}`");
            return Err(ScriptError::new(span, message));
        }
        if !named.insert((one.min(other), one.max(other))) {
            return Err(ScriptError::new(span, format!("the link between {one} and {other} is named twice")));
        }
        links.push((one, other));
        if parser.take(TokenKind::Sign(',')).is_none() {
            return Ok(links);
        }
    }
}

/// `3,17,24` or `0..7`: the identifiers that exist from now on.
pub(super) fn ids(parser: &mut Parser<'_>) -> Result<Vec<u64>, ScriptError> {
    let start = parser.here().start;
    let runs = runs(parser, "identifiers such as `3,17,24` or `0..7`")?;
    let number: u128 = runs.iter().map(|run| u128::from(run.first.abs_diff(run.last)) + 1).sum();
    if number > u128::from(MAX_PROCESSES) {
        return Err(ScriptError::new(start..parser.previous_end(), too_many_processes(number)));
    }
    apart(&runs)?;
    Ok(members(&runs))
}

/// `1-2` (both ways) or `1->2`.
pub(super) fn link(parser: &mut Parser<'_>) -> Result<Vec<(u64, u64)>, ScriptError> {
    let start = parser.here().start;
    let from = parser.process(LINK)?;
    let both_ways = parser.take(TokenKind::Sign('-')).is_some();
    if !both_ways && parser.take(TokenKind::Arrow).is_none() {
        return Err(parser.expected(&format!("`-` or `->` after {from}, as in `1-2` or `1->2`")));
    }
    let to = parser.process("a process at the other end of the link")?;
    if from == to {
        let message = format!("a link has two ends, found {from} at both");
        return Err(ScriptError::new(start..parser.previous_end(), message));
    }
    Ok(if both_ways { vec![(from, to), (to, from)] } else { vec![(from, to)] })
}

const PROCESSES: &str = "processes such as `1,3`, `1..4` or `all`";
const LINK: &str = "a link such as `1-2` or `1->2`";

/// Identifiers that follow each other, up or down, and where they are written.
#[derive(Clone, Debug)]
struct Run {
    first: u64,
    last: u64,
    span: Range<usize>,
}

impl Run {
    fn bounds(&self) -> (u64, u64) {
        (self.first.min(self.last), self.first.max(self.last))
    }
}

fn runs(parser: &mut Parser<'_>, first: &str) -> Result<Vec<Run>, ScriptError> {
    let mut runs = Vec::new();
    loop {
        let what = if runs.is_empty() { first } else { "a process after the comma" };
        runs.push(run(parser, what)?);
        if parser.take(TokenKind::Sign(',')).is_none() {
            return Ok(runs);
        }
    }
}

fn run(parser: &mut Parser<'_>, what: &str) -> Result<Run, ScriptError> {
    let (first, start) = parser.identifier(what)?;
    let (last, end) = match parser.take(TokenKind::Dots) {
        Some(_) => parser.identifier("the last process of the range")?,
        None => (first, start.clone()),
    };
    match parser.processes.missing(first, last) {
        None => Ok(Run { first, last, span: start.start..end.end }),
        Some(id) if id == first => Err(parser.no_such_process(id, start)),
        Some(id) if id == last => Err(parser.no_such_process(id, end)),
        Some(id) => Err(parser.no_such_process(id, start.start..end.end)),
    }
}

/// No process may be named twice: it would be unclear whether the second time means something.
fn apart(runs: &[Run]) -> Result<(), ScriptError> {
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by_key(|run| (run.bounds(), run.span.start));
    let Some([one, other]) = sorted.array_windows().find(|[one, other]| other.bounds().0 <= one.bounds().1)
    else {
        return Ok(());
    };
    let twice = other.bounds().0;
    let later = if one.span.start > other.span.start { one } else { other };
    Err(ScriptError::new(later.span.clone(), format!("process {twice} is named twice")))
}

fn members(runs: &[Run]) -> Vec<u64> {
    let mut members = Vec::new();
    for run in runs {
        let (min, max) = run.bounds();
        if run.first == min {
            members.extend(min..=max);
        } else {
            members.extend((min..=max).rev());
        }
    }
    members
}
