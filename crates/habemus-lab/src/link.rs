//! Links that hold a whole experiment: `#e=s1-chang-roberts`, `#s=<a deflated scenario>`, and `&at=17&p=28&lang=pt`.

use habemus_scenario::{Scenario, parse, to_toml};

use crate::error::LabError;
use crate::language::Language;

/// What a link tells of.
#[derive(Clone, Debug, PartialEq)]
pub enum Sharing {
    /// One of the example runs of the notes, by name.
    Exhibit(String),
    /// A scenario.
    Scenario(Box<Scenario>),
}

/// Where to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// After how many events.
    pub at: Option<u64>,
    /// At which process.
    pub process: Option<u64>,
    /// In which language.
    pub language: Option<Language>,
}

/// A scenario of more bytes than this is no link.
const LONGEST: usize = 1 << 20;

/// Writes the part of a link behind its `#`.
pub fn write_link(sharing: &Sharing, place: &Place) -> String {
    let mut link = match sharing {
        Sharing::Exhibit(name) => format!("e={name}"),
        Sharing::Scenario(scenario) => {
            let deflated = miniz_oxide::deflate::compress_to_vec(to_toml(scenario).as_bytes(), 9);
            format!("s={}", encode(&deflated))
        }
    };
    if let Some(at) = place.at {
        link += &format!("&at={at}");
    }
    if let Some(process) = place.process {
        link += &format!("&p={process}");
    }
    if let Some(language) = place.language {
        link += &format!("&lang={}", language.code());
    }
    link
}

/// Reads what [`write_link`] writes. What it does not know it passes over: a later version may have written it.
///
/// # Errors
/// If the scenario in it is damaged.
pub fn read_link(link: &str) -> Result<(Option<Sharing>, Place), LabError> {
    let (mut sharing, mut place) = (None, Place::default());
    for (key, value) in link.trim_start_matches('#').split('&').filter_map(|part| part.split_once('=')) {
        match key {
            "e" => sharing = Some(Sharing::Exhibit(value.to_owned())),
            "s" => sharing = Some(Sharing::Scenario(Box::new(inflated(value)?))),
            "at" => place.at = value.parse().ok(),
            "p" => place.process = value.parse().ok(),
            "lang" => place.language = Language::from_code(value),
            _ => {}
        }
    }
    Ok((sharing, place))
}

fn inflated(text: &str) -> Result<Scenario, LabError> {
    let bytes = decode(text).ok_or(LabError::Link("it has signs that do not belong there"))?;
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, LONGEST);
    let bytes = bytes.map_err(|_| LabError::Link("its end is missing"))?;
    let text = String::from_utf8(bytes).map_err(|_| LabError::Link("it is no text"))?;
    let parsed = parse("link", &text).map_err(|errors| LabError::Scenario(errors.to_string()))?;
    Ok(parsed.scenario)
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

    #[test]
    fn a_link_leads_to_where_it_was_taken() {
        let text = "algorithm = \"bully\"\nprocesses = 3\nscript = [\"after 7 events: crash 3\"]\n";
        let scenario = parse("test", text).expect("it is right").scenario;
        let place = Place { at: Some(17), process: Some(28), language: Some(Language::Portuguese) };
        for sharing in [Sharing::Exhibit("s4-lease".into()), Sharing::Scenario(Box::new(scenario))] {
            let link = write_link(&sharing, &place);
            assert_eq!(read_link(&format!("#{link}")).expect("it is whole"), (Some(sharing), place));
        }
        assert_eq!(read_link("").expect("nothing is no error"), (None, Place::default()));
    }

    #[test]
    fn a_damaged_link_says_so() {
        let scenario = parse("test", "algorithm = \"bully\"\nprocesses = 3\n").expect("it is right").scenario;
        let link = write_link(&Sharing::Scenario(Box::new(scenario)), &Place::default());
        assert!(matches!(read_link(&link[..link.len() - 5]), Err(LabError::Link(_))));
        assert!(matches!(read_link("s=%%"), Err(LabError::Link(_))));
    }
}
