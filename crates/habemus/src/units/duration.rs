//! Durations: `20ms`, `1.5s`, `1ms..10ms`.

use std::time::Duration;

use super::decimal::{Decimal, split_number};
use super::{UnitError, shortened};

/// The longest duration that can be written: 2⁶⁴ nanoseconds, which is as far as virtual time goes.
pub const LONGEST: Duration = Duration::from_nanos(u64::MAX);

/// Reads a duration such as `20ms`. It may be zero.
///
/// # Errors
/// If the text has no unit or an unknown one, or is no number, or is negative, too long or too fine.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(UnitError::new(format!("a duration cannot be negative, found `{}`", shortened(text))));
    }
    let (number, unit) = split_number(text);
    let Some(decimal) = Decimal::parse(number) else {
        return Err(UnitError::expected(EXPECTED, text));
    };
    if unit.is_empty() {
        let found = UnitError::expected(EXPECTED, text);
        return Err(UnitError::new(format!("{found}, which has no unit: write `{number}ms`")));
    }
    let nanoseconds = nanoseconds_of(unit).ok_or_else(|| unknown_unit(unit))?;
    exactly(decimal, nanoseconds).map_err(|reason| UnitError::new(format!("`{text}` is {reason}")))
}

/// Reads `1ms..10ms`, or `5ms` for a range of one value.
///
/// # Errors
/// If one of the ends is no duration, or the first is the longer.
pub fn parse_range(text: &str) -> Result<(Duration, Duration), UnitError> {
    let Some((min, max)) = text.split_once("..") else {
        if Decimal::parse(split_number(text.trim()).0).is_none() && !text.trim().starts_with('-') {
            return Err(UnitError::expected(
                "a duration such as `20ms` or a range such as `1ms..10ms`",
                text,
            ));
        }
        return parse_duration(text).map(|both| (both, both));
    };
    let (min, max) = (parse_duration(min)?, parse_duration(max)?);
    if min > max {
        let found = shortened(text);
        let right = show_range((max, min));
        return Err(UnitError::new(format!("the range `{found}` runs backwards: write `{right}`")));
    }
    Ok((min, max))
}

/// Writes a duration in the unit that makes it short.
pub fn show_duration(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    for (unit, length) in [("h", HOUR), ("min", MINUTE)] {
        if nanoseconds > 0 && nanoseconds.is_multiple_of(length) {
            return format!("{}{unit}", nanoseconds / length);
        }
    }
    let (unit, scale) = match nanoseconds {
        0 => ("ms", 0),
        SECOND.. => ("s", 9),
        MILLISECOND.. => ("ms", 6),
        MICROSECOND.. => ("us", 3),
        _ => ("ns", 0),
    };
    format!("{}{unit}", Decimal { digits: nanoseconds, scale })
}

/// Writes a range of durations; only one of them, if both ends are the same.
pub fn show_range((min, max): (Duration, Duration)) -> String {
    if min == max { show_duration(min) } else { format!("{}..{}", show_duration(min), show_duration(max)) }
}

/// Whether this is the name of a unit of time.
pub fn is_unit(word: &str) -> bool {
    nanoseconds_of(word).is_some()
}

const EXPECTED: &str = "a duration such as `20ms`";

const MICROSECOND: u128 = 1_000;
const MILLISECOND: u128 = 1_000 * MICROSECOND;
const SECOND: u128 = 1_000 * MILLISECOND;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;

pub(super) fn nanoseconds_of(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        // The micro sign and the Greek letter look the same.
        "us" | "\u{b5}s" | "\u{3bc}s" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "min" => MINUTE,
        "h" => HOUR,
        _ => return None,
    })
}

pub(super) fn unknown_unit(unit: &str) -> UnitError {
    let meant = match unit.to_lowercase().as_str() {
        "m" | "mins" | "minute" | "minutes" => Some("min"),
        "sec" | "secs" | "second" | "seconds" => Some("s"),
        "msec" | "millis" | "millisecond" | "milliseconds" | "ms" => Some("ms"),
        "usec" | "micros" | "microsecond" | "microseconds" | "us" => Some("us"),
        "nsec" | "nanos" | "nanosecond" | "nanoseconds" | "ns" => Some("ns"),
        "hr" | "hrs" | "hour" | "hours" => Some("h"),
        _ => None,
    };
    let unit = shortened(unit);
    UnitError::new(match meant {
        Some(meant) => format!("unknown unit of time `{unit}`: did you mean `{meant}`?"),
        None => format!("unknown unit of time `{unit}`: expected `ns`, `us`, `ms`, `s`, `min` or `h`"),
    })
}

fn exactly(decimal: Decimal, nanoseconds: u128) -> Result<Duration, &'static str> {
    const TOO_LONG: &str = "too long: time ends after 584 years";
    let product = decimal.digits.checked_mul(nanoseconds).ok_or(TOO_LONG)?;
    let divisor = 10_u128.pow(decimal.scale);
    if !product.is_multiple_of(divisor) {
        return Err("finer than a nanosecond");
    }
    u64::try_from(product / divisor).map(Duration::from_nanos).map_err(|_| TOO_LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse_duration(text).expect_err("this is wrong").to_string()
    }

    #[test]
    fn durations_are_read_in_every_unit() {
        for (text, nanoseconds) in [
            ("10ns", 10),
            ("200us", 200_000),
            ("200µs", 200_000),
            ("200\u{3bc}s", 200_000),
            ("1ms", 1_000_000),
            (" 20 ms ", 20_000_000),
            ("1.5s", 1_500_000_000),
            ("2min", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0ms", 0),
            ("1_000ms", 1_000_000_000),
            ("0.000000001s", 1),
            ("18446744073709551615ns", u64::MAX),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn a_wrong_duration_says_what_is_wrong() {
        assert_eq!(error(""), "expected a duration such as `20ms`, found nothing");
        assert_eq!(error("soon"), "expected a duration such as `20ms`, found `soon`");
        assert_eq!(error("ms"), "expected a duration such as `20ms`, found `ms`");
        assert_eq!(
            error("20"),
            "expected a duration such as `20ms`, found `20`, which has no unit: write `20ms`"
        );
        assert_eq!(error("-5ms"), "a duration cannot be negative, found `-5ms`");
        assert_eq!(error("5sec"), "unknown unit of time `sec`: did you mean `s`?");
        assert_eq!(error("5m"), "unknown unit of time `m`: did you mean `min`?");
        assert_eq!(
            error("5fortnights"),
            "unknown unit of time `fortnights`: expected `ns`, `us`, `ms`, `s`, `min` or `h`"
        );
        assert_eq!(error("0.5ns"), "`0.5ns` is finer than a nanosecond");
        assert_eq!(error("600000000000s"), "`600000000000s` is too long: time ends after 584 years");
        assert_eq!(error("1.2.3ms"), "expected a duration such as `20ms`, found `1.2.3ms`");
        assert!(error(&format!("{}h", "9".repeat(30))).ends_with("is too long: time ends after 584 years"));
    }

    #[test]
    fn ranges_have_two_ends_or_one() {
        let milliseconds = Duration::from_millis;
        assert_eq!(parse_range("1ms..10ms"), Ok((milliseconds(1), milliseconds(10))));
        assert_eq!(parse_range("1ms .. 10ms"), Ok((milliseconds(1), milliseconds(10))));
        assert_eq!(parse_range("5ms"), Ok((milliseconds(5), milliseconds(5))));
        let backwards = parse_range("10ms..1ms").expect_err("backwards").to_string();
        assert_eq!(backwards, "the range `10ms..1ms` runs backwards: write `1ms..10ms`");
        let no_unit = parse_range("1..10ms").expect_err("no unit").to_string();
        assert_eq!(no_unit, "expected a duration such as `20ms`, found `1`, which has no unit: write `1ms`");
        let nothing = parse_range("later").expect_err("no number").to_string();
        assert_eq!(
            nothing,
            "expected a duration such as `20ms` or a range such as `1ms..10ms`, found `later`"
        );
    }

    #[test]
    fn durations_are_written_short_and_read_back() {
        for (nanoseconds, text) in [
            (0, "0ms"),
            (999, "999ns"),
            (1_500, "1.5us"),
            (1_000_000, "1ms"),
            (1_000_001, "1.000001ms"),
            (1_500_000_000, "1.5s"),
            (90_000_000_000, "90s"),
            (120_000_000_000, "2min"),
            (7_200_000_000_000, "2h"),
            (u64::MAX, "18446744073.709551615s"),
        ] {
            let duration = Duration::from_nanos(nanoseconds);
            assert_eq!(show_duration(duration), text);
            assert_eq!(parse_duration(text), Ok(duration));
        }
    }
}
