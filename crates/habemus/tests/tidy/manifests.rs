//! The crates' manifests: complete, and of one mind about what they depend on.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{File, assert_none, files};

fn crates() -> impl Iterator<Item = File> {
    files("crates", "Cargo.toml").into_iter()
}

/// These, and what is not handed out: benchmarks, whose peers are no members, an example, attacks, and what
/// builds and tests the lab.
fn members() -> impl Iterator<Item = File> {
    let others = ["bench", "examples/in-the-workspace", "fuzz", "lab/build", "lab/tests"].into_iter();
    let others = others.flat_map(|directory| files(directory, "Cargo.toml"));
    crates().chain(others.filter(|file| !file.path.starts_with("bench/peers/")))
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
    for file in members() {
        let own = dependencies(&file).into_iter().filter(|(_, line)| !line.contains("workspace = true"));
        wrong.extend(own.map(|(number, line)| {
            format!("{}:{number}: {line}: move it to workspace.dependencies", file.path)
        }));
    }
    assert_none(&wrong);
}

#[test]
fn nothing_is_chosen_that_nobody_uses() {
    let members: Vec<File> = members().collect();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap_or_default().to_owned();
    let used: Vec<String> =
        members.iter().flat_map(|file| dependencies(file).into_iter().map(|(_, line)| name(line))).collect();
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

/// With another version of one small package everything above it would be built a second time, for nobody's
/// good.
#[test]
fn what_stands_outside_is_built_of_the_same_packages() {
    let locks = files("", "Cargo.lock");
    let of_workspace = locks.iter().find(|file| file.path == "Cargo.lock").expect("the workspace has one");
    let chosen = locked(of_workspace);
    let mut wrong = Vec::new();
    // The peers are built in ways of their own.
    let apart = |lock: &&File| lock.path.contains("/peers/");
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

/// What lies elsewhere in the project is not packed, and whoever gets the package could not compile it.
#[test]
fn what_a_crate_is_compiled_of_is_in_its_package() {
    let mut wrong = Vec::new();
    for file in files("crates", ".rs").iter().filter(|file| file.path.contains("/src/") && !file.is_test()) {
        // crates/NAME/ is where the package begins.
        let depth = file.path.split('/').count() - 3;
        let code = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for included in code.split("include_str!(\"").chain(code.split("include_bytes!(\"")).skip(1) {
            let path = included.split('"').next().unwrap_or_default();
            if path.starts_with("../") && path.matches("../").count() > depth {
                wrong.push(format!("{} includes {path}, which is outside of its crate", file.path));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn exhibits_that_a_crate_has_with_it_are_those_that_are_shown() {
    let exhibits = files("exhibits", ".toml");
    let copies = files("crates", ".toml").into_iter().filter(|file| file.path.contains("/src/"));
    let mut wrong = Vec::new();
    for copy in copies.filter(|file| file.path.contains("/exhibits/")) {
        let (_, name) = copy.path.rsplit_once('/').expect("it is in a folder");
        let same =
            exhibits.iter().any(|file| file.path == format!("exhibits/{name}") && file.text == copy.text);
        if !same {
            wrong.push(format!("{} is not exhibits/{name}: copy it", copy.path));
        }
    }
    assert_none(&wrong);
}
