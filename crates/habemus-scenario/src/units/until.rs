//! When a run is over: `quiet`, `agree`, `500ms`, `10000 events`.

use std::fmt;
use std::str::FromStr;

use habemus::units::shortened;

use super::count::whole_number;
use super::{UnitError, parse_duration, show_duration};
use crate::names;
use crate::scenario::Until;

impl FromStr for Until {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let text = text.trim();
        let events = text.strip_suffix("events").or_else(|| text.strip_suffix("event"));
        match (text, events) {
            ("quiet", _) => Ok(Until::Quiet),
            ("agree", _) => Ok(Until::Agree),
            (_, Some(number)) => match whole_number(number) {
                Some(0) => Err(UnitError::new("a run of 0 events is no run")),
                Some(number) => Ok(Until::Events(number)),
                None => Err(UnitError::expected(EXPECTED, text)),
            },
            _ if text.starts_with(|first: char| first.is_ascii_digit() || first == '-') => time(text),
            _ => Err(match names::nearest(text, ["quiet", "agree"]) {
                Some(meant) => {
                    let found = shortened(text);
                    UnitError::new(format!("unknown end of a run `{found}`: did you mean `{meant}`?"))
                }
                None => UnitError::expected(EXPECTED, text),
            }),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Quiet => f.write_str("quiet"),
            Until::Agree => f.write_str("agree"),
            Until::Time(time) => f.write_str(&show_duration(*time)),
            Until::Events(1) => f.write_str("1 event"),
            Until::Events(number) => write!(f, "{number} events"),
        }
    }
}

fn time(text: &str) -> Result<Until, UnitError> {
    let time = parse_duration(text)?;
    if time.is_zero() { Err(UnitError::new("a run of no time is no run")) } else { Ok(Until::Time(time)) }
}

pub(crate) const EXPECTED: &str =
    "`quiet`, `agree`, a time such as `500ms` or a number such as `10000 events`";

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ends_are_read_and_written() {
        for (text, until, shown) in [
            ("quiet", Until::Quiet, "quiet"),
            ("agree", Until::Agree, "agree"),
            ("500ms", Until::Time(Duration::from_millis(500)), "500ms"),
            ("10_000 events", Until::Events(10_000), "10000 events"),
            ("1 event", Until::Events(1), "1 event"),
        ] {
            assert_eq!(text.parse(), Ok(until), "{text}");
            assert_eq!(until.to_string(), shown);
        }
    }

    #[test]
    fn a_wrong_end_says_what_is_wrong() {
        let error = |text: &str| text.parse::<Until>().expect_err("this is wrong").to_string();
        assert_eq!(error("quite"), "unknown end of a run `quite`: did you mean `quiet`?");
        assert_eq!(error("forever"), format!("expected {EXPECTED}, found `forever`"));
        assert_eq!(error("many events"), format!("expected {EXPECTED}, found `many events`"));
        assert_eq!(error("0 events"), "a run of 0 events is no run");
        assert_eq!(error("0ms"), "a run of no time is no run");
        assert_eq!(
            error("500"),
            "expected a duration such as `20ms`, found `500`, which has no unit: write `500ms`"
        );
    }
}
