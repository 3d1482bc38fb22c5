//! Pictures of a trace: for the terminal, for a page (Mermaid, SVG) and for ShiViz.
//!
//! All renderers are pure functions from a [`Trace`] to a string; the same trace always gives the same
//! picture, so that pictures can be compared in tests and kept under version control.

mod mermaid;
mod names;
mod phrase;
mod post;
mod rows;
mod scene;
mod shiviz;
mod svg;
mod text;
mod time;
mod window;
mod words;

use crate::Trace;
use scene::Scene;
pub use window::Window;

/// What to draw, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to show the background traffic of the detectors: heartbeats and the timers that drive them.
    pub background: bool,
    /// The title; without one, the trace's own title or the name of its algorithm.
    pub title: Option<String>,
    /// How many columns a line of the text may have.
    pub width: usize,
    /// Whether the text is coloured with ANSI escape sequences.
    pub color: bool,
    /// Which part of the run to draw.
    pub window: Window,
}

impl Default for Options {
    fn default() -> Self {
        Options { background: false, title: None, width: 80, color: false, window: Window::All }
    }
}

/// A space-time diagram for the terminal: time runs down, and each process has a column.
///
/// A message is an arrow in the row of its arrival. Where the sender did something else between the sending
/// and the arrival, the sending has a row of its own and the arrow is dashed, so that the picture never
/// suggests an order that was not there. When the processes do not fit side by side, the result is a log
/// with one line for each event, and its first line says so.
///
/// No line is wider than `options.width` columns.
pub fn text(trace: &Trace, options: &Options) -> String {
    text::render(&Scene::new(&names::with_names(trace), options), options)
}

/// A `sequenceDiagram` for [Mermaid](https://mermaid.js.org), which Markdown viewers draw.
///
/// Mermaid refuses sources of more than 50 000 characters unless told otherwise: use `options.window`
/// to draw a part of a long run.
pub fn mermaid(trace: &Trace, options: &Options) -> String {
    mermaid::render(&Scene::new(&names::with_names(trace), options))
}

/// A space-time diagram as a picture: time runs to the right, and each process has a line.
///
/// The picture follows the viewer's light or dark colour scheme. Long idle times are cut out, and the axis
/// shows where.
pub fn svg(trace: &Trace, options: &Options) -> String {
    svg::render(&Scene::new(&names::with_names(trace), options))
}

/// A log for [ShiViz](https://bestchai.bitbucket.io/shiviz/), which draws what happened before what.
///
/// Only events with a vector clock are written, so the recorder must give every record of a process a
/// clock: each such record counts the process's own entry up by one, and the clock of a `deliver` includes
/// the clock of its `send`. Where events are left out of the picture, the clocks are renumbered, because
/// ShiViz insists on clocks without gaps.
pub fn shiviz(trace: &Trace, options: &Options) -> String {
    shiviz::render(&Scene::new(&names::with_names(trace), options))
}
