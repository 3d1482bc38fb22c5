//! Names that were nearly right.

/// The known name that `found` was probably meant to be, if any is close enough.
///
/// Upper and lower case, hyphens and underscores are the same here, and the beginning of a name stands for
/// the name if no other begins so.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let found = plain(found);
    let known: Vec<&str> = known.into_iter().collect();
    let closest = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&found, &plain(name)), *name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= tolerance(&found));
    let closest = closest.map(|(_, name)| name);
    closest
        .or_else(|| only_one_beginning_with(&found, &known))
        .or_else(|| only_one_continued_by(&found, &known))
}

/// What to say after "unknown something `found`": the nearest name, or all of them if there are few.
pub(crate) fn suggestion(found: &str, known: &[&str]) -> String {
    if let Some(name) = nearest(found, known.iter().copied()) {
        format!(": did you mean `{name}`?")
    } else if (1..=MAX_IN_A_MESSAGE).contains(&known.len()) {
        format!(": expected {}", alternatives(known))
    } else {
        String::new()
    }
}

/// All names, as help to a message that suggests one of them or none; `None` if the message has them already.
pub(crate) fn all_as_help(found: &str, known: &[&str]) -> Option<String> {
    let in_message = known.len() <= MAX_IN_A_MESSAGE && nearest(found, known.iter().copied()).is_none();
    (known.len() > 1 && !in_message).then(|| format!("known are {}", listed(known, "and")))
}

/// "`a`, `b` or `c`".
pub(crate) fn alternatives(names: &[&str]) -> String {
    listed(names, "or")
}

/// Longer lists of names go to the help, not into the message.
const MAX_IN_A_MESSAGE: usize = 6;

/// "`a`, `b` and `c`", with any conjunction.
pub(crate) fn listed(names: &[&str], conjunction: &str) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => format!("`{one}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} {conjunction} `{last}`", first.join(", "))
        }
    }
}

fn plain(name: &str) -> String {
    // Nobody means a name by a page of text, and the distance takes quadratic time.
    name.chars()
        .take(64)
        .map(|letter| if letter == '_' { '-' } else { letter })
        .collect::<String>()
        .to_lowercase()
}

/// How many letters may differ: a third of them, so that short words do not attract everything.
fn tolerance(found: &str) -> usize {
    (found.chars().count() + 1) / 3
}

/// Somebody has written a name out: `okay` for `ok`.
fn only_one_continued_by<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut continued = known.iter().filter(|name| name.len() >= 2 && found.starts_with(&plain(name)));
    match (continued.next(), continued.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    }
}

fn only_one_beginning_with<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut beginning = known.iter().filter(|name| found.len() >= 2 && plain(name).starts_with(found));
    match (beginning.next(), beginning.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_is_understood() {
        let known = ["bully", "chang-roberts", "franklin"];
        assert_eq!(nearest("buly", known), Some("bully"));
        assert_eq!(nearest("Bully", known), Some("bully"));
        assert_eq!(nearest("chang_robert", known), Some("chang-roberts"));
        assert_eq!(nearest("chang", known), Some("chang-roberts"));
        assert_eq!(nearest("paxos", known), None);
    }

    #[test]
    fn few_names_are_listed_in_the_message_and_many_in_the_help() {
        assert_eq!(suggestion("slow", &["fifo", "any"]), ": expected `fifo` or `any`");
        assert_eq!(all_as_help("slow", &["fifo", "any"]), None);
        let many = ["one", "two", "three", "four", "five", "six", "seven"];
        assert_eq!(suggestion("x", &many), "");
        assert_eq!(suggestion("thre", &many), ": did you mean `three`?");
        let help = all_as_help("x", &many).expect("many names are help");
        assert_eq!(help, "known are `one`, `two`, `three`, `four`, `five`, `six` and `seven`");
    }
}
