//! Measured costs as a picture.

use habemus_sim::{CostPoint, CostRequest};

use super::cost::circumstances;
use super::plot::{BOTTOM, LEFT, Plot, RIGHT, Sample, TOP, between};
use super::{grouped, plural};

/// Room between the first point and the axis.
const MARGIN: f64 = 0.03;

/// A logarithmic axis.
struct Log {
    from: f64,
    to: f64,
}

impl Log {
    fn of(values: impl Iterator<Item = f64>, margin: f64) -> Log {
        let logs = values.map(|value| value.max(1.0).log10());
        let (from, to) = logs.fold((f64::MAX, 0.0_f64), |(from, to), log| (from.min(log), to.max(log)));
        let to = to.max(from + 0.3);
        let margin = (to - from) * margin;
        Log { from: from - margin, to: to + margin }
    }

    fn part(&self, value: f64) -> f64 {
        (value.max(1.0).log10() - self.from) / (self.to - self.from)
    }

    /// 1, 2, 5, 10, 20, 50 …; only powers of ten if that would be many.
    fn ticks(&self) -> Vec<f64> {
        let digits: &[f64] = if self.to - self.from > 2.2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let exponents = self.from.floor() as i32..=self.to.ceil() as i32;
        let all =
            exponents.flat_map(|exponent| digits.iter().map(move |digit| digit * 10_f64.powi(exponent)));
        all.filter(|value| (self.from..=self.to).contains(&value.log10())).collect()
    }
}

/// The measured mean and spread, and theory's figure, over the number of processes, on logarithmic axes.
pub(crate) fn cost_plot(request: &CostRequest, points: &[CostPoint]) -> Result<String, String> {
    if points.is_empty() {
        return Err("there is nothing to plot".to_owned());
    }
    let sizes = points.iter().map(|point| point.processes as f64);
    let figures = points
        .iter()
        .flat_map(|point| [point.min as f64, point.max as f64, point.theory.unwrap_or(point.mean)]);
    let (across, up) = (Log::of(sizes, MARGIN), Log::of(figures, 0.06));
    let x = |value: f64| between(across.part(value), LEFT, RIGHT);
    let y = |value: f64| between(up.part(value), BOTTOM, TOP);
    let title = format!("{}: messages", request.algorithm);
    let mut plot = Plot::new(&title, &circumstances(request));
    let label = |place: &dyn Fn(f64) -> f64, value: f64| (place(value), grouped(value as u64));
    // Few sizes are named themselves; of many, round numbers.
    let named: Vec<f64> = match points.len() {
        0..=12 => points.iter().map(|point| point.processes as f64).collect(),
        _ => across.ticks(),
    };
    let named: Vec<(f64, String)> = named.into_iter().map(|value| label(&x, value)).collect();
    let heights: Vec<(f64, String)> = up.ticks().into_iter().map(|value| label(&y, value)).collect();
    plot.axes(("processes", &named), ("messages", &heights));
    let theory: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((x(point.processes as f64), y(point.theory?)))).collect();
    let mut legend = Vec::new();
    if !theory.is_empty() {
        plot.curve("red", theory);
    }
    for point in points {
        let (x, low, high) = (x(point.processes as f64), y(point.min as f64), y(point.max as f64));
        plot.path("spread", &format!("M{x:.1} {low:.1}V{high:.1}"));
    }
    for point in points {
        plot.circle("point", x(point.processes as f64), y(point.mean), 4.0);
    }
    let runs = plural(request.seeds, "run", "runs");
    legend.push((Sample::Circle("point"), format!("measured: mean of {runs}, least to most")));
    if let Some((kind, formula)) = points.iter().find_map(|point| Some((point.theory_kind?, point.formula?)))
    {
        legend.push((Sample::Curve("red"), format!("theory: {kind} {formula}")));
    }
    plot.legend(&legend);
    Ok(plot.finish())
}

#[cfg(test)]
mod tests {
    use super::Log;

    #[test]
    fn a_logarithmic_axis_names_round_numbers_within_it() {
        let axis = Log::of([2.0, 256.0].into_iter(), 0.0);
        assert_eq!(axis.ticks(), [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(Log::of([1.0, 1e6].into_iter(), 0.0).ticks().len(), 7);
        assert!(Log::of([0.0, 0.0].into_iter(), 0.0).ticks().contains(&1.0));
        assert_eq!((axis.part(2.0), axis.part(256.0)), (0.0, 1.0));
    }
}
