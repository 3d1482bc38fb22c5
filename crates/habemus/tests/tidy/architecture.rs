//! The crate graph is the architecture, and the page shows it as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::tree::{files, root};

const PAGE: &str = "docs/architecture.md";
const BEGIN: &str = "<!-- The crates, as their manifests have them; HABEMUS_REWRITE=1 renews this. -->\n";
const END: &str = "<!-- The end of the crates. -->\n";

/// What a manifest says of its crate.
struct Crate {
    name: String,
    description: String,
    /// The crates of the project that it depends on.
    knows: BTreeSet<String>,
    /// Those that only its tests depend on.
    tests_know: BTreeSet<String>,
}

/// Reads the manifests themselves: to ask cargo would need cargo where the tests run.
fn crates() -> Vec<Crate> {
    let manifests = files("crates", "Cargo.toml");
    manifests.iter().map(|file| read(&file.text)).collect()
}

fn read(manifest: &str) -> Crate {
    let mut found = Crate {
        name: String::new(),
        description: String::new(),
        knows: BTreeSet::new(),
        tests_know: BTreeSet::new(),
    };
    let mut table = "";
    for line in manifest.lines() {
        let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
        let name = key.split('.').next().unwrap_or_default();
        match table {
            _ if line.starts_with('[') => table = line,
            "[package]" if key == "name" => value.trim_matches('"').clone_into(&mut found.name),
            "[package]" if key == "description" => value.trim_matches('"').clone_into(&mut found.description),
            "[dependencies]" if name.starts_with("habemus") => _ = found.knows.insert(name.to_owned()),
            "[dev-dependencies]" if name.starts_with("habemus") => {
                found.tests_know.insert(name.to_owned());
            }
            _ => {}
        }
    }
    found
}

/// Everything that can be reached from a crate.
fn reaches(name: &str, graph: &BTreeMap<&str, &BTreeSet<String>>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for next in graph[name] {
        all.insert(next.clone());
        all.extend(reaches(next, graph));
    }
    all
}

/// How many crates lie below, one on another: those that know nobody come first.
fn height(name: &str, graph: &BTreeMap<&str, &BTreeSet<String>>) -> usize {
    graph[name].iter().map(|next| height(next, graph) + 1).max().unwrap_or(0)
}

/// A picture without the arrows that follow from others, and a table with all of them.
fn drawn(mut crates: Vec<Crate>) -> String {
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    let graph: BTreeMap<&str, &BTreeSet<String>> =
        crates.iter().map(|one| (one.name.as_str(), &one.knows)).collect();
    let mut order: Vec<&Crate> = crates.iter().collect();
    order.sort_by_key(|one| height(&one.name, &graph));

    let mut text = String::from("```mermaid\ngraph BT\n");
    for one in &order {
        let roundabout: BTreeSet<String> = one.knows.iter().flat_map(|next| reaches(next, &graph)).collect();
        for next in one.knows.difference(&roundabout) {
            let _ = writeln!(text, "    {} --> {next}", one.name);
        }
    }
    text += "```\n\n| crate | is | knows |\n|---|---|---|\n";
    for one in order {
        let knows: Vec<String> = one.knows.iter().map(|next| format!("`{next}`")).collect();
        let knows = if knows.is_empty() { "nobody".to_owned() } else { knows.join(", ") };
        let tests: Vec<String> = one.tests_know.iter().map(|next| format!("`{next}`")).collect();
        let tests =
            if tests.is_empty() { String::new() } else { format!("; its tests {}", tests.join(", ")) };
        let _ = writeln!(text, "| `{}` | {} | {knows}{tests} |", one.name, one.description);
    }
    text
}

#[test]
fn the_page_shows_the_crates_as_they_are() {
    let path = root().join(PAGE);
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the crates");
    let (shown, after) = rest.split_once(END).expect("the place ends");
    let drawn = drawn(crates());
    if std::env::var_os("HABEMUS_REWRITE").is_some() {
        std::fs::write(&path, [before, BEGIN, &drawn, END, after].concat()).expect("the page can be written");
    } else {
        assert!(shown == drawn, "{PAGE} is out of date; rewrite it with HABEMUS_REWRITE=1:\n{drawn}");
    }
}

/// How many of some drivers are among those that may be known.
fn among(known: &[&String], may: &[&str]) -> usize {
    known.iter().filter(|driver| may.contains(&driver.as_str())).count()
}

/// The rules behind the picture, which no new arrow may break.
#[test]
fn the_core_knows_nobody_and_only_the_command_the_course_and_the_lab_know_drivers() {
    let drivers = ["habemus-sim", "habemus-check", "habemus-node", "habemus-cli"];
    for one in crates() {
        let known: Vec<&String> = one.knows.iter().filter(|next| drivers.contains(&next.as_str())).collect();
        // The course plays answers in the simulator; the lab shows runs, and checks every one in an engine of
        // its own.
        let may = match one.name.as_str() {
            "habemus-cli" => known.len(),
            "habemus-lab" => among(&known, &["habemus-sim", "habemus-check"]),
            "habemus-course" => among(&known, &["habemus-sim"]),
            _ => 0,
        };
        assert!(known.len() == may, "{} must not know {known:?}", one.name);
        assert!(one.knows.is_empty() || one.name != "habemus", "the core must not know {:?}", one.knows);
    }
}
