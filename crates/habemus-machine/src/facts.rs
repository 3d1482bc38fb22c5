//! What there is to know of a system before it runs.

use std::time::Duration;

use habemus::ProblemKind;
use habemus::catalogue::Links;
use habemus::property::Population;

/// What there is to know of a system before it runs.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// What it solves.
    pub problem: ProblemKind,
    /// The words for the problem's commands.
    pub commands: &'static [&'static str],
    /// What its model says of the links.
    pub links: Links,
    /// The kinds of its messages; none, if they are not known.
    pub kinds: Vec<&'static str>,
    /// Whether it can stand on a failure detector: then it is news to it that a process stops.
    pub hears_of_suspicions: bool,
    /// Who takes part.
    pub population: Population,
    /// How the processes are connected, to be shown.
    pub topology: String,
    /// Whether it works in pulses.
    pub synchronous: bool,
    /// After how long somebody who knows must say who crashed; `None`: nobody must.
    pub oracle: Option<Duration>,
    /// For how long at most its processes bind themselves by what they say; `None`: no time ends it.
    pub longest_lease: Option<Duration>,
    /// Whether it never comes to rest.
    pub perpetual: bool,
}
