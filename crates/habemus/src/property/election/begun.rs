//! Whether an election was started at all.

use crate::election::{Election, Output};
use crate::property::{Observation, ObservedEvent, Population, Verdict};

/// Whether somebody was told to elect, or an election was held without being told.
///
/// Where nobody is, because whoever was to be told crashed before, there is no election that could lack
/// anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Begun(bool);

impl Begun {
    pub(super) fn observe(&mut self, seen: &Observation<'_, Election>) {
        self.0 |= matches!(
            seen.what,
            ObservedEvent::Command(_) | ObservedEvent::Output(Output::Leads { .. } | Output::Follows { .. })
        );
    }

    pub(super) fn is_at_stake(self, who: &Population) -> bool {
        self.0 || who.is_sure_to_start
    }

    /// The verdict, if there was an election.
    pub(super) fn judge(self, who: &Population, verdict: impl FnOnce() -> Verdict) -> Verdict {
        if self.is_at_stake(who) {
            verdict()
        } else {
            Verdict::DoesNotApply("nobody started an election".to_owned())
        }
    }
}
