//! The table of guarantees.

use std::fmt::Write;

use habemus::catalogue;
use habemus_check::guarantees::{Cell, CellStanding, GuaranteeRow, RowContract};
use owo_colors::OwoColorize;

use super::{grouped, wrap};

const WIDTH: usize = 80;

pub(crate) fn guarantees(rows: &[GuaranteeRow], different: &[String], broken: &[String]) -> String {
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
        let contract = row.contract();
        let show = |(name, cell): (&String, &Cell)| show(contract.as_ref(), name, *cell);
        let cells: Vec<String> = row.properties.iter().map(show).collect();
        text.push_str(&wrap(&head, &cells.join("  "), WIDTH));
    }
    text.push('\n');
    let legend = "✓ proved, once if only for one entry each, ✗ refuted in so many steps, ≤ if a shorter run \
        may do, ? open, \
                  – does not apply. ! in front: promised here, and refuted. In brackets: not promised under \
                  these \
                  faults, which are outside the algorithm's model, or under none. Else it is promised. Then \
                  the \
                  number of states, + if there are more.";
    text.push_str(&wrap("", legend, WIDTH));
    let problems = broken.iter().cloned();
    let problems = problems.chain(different.iter().map(|model| format!("not as recorded: {model}")));
    for problem in problems {
        let line = wrap("@ ", &problem, WIDTH);
        text.push_str(&line.replacen('@', &"✗".red().bold().to_string(), 1));
    }
    text
}

/// A cell: plain where it is promised, in brackets where it is not.
fn show(contract: Option<&RowContract>, name: &str, cell: Cell) -> String {
    // A space that does not break keeps a cell together.
    let found = format!("{}\u{a0}{name}", cell.show().replace(' ', "\u{a0}"));
    match contract.map(|contract| contract.standing(name, cell)) {
        Some(CellStanding::Kept | CellStanding::Open | CellStanding::DoesNotApply) => found,
        Some(CellStanding::Broken) => format!("!{found}"),
        _ => format!("({found})"),
    }
}
