//! Probabilities: `1%`, `0.01`.

use super::decimal::Decimal;
use super::{UnitError, shortened};

/// Reads a probability, as a percentage (`1%`) or as a number between 0 and 1 (`0.01`).
///
/// # Errors
/// If the text is no number, or the number is not between 0 and 1, 0 % and 100 %.
pub fn parse_probability(text: &str) -> Result<f64, UnitError> {
    let text = text.trim();
    let found = shortened(text);
    if text.starts_with('-') {
        return Err(UnitError::new(format!("a probability cannot be negative, found `{found}`")));
    }
    let (number, places) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 2),
        None => (text, 0),
    };
    let decimal = Decimal::parse(number).ok_or_else(|| UnitError::expected(EXPECTED, text))?;
    let probability = decimal.to_float(places);
    if probability <= 1.0 {
        Ok(probability)
    } else if places == 0 && probability <= 100.0 {
        Err(UnitError::new(format!("expected {EXPECTED}, found `{found}`: write `{number}%`")))
    } else {
        Err(UnitError::new(format!("a probability is at most 100%, found `{found}`")))
    }
}

/// Writes a probability as a percentage.
pub fn show_probability(probability: f64) -> String {
    // The shortest digits that stand for the number, with the point moved two places to the right: exact.
    match Decimal::parse(&probability.to_string()) {
        Some(Decimal { digits, scale: scale @ 2.. }) => format!("{}%", Decimal { digits, scale: scale - 2 }),
        Some(Decimal { digits, scale }) => format!("{}%", digits * 10_u128.pow(2 - scale)),
        None => probability.to_string(),
    }
}

const EXPECTED: &str = "a probability such as `1%` or `0.01`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_read_and_written() {
        for (text, probability, shown) in [
            ("1%", 0.01, "1%"),
            ("0.5%", 0.005, "0.5%"),
            ("0.01", 0.01, "1%"),
            ("100%", 1.0, "100%"),
            ("1", 1.0, "100%"),
            ("0", 0.0, "0%"),
            ("12.5 %", 0.125, "12.5%"),
            ("0.1", 0.1, "10%"),
        ] {
            assert_eq!(parse_probability(text), Ok(probability), "{text}");
            assert_eq!(show_probability(probability), shown);
        }
    }

    #[test]
    fn a_wrong_probability_says_what_is_wrong() {
        let error = |text: &str| parse_probability(text).expect_err("this is wrong").to_string();
        assert_eq!(error("5"), "expected a probability such as `1%` or `0.01`, found `5`: write `5%`");
        assert_eq!(error("101%"), "a probability is at most 100%, found `101%`");
        assert_eq!(error("500"), "a probability is at most 100%, found `500`");
        assert_eq!(error("-1%"), "a probability cannot be negative, found `-1%`");
        assert_eq!(error("often"), "expected a probability such as `1%` or `0.01`, found `often`");
        assert_eq!(error("NaN"), "expected a probability such as `1%` or `0.01`, found `NaN`");
        assert_eq!(error("%"), "expected a probability such as `1%` or `0.01`, found `%`");
        assert_eq!(error(""), "expected a probability such as `1%` or `0.01`, found nothing");
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_number() {
        for probability in [0.3, 1.0 / 3.0, 0.1 + 0.2, 1e-9, 0.07 + f64::EPSILON] {
            assert_eq!(parse_probability(&show_probability(probability)), Ok(probability));
        }
    }
}
