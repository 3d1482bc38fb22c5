//! The book: every page is in it, and what is translated has the sections of what it translates.

use crate::tree::{assert_none, files};

/// The levels of a page's headings, and the first words of what its blocks of commands run: what a translation keeps.
fn outline(text: &str, words: usize) -> (Vec<usize>, Vec<String>) {
    let (mut headings, mut commands) = (Vec::new(), Vec::new());
    let mut block = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(language), None) => block = Some(language),
            (Some(_), Some(_)) => block = None,
            (None, Some("sh")) => {
                commands.push(line.split_whitespace().take(words).collect::<Vec<_>>().join(" "));
            }
            (None, Some(_)) => {}
            (None, None) if line.starts_with('#') => {
                headings.push(line.chars().take_while(|letter| *letter == '#').count());
            }
            (None, None) => {}
        }
    }
    (headings, commands)
}

#[test]
fn a_translation_has_the_sections_and_commands_of_its_original() {
    let pages = files("docs", ".md");
    let mut wrong = Vec::new();
    for translation in pages.iter().filter(|page| page.path.starts_with("docs/pt/")) {
        let name = translation.path.replacen("docs/pt/", "docs/", 1);
        // Which program runs, and how: elsewhere names of files and texts are translated.
        let kept = if name.starts_with("docs/algorithms/") { usize::MAX } else { 2 };
        match pages.iter().find(|page| page.path == name) {
            None => wrong.push(format!("{} translates nothing: there is no {name}", translation.path)),
            Some(original) if outline(&original.text, kept) != outline(&translation.text, kept) => {
                wrong.push(format!("{} has not the sections and commands of {name}", translation.path));
            }
            Some(_) => {}
        }
    }
    assert_none(&wrong);
}

/// The notes are in Portuguese, and so are the pages about what stands in them.
#[test]
fn every_algorithm_and_every_way_in_has_a_page_in_portuguese() {
    let pages = files("docs", ".md");
    let is_there = |name: &str| pages.iter().any(|page| page.path == name);
    let algorithms = pages.iter().filter_map(|page| page.path.strip_prefix("docs/algorithms/"));
    let originals = algorithms.map(|name| format!("algorithms/{name}"));
    let ways_in = ["tutorial.md", "one-leader.md", "course.md"].map(str::to_owned);
    let missing = originals.chain(ways_in).filter(|name| !is_there(&format!("docs/pt/{name}")));
    assert_none(&missing.map(|name| format!("docs/pt/{name} is missing")).collect::<Vec<_>>());
}

#[test]
fn every_page_is_in_the_book() {
    let pages = files("docs", ".md");
    let summary = pages.iter().find(|page| page.path == "docs/SUMMARY.md").expect("the book has a summary");
    // Decisions are for those who change the project.
    let readers = pages.iter().filter(|page| !page.path.starts_with("docs/decisions/"));
    let names =
        readers.filter_map(|page| page.path.strip_prefix("docs/")).filter(|name| *name != "SUMMARY.md");
    let missing = names.filter(|name| !summary.text.contains(&format!("({name})")));
    let wrong: Vec<String> = missing.map(|name| format!("docs/SUMMARY.md does not name {name}")).collect();
    assert_none(&wrong);
}
