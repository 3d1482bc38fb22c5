//! The page that says where the lecture notes are found: nothing on it is dead, and nothing missing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use habemus::catalogue::ENTRIES;

use crate::support::root;

const PAGE: &str = "docs/coverage.md";

fn page() -> String {
    read(&root().join(PAGE))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The targets of the links in a line: path and anchor.
fn links(line: &str) -> Vec<(String, Option<String>)> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    let parted = |target: &str| match target.split_once('#') {
        Some((path, anchor)) => (path.to_owned(), Some(anchor.to_owned())),
        None => (target.to_owned(), None),
    };
    targets.map(parted).collect()
}

fn file_of(target: &str) -> PathBuf {
    root().join("docs").join(target)
}

/// The anchors of a page, as readers of Markdown make them of its headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings =
        page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings.map(anchor).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn no_link_of_the_coverage_page_is_dead() {
    for line in page().lines() {
        for (target, anchor) in links(line) {
            let path = file_of(&target);
            assert!(path.exists(), "{PAGE} links to {target}, which is not there");
            if let Some(anchor) = anchor {
                assert!(anchors(&read(&path)).contains(&anchor), "{target} has no heading #{anchor}");
            }
        }
    }
}

#[test]
fn every_test_that_the_coverage_page_names_is_where_it_says() {
    for line in page().lines().filter(|line| line.contains("test `") || line.contains("tests `")) {
        let sources: Vec<String> = links(line)
            .into_iter()
            .map(|(target, _)| file_of(&target))
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .map(|path| read(&path))
            .collect();
        let names =
            line.split('`').skip(1).step_by(2).filter(|name| name.contains('_') && !name.contains(' '));
        let tests =
            names.filter(|name| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'));
        for name in tests {
            let has = |source: &String| source.contains(&format!("fn {name}("));
            assert!(sources.iter().any(has), "no file that this line links to has the test {name}:\n{line}");
        }
    }
}

#[test]
fn every_exhibit_every_erratum_and_every_algorithm_of_the_notes_is_on_the_coverage_page() {
    let page = page();
    let linked: BTreeSet<(String, Option<String>)> = page.lines().flat_map(links).collect();
    let has = |path: &str| linked.iter().any(|(target, _)| target == path);
    let exhibits = std::fs::read_dir(root().join("exhibits")).expect("there are exhibits");
    for exhibit in exhibits.map(|entry| entry.expect("the folder can be read").file_name()) {
        let name = exhibit.to_string_lossy();
        if name.ends_with(".toml") {
            assert!(has(&format!("../exhibits/{name}")), "{PAGE} does not name the exhibit {name}");
        }
    }
    let errata = read(&root().join("docs/errata.md"));
    for title in errata.lines().filter_map(|line| line.strip_prefix("## ")) {
        let erratum = ("errata.md".to_owned(), Some(anchor(title)));
        assert!(linked.contains(&erratum), "{PAGE} does not name the erratum \"{title}\"");
    }
    for entry in ENTRIES.iter().filter(|entry| !entry.notes.starts_with("beyond")) {
        assert!(has(&format!("algorithms/{}.md", entry.name)), "{PAGE} does not name {}", entry.name);
    }
}
