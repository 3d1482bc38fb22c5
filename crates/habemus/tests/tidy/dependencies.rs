//! What is depended on: under licences that deny.toml allows, nothing that it bans, and from one place.

use std::collections::BTreeSet;
use std::process::Command;

use crate::tree::{File, assert_none, files};

fn allowed() -> File {
    files("", "deny.toml").into_iter().next().expect("it is there")
}

/// The texts in quotation marks between two lines.
fn between<'a>(file: &'a File, first: &str, last: &str) -> Vec<&'a str> {
    let text = file.text.split_once(first).unwrap_or_else(|| panic!("deny.toml has no {first}")).1;
    let text = text.split_once(last).expect("a list ends").0;
    text.split('"').skip(1).step_by(2).collect()
}

/// Every package that anything here is built of on this system: its name, and its licence.
fn packages() -> BTreeSet<(String, String)> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--workspace", "--offline", "--locked", "--prefix", "none"]);
    cargo.args(["--format", "{p}|{l}", "--manifest-path"]);
    cargo.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));
    let output = cargo.output().expect("cargo is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    let lines = text.lines().filter_map(|line| line.trim_end_matches(" (*)").split_once('|'));
    lines
        .map(|(package, licence)| (package.split(' ').next().unwrap_or_default().into(), licence.into()))
        .collect()
}

/// Whether one may do as a licence says: `OR` lets choose, `AND` does not.
fn is_allowed(licence: &str, allowed: &[&str]) -> bool {
    let licence = licence.replace('/', " OR ");
    let one = |word: &str| allowed.contains(&word.trim_matches(['(', ')', ' ']));
    let part = |part: &str| part.split(" OR ").any(|it| one(it.split(" WITH ").next().unwrap_or_default()));
    !licence.is_empty() && licence.split(" AND ").all(part)
}

#[test]
fn licences_are_those_that_are_allowed() {
    let file = allowed();
    let licences = between(&file, "\nallow = [", "]");
    let exceptions = between(&file, "\nexceptions = [", "\n]");
    let wrong = packages().into_iter().filter(|(name, licence)| {
        let excepted = exceptions.contains(&name.as_str()).then_some(&exceptions);
        !is_allowed(licence, excepted.unwrap_or(&licences)) && !name.starts_with("habemus")
    });
    assert_none(&wrong.map(|(name, licence)| format!("{name}: {licence:?}")).collect::<Vec<_>>());
    assert!(is_allowed("(MIT OR GPL-3.0) AND ISC", &licences), "one may choose");
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", ""] {
        assert!(!is_allowed(bad, &licences), "{bad:?} is not allowed");
    }
}

#[test]
fn nothing_is_used_that_is_banned() {
    let file = allowed();
    let list = file.text.split_once("\ndeny = [").expect("deny.toml bans something").1;
    let banned: Vec<&str> = list.split("crate = \"").skip(1).filter_map(|it| it.split('"').next()).collect();
    assert!(!banned.is_empty());
    let used = packages().into_iter().filter(|(name, _)| banned.contains(&name.as_str()));
    assert_none(&used.map(|(name, _)| format!("{name} is banned by deny.toml")).collect::<Vec<_>>());
}

#[test]
fn everything_comes_from_one_place() {
    let mut places = BTreeSet::new();
    for lock in files("", "Cargo.lock") {
        places.extend(lock.text.lines().filter(|line| line.starts_with("source = ")).map(str::to_owned));
    }
    assert_eq!(places.len(), 1, "{places:?}");
    assert!(places.iter().all(|place| place.starts_with("source = \"registry+")), "{places:?}");
}
