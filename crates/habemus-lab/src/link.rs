//! Links that hold a whole experiment: `#e=s1-chang-roberts`, `#s=<a deflated scenario>`, and
//! `&at=17&p=28&lang=pt`.

use habemus_scenario::Scenario;
use habemus_scenario::link::{LinkError, pack};

use crate::error::LabError;
use crate::language::Language;

/// What a link tells of.
#[derive(Clone, Debug, PartialEq)]
pub enum Sharing {
    /// One of the example runs of the notes, by name.
    Exhibit(String),
    /// A scenario.
    Scenario(Box<Scenario>),
    /// An exercise, and what has been made of its start.
    Exercise(String, Option<Box<Scenario>>),
    /// Nothing that could be named.
    Nothing,
}

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// After how many events.
    pub at: Option<u64>,
    /// At which process.
    pub process: Option<u64>,
    /// In which language.
    pub language: Option<Language>,
    /// Parts of the page that are not shown.
    pub hide: Vec<String>,
}

/// Writes the part of a link behind its `#`.
pub fn write_link(sharing: &Sharing, place: &Place) -> String {
    let mut link = match sharing {
        Sharing::Exhibit(name) => format!("e={name}"),
        Sharing::Scenario(scenario) => format!("s={}", pack(scenario)),
        Sharing::Exercise(name, None) => format!("x={name}"),
        Sharing::Exercise(name, Some(scenario)) => format!("x={name}&s={}", pack(scenario)),
        Sharing::Nothing => String::new(),
    };
    if let Some(at) = place.at {
        link += &format!("&at={at}");
    }
    if let Some(process) = place.process {
        link += &format!("&p={process}");
    }
    if let Some(language) = place.language {
        link += &format!("&lang={}", language.code());
    }
    if !place.hide.is_empty() {
        link += &format!("&hide={}", place.hide.join(","));
    }
    link
}

/// Reads what [`write_link`] writes. What it does not know it passes over: a later version may have written
/// it.
///
/// # Errors
/// If the scenario in it is damaged.
pub fn read_link(link: &str) -> Result<(Sharing, Place), LabError> {
    let (mut exhibit, mut exercise, mut scenario, mut place) = (None, None, None, Place::default());
    for (key, value) in link.trim_start_matches('#').split('&').filter_map(|part| part.split_once('=')) {
        match key {
            "e" => exhibit = Some(value.to_owned()),
            "x" => exercise = Some(value.to_owned()),
            "s" => scenario = Some(Box::new(unpack(value)?)),
            "hide" => place.hide = value.split(',').map(str::to_owned).collect(),
            "at" => place.at = value.parse().ok(),
            "p" => place.process = value.parse().ok(),
            "lang" => place.language = Language::from_code(value),
            _ => {}
        }
    }
    let sharing = match (exercise, scenario, exhibit) {
        (Some(name), scenario, _) => Sharing::Exercise(name, scenario),
        (None, Some(scenario), _) => Sharing::Scenario(scenario),
        (None, None, Some(name)) => Sharing::Exhibit(name),
        (None, None, None) => Sharing::Nothing,
    };
    Ok((sharing, place))
}

fn unpack(text: &str) -> Result<Scenario, LabError> {
    habemus_scenario::link::unpack(text).map_err(|error| match error {
        LinkError::Damaged(why) => LabError::Link(why),
        LinkError::Scenario(errors) => LabError::Scenario(errors.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use habemus_scenario::parse;

    #[test]
    fn a_link_leads_to_where_it_was_taken() {
        let text = "algorithm = \"bully\"\nprocesses = 3\nscript = [\"after 7 events: crash 3\"]\n";
        let scenario = parse("test", text).expect("it is right").scenario;
        let place = Place {
            at: Some(17),
            process: Some(28),
            language: Some(Language::Portuguese),
            hide: vec!["next".into(), "check".into()],
        };
        let scenario = Box::new(scenario);
        for sharing in [
            Sharing::Exhibit("s4-lease".into()),
            Sharing::Scenario(scenario.clone()),
            Sharing::Exercise("two-leaders".into(), None),
            Sharing::Exercise("two-leaders".into(), Some(scenario)),
        ] {
            let link = write_link(&sharing, &place);
            assert_eq!(read_link(&format!("#{link}")).expect("it is whole"), (sharing, place.clone()));
        }
        assert_eq!(read_link("").expect("nothing is no error"), (Sharing::Nothing, Place::default()));
    }

    #[test]
    fn a_damaged_link_says_so() {
        let scenario = parse("test", "algorithm = \"bully\"\nprocesses = 3\n").expect("it is right").scenario;
        let link = write_link(&Sharing::Scenario(Box::new(scenario)), &Place::default());
        assert!(matches!(read_link(&link[..link.len() - 5]), Err(LabError::Link(_))));
        assert!(matches!(read_link("s=%%"), Err(LabError::Link(_))));
    }
}
