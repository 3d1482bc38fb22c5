//! Where the processes stand in the picture of the network.

use std::f64::consts::TAU;

/// The picture is a square of this width.
const WIDTH: f64 = 1000.0;

/// The place of each process, by address. A star has its centre in the middle, a line is a line; everything
/// else is a circle, in the order of the addresses, so that a ring is one.
pub(crate) fn places(count: usize, links: &[(usize, usize)]) -> Vec<(f64, f64)> {
    let middle = WIDTH / 2.0;
    let mut degree = vec![0; count];
    links.iter().for_each(|(from, _)| degree[*from] += 1);
    let centre = (count > 3 && links.len() == 2 * (count - 1))
        .then(|| degree.iter().position(|degree| *degree == count - 1))
        .flatten();
    let around = count - usize::from(centre.is_some());
    let radius = if count == 1 { 0.0 } else { 390.0 };
    let mut turn = 0;
    let place = |address| {
        if centre == Some(address) {
            return (middle, middle);
        }
        let angle = TAU * f64::from(turn) / around as f64 - TAU / 4.0;
        turn += 1;
        let rounded = |value: f64| (value * 10.0).round() / 10.0;
        (rounded(middle + radius * angle.cos()), rounded(middle + radius * angle.sin()))
    };
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_a_circle_and_a_star_has_its_centre_in_the_middle() {
        let ring = places(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        assert_eq!(ring, [(500.0, 110.0), (890.0, 500.0), (500.0, 890.0), (110.0, 500.0)]);
        let star = places(4, &[(1, 0), (1, 2), (1, 3), (0, 1), (2, 1), (3, 1)]);
        assert_eq!(star[1], (500.0, 500.0));
        assert_eq!(star[0], (500.0, 110.0));
        assert_eq!(places(1, &[]), [(500.0, 500.0)]);
    }
}
