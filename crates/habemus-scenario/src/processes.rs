//! The processes of a scenario, as those look them up who read its script.

use std::sync::OnceLock;

/// The most processes that a scenario may have.
pub const MAX_PROCESSES: u64 = 10_000_000;

/// What to say when there are more.
pub(crate) fn too_many_processes(number: u128) -> String {
    format!("a scenario has at most {MAX_PROCESSES} processes, found {number}")
}

/// The identifiers that exist.
#[derive(Clone, Debug)]
pub struct Processes<'a> {
    /// In the order of the scenario.
    ids: &'a [u64],
    lookup: Lookup,
    /// Which there are, in a sentence; a script may be wrong a thousand times.
    description: OnceLock<String>,
}

/// A million identifiers in a row need no table.
#[derive(Clone, Debug)]
enum Lookup {
    Run {
        first: u64,
        last: u64,
    },
    Sorted(Vec<u64>),
    /// The file did not say it in a way that could be understood: any identifier may be right.
    Anything,
}

impl<'a> Processes<'a> {
    /// These processes, in this order.
    pub fn new(ids: &'a [u64]) -> Self {
        let in_a_row = ids.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
        let lookup = match ids {
            [first, .., last] | [first @ last] if in_a_row => Lookup::Run { first: *first, last: *last },
            _ => {
                let mut sorted = ids.to_vec();
                sorted.sort_unstable();
                Lookup::Sorted(sorted)
            }
        };
        Processes { ids, lookup, description: OnceLock::new() }
    }

    /// For a script that is read although nobody knows which processes there are.
    pub(crate) fn anything() -> Self {
        Processes { ids: &[], lookup: Lookup::Anything, description: OnceLock::new() }
    }

    /// All identifiers, in the order of the scenario.
    pub fn ids(&self) -> &'a [u64] {
        self.ids
    }

    /// Whether there is such a process.
    pub fn contains(&self, id: u64) -> bool {
        match &self.lookup {
            Lookup::Run { first, last } => (*first..=*last).contains(&id),
            Lookup::Sorted(ids) => ids.binary_search(&id).is_ok(),
            Lookup::Anything => true,
        }
    }

    /// An identifier from `first` to `last` (which may be the smaller) that does not exist.
    pub(crate) fn missing(&self, first: u64, last: u64) -> Option<u64> {
        match &self.lookup {
            Lookup::Run { .. } => [first, last].into_iter().find(|id| !self.contains(*id)),
            Lookup::Sorted(ids) => first_gap(ids, first.min(last), first.max(last)),
            Lookup::Anything => None,
        }
    }

    /// Whether anybody knows which processes there are.
    pub(crate) fn are_known(&self) -> bool {
        !matches!(self.lookup, Lookup::Anything)
    }

    /// What to say when `id` does not exist.
    pub(crate) fn no_such(&self, id: u64) -> String {
        let description = self.description.get_or_init(|| self.described());
        format!("there is no process {id}: {description}")
    }

    /// Which there are, in a sentence.
    fn described(&self) -> String {
        const MAX_PARTS: usize = 12;
        let (few, number) = match &self.lookup {
            Lookup::Run { .. } => (self.ids, self.ids.len()),
            Lookup::Sorted(ids) => (ids.as_slice(), ids.len()),
            Lookup::Anything => (self.ids, 0),
        };
        let mut parts: Vec<String> = list_parts(few).take(MAX_PARTS + 1).collect();
        if parts.len() > MAX_PARTS {
            parts[MAX_PARTS] = "…".to_owned();
        }
        match (number, parts.join(", ")) {
            (0, _) => "there are no processes".to_owned(),
            (1, only) => format!("the only process is {only}"),
            (_, list) => format!("the processes are {list}"),
        }
    }
}

/// The first number from `min` to `max` that is not among these, which are sorted and all different.
fn first_gap(sorted: &[u64], min: u64, max: u64) -> Option<u64> {
    let rest = &sorted[sorted.partition_point(|id| *id < min)..];
    // Numbers that grow by more than one somewhere never fall back into step: their steps can be bisected.
    let (mut in_step, mut out_of_step) = (0, rest.len());
    while in_step < out_of_step {
        let middle = usize::midpoint(in_step, out_of_step);
        if rest[middle] - min == middle as u64 {
            in_step = middle + 1;
        } else {
            out_of_step = middle;
        }
    }
    min.checked_add(in_step as u64).filter(|gap| *gap <= max)
}

/// A list of identifiers as scripts write it: three and more in a row, up or down, become `first..last`.
pub(crate) fn list_parts(ids: &[u64]) -> impl Iterator<Item = String> {
    let mut rest = ids;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let length = run_length(rest);
        if length < 3 {
            rest = &rest[1..];
            return Some(first.to_string());
        }
        let last = rest[length - 1];
        rest = &rest[length..];
        Some(format!("{first}..{last}"))
    })
}

/// The whole list, with commas.
pub(crate) fn list(ids: &[u64]) -> String {
    list_parts(ids).collect::<Vec<String>>().join(",")
}

/// All of them as one range `first..last`, if they follow each other.
pub(crate) fn range(ids: &[u64]) -> Option<String> {
    let is_range = ids.len() > 2 && run_length(ids) == ids.len();
    if is_range { list_parts(ids).next() } else { None }
}

/// How many identifiers at the beginning follow each other, in the direction of the first two.
fn run_length(ids: &[u64]) -> usize {
    let [first, second, ..] = ids else {
        return ids.len();
    };
    let up = first.checked_add(1) == Some(*second);
    let down = first.checked_sub(1) == Some(*second);
    if !up && !down {
        return 1;
    }
    let follows = |pair: &&[u64]| {
        let next = if up { pair[0].checked_add(1) } else { pair[0].checked_sub(1) };
        next == Some(pair[1])
    };
    1 + ids.windows(2).take_while(follows).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_in_a_row_are_written_as_a_range() {
        assert_eq!(list(&[1, 2, 3, 4]), "1..4");
        assert_eq!(list(&[4, 3, 2, 9]), "4..2,9");
        assert_eq!(list(&[1, 2, 5, 6, 7]), "1,2,5..7");
        assert_eq!(range(&[5, 6, 7]).as_deref(), Some("5..7"));
        assert_eq!(range(&[5, 6, 8]), None);
        let end = [u64::MAX - 2, u64::MAX - 1, u64::MAX, 0];
        assert_eq!(list(&end), "18446744073709551613..18446744073709551615,0");
        assert_eq!(list(&[]), "");
    }

    #[test]
    fn what_exists_is_found_and_described() {
        let ids = [3, 17, 24, 1];
        let some = Processes::new(&ids);
        assert!(some.contains(17) && !some.contains(2));
        assert_eq!(some.missing(1, 3), Some(2));
        assert_eq!(some.missing(3, 1), Some(2));
        assert_eq!(some.missing(3, 3), None);
        assert_eq!(some.missing(24, u64::MAX), Some(25));
        assert_eq!(some.missing(30, 31), Some(30));
        let end = [9, u64::MAX, u64::MAX - 1];
        assert_eq!(Processes::new(&end).missing(u64::MAX - 1, u64::MAX), None);
        assert_eq!(Processes::new(&end).missing(u64::MAX - 2, u64::MAX), Some(u64::MAX - 2));
        assert_eq!(some.described(), "the processes are 1, 3, 17, 24");
        let row = [4, 5, 6, 7];
        let row = Processes::new(&row);
        assert_eq!(row.missing(4, 7), None);
        assert_eq!(row.missing(4, u64::MAX), Some(u64::MAX));
        assert_eq!(row.described(), "the processes are 4..7");
        assert_eq!(Processes::new(&[9]).described(), "the only process is 9");
    }
}
