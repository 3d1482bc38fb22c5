//! How long messages take: `5ms`, `1ms..10ms`, `exponential 5ms`, `log-normal 5ms 0.8`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use habemus::units::Decimal;

use super::{UnitError, parse_duration, parse_range, show_duration};
use crate::names;
use crate::scenario::Latency;

impl FromStr for Latency {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let text = text.trim();
        if !text.starts_with(|first: char| first.is_alphabetic()) {
            return constant_or_uniform(text);
        }
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "exponential" => Ok(Latency::Exponential { mean: some_time(rest)? }),
            "log-normal" => log_normal(rest.trim()),
            _ => Err(match names::nearest(word, ["exponential", "log-normal"]) {
                Some(meant) => UnitError::new(format!("unknown latency `{word}`: did you mean `{meant}`?")),
                None => UnitError::expected(EXPECTED, text),
            }),
        }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Latency::Constant(always) => f.write_str(&show_duration(*always)),
            Latency::Uniform { min, max } => {
                write!(f, "{}..{}", show_duration(*min), show_duration(*max))
            }
            Latency::Exponential { mean } => write!(f, "exponential {}", show_duration(*mean)),
            Latency::LogNormal { median, sigma } => {
                write!(f, "log-normal {} {sigma}", show_duration(*median))
            }
        }
    }
}

fn constant_or_uniform(text: &str) -> Result<Latency, UnitError> {
    let (min, max) = parse_range(text)?;
    some_time_is(max)?;
    Ok(if text.contains("..") { Latency::Uniform { min, max } } else { Latency::Constant(max) })
}

fn log_normal(rest: &str) -> Result<Latency, UnitError> {
    const WIDEST: f64 = 10.0;
    let Some((median, sigma)) = rest.rsplit_once(char::is_whitespace) else {
        return Err(UnitError::expected("a median and a sigma such as `log-normal 5ms 0.8`", rest));
    };
    let median = some_time(median)?;
    let sigma = Decimal::parse(sigma)
        .map(|sigma| sigma.to_float(0))
        .filter(|sigma| *sigma <= WIDEST)
        .ok_or_else(|| UnitError::expected("a sigma between 0 and 10 such as `0.8`", sigma))?;
    Ok(Latency::LogNormal { median, sigma })
}

fn some_time(text: &str) -> Result<Duration, UnitError> {
    let time = parse_duration(text)?;
    some_time_is(time).map(|()| time)
}

/// Without a latency an answer arrives before the question is over, and time may never go on.
fn some_time_is(time: Duration) -> Result<(), UnitError> {
    if time.is_zero() { Err(UnitError::new("a message must take some time, found zero")) } else { Ok(()) }
}

pub(crate) const EXPECTED: &str =
    "a latency such as `5ms`, `1ms..10ms`, `exponential 5ms` or `log-normal 5ms 0.8`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_read_and_written() {
        let milliseconds = Duration::from_millis;
        for (text, latency) in [
            ("5ms", Latency::Constant(milliseconds(5))),
            ("1ms..10ms", Latency::Uniform { min: milliseconds(1), max: milliseconds(10) }),
            ("0ms..1ms", Latency::Uniform { min: Duration::ZERO, max: milliseconds(1) }),
            ("5ms..5ms", Latency::Uniform { min: milliseconds(5), max: milliseconds(5) }),
            ("exponential 5ms", Latency::Exponential { mean: milliseconds(5) }),
            ("log-normal 5ms 0.8", Latency::LogNormal { median: milliseconds(5), sigma: 0.8 }),
        ] {
            assert_eq!(text.parse(), Ok(latency.clone()), "{text}");
            assert_eq!(latency.to_string(), text);
        }
    }

    #[test]
    fn a_wrong_latency_says_what_is_wrong() {
        let error = |text: &str| text.parse::<Latency>().expect_err("this is wrong").to_string();
        assert_eq!(error("0ms"), "a message must take some time, found zero");
        assert_eq!(error("exponential 0ms"), "a message must take some time, found zero");
        assert_eq!(error("exponental 5ms"), "unknown latency `exponental`: did you mean `exponential`?");
        assert_eq!(error("slow"), format!("expected {EXPECTED}, found `slow`"));
        assert_eq!(
            error("log-normal 5ms"),
            "expected a median and a sigma such as `log-normal 5ms 0.8`, found `5ms`"
        );
        assert_eq!(
            error("log-normal 5ms nan"),
            "expected a sigma between 0 and 10 such as `0.8`, found `nan`"
        );
        assert_eq!(error("log-normal 5ms -1"), "expected a sigma between 0 and 10 such as `0.8`, found `-1`");
        assert_eq!(error("exponential"), "expected a duration such as `20ms`, found nothing");
    }
}
