//! The crates' manifests: complete, and of one mind about what they depend on.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{File, assert_none, files};

fn crates() -> impl Iterator<Item = File> {
    files("crates", "Cargo.toml").into_iter()
}

/// The lines of a manifest that name a dependency, with their table.
fn dependencies(file: &File) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (number, line) in file.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            found.push((number, line));
        }
    }
    found
}

#[test]
fn every_crate_says_all_about_itself() {
    let mut wrong = Vec::new();
    for file in crates() {
        for field in [
            "version.workspace = true",
            "edition.workspace = true",
            "rust-version.workspace = true",
            "license.workspace = true",
            "readme.workspace = true",
            "description = \"",
            "keywords = [\"",
            "categories = [\"",
            "[lints]\nworkspace = true",
        ] {
            if !file.text.contains(&format!("\n{field}")) {
                wrong.push(format!("{} lacks {field:?}", file.path));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn versions_are_chosen_in_one_place() {
    let mut wrong = Vec::new();
    for file in crates() {
        let own = dependencies(&file).into_iter().filter(|(_, line)| !line.contains("workspace = true"));
        wrong.extend(own.map(|(number, line)| {
            format!("{}:{number}: {line}: move it to workspace.dependencies", file.path)
        }));
    }
    assert_none(&wrong);
}

#[test]
fn nothing_is_chosen_that_nobody_uses() {
    let crates: Vec<File> = crates().collect();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    let used: Vec<String> =
        crates.iter().flat_map(|file| dependencies(file).into_iter().map(|(_, line)| name(line))).collect();
    let workspace = files("", "Cargo.toml").into_iter().find(|file| file.path == "Cargo.toml");
    let workspace = workspace.expect("the workspace has a manifest");
    let unused = dependencies(&workspace).into_iter().filter(|(_, line)| !used.contains(&name(line)));
    assert_none(&unused.map(|(number, line)| format!("Cargo.toml:{number}: {line}")).collect::<Vec<_>>());
}

/// Which versions of each package a lock file has.
fn locked(file: &File) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in file.text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
            line.trim_matches('"')
        };
        found.entry(value("name = ")).or_default().insert(value("version = "));
    }
    found
}

/// With another version of one small package everything above it would be built a second time, for nobody's good.
#[test]
fn what_stands_outside_is_built_of_the_same_packages() {
    let locks = files("", "Cargo.lock");
    let of_workspace = locks.iter().find(|file| file.path == "Cargo.lock").expect("the workspace has one");
    let chosen = locked(of_workspace);
    let mut wrong = Vec::new();
    // The peers are built in ways of their own, and so is the lab: most of it for a browser.
    let apart = |lock: &&File| lock.path.contains("/peers/") || lock.path.starts_with("lab/");
    for lock in locks.iter().filter(|lock| !apart(lock)) {
        for (name, versions) in locked(lock) {
            let Some(chosen) = chosen.get(name) else { continue };
            wrong.extend(versions.difference(chosen).map(|version| {
                format!(
                    "{}: {name} {version}; the workspace has {chosen:?} (cargo update --precise)",
                    lock.path
                )
            }));
        }
    }
    assert_none(&wrong);
}
