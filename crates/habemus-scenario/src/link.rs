//! A scenario as the part of an address: deflated, in base 64.

use crate::error::ScenarioErrors;
use crate::parse::parse;
use crate::scenario::Scenario;
use crate::write::to_toml;

/// A scenario of more bytes than this is no link.
const LONGEST: usize = 1 << 20;

/// Why a link leads to no scenario.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// It is not as it was written.
    #[error("this link is damaged: {0}")]
    Damaged(&'static str),
    /// What is in it is no scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
}

/// A scenario in signs that an address may have.
pub fn pack(scenario: &Scenario) -> String {
    encode(&miniz_oxide::deflate::compress_to_vec(to_toml(scenario).as_bytes(), 9))
}

/// Reads what [`pack`] writes.
///
/// # Errors
/// If it is damaged, or no scenario.
pub fn unpack(text: &str) -> Result<Scenario, LinkError> {
    let bytes = decode(text).ok_or(LinkError::Damaged("it has signs that do not belong there"))?;
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, LONGEST);
    let bytes = bytes.map_err(|_| LinkError::Damaged("its end is missing"))?;
    let text = String::from_utf8(bytes).map_err(|_| LinkError::Damaged("it is no text"))?;
    Ok(parse("link", &text)?.scenario)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base 64 with the digits that an address may have, and without padding.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().chain(&[0, 0]).take(3).fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let digits = (0..=chunk.len() as u32).map(|place| word >> (18 - 6 * place) & 63);
        text.extend(digits.map(|digit| char::from(DIGITS[digit as usize])));
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| DIGITS.iter().position(|digit| digit == byte).map(|place| place as u32);
    let digits: Vec<u32> = text.as_bytes().iter().map(digit).collect::<Option<_>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let word = chunk.iter().chain(&[0, 0, 0]).take(4).fold(0, |word, digit| word << 6 | digit);
        bytes.extend((0..chunk.len().saturating_sub(1)).map(|place| (word >> (16 - 8 * place)) as u8));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_their_number() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            let text = encode(&bytes);
            assert!(text.bytes().all(|byte| DIGITS.contains(&byte)));
            assert_eq!(decode(&text), Some(bytes));
        }
        assert_eq!(decode("a+b"), None);
    }
}
