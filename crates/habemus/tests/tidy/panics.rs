//! A panic means a bug, and says which belief was wrong.

use crate::tree::{File, assert_none, files};

/// The file without its comments and its tests, which stand at its end.
fn product(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let lines = file.lines().take_while(|(_, line)| *line != "#[cfg(test)]");
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn nothing_is_unwrapped_outside_tests() {
    let mut wrong = Vec::new();
    for file in files("crates", ".rs").iter().filter(|file| !file.is_test()) {
        let found =
            product(file).filter(|(_, line)| line.contains(".unwrap()") || line.contains(".unwrap_err()"));
        wrong.extend(found.map(|(number, _)| {
            format!("{}:{number}: give an error, or `expect` with what makes it impossible", file.path)
        }));
    }
    assert_none(&wrong);
}

/// What is expected is a sentence about what always holds, not a complaint about what went wrong.
#[test]
fn what_is_expected_is_an_invariant_in_words() {
    let mut wrong = Vec::new();
    for file in files("crates", ".rs").iter().filter(|file| !file.is_test()) {
        for (number, line) in product(file) {
            for said in line.split(".expect(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let complains = ["fail", "error", "could not", "cannot", "unable", "should"];
                let is_sentence = said.split(' ').count() >= 3;
                if !is_sentence || complains.iter().any(|word| said.starts_with(word)) {
                    wrong.push(format!("{}:{number}: {said:?} is no invariant", file.path));
                }
            }
        }
    }
    assert_none(&wrong);
}
