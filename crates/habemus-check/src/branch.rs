//! Every way to choose, one after the other.

use habemus::Chooser;

/// Replays a sequence of choices and takes the first possibility where it ends.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// What was chosen, of how many.
    taken: Vec<(u32, u32)>,
    at: usize,
}

impl Chooser for Branch {
    fn choose(&mut self, bound: u32) -> u32 {
        if self.at == self.taken.len() {
            self.taken.push((0, bound));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }
}

impl Branch {
    /// What was chosen.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = u32> + '_ {
        self.taken.iter().take(self.at).map(|(choice, _)| *choice)
    }

    /// How many choices were made.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Goes back to a position, to choose the same from there on.
    pub(crate) fn rewind(&mut self, position: usize) {
        self.at = position;
    }

    /// Goes on to the next sequence; says whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.at = 0;
        while let Some((choice, bound)) = self.taken.pop() {
            if choice + 1 < bound {
                self.taken.push((choice + 1, bound));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_of_choices_is_tried_once() {
        let mut branch = Branch::default();
        let mut seen = Vec::new();
        loop {
            // A second choice exists only after the first possibility of the first.
            let first = branch.choose(2);
            let second = (first == 0).then(|| branch.choose(3));
            seen.push((first, second));
            if !branch.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, Some(0)), (0, Some(1)), (0, Some(2)), (1, None)]);
    }
}
