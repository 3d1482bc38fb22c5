//! Counts and bounds for them: `3`, `1..3`, `<= 3`.

use std::fmt;
use std::str::FromStr;

use habemus::units::{Decimal, shortened};

use super::UnitError;
use crate::scenario::Count;

impl FromStr for Count {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let text = text.trim();
        let impossible = || UnitError::new(format!("no number is within `{}`", shortened(text)));
        let at_least = |min| Count { min, max: u64::MAX };
        let at_most = |max| Count { min: 0, max };
        if let Some(number) = text.strip_prefix("<=") {
            number_of(number, text).map(at_most)
        } else if let Some(number) = text.strip_prefix(">=") {
            number_of(number, text).map(at_least)
        } else if let Some(number) = text.strip_prefix('<') {
            number_of(number, text)?.checked_sub(1).map(at_most).ok_or_else(impossible)
        } else if let Some(number) = text.strip_prefix('>') {
            number_of(number, text)?.checked_add(1).map(at_least).ok_or_else(impossible)
        } else if let Some((min, max)) = text.split_once("..") {
            let (min, max) = (number_of(min, text)?, number_of(max, text)?);
            if min > max {
                let found = shortened(text);
                return Err(UnitError::new(format!(
                    "the range `{found}` runs backwards: write `{max}..{min}`"
                )));
            }
            Ok(Count { min, max })
        } else {
            number_of(text, text).map(Count::exactly)
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, max) if min == max => write!(f, "{min}"),
            (min, u64::MAX) => write!(f, ">= {min}"),
            (0, max) => write!(f, "<= {max}"),
            (min, max) => write!(f, "{min}..{max}"),
        }
    }
}

/// Reads a number without a point.
pub(super) fn whole_number(text: &str) -> Option<u64> {
    let number = Decimal::parse(text.trim()).filter(|_| !text.contains('.'))?;
    u64::try_from(number.digits).ok()
}

/// Reads a part of `whole`, which is what the message shows.
fn number_of(text: &str, whole: &str) -> Result<u64, UnitError> {
    whole_number(text).ok_or_else(|| UnitError::expected(EXPECTED, whole))
}

pub(crate) const EXPECTED: &str = "a number or bounds for one, such as `3`, `1..3`, `<= 3` or `>= 1`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_written() {
        for (text, min, max, shown) in [
            ("24", 24, 24, "24"),
            ("1_000", 1000, 1000, "1000"),
            ("1..3", 1, 3, "1..3"),
            ("<= 3", 0, 3, "<= 3"),
            ("<=3", 0, 3, "<= 3"),
            ("< 3", 0, 2, "<= 2"),
            (">= 2", 2, u64::MAX, ">= 2"),
            ("> 2", 3, u64::MAX, ">= 3"),
            (">= 0", 0, u64::MAX, ">= 0"),
            ("0..0", 0, 0, "0"),
        ] {
            let count = Count { min, max };
            assert_eq!(text.parse(), Ok(count), "{text}");
            assert_eq!(count.to_string(), shown);
            assert_eq!(shown.parse(), Ok(count));
        }
    }

    #[test]
    fn a_wrong_count_says_what_is_wrong() {
        let error = |text: &str| text.parse::<Count>().expect_err("this is wrong").to_string();
        let expected = "expected a number or bounds for one, such as `3`, `1..3`, `<= 3` or `>= 1`, found";
        assert_eq!(error("few"), format!("{expected} `few`"));
        assert_eq!(error("1.5"), format!("{expected} `1.5`"));
        assert_eq!(error("1.0"), format!("{expected} `1.0`"));
        assert_eq!(error("-1"), format!("{expected} `-1`"));
        assert_eq!(error(""), format!("{expected} nothing"));
        assert_eq!(error("<= x"), format!("{expected} `<= x`"));
        assert_eq!(error("3..1"), "the range `3..1` runs backwards: write `1..3`");
        assert_eq!(error("< 0"), "no number is within `< 0`");
    }
}
