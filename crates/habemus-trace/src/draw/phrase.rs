//! Messages and timers as people write them: `PreVote { term: 0 }` is `PreVote 0`.
//!
//! A trace holds values as Rust shows them. What cannot be read as such a value stays as it is.

use crate::value::{Names, read};

/// A label of more letters than this goes without the names of its fields.
const SHORT: usize = 18;

/// The label with the names of its fields where there are several and they fit, else without.
pub(super) fn phrase(label: &str) -> String {
    let Some(value) = read(label) else { return label.to_owned() };
    let full = value.show(Names::Shown);
    if full.chars().count() <= SHORT { full } else { value.show(Names::Left) }
}

/// The label with the names of its fields, however long that is.
pub(super) fn full(label: &str) -> String {
    read(label).map_or_else(|| label.to_owned(), |value| value.show(Names::Shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_as_people_write_them() {
        for (label, expected) in [
            ("Ok", "Ok"),
            ("PreVote { term: 0 }", "PreVote 0"),
            ("Election(17)", "Election 17"),
            ("Capture(3, 16)", "Capture 3, 16"),
            ("Heard { leads: true }", "Heard leads"),
            ("Heard { leads: false }", "Heard not leads"),
            ("Grant { term: 1, n: 2 }", "Grant term 1, n 2"),
            ("Heartbeat { term: 1, round: 12 }", "Heartbeat 1, 12"),
            ("Election([3, 1])", "Election [3, 1]"),
            ("Values({10, 20})", "Values {10, 20}"),
            ("Privilege([])", "Privilege []"),
            ("Prepare(1.1)", "Prepare 1.1"),
            ("Promise(1.1, Some(7))", "Promise 1.1, 7"),
            ("Coordinator { leader: 4, told: [@1, @2] }", "Coordinator 4, [@1, @2]"),
            ("Candidate { lot: 4 (round 1), hops: 2, unique: true }", "Candidate 4 (round 1), 2, unique"),
            ("Wrapped(Other { a: 1, b: 2 })", "Wrapped (Other 1, 2)"),
            ("attack:1:2", "attack:1:2"),
            ("Ask #3", "Ask #3"),
        ] {
            assert_eq!(phrase(label), expected);
        }
        assert_eq!(full("Heartbeat { term: 1, round: 12 }"), "Heartbeat term 1, round 12");
    }

    #[test]
    fn what_is_no_value_stays_as_it_is() {
        let deep = "A(".repeat(60) + &")".repeat(60);
        for label in
            ["", " ", "A(", "A)", "A(1", "(a, b", "A { b: }", "a(,)", "two\nlines", "領導者(選", &deep]
        {
            assert_eq!(phrase(label), label);
        }
    }
}
