//! Where the lines of the processes are.

use super::timeline::Timeline;
use super::{headings, network};
use crate::Happening;
use crate::draw::scene::Scene;

/// The blank border of the picture.
pub(super) const BORDER: f64 = 28.0;

/// What does not depend on time: where the lines are.
pub(super) struct Frame {
    /// Where the lines begin.
    pub(super) left: f64,
    /// How far it is from one line to the next.
    pub(super) pitch: f64,
    /// The first line.
    pub(super) first: f64,
    /// The last line.
    pub(super) last: f64,
    /// Where the lanes of the cuts begin.
    pub(super) lanes: f64,
    /// Where the bands of the violations begin.
    pub(super) top: f64,
}

impl Frame {
    pub(super) fn new(scene: &Scene<'_>) -> Frame {
        let pitch = match scene.processes.len() {
            0..=4 => 84.0,
            5..=6 => 76.0,
            7..=9 => 70.0,
            10..=14 => 48.0,
            15..=24 => 34.0,
            _ => 22.0,
        };
        let has = |what: fn(&Happening) -> bool| scene.moments.iter().any(|moment| what(&moment.record.what));
        let lanes = BORDER + headings::height(scene);
        // The lanes are counted on a rough timeline, which is narrower than the one that is drawn. So at
        // worst a lane stays empty.
        let rough = Timeline::new(scene, 0.0, 60.0, 1.0);
        let top = lanes + network::lanes(scene, &rough) as f64 * network::LANE;
        let top = top + if has(|what| matches!(what, Happening::Violation { .. })) { 20.0 } else { 0.0 };
        let first = top + 34.0;
        let last = first + scene.processes.len().saturating_sub(1) as f64 * pitch;
        let name = scene.processes.iter().map(|id| id.to_string().len()).max().unwrap_or(1);
        Frame { left: BORDER + name as f64 * 9.0 + 34.0, pitch, first, last, lanes, top }
    }

    pub(super) fn line(&self, process: usize) -> f64 {
        self.first + process as f64 * self.pitch
    }

    /// Where what belongs to the lines ends.
    pub(super) fn bottom(&self) -> f64 {
        self.last + 34.0
    }

    /// How far it is from one row of a wide picture to the next.
    pub(super) fn row(&self) -> f64 {
        self.axis() + 44.0 - self.lanes
    }

    pub(super) fn axis(&self) -> f64 {
        self.bottom() + 14.0
    }
}
