//! Which properties are checked.

use habemus_report::UnknownProperty;

use crate::error::CheckError;
use crate::facts::{Property, SystemFacts};
use crate::setting::{Properties, Setting};

/// The properties that need to know which request happened before which.
pub const NEED_CLOCKS: [&str; 2] = ["EM3", "bounded-waiting"];

/// The properties of a problem, and which of them are checked.
pub(crate) struct Selection {
    pub(crate) all: Vec<Property>,
    /// The names of those that are checked, in the order of their bits.
    pub(crate) checked: Vec<&'static str>,
}

impl Selection {
    pub(crate) fn new(facts: &SystemFacts, setting: &Setting) -> Result<Self, CheckError> {
        let all = facts.properties.clone();
        if let Properties::Named(names) = &setting.properties {
            let is_known = |name: &&String| all.iter().any(|known| known.name.eq_ignore_ascii_case(name));
            if let Some(name) = names.iter().find(|name| !is_known(name)) {
                let known = all.iter().map(|property| property.name.to_owned()).collect();
                let (name, problem) = (name.clone(), facts.problem);
                return Err(UnknownProperty { name, problem, known }.into());
            }
        }
        let is_wanted = |property: &&Property| {
            let is_chosen = match &setting.properties {
                Properties::Promised => property.is_promised,
                Properties::All => true,
                Properties::Named(names) => names.iter().any(|name| property.name.eq_ignore_ascii_case(name)),
            };
            is_chosen && (setting.clocks || !NEED_CLOCKS.contains(&property.name))
        };
        let checked = all.iter().filter(is_wanted).map(|property| property.name).collect();
        Ok(Selection { all, checked })
    }

    /// Of these, those that are checked.
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let checked = self.checked.iter().copied().filter(|name| names.contains(name)).collect();
        Selection { all: self.all.clone(), checked }
    }

    /// The bit of a property, if it is checked.
    pub(crate) fn index_of(&self, property: &Property) -> Option<usize> {
        self.checked.iter().position(|name| *name == property.name)
    }
}
