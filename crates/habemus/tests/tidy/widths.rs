//! Lines that fit: code is broken by rustfmt, comments and texts by whoever writes them.

use crate::tree::{assert_none, files};

const COLUMNS: usize = 110;

/// What of a file is wider than it may be. A text that has no blank at which it could be broken may be,
/// and so may the raw ones, whose line ends belong to them.
fn too_wide(text: &str) -> Vec<(usize, usize)> {
    let mut wide = Vec::new();
    // How the raw text ends that began on an earlier line.
    let mut raw: Option<String> = None;
    for (index, line) in text.split('\n').enumerate() {
        let is_raw = raw.is_some() || opens_raw(line).is_some();
        match &raw {
            Some(end) if line.contains(end.as_str()) => raw = None,
            Some(_) => {}
            None => {
                raw = opens_raw(line).filter(|(end, rest)| !rest.contains(end.as_str())).map(|(end, _)| end);
            }
        }
        let columns = line.chars().count();
        let is_comment = line.trim_start().starts_with("//");
        if columns > COLUMNS && (is_comment || !(is_raw || line.contains('"'))) {
            wide.push((index + 1, columns));
        }
    }
    wide
}

/// The end that a raw text needs which begins on this line, and the rest of the line.
fn opens_raw(line: &str) -> Option<(String, &str)> {
    let (_, rest) = line.split_once("r#")?;
    let fences = rest.chars().take_while(|letter| *letter == '#').count();
    let rest = rest[fences..].strip_prefix('"')?;
    Some((format!("\"{}", "#".repeat(fences + 1)), rest))
}

#[test]
fn comments_and_code_have_a_hundred_and_ten_columns_at_most() {
    let mut wrong = Vec::new();
    for file in files("", ".rs") {
        let found = too_wide(&file.text).into_iter();
        wrong.extend(found.map(|(line, columns)| format!("{}:{line}: {columns} columns", file.path)));
    }
    assert_none(&wrong);
}

#[test]
fn only_texts_that_cannot_be_broken_may_be_wider() {
    let long = "x".repeat(120);
    let file = format!(
        "// {long}\nlet it = {long};\nlet it = \"{long}\";\nlet it = r##\"\n{long}\n\"##;\n{long}\nlet it = r#\"{long}\"#;\n{long}"
    );
    let wide: Vec<usize> = too_wide(&file).into_iter().map(|(line, _)| line).collect();
    assert_eq!(wide, [1, 2, 7, 9]);
}
