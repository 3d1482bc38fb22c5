//! Numbers as they are written.

/// A number without sign or exponent: `digits / 10^scale`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// All digits, as a whole number.
    pub digits: u128,
    /// How many of them stand after the point.
    pub scale: u32,
}

impl Decimal {
    /// Reads `12`, `1_000` or `0.25`; `None` for anything else, and for more digits than anybody means.
    pub fn parse(text: &str) -> Option<Decimal> {
        const MAX_DIGITS: usize = 30;
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let well_formed = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_digit())
                && part.ends_with(|last: char| last.is_ascii_digit())
                && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
        };
        if !well_formed(whole) || !well_formed(fraction) {
            return None;
        }
        let whole = whole.replace('_', "");
        let fraction = fraction.replace('_', "");
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        if digits.len() > MAX_DIGITS || fraction.len() > MAX_DIGITS {
            return None;
        }
        let scale = u32::try_from(fraction.len()).ok()?;
        Some(Decimal { digits: if digits.is_empty() { 0 } else { digits.parse().ok()? }, scale })
    }

    /// The nearest number that the machine has, after moving the point `places` to the left.
    pub fn to_float(self, places: u32) -> f64 {
        format!("{}e-{}", self.digits, self.scale + places).parse().unwrap_or(f64::NAN)
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.digits, width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        match fraction.trim_end_matches('0') {
            "" => f.write_str(whole),
            fraction => write!(f, "{whole}.{fraction}"),
        }
    }
}

/// Divides `text` into the number at its beginning and the rest, without the space between them.
pub fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '_'));
    let (number, rest) = text.split_at(end.unwrap_or(text.len()));
    (number, rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        assert_eq!(Decimal::parse("12"), Some(Decimal { digits: 12, scale: 0 }));
        assert_eq!(Decimal::parse("1_000.50"), Some(Decimal { digits: 10_005, scale: 1 }));
        assert_eq!(Decimal::parse("0.0"), Some(Decimal { digits: 0, scale: 0 }));
        for wrong in ["", ".", "1.", ".5", "1.2.3", "_1", "1_", "-1", "1e3", "９", &"9".repeat(31)] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Decimal { digits: 5, scale: 3 }.to_string(), "0.005");
        assert_eq!(Decimal { digits: 1500, scale: 3 }.to_string(), "1.5");
        assert_eq!(Decimal { digits: 5, scale: 1 }.to_float(2), 0.005);
    }
}
