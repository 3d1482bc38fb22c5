//! The book: every page is in it, and what is translated has the sections of what it translates.

use crate::tree::{assert_none, files};

/// What a translation keeps of a section: how deep it is, and what is in it besides prose.
#[derive(Debug, Default, PartialEq, Eq)]
struct Section {
    level: usize,
    blocks: usize,
    pictures: usize,
    rows: usize,
    items: usize,
}

/// A page's sections, how many words of prose each has, and the first words of what its blocks of commands
/// run.
fn outline(text: &str, words: usize) -> (Vec<Section>, Vec<usize>, Vec<String>) {
    let (mut sections, mut prose, mut commands) = (vec![Section::default()], vec![0], Vec::new());
    let mut block = None;
    for line in text.lines() {
        let section = sections.last_mut().expect("there is one from the beginning");
        match (line.strip_prefix("```"), block) {
            (Some(language), None) => {
                block = Some(language);
                section.blocks += 1;
            }
            (Some(_), Some(_)) => block = None,
            (None, Some("sh")) => {
                commands.push(line.split_whitespace().take(words).collect::<Vec<_>>().join(" "));
            }
            (None, Some(_)) => {}
            (None, None) if line.starts_with('#') => {
                let level = line.chars().take_while(|letter| *letter == '#').count();
                sections.push(Section { level, ..Section::default() });
                prose.push(0);
            }
            (None, None) => {
                section.pictures += line.matches("![").count();
                section.rows += usize::from(line.starts_with('|'));
                let item = line.trim_start().split_once(' ').map_or("", |(first, _)| first);
                let is_number = item.strip_suffix('.').is_some_and(|number| number.parse::<u8>().is_ok());
                section.items += usize::from(is_number || item == "-" || item == "*");
                *prose.last_mut().expect("there is one from the beginning") +=
                    line.split_whitespace().count();
            }
        }
    }
    (sections, prose, commands)
}

/// Where a translation is not what it translates, and how.
fn differences(original: &str, translation: &str, kept: usize) -> Vec<String> {
    let (sections, prose, commands) = outline(original, kept);
    let (translated, in_translation, run) = outline(translation, kept);
    if sections.len() != translated.len() {
        return vec![format!("{} sections, not {}", translated.len() - 1, sections.len() - 1)];
    }
    let mut wrong = Vec::new();
    for (number, (one, other)) in sections.iter().zip(&translated).enumerate() {
        let (words, theirs) = (prose[number], in_translation[number]);
        if one != other {
            wrong.push(format!("section {number} is {other:?}, not {one:?}"));
        } else if words > 5 && !(words..=4 * words).contains(&(2 * theirs)) {
            wrong.push(format!("section {number} says in {theirs} words what takes {words}"));
        }
    }
    if commands != run {
        wrong.push(format!("it runs {run:?}, not {commands:?}"));
    }
    wrong
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
            Some(original) => {
                let found = differences(&original.text, &translation.text, kept);
                wrong.extend(found.iter().map(|what| format!("{}: {what}", translation.path)));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_section_that_is_missing_in_a_translation_or_empty_there_is_found() {
    let page = "# A\n\nThis says something in seven words here.\n\n## B\n\n- one\n- two\n\n## \
        C\n\n```sh\nhabemus list\n```\n";
    let differ = |translation: &str| !differences(page, translation, 2).is_empty();
    assert!(!differ(page));
    assert!(differ(&page.replace("## B\n\n- one\n- two\n\n", "")), "a section is missing");
    assert!(differ(&page.replace("- two\n", "")), "an item is missing");
    assert!(differ(&page.replace("This says something in seven words here.", "Yes.")), "most is missing");
    assert!(differ(&page.replace("habemus list", "habemus help")), "another command");
    assert!(differ(&page.replace("## C", "### C")), "another level");
}

/// The notes are in Portuguese, and so are the pages about what stands in them.
#[test]
fn every_algorithm_and_every_way_in_has_a_page_in_portuguese() {
    let pages = files("docs", ".md");
    let is_there = |name: &str| pages.iter().any(|page| page.path == name);
    let algorithms = pages.iter().filter_map(|page| page.path.strip_prefix("docs/algorithms/"));
    let originals = algorithms.map(|name| format!("algorithms/{name}"));
    let ways_in = ["tutorial.md", "one-leader.md", "course.md", "lab.md"].map(str::to_owned);
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
