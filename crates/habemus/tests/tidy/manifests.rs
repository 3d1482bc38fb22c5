//! The crates' manifests: complete, and of one mind about what they depend on.

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
