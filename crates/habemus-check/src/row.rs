//! A state as a row of numbers: the local state and the inbox of each process, the environment, the monitors.

/// A process's local state and what is on its way to it, by their numbers. What it can do depends on these
/// alone.
pub(crate) type Situation = (u32, u32);

/// The situation of the process at `address`.
#[inline]
pub(crate) fn situation(row: &[u32], address: usize) -> Situation {
    (row[2 * address], row[2 * address + 1])
}

/// Puts the process at `address` into a situation.
#[inline]
pub(crate) fn put(row: &mut [u32], address: usize, (local, inbox): Situation) {
    row[2 * address] = local;
    row[2 * address + 1] = inbox;
}

/// Where the environment is in a row of so many processes.
#[inline]
pub(crate) fn environment_at(processes: usize) -> usize {
    2 * processes
}

/// Where the monitors are.
#[inline]
pub(crate) fn monitors_at(processes: usize) -> usize {
    2 * processes + 1
}

/// How many numbers make a row.
pub(crate) fn width(processes: usize) -> usize {
    2 * processes + 2
}

/// Does something with rows whose length the compiler knows: they are short, and so it needs no loop.
macro_rules! unrolled {
    ($row:ident => $act:expr) => {
        match $row.len() {
            6 => $crate::row::unrolled!(6, $row => $act),
            8 => $crate::row::unrolled!(8, $row => $act),
            10 => $crate::row::unrolled!(10, $row => $act),
            12 => $crate::row::unrolled!(12, $row => $act),
            14 => $crate::row::unrolled!(14, $row => $act),
            16 => $crate::row::unrolled!(16, $row => $act),
            _ => $act,
        }
    };
    ($width:literal, $row:ident => $act:expr) => {{
        let $row = &$row[..$width];
        $act
    }};
}

pub(crate) use unrolled;

/// Adds a row to the end of others.
#[inline]
pub(crate) fn append(to: &mut Vec<u32>, row: &[u32]) {
    unrolled!(row => to.extend_from_slice(row));
}

/// Adds a row of small numbers to the end of others.
#[inline]
pub(crate) fn append_narrow(to: &mut Vec<u16>, row: &[u32]) {
    unrolled!(row => to.extend(row.iter().map(|&word| word as u16)));
}

/// Adds a row of small numbers to the end of others that need not be.
#[inline]
pub(crate) fn append_widened(to: &mut Vec<u32>, row: &[u16]) {
    unrolled!(row => to.extend(row.iter().map(|&word| u32::from(word))));
}

/// Whether all numbers of a row are small.
#[inline]
pub(crate) fn is_narrow(row: &[u32]) -> bool {
    unrolled!(row => row.iter().fold(0, |all, word| all | word)) <= u32::from(u16::MAX)
}

/// Whether a row is the same as another of its length. All of it is compared, which is faster than to stop
/// early.
#[inline]
pub(crate) fn is_same<T: Copy + Into<u32>>(kept: &[T], row: &[u32]) -> bool {
    unrolled!(row => {
        let kept = &kept[..row.len()];
        kept.iter().zip(row).fold(0, |all, (&one, &other)| all | (one.into() ^ other)) == 0
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_of_any_width_differ_if_one_number_does() {
        for width in 1..20 {
            let row: Vec<u32> = (0..width).collect();
            assert!(super::is_narrow(&row));
            for index in 0..row.len() {
                let mut other = row.clone();
                other[index] = 70_000;
                assert!(!super::is_same(&row, &other) && !super::is_narrow(&other));
            }
        }
    }

    #[test]
    fn rows_of_any_width_are_copied_whole() {
        for width in 0..20 {
            let row: Vec<u32> = (0..width).collect();
            let mut all = vec![7];
            super::append(&mut all, &row);
            super::append(&mut all, &row);
            assert_eq!((all.len(), &all[1..=width as usize]), (2 * row.len() + 1, &row[..]));
            let (mut narrow, mut wide) = (vec![7], vec![7]);
            super::append_narrow(&mut narrow, &row);
            super::append_widened(&mut wide, &narrow[1..]);
            assert_eq!(wide[1..], row);
            assert!(super::is_same(&narrow[1..], &row) && super::is_same(&wide[1..], &row));
        }
    }
}
