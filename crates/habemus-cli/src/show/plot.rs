//! Measured costs as a picture.

use habemus_sim::{CostPoint, CostRequest};
use plotters::prelude::*;

use super::cost::circumstances;

/// The measured mean and spread, and theory's figure, over the number of processes, on logarithmic axes.
pub(crate) fn cost_plot(request: &CostRequest, points: &[CostPoint]) -> Result<String, String> {
    if points.is_empty() {
        return Err("there is nothing to plot".to_owned());
    }
    let mut svg = String::new();
    draw(&mut svg, request, points).map_err(|error| format!("cannot plot: {error}"))?;
    Ok(svg)
}

const MEASURED: RGBColor = RGBColor(0, 114, 178);
const THEORY: RGBColor = RGBColor(213, 94, 0);

fn draw(
    svg: &mut String,
    request: &CostRequest,
    points: &[CostPoint],
) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, (800, 500)).into_drawing_area();
    root.fill(&WHITE)?;
    let sizes = points.iter().map(|point| point.processes as f64);
    let (first, last) = (sizes.clone().fold(f64::MAX, f64::min), sizes.fold(1.0, f64::max));
    let figures =
        points.iter().flat_map(|point| [point.min as f64, point.max as f64, point.theory.unwrap_or(1.0)]);
    let (low, high) =
        figures.fold((f64::MAX, 1.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let title = format!("{}: messages, {}", request.algorithm, circumstances(request));
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(80)
        .build_cartesian_2d(
            (first..last.max(first * 2.0)).log_scale(),
            (low.max(1.0) * 0.8..(high * 1.25).max(2.0)).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("processes")
        .y_desc("messages")
        .x_label_formatter(&|value| super::grouped(*value as u64))
        .y_label_formatter(&|value| super::grouped(*value as u64))
        .light_line_style(RGBColor(235, 235, 235))
        .bold_line_style(RGBColor(215, 215, 215))
        .draw()?;
    let theory: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.processes as f64, point.theory?))).collect();
    if let Some((kind, formula)) = points.iter().find_map(|point| Some((point.theory_kind?, point.formula?)))
    {
        chart
            .draw_series(LineSeries::new(theory, THEORY.stroke_width(2)))?
            .label(format!("theory: {kind} {formula}"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], THEORY.stroke_width(2)));
    }
    for point in points {
        let n = point.processes as f64;
        let ends = [(n, (point.min as f64).max(1.0)), (n, (point.max as f64).max(1.0))];
        chart.draw_series(LineSeries::new(ends, MEASURED.mix(0.5).stroke_width(3)))?;
    }
    let means = points
        .iter()
        .map(|point| Circle::new((point.processes as f64, point.mean.max(1.0)), 4, MEASURED.filled()));
    chart
        .draw_series(means)?
        .label(format!("measured: mean of {}, least to most", super::plural(request.seeds, "run", "runs")))
        .legend(|(x, y)| Circle::new((x + 10, y), 4, MEASURED.filled()));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.9))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    root.present()?;
    Ok(())
}
