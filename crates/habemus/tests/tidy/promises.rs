//! What the pages of algorithms say of promises is what the catalogue says.

use std::path::PathBuf;

use habemus::catalogue::{ENTRIES, Entry, Fault, Faults, Promise};

use crate::tree::root;

fn page(entry: &Entry) -> PathBuf {
    root().join("docs/algorithms").join(format!("{}.md", entry.name))
}

/// What stands around the part of a page that comes from the catalogue.
const FROM_THE_CATALOGUE: [&str; 2] = [
    "<!-- From the catalogue; HABEMUS_REWRITE=1 renews this. -->\n",
    "<!-- The end of what is from the catalogue. -->\n",
];

/// The promises of an algorithm, as its page has them.
fn promises(entry: &Entry) -> String {
    let names = |promises: Vec<&Promise>| -> String {
        let names: Vec<&str> = promises.iter().map(|promise| promise.property).collect();
        names.join(", ")
    };
    let plain = entry.promises.iter().filter(|promise| promise.except.is_empty()).collect();
    let mut text =
        format!("- **Model**: {}.\n- **[Promised](../properties.md)**: {}.\n", entry.model, names(plain));
    let mut excepted: Vec<&Promise> =
        entry.promises.iter().filter(|promise| !promise.except.is_empty()).collect();
    while let Some(first) = excepted.first().copied() {
        let alike = |promise: &&Promise| (promise.except, promise.because) == (first.except, first.because);
        let those: Vec<&Promise> = excepted.iter().copied().filter(alike).collect();
        text.push_str(&format!(
            "- **Promised, but not under {}**: {}; {}.\n",
            first.except,
            names(those),
            first.because
        ));
        excepted.retain(|promise| !alike(promise));
    }
    let outside = Faults::of(&Fault::ALL).without(entry.model.faults());
    text.push_str(&format!("- **Outside the model**: {outside}.\n"));
    text
}

#[test]
fn every_page_has_the_promises_of_the_catalogue() {
    let [begin, end] = FROM_THE_CATALOGUE;
    for entry in ENTRIES {
        let text = std::fs::read_to_string(page(entry)).expect("it has a page");
        let (before, rest) = text.split_once("## Guarantees\n").unwrap_or_else(|| {
            panic!("the page of {} has no section about guarantees", entry.name);
        });
        let after = match rest.split_once(end) {
            Some((_, after)) => after.trim_start_matches('\n'),
            None => rest.trim_start_matches('\n'),
        };
        let made = format!("{before}## Guarantees\n\n{begin}{}{end}\n{after}", promises(entry));
        if std::env::var_os("HABEMUS_REWRITE").is_some() {
            std::fs::write(page(entry), made).expect("the page can be written");
        } else {
            assert!(text == made, "the page of {} is out of date: HABEMUS_REWRITE=1 renews it", entry.name);
        }
    }
}
