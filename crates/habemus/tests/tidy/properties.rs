//! Every property is explained, and the page says what the explanations say.

use std::fmt::Write;

use habemus::agreement::Agreement;
use habemus::election::Election;
use habemus::mutex::Mutex;
use habemus::property::{EXPLANATIONS, Explanation, Monitor, NOTES, Population, explanations};
use habemus::{Id, Problem, ProblemKind};

use crate::tree::{assert_none, files, root};

const PAGE: &str = "docs/properties.md";

const HEAD: &str = "\
# Properties

<!-- From crates/habemus/src/property; HABEMUS_REWRITE=1 renews this page. -->

What must hold has a short name, which every report, table and picture uses. This page says what each means, \
in plain words, and
where it comes from. `habemus list EM1` says the same in a terminal.

A property is **promised** by an algorithm for its [model](guarantees.md): for the faults that it is made \
for. In a run it **holds**, is
**violated**, **does not apply** where there was nothing to demand, or is **open** if the run was cut off \
too early
([verdicts](verdicts.md)). **Safety** properties say that nothing bad happens, **liveness** properties that \
something good does in the
end.
";

/// What the monitors of a problem demand, by name.
fn demands<P: Problem>() -> Vec<(&'static str, &'static str)> {
    let who = Population {
        ids: vec![Id(1), Id(2), Id(3)],
        preference: Some(vec![1, 2, 3]),
        permits: 1,
        is_sure_to_start: true,
    };
    P::monitors(&who).iter().map(|monitor| (monitor.name(), monitor.demand())).collect()
}

fn demands_of(problem: ProblemKind) -> Vec<(&'static str, &'static str)> {
    match problem {
        ProblemKind::Election => demands::<Election>(),
        ProblemKind::MutualExclusion => demands::<Mutex>(),
        ProblemKind::Agreement => demands::<Agreement>(),
        ProblemKind::FailureDetection => Vec::new(),
    }
}

#[test]
fn every_property_that_is_watched_is_explained_and_no_other() {
    let mut wrong = Vec::new();
    for problem in ProblemKind::ALL {
        let watched: Vec<&str> = demands_of(problem).into_iter().map(|(name, _)| name).collect();
        let of_problem = EXPLANATIONS.iter().filter(|explanation| explanation.problem == problem);
        let explained: Vec<&str> = of_problem.map(|explanation| explanation.name).collect();
        let missing = watched.iter().filter(|name| !explained.contains(name));
        let idle = explained.iter().filter(|name| !watched.contains(name));
        wrong.extend(missing.map(|name| format!("{problem}: {name} is not explained")));
        wrong.extend(idle.map(|name| format!("{problem}: {name} is watched by nobody")));
    }
    assert_none(&wrong);
    assert_eq!(explanations("em1").count(), 1);
}

fn heading(explanation: &Explanation) -> String {
    let twice = explanations(explanation.name).count() > 1;
    let of = if twice { format!(" ({})", explanation.problem) } else { String::new() };
    format!("### {}{of}: {}\n", explanation.name, explanation.title)
}

fn page() -> String {
    let mut text = HEAD.to_owned();
    for problem in ProblemKind::ALL {
        let demands = demands_of(problem);
        let title = problem.name();
        if !demands.is_empty() {
            let _ = write!(text, "\n## {}{}\n", title[..1].to_uppercase(), &title[1..]);
        }
        for (name, demand) in demands {
            let mut all = explanations(name);
            let explanation = all.find(|one| one.problem == problem).expect("another test sees to that");
            let _ = write!(
                text,
                "\n{}\n{}\n\n- **Demands**: {demand}\n- **Broken if** {}\n",
                heading(explanation),
                explanation.words,
                explanation.broken
            );
            match &explanation.quotation {
                Some(quotation) => {
                    let _ = writeln!(text, "- **Notes {}**: *{}*", quotation.notes, quotation.sentence);
                    let _ = writeln!(text, "- **In English**: {}", quotation.translation);
                }
                None => text.push_str("- It is not in the lecture notes.\n"),
            }
        }
    }
    text.push_str(
        "\n## The lecture notes\n\nFive lecture notes in Portuguese, S0 to S4, are what this \
        project began with. ",
    );
    text.push_str(
        "[Coverage](coverage.md) says where each of their\nsentences is found here, and \
        [errata](errata.md) where they are wrong.\n\n",
    );
    text.push_str("| label | title | in English | by |\n|---|---|---|---|\n");
    for notes in NOTES {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            notes.label, notes.title, notes.translation, notes.author
        );
    }
    text
}

#[test]
fn the_page_of_properties_says_what_the_explanations_say() {
    let (path, made) = (root().join(PAGE), page());
    if std::env::var_os("HABEMUS_REWRITE").is_some() {
        std::fs::write(&path, &made).expect("the page can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "{PAGE} is out of date; rewrite it with HABEMUS_REWRITE=1");
}

/// Where a label first appears on a page, the page of properties is one step away.
#[test]
fn every_page_that_names_a_label_of_the_notes_leads_to_the_page_of_properties() {
    let labels = ["E1", "E2", "EM1", "EM2", "EM3", "IC1", "IC2"];
    let is_word = |text: &str, label: &str| {
        text.match_indices(label).any(|(index, _)| {
            let before = text[..index].chars().next_back();
            let after = text[index + label.len()..].chars().next();
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        })
    };
    let mut pages = files("docs", ".md");
    pages.extend(files("", "README.md").into_iter().filter(|file| file.path == "README.md"));
    let of_readers = |path: &str| !path.starts_with("docs/decisions/") && path != PAGE;
    let wrong: Vec<String> = pages
        .iter()
        .filter(|file| of_readers(&file.path) && labels.iter().any(|label| is_word(&file.text, label)))
        .filter(|file| !file.text.contains("properties.md"))
        .map(|file| format!("{} names a property, but does not link to docs/properties.md", file.path))
        .collect();
    assert_none(&wrong);
}
