//! Probabilities that no floating-point number can hold.

use std::f64::consts::LN_10;
use std::fmt;
use std::str::FromStr;

/// A probability, kept as its natural logarithm: 10⁻⁴⁰⁰⁰ is as good a number as one half.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LogProbability(f64);

impl LogProbability {
    /// What never happens.
    pub const ZERO: Self = LogProbability(f64::NEG_INFINITY);
    /// What always happens.
    pub const ONE: Self = LogProbability(0.0);

    /// The probability with this logarithm. What rounding has pushed above 1 is 1.
    pub(super) fn from_ln(ln: f64) -> Self {
        debug_assert!(!ln.is_nan(), "the logarithm of a probability is a number");
        LogProbability(ln.min(0.0))
    }

    /// The probability `share`; `None` unless it lies from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then(|| LogProbability(share.ln()))
    }

    /// Its natural logarithm; −∞ for 0.
    pub fn ln(self) -> f64 {
        self.0
    }

    /// Its logarithm to the base 10; −∞ for 0.
    pub fn log10(self) -> f64 {
        self.0 / LN_10
    }

    /// As an ordinary number, which is 0 for what is smaller than the smallest of those.
    pub fn to_f64(self) -> f64 {
        self.0.exp()
    }

    /// The probability that it does not happen.
    #[must_use]
    pub fn complement(self) -> Self {
        // Both ways are exact on their side of one half, and lose digits on the other.
        if self.0 > -std::f64::consts::LN_2 {
            LogProbability((-self.0.exp_m1()).ln())
        } else {
            LogProbability((-self.0.exp()).ln_1p())
        }
    }

    /// The probability that it happens `times` times, independently.
    #[must_use]
    pub fn power(self, times: u64) -> Self {
        // 0 · −∞ is no number, but nothing at all is certain.
        if times == 0 { Self::ONE } else { LogProbability(self.0 * times as f64) }
    }
}

/// Three significant digits: 0.25, 7.35e-59.
impl fmt::Display for LogProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ZERO {
            return f.pad("0");
        }
        let mut exponent = self.log10().floor();
        let mut digits = (10_f64.powf(self.log10() - exponent) * 100.0).round();
        if digits >= 1000.0 {
            (digits, exponent) = (100.0, exponent + 1.0);
        }
        if exponent >= -2.0 {
            let places = (2.0 - exponent) as usize;
            let text = format!("{:.places$}", digits * 10_f64.powf(exponent - 2.0));
            let text =
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            return f.pad(text);
        }
        f.pad(&format!("{}e{exponent}", digits / 100.0))
    }
}

/// Why a text is no probability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProbability {
    found: String,
}

impl fmt::Display for NoProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a probability from 0 to 1 such as 0.01, 1% or 1e-4, found '{}'", self.found)
    }
}

impl std::error::Error for NoProbability {}

/// Reads 0.01, 1% and 1e-4, also where the exponent is beyond ordinary numbers: 1e-4000.
impl FromStr for LogProbability {
    type Err = NoProbability;

    fn from_str(text: &str) -> Result<Self, NoProbability> {
        parse(text.trim()).ok_or_else(|| NoProbability { found: text.trim().chars().take(40).collect() })
    }
}

fn parse(text: &str) -> Option<LogProbability> {
    let (number, percent) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 2),
        None => (text, 0),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    // The words that Rust also takes for numbers, signs and the like are nothing that anybody means here.
    if mantissa.is_empty() || !mantissa.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let exponent = i64::from(exponent.parse::<i32>().ok()?) - percent;
    let nearest: f64 = format!("{mantissa}e{exponent}").parse().ok()?;
    if nearest > 1e-300 {
        return LogProbability::new(nearest);
    }
    let mantissa: f64 = mantissa.parse().ok()?;
    // 0 · 10ᵉ is 0, whatever the exponent.
    Some(LogProbability::from_ln(mantissa.ln() + exponent as f64 * LN_10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> LogProbability {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn probabilities_are_read_and_shown() {
        for (text, shown) in [
            ("0.25", "0.25"),
            ("1e-4", "1e-4"),
            ("1%", "0.01"),
            ("0.0125", "0.0125"),
            ("0.1 %", "1e-3"),
            ("1", "1"),
            ("100%", "1"),
            ("0", "0"),
            ("0e-400", "0"),
            ("1E-12", "1e-12"),
            ("7.3547e-59", "7.35e-59"),
            ("9.996e-9", "1e-8"),
            ("0.9999", "1"),
            ("2.5e-4000", "2.5e-4000"),
            ("3e-2000000000", "3e-2000000000"),
        ] {
            assert_eq!(read(text).to_string(), shown, "{text}");
        }
        for wrong in
            ["", "-0.1", "1.5", "101%", "nan", "inf", "e-4", "1e", "1e-99999999999", "often", "1.2.3"]
        {
            let error = wrong.parse::<LogProbability>().expect_err("this is wrong").to_string();
            assert!(error.contains(&format!("found '{wrong}'")), "{error}");
        }
    }

    #[test]
    fn what_does_not_happen_is_the_rest() {
        for share in [0.0, 1e-9, 0.3, 0.5, 0.7, 1.0 - 1e-9, 1.0] {
            let rest = LogProbability::new(share).expect("a share").complement().to_f64();
            assert!((rest - (1.0 - share)).abs() < 1e-15, "{share}: {rest}");
        }
        // One minus a tiny probability is not simply one: its logarithm is minus that probability.
        assert!((read("1e-200").complement().ln() + 1e-200).abs() < 1e-210);
    }

    #[test]
    fn powers_multiply() {
        assert_eq!(read("1e-4").power(16).to_string(), "1e-64");
        assert_eq!(LogProbability::ZERO.power(0), LogProbability::ONE);
        assert_eq!(LogProbability::ZERO.power(3), LogProbability::ZERO);
        assert_eq!(LogProbability::new(1.5), None);
        assert_eq!(LogProbability::new(f64::NAN), None);
    }
}
