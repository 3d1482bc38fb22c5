//! Copying states: rows are short, and a copy whose length is known needs no call.

/// Adds a row to the end of others.
#[inline]
pub(crate) fn append(to: &mut Vec<u32>, row: &[u32]) {
    match row.len() {
        4 => append_of::<4>(to, row),
        5 => append_of::<5>(to, row),
        6 => append_of::<6>(to, row),
        7 => append_of::<7>(to, row),
        8 => append_of::<8>(to, row),
        _ => to.extend_from_slice(row),
    }
}

#[inline]
fn append_of<const WIDTH: usize>(to: &mut Vec<u32>, row: &[u32]) {
    if let Ok(row) = <&[u32; WIDTH]>::try_from(row) {
        to.extend_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_of_any_width_are_copied_whole() {
        for width in 0..12 {
            let row: Vec<u32> = (0..width).collect();
            let mut all = vec![7];
            super::append(&mut all, &row);
            super::append(&mut all, &row);
            assert_eq!((all.len(), &all[1..=width as usize]), (2 * row.len() + 1, &row[..]));
        }
    }
}
