//! Reads the script.

use toml::de::{DeTable, DeValue};

use super::reader::Reader;
use crate::processes::Processes;
use crate::scenario::{Action, Cue};
use crate::script;
use crate::source::Location;

/// Everybody named in every line takes memory: this many is about half a gigabyte.
const MAX_NAMED: usize = 50_000_000;

pub(super) fn read(reader: &mut Reader<'_>, document: &DeTable<'_>, processes: &Processes<'_>) -> Vec<Cue> {
    let Some(value) = document.get("script") else {
        return Vec::new();
    };
    let DeValue::Array(items) = value.get_ref() else {
        reader.expected("a list of lines such as [\"20ms crash 5\"]", value);
        return Vec::new();
    };
    let mut cues = Vec::with_capacity(items.len());
    let mut named = 0;
    for item in items {
        // Lines that are wrong are not counted: the others' places must be found by what was read of them.
        let index = cues.len();
        let DeValue::String(text) = item.get_ref() else {
            reader.expected("a line such as \"20ms crash 5\"", item);
            continue;
        };
        match script::parse_line(text, processes) {
            Ok(line) => {
                reader.note(Location::cue(index), item.span());
                let word = reader.span_in_string(item, line.word);
                reader.note(Location::command(index), word);
                if let Some(message) = line.message {
                    let message = reader.span_in_string(item, message);
                    reader.note(Location::message(index), message);
                }
                named += number_named(&line.cue.action);
                cues.push(line.cue);
            }
            Err(error) => reader.script_error(item, error),
        }
        if named > MAX_NAMED {
            reader.error(item.span(), "the script names more than 50000000 processes up to here");
            break;
        }
    }
    cues
}

fn number_named(action: &Action) -> usize {
    match action {
        Action::Command { processes, .. }
        | Action::Crash(processes)
        | Action::Recover { processes, .. }
        | Action::Pause(processes)
        | Action::Resume(processes)
        | Action::Slow { processes, .. }
        | Action::Drift { processes, .. } => processes.len(),
        Action::Partition(groups) => groups.iter().map(Vec::len).sum(),
        Action::Cut(links) | Action::Heal(links) => links.len(),
        Action::Loss(_)
        | Action::Suspect { .. }
        | Action::Restore { .. }
        | Action::Message { .. }
        | Action::Fire { .. } => 0,
    }
}
