//! Shapes of networks by name, checked against what an algorithm runs on.

use super::{Entry, Request, SetupError};
use crate::Chooser;
use crate::topology::Graph;

/// The shapes that have a name.
pub const SHAPES: &[&str] =
    &["complete", "ring", "two-way-ring", "line", "star", "tree", "grid", "hypercube", "random"];

/// How processes are connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One of [`SHAPES`].
    Named(String),
    /// These links, between addresses.
    Links(Vec<(u32, u32)>),
}

impl Shape {
    /// The name to show.
    pub fn name(&self) -> &str {
        match self {
            Shape::Named(name) => name,
            Shape::Links(_) => "links",
        }
    }

    /// The links of the shape over `n` addresses.
    ///
    /// # Errors
    /// If nothing has this name, if a link leads nowhere, or if not all are connected.
    pub fn graph(&self, n: usize, chooser: &mut dyn Chooser) -> Result<Graph, SetupError> {
        let links = match self {
            Shape::Links(links) => links.clone(),
            Shape::Named(name) => named(name, n as u32, chooser).ok_or_else(|| SetupError::Unknown {
                what: "topology",
                name: name.clone(),
                known: SHAPES.iter().map(|&shape| shape.to_owned()).collect(),
            })?,
        };
        let unfit =
            |reason: String| SetupError::Unfit { what: "topology", name: self.name().to_owned(), reason };
        if let Some((a, b)) = links.iter().find(|(a, b)| a == b || *a >= n as u32 || *b >= n as u32) {
            return Err(unfit(format!("the link {a}-{b} does not connect two different processes")));
        }
        let graph = Graph::new(n, &links);
        if !graph.is_connected() {
            return Err(unfit("not every process can be reached from every other".to_owned()));
        }
        Ok(graph)
    }
}

/// The shape that was asked for, or the algorithm's own; an error if the algorithm does not run on it.
pub(super) fn shape_for(entry: &Entry, request: &Request<'_>) -> Result<Shape, SetupError> {
    let default = || Shape::Named(entry.topologies[0].to_owned());
    let shape = request.shape.clone().unwrap_or_else(default);
    if let Shape::Named(name) = &shape
        && !SHAPES.contains(&name.as_str())
    {
        return Err(SetupError::Unknown {
            what: "topology",
            name: name.clone(),
            known: SHAPES.iter().map(|&shape| shape.to_owned()).collect(),
        });
    }
    let fits = match &shape {
        Shape::Named(name) => entry.topologies.contains(&name.as_str()),
        Shape::Links(_) => entry.topologies.contains(&"links"),
    };
    if fits {
        Ok(shape)
    } else {
        Err(SetupError::Unfit {
            what: "topology",
            name: shape.name().to_owned(),
            reason: format!("{} runs on: {}", entry.name, entry.topologies.join(", ")),
        })
    }
}

/// The detector that was asked for, or the algorithm's own; an error if the algorithm cannot stand on it.
pub(super) fn detector_for(entry: &Entry, request: &Request<'_>) -> Result<&'static str, SetupError> {
    let unfit = |name: &str, reason| SetupError::Unfit { what: "detector", name: name.to_owned(), reason };
    match (request.detector, entry.detectors) {
        (None, []) => Ok("none"),
        (None, [first, ..]) => Ok(first),
        (Some(name), []) => Err(unfit(name, format!("{} needs no failure detector", entry.name))),
        (Some(name), known) => known
            .iter()
            .copied()
            .find(|other| *other == name)
            .ok_or_else(|| unfit(name, format!("{} can stand on: {}", entry.name, known.join(", ")))),
    }
}

/// Draws what a seed decides before the run: a random shape, traitors.
pub(super) fn draw(seed: u64) -> impl FnMut(u32) -> u32 {
    let mut state = seed;
    move |bound| {
        // Steele, Lea and Flood's SplitMix: a counter, and a function that mixes its bits.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(bound)) >> 64) as u32
    }
}

fn named(name: &str, n: u32, chooser: &mut dyn Chooser) -> Option<Vec<(u32, u32)>> {
    let width = (f64::from(n).sqrt().ceil() as u32).max(1);
    Some(match name {
        "complete" => (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect(),
        "ring" | "two-way-ring" => (0..n).map(|a| (a, (a + 1) % n)).filter(|(a, b)| a != b).collect(),
        "line" => (1..n).map(|b| (b - 1, b)).collect(),
        "star" => (1..n).map(|b| (0, b)).collect(),
        "tree" => (1..n).map(|b| ((b - 1) / 2, b)).collect(),
        "grid" => (0..n)
            .flat_map(|a| {
                let right = ((a + 1) % width != 0 && a + 1 < n).then_some((a, a + 1));
                let down = (a + width < n).then_some((a, a + width));
                right.into_iter().chain(down)
            })
            .collect(),
        "hypercube" => (0..n)
            .flat_map(|a| (0..32).map(move |bit| (a, a ^ (1 << bit))))
            .filter(|&(a, b)| a < b && b < n)
            .collect(),
        "random" => {
            // A random tree keeps it connected; as many links again make the degree about four.
            let mut links: Vec<(u32, u32)> = (1..n).map(|b| (chooser.choose(b), b)).collect();
            if n > 2 {
                for _ in 0..n {
                    let (a, b) = (chooser.choose(n), chooser.choose(n));
                    if a != b {
                        links.push((a, b));
                    }
                }
            }
            links
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_shape_is_connected() {
        for shape in SHAPES {
            for n in [1, 2, 3, 7, 8, 20] {
                let graph = Shape::Named((*shape).to_owned()).graph(n, &mut |bound: u32| bound / 2);
                assert!(graph.is_ok_and(|graph| graph.is_connected()), "{shape} of {n}");
            }
        }
    }

    #[test]
    fn links_that_leave_somebody_out_are_refused() {
        let error = Shape::Links(vec![(0, 1)]).graph(3, &mut |_: u32| 0).unwrap_err();
        assert!(error.to_string().contains("not every process"), "{error}");
        let error = Shape::Links(vec![(0, 3)]).graph(3, &mut |_: u32| 0).unwrap_err();
        assert!(error.to_string().contains("0-3"), "{error}");
    }
}
