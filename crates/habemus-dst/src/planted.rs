//! Bugs that the simulation must find.

use serde::Deserialize;

/// A bug: one change of one place in the sources.
#[derive(Clone, Debug, Deserialize)]
pub struct PlantedBug {
    /// What is wrong then.
    pub name: String,
    /// In which file, from the directory of all crates on.
    pub file: String,
    find: String,
    replace: String,
}

#[derive(Deserialize)]
struct PlantedBugs {
    bug: Vec<PlantedBug>,
}

impl PlantedBug {
    /// All of them, as `planted.toml` has them.
    ///
    /// # Panics
    /// If that file is no list of bugs, which a test sees to.
    pub fn all() -> Vec<PlantedBug> {
        let all: PlantedBugs = toml::from_str(include_str!("../planted.toml")).expect("a test reads it");
        all.bug
    }

    /// A source with the bug in it, which is there while `planted` of its crate says so of this number.
    ///
    /// # Errors
    /// If the place is not there, or several times.
    pub fn plant(&self, number: usize, source: &str) -> Result<String, String> {
        let replace = self.replace.replace("PLANTED", &format!("crate::planted({number})"));
        match source.matches(&self.find).count() {
            1 => Ok(source.replace(&self.find, &replace)),
            count => Err(format!("{}: {} has that place {count} times", self.name, self.file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_bug_has_its_place_and_there_are_many() {
        let all = PlantedBug::all();
        assert!(all.len() >= 20);
        let mut sources: BTreeMap<String, String> = BTreeMap::new();
        for (number, bug) in all.iter().enumerate() {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&bug.file);
            let read = || std::fs::read_to_string(path).expect("the file is there");
            let source = sources.entry(bug.file.clone()).or_insert_with(read);
            let planted = bug.plant(number + 1, source).unwrap_or_else(|why| panic!("{why}"));
            assert!(planted.contains(&format!("crate::planted({})", number + 1)), "{}", bug.name);
            *source = planted;
        }
    }
}
