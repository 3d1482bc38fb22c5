//! How wrong a clock goes: `10%` fast, `-5%` slow.

use super::decimal::Decimal;
use super::{UnitError, shortened};

/// Reads how much a clock is fast (`10%`) or slow (`-5%`), as the rate at which it runs: 1.1 or 0.95.
///
/// # Errors
/// If the text is no percentage, or the clock would stand still, go backwards or race.
pub fn parse_drift(text: &str) -> Result<f64, UnitError> {
    let text = text.trim();
    let found = shortened(text);
    let (slow, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = number.trim();
    let Some(percent) = number.strip_suffix('%') else {
        return Err(match Decimal::parse(number) {
            Some(_) => UnitError::new(format!("expected {EXPECTED}, found `{found}`: write `{text}%`")),
            None => UnitError::expected(EXPECTED, text),
        });
    };
    let percent = Decimal::parse(percent.trim_end()).ok_or_else(|| UnitError::expected(EXPECTED, text))?;
    let out_of_range = || {
        UnitError::new(format!("a clock drifts by -99.9% at least and by 10000% at most, found `{found}`"))
    };
    let hundred = 10_u128.checked_pow(percent.scale + 2).ok_or_else(out_of_range)?;
    let digits = if slow { hundred.checked_sub(percent.digits) } else { hundred.checked_add(percent.digits) };
    let rate = Decimal { digits: digits.ok_or_else(out_of_range)?, scale: percent.scale }.to_float(2);
    if (SLOWEST..=FASTEST).contains(&rate) { Ok(rate) } else { Err(out_of_range()) }
}

/// Writes the rate of a clock as the percentage by which it is fast or slow.
pub fn show_drift(rate: f64) -> String {
    // Exact, like the reading: the shortest digits of the rate, less one, times hundred.
    let percent = Decimal::parse(&rate.to_string()).and_then(|Decimal { digits, scale }| {
        let (digits, scale) = match scale {
            0 | 1 => (digits.checked_mul(10_u128.pow(2 - scale))?, 0),
            _ => (digits, scale - 2),
        };
        let hundred = 10_u128.checked_pow(scale + 2)?;
        let sign = if digits < hundred { "-" } else { "" };
        Some(format!("{sign}{}%", Decimal { digits: digits.abs_diff(hundred), scale }))
    });
    percent.unwrap_or_else(|| format!("{}%", (rate - 1.0) * 100.0))
}

const EXPECTED: &str = "a percentage such as `10%` or `-5%`";

const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 101.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_the_rate_of_the_clock() {
        for (text, rate, shown) in [
            ("10%", 1.1, "10%"),
            ("+10%", 1.1, "10%"),
            ("-5%", 0.95, "-5%"),
            ("0%", 1.0, "0%"),
            ("12.5%", 1.125, "12.5%"),
            ("-99.9%", 0.001, "-99.9%"),
            ("100%", 2.0, "100%"),
            ("10000%", 101.0, "10000%"),
        ] {
            assert_eq!(parse_drift(text), Ok(rate), "{text}");
            assert_eq!(show_drift(rate), shown);
        }
        for rate in [1.0 / 3.0, 0.1 + 0.2, 1.000_000_1, 100.1] {
            assert_eq!(parse_drift(&show_drift(rate)), Ok(rate));
        }
    }

    #[test]
    fn a_wrong_drift_says_what_is_wrong() {
        let error = |text: &str| parse_drift(text).expect_err("this is wrong").to_string();
        assert_eq!(error("10"), "expected a percentage such as `10%` or `-5%`, found `10`: write `10%`");
        assert_eq!(error("fast"), "expected a percentage such as `10%` or `-5%`, found `fast`");
        assert_eq!(error("-100%"), "a clock drifts by -99.9% at least and by 10000% at most, found `-100%`");
        assert_eq!(
            error("20000%"),
            "a clock drifts by -99.9% at least and by 10000% at most, found `20000%`"
        );
    }
}
