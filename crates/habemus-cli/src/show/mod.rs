//! Results as people read them.

mod check;
mod compare;
mod cost;
mod cost_plot;
mod detectors;
mod guarantees;
mod mutants;
mod plot;
mod quorum;
mod quorum_plot;
mod report;
mod sweep;
mod timeout;
mod timeout_plot;

pub(crate) use check::check;
pub(crate) use compare::comparison;
pub(crate) use cost::{
    circumstances as cost_circumstances, cost_csv, cost_heading, cost_report, cost_row, cost_summary,
    cost_verdict,
};
pub(crate) use cost_plot::cost_plot;
pub(crate) use detectors::detectors;
pub(crate) use guarantees::guarantees;
pub(crate) use habemus_report::grouped;
pub(crate) use mutants::mutants;
pub(crate) use quorum::quorum;
pub(crate) use quorum_plot::quorum_plot;
pub(crate) use report::report;
pub(crate) use sweep::{sweep, sweep_all, sweep_part};
pub(crate) use timeout::timeout;
pub(crate) use timeout_plot::timeout_plot;

/// `text` after `label`, broken into lines of at most `width` columns that begin below the text.
pub(crate) fn wrap(label: &str, text: &str, width: usize) -> String {
    let indent = label.chars().count();
    let mut lines = String::from(label);
    let mut column = indent;
    let mut fresh = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !fresh && column + 1 + length > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
            fresh = true;
        }
        if !fresh {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
        fresh = false;
    }
    lines.push('\n');
    lines
}

/// Nanoseconds with a unit: 12.3 ms.
pub(crate) fn span(nanos: u64) -> String {
    let value = nanos as f64;
    match nanos {
        0 => "0 ms".to_owned(),
        1..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// "1 thing", "2 things".
pub(crate) fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// Identifiers in a sentence; of very many only the first.
pub(crate) fn ids(ids: &[u64]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<String> = ids.iter().take(SHOWN).map(u64::to_string).collect();
    match ids.len() {
        0 => "nobody".to_owned(),
        1 => shown[0].clone(),
        count if count <= SHOWN => {
            let (last, first) = shown.split_last().expect("there are at least two");
            format!("{} and {last}", first.join(", "))
        }
        count => format!("{}, … ({} in all)", shown.join(", "), grouped(count as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_below_its_label() {
        assert_eq!(wrap("ab: ", "one two three", 10), "ab: one\n    two\n    three\n");
        assert_eq!(wrap("", "", 10), "\n");
    }

    #[test]
    fn spans_have_units() {
        assert_eq!(span(12_345_678), "12.3 ms");
        assert_eq!(span(1_500_000_000), "1.50 s");
    }

    #[test]
    fn identifiers_read_like_a_sentence() {
        assert_eq!(ids(&[1]), "1");
        assert_eq!(ids(&[1, 2, 3]), "1, 2 and 3");
        assert_eq!(ids(&(0..20).collect::<Vec<_>>()), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (20 in all)");
    }
}
