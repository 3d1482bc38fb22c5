//! A wide run is cut into rows, one below the other, as lines of music are.

use super::arrows::Arrow;
use super::timeline::Timeline;

/// A row is about this wide at most.
const WIDEST: f64 = 960.0;
/// Where a row can end is looked for in steps of this size,
const STEP: f64 = 4.0;
/// up to this part of a row before and after the place where it should.
const SLACK: f64 = 0.2;
/// An event should be so far from the end of a row.
const NEAR: f64 = 22.0;

/// The part of the whole that is in one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Span {
    pub(super) fn width(self) -> f64 {
        self.end - self.start
    }

    /// Whether something from one place to another is seen in the row.
    pub(super) fn meets(self, from: f64, to: f64) -> bool {
        from.min(to) <= self.end && from.max(to) >= self.start
    }

    pub(super) fn has(self, x: f64) -> bool {
        self.start <= x && x < self.end
    }

    /// A stretch as far as it is seen, or a little further.
    pub(super) fn cut(self, from: f64, to: f64) -> Option<(f64, f64)> {
        const BEYOND: f64 = 12.0;
        let seen = (from.max(self.start - BEYOND), to.min(self.end + BEYOND));
        (seen.0 < seen.1).then_some(seen)
    }
}

/// Cuts what goes from `left` to `right` into rows of about the same width: through as few messages as can
/// be, away from what happens, and best where a silence was left out.
pub(super) fn spans(timeline: &Timeline, arrows: &[Arrow], left: f64, right: f64) -> Vec<Span> {
    let count = ((right - left) / WIDEST - 0.15).ceil().max(1.0) as usize;
    let mut spans = Vec::new();
    let mut start = left;
    for rows_left in (2..=count).rev() {
        let width = (right - start) / rows_left as f64;
        let ideal = start + width;
        let steps = (width * SLACK / STEP) as i32;
        let places = (-steps..=steps).map(|step| ideal + f64::from(step) * STEP);
        let cost = |x: f64| {
            let far = (x - ideal).abs() / width * 8.0;
            let crossed = arrows.iter().filter(|arrow| arrow.crosses(x)).count() as f64;
            let crowded = timeline.x.iter().any(|place| (place - x).abs() < NEAR);
            let after_silence = timeline.breaks.iter().any(|cut| (0.0..12.0).contains(&(x - cut.end)));
            let torn = timeline.breaks.iter().any(|cut| cut.start - 4.0 < x && x < cut.end);
            let price = |it: bool, price: f64| if it { price } else { 0.0 };
            far + crossed + price(crowded, 6.0) + price(torn, 30.0) - price(after_silence, 5.0)
        };
        let best = places.min_by(|one, other| cost(*one).total_cmp(&cost(*other))).unwrap_or(ideal);
        spans.push(Span { start, end: best });
        start = best;
    }
    spans.push(Span { start, end: right });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(x: Vec<f64>) -> Timeline {
        Timeline::at(x)
    }

    #[test]
    fn rows_follow_each_other_without_a_gap_and_none_is_too_wide() {
        for width in [10.0, 900.0, 1_100.0, 1_200.0, 3_000.0, 12_345.0] {
            let spans = spans(&timeline(Vec::new()), &[], 50.0, 50.0 + width);
            assert_eq!((spans[0].start, spans[spans.len() - 1].end), (50.0, 50.0 + width));
            assert!(spans.windows(2).all(|two| two[0].end == two[1].start), "{spans:?}");
            assert!(spans.iter().all(|span| span.width() <= WIDEST * 1.4), "{spans:?}");
        }
    }

    #[test]
    fn a_row_does_not_end_where_something_happens() {
        let middle = 1_050.0;
        let spans = spans(&timeline(vec![middle]), &[], 50.0, 2_050.0);
        assert_eq!(spans.len(), 2);
        assert!((spans[0].end - middle).abs() >= NEAR, "{spans:?}");
    }
}
