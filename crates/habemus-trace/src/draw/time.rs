//! How times are written.

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const TEN_SECONDS: u64 = 10 * SECOND;

/// The unit and the precision in which all times of one picture are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    nanoseconds: u64,
    /// The unit's name.
    pub(super) unit: &'static str,
    decimals: usize,
}

impl Scale {
    /// The scale in which these times are short to write and still tell apart what they must.
    pub(super) fn of(times: &[u64]) -> Scale {
        let (nanoseconds, unit) = match times.iter().copied().max().unwrap_or(0) {
            1..MICROSECOND => (1, "ns"),
            MICROSECOND..MILLISECOND => (MICROSECOND, "µs"),
            TEN_SECONDS.. => (SECOND, "s"),
            0 | MILLISECOND..TEN_SECONDS => (MILLISECOND, "ms"),
        };
        let is_exact = |&power: &u64| times.iter().all(|at| at % (nanoseconds / power).max(1) == 0);
        let decimals = [1, 10, 100].iter().position(is_exact).unwrap_or(3);
        Scale { nanoseconds, unit, decimals }
    }

    /// A time in this scale, without the unit.
    pub(super) fn show(&self, at: u64) -> String {
        decimal(at, self.nanoseconds, self.decimals)
    }
}

/// A time or a length of time by itself, with its unit and three digits or so: "1.25 ms", "340 µs", "2 s".
pub(super) fn span(nanoseconds: u64) -> String {
    let (size, unit) = match nanoseconds {
        0 => return "0".into(),
        1..MICROSECOND => (1, "ns"),
        MICROSECOND..MILLISECOND => (MICROSECOND, "µs"),
        MILLISECOND..SECOND => (MILLISECOND, "ms"),
        SECOND.. => (SECOND, "s"),
    };
    let decimals = match nanoseconds / size {
        0..10 => 2,
        10..100 => 1,
        100.. => 0,
    };
    let number = decimal(nanoseconds, size, decimals);
    let short = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{short} {unit}")
}

/// `value / size` with so many decimals, rounded half up; in integers, so that it is the same everywhere.
fn decimal(value: u64, size: u64, decimals: usize) -> String {
    let power = 10_u128.pow(u32::try_from(decimals).unwrap_or(0));
    let size = u128::from(size);
    let scaled = (u128::from(value) * power + size / 2) / size;
    match decimals {
        0 => scaled.to_string(),
        _ => format!("{}.{:0decimals$}", scaled / power, scaled % power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_the_decimals_that_the_times_need() {
        let show = |times: &[u64]| {
            let scale = Scale::of(times);
            (times.iter().map(|&at| scale.show(at)).collect::<Vec<_>>().join(" "), scale.unit)
        };
        assert_eq!(show(&[0, 1_000_000, 12_000_000]), ("0 1 12".into(), "ms"));
        assert_eq!(show(&[0, 1_500_000]), ("0.0 1.5".into(), "ms"));
        assert_eq!(show(&[1_234_567, 2_000_000]), ("1.235 2.000".into(), "ms"));
        assert_eq!(show(&[7, 999]), ("7 999".into(), "ns"));
        assert_eq!(show(&[250_000]), ("250".into(), "µs"));
        assert_eq!(show(&[12_500_000_000]), ("12.5".into(), "s"));
        assert_eq!(show(&[u64::MAX]), ("18446744073.710".into(), "s"));
        assert_eq!(show(&[]), (String::new(), "ms"));
    }

    #[test]
    fn a_span_brings_its_own_unit() {
        let spans = [0, 999, 1_000, 1_250_000, 12_340_000, 999_000_000, 2_000_000_000, 90_000_000_000];
        let shown = spans.map(span);
        assert_eq!(shown, ["0", "999 ns", "1 µs", "1.25 ms", "12.3 ms", "999 ms", "2 s", "90 s"]);
    }
}
