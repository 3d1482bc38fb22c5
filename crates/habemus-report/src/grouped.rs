//! Numbers as people read them.

/// 1234567 as 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_threes() {
        let numbers = [0, 999, 1000, 1_234_567, u64::MAX].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567", "18,446,744,073,709,551,615"]);
    }
}
