//! The table of guarantees.

use std::fmt::Write;

use habemus::catalogue;
use habemus_check::guarantees::{Cell, GuaranteeRow};
use owo_colors::OwoColorize;

use super::{grouped, wrap};

const WIDTH: usize = 80;

pub(crate) fn guarantees(rows: &[GuaranteeRow], different: &[String]) -> String {
    let mut text = String::new();
    let mut before = String::new();
    for row in rows {
        let variant = row.variant.as_deref().map(|variant| format!(" ({variant})")).unwrap_or_default();
        let name = format!("{}{variant}", row.algorithm);
        if name != before {
            let problem =
                catalogue::entry(&row.algorithm).map(|entry| entry.problem.name()).unwrap_or_default();
            let _ = writeln!(text, "{} · {problem}", name.cyan().bold());
            before = name;
        }
        let more = if row.complete { "" } else { "+" };
        // A long name has a line of its own.
        let is_long = row.faults.chars().count() > 22;
        if is_long {
            let _ = writeln!(text, "  {}", row.faults);
        }
        let faults = if is_long { "" } else { &row.faults };
        let head = format!("  {faults:<22} {:>9}{more:<1} ", grouped(row.states));
        let cells: Vec<String> = row.properties.iter().map(|(name, cell)| show(row, name, *cell)).collect();
        text.push_str(&wrap(&head, &cells.join("  "), WIDTH));
    }
    text.push('\n');
    let legend = "✓ proved, once if only for one entry each, ✗ refuted in so many steps, ≤ if a shorter run \
                  may do, ? open, – not put to the test; ! marks a promise that a fault breaks; \
                  then the number of states, + if there are more.";
    text.push_str(&wrap("", legend, WIDTH));
    for model in different {
        text.push_str(&wrap("@ ", &format!("not as recorded: {model}"), WIDTH).replacen(
            '@',
            &"✗".red().bold().to_string(),
            1,
        ));
    }
    text
}

fn show(row: &GuaranteeRow, name: &str, cell: Cell) -> String {
    let broken = if row.promises(name) && cell.steps().is_some() { "!" } else { "" };
    // A space that does not break keeps a cell together.
    format!("{}\u{a0}{name}{broken}", cell.show().replace(' ', "\u{a0}"))
}
