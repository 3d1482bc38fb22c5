//! Every exhibit runs as it says.

use std::path::PathBuf;

use crate::support::{play, play_traced, root};

pub(crate) fn exhibits() -> Vec<PathBuf> {
    let folder = root().join("exhibits");
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
        let report = play(&parsed.scenario);
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

/// The transcript of every exhibit is kept, so that a change of behaviour is seen and reviewed.
#[test]
fn every_exhibit_has_the_transcript_that_is_kept() {
    let options = habemus_trace::draw::Options::default();
    for file in exhibits() {
        let scenario = habemus_scenario::read(&file).unwrap_or_else(|error| panic!("{error}")).scenario;
        let report = play_traced(&scenario);
        let drawn = habemus_trace::draw::text(&report.trace.expect("it was asked for"), &options);
        let name = file.with_extension("txt");
        let kept = file.with_file_name("transcripts").join(name.file_name().expect("a file has a name"));
        if std::env::var_os("HABEMUS_REWRITE").is_some() {
            std::fs::create_dir_all(kept.parent().expect("it has a folder")).expect("it can be made");
            std::fs::write(&kept, &drawn).expect("it can be written");
        }
        let expected = std::fs::read_to_string(&kept).unwrap_or_default();
        assert!(drawn == expected, "{} differs from the run; rewrite with HABEMUS_REWRITE=1", kept.display());
    }
}
