//! All that has a place in time, and the search for the width in which its labels can be read.

use super::arrows::{self, Arrow, Fate};
use super::canvas::{Point, text_width};
use super::frame::{BORDER, Frame};
use super::headings;
use super::marks::{self, Pin};
use super::place::Room;
use super::spans::{Span, spans};
use super::timeline::Timeline;
use crate::draw::scene::Scene;

/// The picture is at least this wide.
const NARROWEST: f64 = 560.0;
/// The part of the picture in which things happen is at most this wide.
const WIDEST: f64 = 9_600.0;
/// With more arrows than this, nobody could read their labels.
const CROWDED: usize = 400;
/// So often the labels are placed anew in another order.
const ATTEMPTS: usize = 4;
/// How much wider the picture may get so that all labels find a place, step by step.
const STRETCHES: [f64; 3] = [1.25, 1.6, 2.0];
/// The room to the right of the last event.
const AFTER: f64 = 48.0;
/// The room that each arrow should have.
const PER_ARROW: f64 = 28.0;

/// All that has a place in time, with the labels that found room.
pub(super) struct Sketch {
    pub(super) timeline: Timeline,
    pub(super) arrows: Vec<Arrow>,
    pub(super) pins: Vec<Pin>,
    pub(super) right: f64,
    /// The rows into which it is cut.
    pub(super) spans: Vec<Span>,
    missing: usize,
}

impl Sketch {
    /// The narrowest sketch in which (nearly) all labels find a place.
    pub(super) fn best(scene: &Scene<'_>, frame: &Frame) -> Sketch {
        let natural = Sketch::new(scene, frame, 1.0);
        // Where the headings make the picture wide, the rest may as well use the room; and many arrows need
        // some.
        let wanted = (natural.right - AFTER - frame.left).max(natural.arrows.len() as f64 * PER_ARROW);
        let fill = wanted.min(WIDEST) / (natural.timeline.end - frame.left).max(1.0);
        let fill = fill.clamp(1.0, 3.0);
        let mut best = if fill > 1.0 { Sketch::new(scene, frame, fill) } else { natural };
        for stretch in STRETCHES.map(|stretch| stretch * fill) {
            let enough = best.missing * 40 <= best.arrows.len() + best.pins.len();
            if enough || best.arrows.len() > CROWDED {
                break;
            }
            let wider = Sketch::new(scene, frame, stretch);
            if wider.timeline.end - frame.left > WIDEST {
                break;
            }
            if wider.missing < best.missing {
                best = wider;
            }
        }
        best
    }

    /// Where the widest row ends on the page.
    pub(super) fn page_right(&self, frame: &Frame) -> f64 {
        let widest = self.spans.iter().map(|span| span.width()).fold(0.0, f64::max);
        frame.left - 12.0 + widest
    }

    fn new(scene: &Scene<'_>, frame: &Frame, stretch: f64) -> Sketch {
        let start = frame.left + 26.0;
        let mut timeline = Timeline::new(scene, start, usual_flight(scene, frame), stretch);
        timeline.squeeze(start, WIDEST);
        let line = |process: usize| frame.line(process);
        let mut arrows = arrows::arrows(scene, &timeline, frame.left, line);
        let mut pins = marks::pins(scene, &timeline, line);
        let pending = arrows.iter().any(|arrow| arrow.fate() == Fate::Pending);
        let right = timeline.end + if pending { timeline.flight.max(AFTER) } else { AFTER };
        let right = right.max(headings::width(scene) + BORDER).max(NARROWEST - BORDER);
        let spans = spans(&timeline, &arrows, frame.left - 12.0, right);
        let mut missing = 0;
        if arrows.len() <= CROWDED {
            let corner = Point { x: frame.left - 8.0, y: frame.first - 32.0 };
            let mut room = Room::new(corner, Point { x: right, y: frame.last + 36.0 });
            arrows.iter().for_each(|arrow| arrow.claim(&mut room));
            spans.iter().skip(1).for_each(|span| room.part(span.start));
            for process in 0..scene.processes.len() {
                let y = line(process);
                room.avoid(Point { x: frame.left, y }, Point { x: right, y }, 4.0);
            }
            pins.iter().for_each(|pin| pin.claim(&mut room));
            marks::dots(scene, &timeline, line).into_iter().for_each(|dot| room.block(dot, 7.0, 7.0));
            missing += pins.iter_mut().map(|pin| pin.place_label(&mut room)).filter(|placed| !placed).count();
            missing += label_arrows(&mut arrows, &room);
        }
        Sketch { timeline, arrows, pins, right, spans, missing }
    }
}

/// Places the labels of the arrows and returns how many found no place. Those that find none choose first
/// in the next attempt.
fn label_arrows(arrows: &mut Vec<Arrow>, room: &Room) -> usize {
    let mut order: Vec<usize> = (0..arrows.len()).collect();
    let mut best: Option<(usize, Vec<Arrow>)> = None;
    for _ in 0..ATTEMPTS {
        let mut attempt = room.clone();
        let (placed, without): (Vec<usize>, Vec<usize>) =
            order.iter().partition(|&&own| arrows[own].place_label(&mut attempt, own));
        if best.as_ref().is_none_or(|(fewest, _)| without.len() < *fewest) {
            best = Some((without.len(), arrows.clone()));
        }
        if without.is_empty() {
            break;
        }
        order = [without, placed].concat();
    }
    let (fewest, labelled) = best.expect("there is at least one attempt");
    *arrows = labelled;
    fewest
}

/// How far a message should fly so that its label fits on its arrow.
fn usual_flight(scene: &Scene<'_>, frame: &Frame) -> f64 {
    let mut lengths: Vec<f64> = scene.flights.iter().map(|flight| text_width(&flight.words, 12.0)).collect();
    lengths.sort_by(f64::total_cmp);
    let needed = lengths.get(lengths.len() * 3 / 4).map_or(0.0, |length| length + 34.0);
    (needed * needed - frame.pitch * frame.pitch).max(0.0).sqrt().clamp(74.0, 150.0)
}
