//! Rates: `2/s`, `1/min`.

use super::decimal::Decimal;
use super::duration::{nanoseconds_of, unknown_unit};
use super::{UnitError, shortened};

/// Reads how often something happens, in times per second.
///
/// # Errors
/// If the text is not a number, a slash and a unit of time, or is more than a million per second.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    const MAX: f64 = 1_000_000.0;
    let text = text.trim();
    let found = shortened(text);
    if text.starts_with('-') {
        return Err(UnitError::new(format!("a rate cannot be negative, found `{found}`")));
    }
    let (number, unit) = text.split_once('/').map_or((text, None), |(number, unit)| (number, Some(unit)));
    let number = Decimal::parse(number.trim()).ok_or_else(|| UnitError::expected(EXPECTED, text))?;
    let Some(unit) = unit.map(str::trim).filter(|unit| !unit.is_empty()) else {
        let number = number.to_string();
        return Err(UnitError::new(format!("expected {EXPECTED}, found `{found}`: write `{number}/s`")));
    };
    let nanoseconds = nanoseconds_of(unit).ok_or_else(|| unknown_unit(unit))?;
    let seconds = nanoseconds as f64 / 1e9;
    let rate = number.to_float(0) / seconds;
    if rate > MAX {
        return Err(UnitError::new(format!("a rate is at most 1000000/s, found `{found}`")));
    }
    Ok(rate)
}

/// Writes a rate, in times per second.
pub fn show_rate(rate: f64) -> String {
    format!("{rate}/s")
}

const EXPECTED: &str = "a rate such as `2/s`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        assert_eq!(parse_rate("2/s"), Ok(2.0));
        assert_eq!(parse_rate("0.5 / s"), Ok(0.5));
        assert_eq!(parse_rate("30/min"), Ok(0.5));
        assert_eq!(parse_rate("1/ms"), Ok(1000.0));
        assert_eq!(parse_rate("0/s"), Ok(0.0));
        assert_eq!(show_rate(0.5), "0.5/s");
        for rate in [1.0 / 60.0, 1.0 / 3.0, 12.0, 0.0] {
            assert_eq!(parse_rate(&show_rate(rate)), Ok(rate));
        }
    }

    #[test]
    fn a_wrong_rate_says_what_is_wrong() {
        let error = |text: &str| parse_rate(text).expect_err("this is wrong").to_string();
        assert_eq!(error("2"), "expected a rate such as `2/s`, found `2`: write `2/s`");
        assert_eq!(error("2/"), "expected a rate such as `2/s`, found `2/`: write `2/s`");
        assert_eq!(error("2/sec"), "unknown unit of time `sec`: did you mean `s`?");
        assert_eq!(error("-2/s"), "a rate cannot be negative, found `-2/s`");
        assert_eq!(error("often"), "expected a rate such as `2/s`, found `often`");
        assert_eq!(error("1/ns"), "a rate is at most 1000000/s, found `1/ns`");
    }
}
