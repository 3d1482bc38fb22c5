//! What the pages of algorithms say of promises is what the catalogue says.

use std::path::PathBuf;

use habemus::catalogue::{ENTRIES, Entry, Fault, Faults, Promise};

use crate::portuguese;
use crate::tree::root;

/// A page of an algorithm in one of the languages.
struct Page {
    path: PathBuf,
    heading: &'static str,
    begin: &'static str,
    end: &'static str,
    promises: fn(&'static Entry) -> String,
}

fn pages(entry: &'static Entry) -> [Page; 2] {
    let name = format!("{}.md", entry.name);
    let english = Page {
        path: root().join("docs/algorithms").join(&name),
        heading: "## Guarantees\n",
        begin: "<!-- From the catalogue; HABEMUS_REWRITE=1 renews this. -->\n",
        end: "<!-- The end of what is from the catalogue. -->\n",
        promises,
    };
    let portuguese = Page {
        path: root().join("docs/pt/algorithms").join(&name),
        heading: "## Garantias\n",
        begin: "<!-- Do catálogo; HABEMUS_REWRITE=1 renova isto. -->\n",
        end: "<!-- Fim do que é do catálogo. -->\n",
        promises: portuguese::promises,
    };
    [english, portuguese]
}

/// The promises that have the same exceptions for the same reason, group by group; first those without any.
pub(crate) fn grouped(entry: &'static Entry) -> Vec<Vec<&'static Promise>> {
    let mut groups: Vec<Vec<&Promise>> = vec![Vec::new()];
    for promise in entry.promises {
        let alike = |other: &Promise| (other.except, other.because) == (promise.except, promise.because);
        let place = match groups[1..].iter().position(|group| alike(group[0])) {
            _ if promise.except.is_empty() => 0,
            Some(known) => known + 1,
            None => {
                groups.push(Vec::new());
                groups.len() - 1
            }
        };
        groups[place].push(promise);
    }
    groups
}

pub(crate) fn names(promises: &[&Promise]) -> String {
    promises.iter().map(|promise| promise.property).collect::<Vec<_>>().join(", ")
}

/// The promises of an algorithm, as its page has them.
fn promises(entry: &'static Entry) -> String {
    let groups = grouped(entry);
    let mut text = format!(
        "- **Model**: {}.\n- **[Promised](../properties.md)**: {}.\n",
        entry.model,
        names(&groups[0])
    );
    for group in &groups[1..] {
        let (except, because) = (group[0].except, group[0].because);
        text.push_str(&format!("- **Promised, but not under {except}**: {}; {because}.\n", names(group)));
    }
    let outside = Faults::of(&Fault::ALL).without(entry.model.faults());
    text.push_str(&format!("- **Outside the model**: {outside}.\n"));
    text
}

#[test]
fn every_page_has_the_promises_of_the_catalogue_in_both_languages() {
    for entry in ENTRIES {
        for Page { path, heading, begin, end, promises } in pages(entry) {
            let shown = path.display();
            let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{shown}: {why}"));
            let (before, rest) =
                text.split_once(heading).unwrap_or_else(|| panic!("{shown} has no {heading}"));
            let after = rest.split_once(end).map_or(rest, |(_, after)| after).trim_start_matches('\n');
            let made = format!("{before}{heading}\n{begin}{}{end}\n{after}", promises(entry));
            if std::env::var_os("HABEMUS_REWRITE").is_some() {
                std::fs::write(&path, made).expect("the page can be written");
            } else {
                assert!(text == made, "{shown} is out of date: HABEMUS_REWRITE=1 renews it");
            }
        }
    }
}
