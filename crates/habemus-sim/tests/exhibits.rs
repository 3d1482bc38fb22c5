//! Every exhibit runs as it says.

use std::path::{Path, PathBuf};

fn exhibits() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../exhibits");
    let entries = std::fs::read_dir(folder).expect("the exhibits are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

#[test]
fn every_exhibit_comes_out_as_expected() {
    let files = exhibits();
    assert!(files.len() >= 13, "only {} exhibits", files.len());
    for file in files {
        let parsed = habemus_scenario::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let report = habemus_sim::run(&parsed.scenario, false).unwrap_or_else(|error| panic!("{error}"));
        assert!(report.expected_something, "{}: it expects nothing", file.display());
        assert!(report.succeeded(), "{}: {:#?}", file.display(), report.failures);
    }
}

#[test]
fn every_exhibit_says_what_it_shows_and_where_the_notes_have_it() {
    for file in exhibits() {
        let scenario = habemus_scenario::read(&file).unwrap_or_else(|error| panic!("{error}")).scenario;
        let notes = scenario.notes.unwrap_or_default();
        let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        assert!(name.starts_with(&notes.to_lowercase()), "{name} is of {notes}");
        assert!(scenario.title.is_some_and(|title| title.starts_with(&format!("{notes}: "))), "{name}");
    }
}
