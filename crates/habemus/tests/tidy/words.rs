//! What every text keeps to: how long its files are, how it begins, white space, and one word for one thing.

use crate::tree::{assert_none, files};

/// Files longer than this no longer fit in one head.
const MAX_LINES: usize = 600;

#[test]
fn no_source_has_outgrown_one_head() {
    let mut wrong = Vec::new();
    // Tests are lists, and may be long.
    for file in files("", ".rs").iter().filter(|file| !file.is_test()) {
        let lines = file.text.lines().count();
        if lines > MAX_LINES {
            wrong.push(format!("{} has {lines} lines; where is the seam?", file.path));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_source_opens_by_saying_what_it_is() {
    let silent = files("", ".rs").into_iter().filter(|file| !file.text.starts_with("//! "));
    assert_none(&silent.map(|file| format!("{} does not open with `//!`", file.path)).collect::<Vec<_>>());
}

#[test]
fn no_text_has_tabs_or_spaces_at_the_end_of_a_line() {
    let mut wrong = Vec::new();
    for ending in [".rs", ".md", ".toml", ".sh"] {
        for file in files("", ending) {
            let bad = file.lines().filter(|(_, line)| line.contains('\t') || line.ends_with([' ', '\r']));
            wrong.extend(bad.map(|(number, _)| format!("{}:{number}: white space", file.path)));
            if !file.text.ends_with('\n') || file.text.ends_with("\n\n") {
                wrong.push(format!("{} does not end with one line feed", file.path));
            }
        }
    }
    assert_none(&wrong);
}

/// A word that is part of no name in a folder, and the term of art that stands there instead.
struct Banned {
    word: &'static str,
    folder: &'static str,
    instead: &'static str,
}

const BANNED: &[Banned] = &[
    Banned { word: "least", folder: "", instead: "min" },
    Banned { word: "most", folder: "", instead: "max" },
    Banned { word: "hum", folder: "", instead: "background" },
    Banned { word: "complaint", folder: "", instead: "error" },
    Banned { word: "timeless", folder: "", instead: "shift_invariant" },
    Banned { word: "place", folder: "crates/habemus/src/catalogue", instead: "address" },
    Banned { word: "places", folder: "crates/habemus/src/catalogue", instead: "addresses, or permits" },
    Banned { word: "cast", folder: "crates/habemus-check", instead: "replayer" },
    Banned { word: "circle", folder: "crates/habemus-check", instead: "cycle" },
    Banned { word: "hop", folder: "crates/habemus-check", instead: "transition" },
    Banned { word: "opening", folder: "crates/habemus-check", instead: "initial" },
    Banned { word: "openings", folder: "crates/habemus-check", instead: "initial states" },
    Banned { word: "settle", folder: "crates/habemus-check", instead: "canonical" },
    Banned { word: "settled", folder: "crates/habemus-check", instead: "canonical" },
    Banned { word: "turn", folder: "crates/habemus-check", instead: "rotation" },
    Banned { word: "turned", folder: "crates/habemus-check", instead: "rotated" },
];

#[test]
fn names_use_the_terms_of_art() {
    let mut wrong = Vec::new();
    for file in files("", ".rs") {
        let banned: Vec<&Banned> = BANNED.iter().filter(|it| file.path.starts_with(it.folder)).collect();
        let mut in_text = false;
        for (number, line) in file.lines() {
            // A text that goes on from the line before is no code up to its end.
            let code = match line.split_once('"') {
                Some((_, after)) if in_text => after,
                None if in_text => continue,
                _ => line,
            };
            in_text = code.ends_with('\\');
            let mut before = "";
            for name in names(code.split("//").next().unwrap_or_default()) {
                let words = words(name);
                for Banned { word, instead, .. } in banned.iter().filter(|it| has_word(&words, it.word)) {
                    // "At least" and "at most" are plain English.
                    if before != "at" {
                        wrong.push(format!("{}:{number}: {name}: {instead}, not {word}", file.path));
                    }
                }
                before = name;
            }
        }
    }
    assert_none(&wrong);
}

/// Types that have named several things: each names one in the whole tree.
const ONCE: &[&str] = &[
    "Act",
    "Cause",
    "CheckVerdict",
    "Control",
    "Deed",
    "Facts",
    "Finding",
    "Location",
    "Moment",
    "ObservedEvent",
    "Order",
    "Plan",
    "PropertyLine",
    "Report",
    "Row",
    "RowContent",
    "Said",
    "Shape",
    "VisitOrder",
    "What",
];

#[test]
fn no_type_has_the_name_of_another_thing() {
    let mut wrong = Vec::new();
    let sources = files("crates", ".rs");
    for name in ONCE {
        let mut definitions = Vec::new();
        for file in &sources {
            let defines = |line: &str| {
                let mut names = names(line).skip_while(|word| !["struct", "enum", "trait"].contains(word));
                !line.trim_start().starts_with("//") && names.nth(1) == Some(*name)
            };
            let found = file.lines().filter(|(_, line)| defines(line));
            definitions.extend(found.map(|(number, _)| format!("{}:{number}", file.path)));
        }
        if definitions.len() > 1 {
            wrong.push(format!("{name} names several things: {}", definitions.join(", ")));
        }
    }
    assert_none(&wrong);
}

/// The names in a line of code, the text in quotation marks left out.
fn names(code: &str) -> impl Iterator<Item = &str> {
    let outside = code.split('"').step_by(2);
    let names =
        outside.flat_map(|part| part.split(|letter: char| !letter.is_alphanumeric() && letter != '_'));
    names.filter(|name| name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_'))
}

/// The words of a name, in small letters: `max_down`, `MaxDown` and `MAX_DOWN` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().expect("there is one from the start").extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a name has this word. "At least" and "at most" are plain English, and so are the names of tests,
/// which are sentences.
fn has_word(words: &[String], banned: &str) -> bool {
    let is_sentence = words.len() > 4;
    let at = |index: usize| index.checked_sub(1).is_some_and(|before| words[before] == "at");
    !is_sentence && words.iter().enumerate().any(|(index, word)| word == banned && !at(index))
}

#[test]
fn names_are_taken_apart_at_their_words() {
    assert_eq!(words("MAX_DOWN"), ["max", "down"]);
    assert_eq!(words("ProblemKind"), ["problem", "kind"]);
    assert_eq!(
        names("let x_1 = \"no name\" + Name::of(2);").collect::<Vec<_>>(),
        ["let", "x_1", "Name", "of"]
    );
    assert!(has_word(&words("least_timeout"), "least") && !has_word(&words("AtLeast"), "least"));
    assert!(!has_word(&words("a_test_has_the_least_words"), "least"));
}
