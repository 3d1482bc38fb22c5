//! Finding room for words: a label goes where it covers no other label and as few lines as possible.

use super::canvas::Point;

/// A place that a label could take.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// The middle of the baseline.
    pub(super) base: Point,
    /// The direction of the text, of length 1.
    pub(super) direction: Point,
    /// How much worse this place is than the best that one could wish for.
    pub(super) penalty: f64,
}

/// What is where, and what may not be covered.
#[derive(Clone)]
pub(super) struct Room {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    solid: Vec<ConvexShape>,
    /// Things that are better not covered, and how much that costs.
    soft: Vec<(ConvexShape, f64)>,
}

/// What a label pays at most for its place before it is left out.
const TOO_MUCH: f64 = 9.0;

/// How far apart two level texts in one line stay.
const GAP: f64 = 6.0;

impl Room {
    pub(super) fn new(upper_left: Point, lower_right: Point) -> Room {
        Room {
            left: upper_left.x,
            right: lower_right.x,
            top: upper_left.y,
            bottom: lower_right.y,
            solid: Vec::new(),
            soft: Vec::new(),
        }
    }

    /// Something that no label may cover.
    pub(super) fn block(&mut self, center: Point, width: f64, height: f64) {
        self.solid.push(ConvexShape::rectangle(center, RIGHT, width, height));
    }

    /// A line from top to bottom that no label may cross.
    pub(super) fn part(&mut self, x: f64) {
        let (top, bottom) = (Point { x, y: self.top }, Point { x, y: self.bottom });
        self.solid.push(ConvexShape::new(vec![top, bottom]));
    }

    /// A line that a label should rather not cover.
    pub(super) fn avoid(&mut self, from: Point, to: Point, cost: f64) {
        self.soft.push((ConvexShape::new(vec![from, to]), cost));
    }

    /// Takes the cheapest of the spots for a text of this size. `own` is the line that the label belongs
    /// to, by the order in which lines were given to [`avoid`](Room::avoid): that one costs nothing.
    pub(super) fn take(
        &mut self,
        spots: Vec<Spot>,
        width: f64,
        size: f64,
        own: Option<usize>,
    ) -> Option<Spot> {
        let mut best: Option<(f64, Spot, ConvexShape)> = None;
        for spot in spots {
            let limit = best.as_ref().map_or(TOO_MUCH, |(cost, ..)| *cost);
            let shape = spot.shape(width, size);
            if let Some(cost) = self.cost(&shape, spot.penalty, limit, own) {
                best = Some((cost, spot, shape));
            }
        }
        let (_, spot, shape) = best?;
        // Two sentences in one line need a gap, or they are read as one.
        self.solid.push(if spot.direction.y == 0.0 { spot.shape(width + 2.0 * GAP, size) } else { shape });
        Some(spot)
    }

    /// What the place costs; none if it cannot be had for less than the limit.
    fn cost(&self, shape: &ConvexShape, penalty: f64, limit: f64, own: Option<usize>) -> Option<f64> {
        let inside = shape.min.x >= self.left
            && shape.max.x <= self.right
            && shape.min.y >= self.top
            && shape.max.y <= self.bottom;
        if !inside || penalty >= limit || self.solid.iter().any(|other| other.touches(shape)) {
            return None;
        }
        let mut cost = penalty;
        for (index, (other, price)) in self.soft.iter().enumerate() {
            if own != Some(index) && other.touches(shape) {
                cost += price;
                if cost >= limit {
                    return None;
                }
            }
        }
        Some(cost)
    }
}

const RIGHT: Point = Point { x: 1.0, y: 0.0 };

impl Spot {
    /// A horizontal text with the middle of its baseline there.
    pub(super) fn level(base: Point, penalty: f64) -> Spot {
        Spot { base, direction: RIGHT, penalty }
    }

    fn shape(&self, width: f64, size: f64) -> ConvexShape {
        // Letters rise above the baseline more than they sink below it.
        let up = Point { x: self.direction.y, y: -self.direction.x };
        let center = self.base.shifted(up.x * size * 0.3, up.y * size * 0.3);
        ConvexShape::rectangle(center, self.direction, width, size * 0.85)
    }
}

/// A convex shape: a slanted rectangle, or a line.
#[derive(Clone, Debug)]
struct ConvexShape {
    corners: Vec<Point>,
    min: Point,
    max: Point,
}

impl ConvexShape {
    fn new(corners: Vec<Point>) -> ConvexShape {
        let fold = |pick: fn(f64, f64) -> f64, start: f64| {
            let of = |part: fn(&Point) -> f64| corners.iter().map(part).fold(start, pick);
            Point { x: of(|corner| corner.x), y: of(|corner| corner.y) }
        };
        let (min, max) = (fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY));
        ConvexShape { corners, min, max }
    }

    fn rectangle(center: Point, direction: Point, width: f64, height: f64) -> ConvexShape {
        let (along, across) = (width / 2.0, height / 2.0);
        let corner = |a: f64, b: f64| {
            center.shifted(direction.x * a - direction.y * b, direction.y * a + direction.x * b)
        };
        ConvexShape::new(vec![
            corner(-along, -across),
            corner(along, -across),
            corner(along, across),
            corner(-along, across),
        ])
    }

    /// Whether the two have a point in common: convex shapes do unless a line parts them, and then a line
    /// along an edge of one of them does.
    fn touches(&self, other: &ConvexShape) -> bool {
        let boxes_meet = self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y;
        boxes_meet && !self.is_parted_from(other) && !other.is_parted_from(self)
    }

    fn is_parted_from(&self, other: &ConvexShape) -> bool {
        (0..self.corners.len()).any(|index| {
            let from = self.corners[index];
            let to = self.corners[(index + 1) % self.corners.len()];
            let normal = Point { x: from.y - to.y, y: to.x - from.x };
            let (low, high) = self.extent(normal);
            let (other_low, other_high) = other.extent(normal);
            high < other_low || other_high < low
        })
    }

    fn extent(&self, normal: Point) -> (f64, f64) {
        let places = self.corners.iter().map(|corner| corner.x * normal.x + corner.y * normal.y);
        places
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| (low.min(place), high.max(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    #[test]
    fn slanted_shapes_touch_only_where_they_meet() {
        let label = ConvexShape::rectangle(at(50.0, 50.0), at(0.8, 0.6), 60.0, 10.0);
        assert!(label.touches(&ConvexShape::new(vec![at(50.0, 0.0), at(50.0, 100.0)])));
        assert!(label.touches(&ConvexShape::rectangle(at(70.0, 65.0), RIGHT, 8.0, 8.0)));
        // Inside the upright box around the label, but beside the label itself.
        assert!(!label.touches(&ConvexShape::rectangle(at(68.0, 38.0), RIGHT, 8.0, 8.0)));
        assert!(!label.touches(&ConvexShape::new(vec![at(60.0, 30.0), at(75.0, 42.0)])));
    }

    #[test]
    fn a_label_moves_out_of_the_way_or_goes_without() {
        let mut room = Room::new(at(0.0, 0.0), at(200.0, 100.0));
        room.block(at(50.0, 50.0), 40.0, 20.0);
        let spots = || vec![Spot::level(at(50.0, 50.0), 0.0), Spot::level(at(120.0, 50.0), 1.0)];
        let taken = room.take(spots(), 40.0, 12.0, None).expect("the second spot is free");
        assert_eq!(taken.base, at(120.0, 50.0));
        assert!(room.take(spots(), 40.0, 12.0, None).is_none());
        assert!(room.take(vec![Spot::level(at(190.0, 20.0), 0.0)], 40.0, 12.0, None).is_none());
    }

    #[test]
    fn a_label_may_stand_on_its_own_line_but_rather_not_on_others() {
        let mut room = Room::new(at(0.0, 0.0), at(200.0, 100.0));
        room.avoid(at(0.0, 50.0), at(200.0, 50.0), 2.0);
        room.avoid(at(0.0, 20.0), at(200.0, 20.0), 2.0);
        let spots = || vec![Spot::level(at(50.0, 20.0), 0.0), Spot::level(at(50.0, 50.0), 0.5)];
        let taken = room.take(spots(), 40.0, 12.0, Some(0)).expect("both spots are affordable");
        assert_eq!(taken.base, at(50.0, 50.0));
    }
}
