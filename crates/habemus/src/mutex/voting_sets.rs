//! Voting sets: whom a process must ask so that no two can have the vote of all they asked.

use std::sync::Arc;

use crate::Address;

/// S1: "desde que os subconjuntos de dois processos se sobreponham".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VotingSets {
    /// The processes lie in a square, the last row of which may be short. A process asks its row and its
    /// column: about 2√n. Its row crosses the column of any other, or the other way round.
    #[default]
    Grid,
    /// The processes are the points of a finite projective plane and the sets its lines: q+1 points each,
    /// about √n, and any two lines meet in exactly one point. Made by [`plane`](VotingSets::plane).
    Plane(Lines),
    /// Everybody asks everybody.
    All,
}

/// The lines of a projective plane as shifts of one: line i goes through the points i+d, for every d of a
/// perfect difference set, in which every distance between two points occurs exactly once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines(Arc<[u32]>);

impl VotingSets {
    /// The lines of the plane with `n` points. There is one if n = q²+q+1 and q is a prime; for q = 1 it is
    /// the triangle.
    pub fn plane(n: usize) -> Option<Self> {
        let q = u32::try_from(n.checked_sub(1)?.isqrt()).ok()?;
        let fits = u64::from(q) * u64::from(q) + u64::from(q) + 1 == n as u64;
        match q {
            _ if !fits => None,
            1 => Some(VotingSets::Plane(Lines([0, 1].into()))),
            _ if is_prime(q) => Some(VotingSets::Plane(Lines(difference_set(q).into()))),
            _ => None,
        }
    }

    /// Those that `process` must ask, itself included, in order.
    pub fn of(&self, process: Address, n: usize) -> Vec<Address> {
        let (me, n) = (process.0, n as u32);
        let mut set: Vec<u32> = match self {
            VotingSets::Grid => {
                let width = side(n);
                let row = me / width * width;
                let column = (me % width..n).step_by(width as usize);
                (row..n.min(row + width)).chain(column.filter(|&other| other != me)).collect()
            }
            VotingSets::Plane(Lines(shifts)) => shifts.iter().map(|shift| (me + shift) % n).collect(),
            VotingSets::All => (0..n).collect(),
        };
        set.sort_unstable();
        set.into_iter().map(Address).collect()
    }
}

/// The side of the smallest square that holds `n`.
fn side(n: u32) -> u32 {
    n.saturating_sub(1).isqrt() + 1
}

fn is_prime(q: u32) -> bool {
    q > 1 && (2..=q.isqrt()).all(|divisor| !q.is_multiple_of(divisor))
}

/// Singer's difference set: the powers of a generator of GF(q³) that lie in a plane through the origin.
///
/// The field is made by a cubic x³ = ax² + bx + c. Not every cubic makes a field whose x is a generator, so
/// the first is taken whose powers turn out to be a perfect difference set; it is found after a few.
fn difference_set(q: u32) -> Vec<u32> {
    let cubics = (0..q).flat_map(|a| (1..q).flat_map(move |b| (1..q).map(move |c| [c, b, a])));
    let mut sets = cubics.map(|cubic| powers_in_a_plane(q, cubic)).filter(|set| is_perfect(q, set));
    sets.next().expect("every finite field has an extension of degree three with a generator")
}

/// The exponents, below q²+q+1, of the powers of x without a square term.
fn powers_in_a_plane(q: u32, cubic: [u32; 3]) -> Vec<u32> {
    let (q, cubic) = (u64::from(q), cubic.map(u64::from));
    let mut power = [1, 0, 0];
    let mut exponents = Vec::new();
    for exponent in 0..q * q + q + 1 {
        if power[2] == 0 {
            exponents.push(exponent as u32);
        }
        let [one, x, square] = power;
        let [c, b, a] = cubic.map(|coefficient| coefficient * square);
        power = [c % q, (one + b) % q, (x + a) % q];
    }
    exponents
}

fn is_perfect(q: u32, set: &[u32]) -> bool {
    if set.len() != q as usize + 1 {
        return false;
    }
    let n = q * q + q + 1;
    let mut seen = vec![false; n as usize];
    let mut distances =
        set.iter().flat_map(|a| set.iter().filter(move |b| *b != a).map(move |b| (n + a - b) % n));
    distances.all(|distance| !std::mem::replace(&mut seen[distance as usize], true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sets(kind: &VotingSets, n: usize) -> Vec<BTreeSet<Address>> {
        (0..n as u32).map(|process| kind.of(Address(process), n).into_iter().collect()).collect()
    }

    /// S1: every two subsets overlap; and a process is in its own.
    #[track_caller]
    fn assert_overlap(kind: &VotingSets, n: usize) {
        let sets = sets(kind, n);
        for (index, set) in sets.iter().enumerate() {
            assert!(set.contains(&Address(index as u32)), "{kind:?} of {n}: {index} is not in its own set");
            assert!(sets.iter().all(|other| !set.is_disjoint(other)), "{kind:?} of {n}: {set:?}");
        }
    }

    #[test]
    fn any_two_sets_of_a_grid_overlap_even_if_its_last_row_is_short() {
        for n in 1..=60 {
            assert_overlap(&VotingSets::Grid, n);
            assert!(sets(&VotingSets::Grid, n).iter().all(|set| set.len() < 2 * side(n as u32) as usize));
        }
        assert!(sets(&VotingSets::Grid, 49).iter().all(|set| set.len() == 13));
    }

    #[test]
    fn any_two_lines_of_a_plane_meet_in_exactly_one_point() {
        for q in [1, 2, 3, 5, 7, 11, 13] {
            let n = q * q + q + 1;
            let plane = VotingSets::plane(n).expect("q is 1 or a prime");
            assert_overlap(&plane, n);
            let lines = sets(&plane, n);
            assert!(lines.iter().all(|line| line.len() == q + 1));
            let meet = |a: usize, b: usize| lines[a].intersection(&lines[b]).count();
            assert!((1..n).all(|b| (0..b).all(|a| meet(a, b) == 1)), "{n}");
        }
    }

    #[test]
    fn the_plane_of_a_large_prime_is_found_in_time() {
        assert!(VotingSets::plane(101 * 101 + 101 + 1).is_some());
    }

    #[test]
    fn other_numbers_of_processes_have_no_plane_of_prime_order() {
        for n in [0, 1, 2, 4, 6, 8, 12, 14, 21, 30, 73, 111] {
            assert_eq!(VotingSets::plane(n), None, "{n}");
        }
    }

    #[test]
    fn all_ask_all() {
        assert_overlap(&VotingSets::All, 4);
        assert_eq!(VotingSets::All.of(Address(2), 3).len(), 3);
    }
}
