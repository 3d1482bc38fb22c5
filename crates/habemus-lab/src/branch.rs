//! One way that an experiment went: what was done by hand, what happened, and how to be at any moment of it
//! again.

use habemus_scenario::{Action, Occasion, Scenario};
use habemus_sim::{Stepper, stepper};
use habemus_trace::Trace;

use crate::error::LabError;
use crate::history::History;

/// Events between two states that are kept: to go back is to begin at one of them and go on from there.
const BETWEEN: u64 = 2_000;
/// No branch is followed beyond so many events: the page holds them all,
const MAX_EVENTS: u64 = 400_000;
/// and in a large system each with a clock that has a number for every process.
const MAX_NUMBERS: u64 = 4_000_000;

/// One way that an experiment went.
pub struct Branch {
    /// The branch from which it departs, and after how many events.
    pub parent: Option<(usize, u64)>,
    /// What was done by hand, each after so many events, in order.
    acts: Vec<(u64, Action)>,
    /// As far as it is known.
    tip: Stepper,
    history: History,
    /// States on the way, the first at the beginning.
    kept: Vec<Stepper>,
}

impl Branch {
    /// The beginning of a scenario. The lines of its script that wait for a number of events are done by
    /// hand.
    ///
    /// # Errors
    /// If the scenario makes no sense, or something in it cannot be done.
    pub fn begin(scenario: &Scenario) -> Result<Self, LabError> {
        let mut plain = scenario.clone();
        let mut acts = Vec::new();
        plain.script.retain(|cue| match cue.occasion {
            Occasion::After(events) => {
                acts.push((events, cue.action.clone()));
                false
            }
            _ => true,
        });
        acts.sort_by_key(|(events, _)| *events);
        let mut tip = stepper(&plain)?;
        let records = tip.take_records();
        let history = History::begin(plain.ids, records);
        let mut branch = Branch { parent: None, acts: Vec::new(), history, kept: vec![tip.fork()], tip };
        for (events, action) in acts {
            branch.explore(events);
            branch.act(&action)?;
        }
        Ok(branch)
    }

    /// The branch that departs from another after so many events, with something done there.
    ///
    /// # Errors
    /// If it cannot be done.
    pub fn depart(&self, number: usize, events: u64, action: &Action) -> Result<Self, LabError> {
        let mut fork = self.copy(number, events);
        fork.act(action)?;
        Ok(fork)
    }

    /// The same as far as so many events: another branch, in which nothing else has been done yet.
    pub fn copy(&self, number: usize, events: u64) -> Self {
        let mut tip = self.at(events);
        tip.take_records();
        Branch {
            parent: Some((number, events)),
            acts: self.acts.iter().filter(|(at, _)| *at < events).cloned().collect(),
            history: self.history.until(events),
            kept: self.kept.iter().filter(|kept| kept.events() <= events).map(Stepper::fork).collect(),
            tip,
        }
    }

    /// Does something at the end of what is known.
    ///
    /// # Errors
    /// If it cannot be done; then nothing has happened.
    pub fn act(&mut self, action: &Action) -> Result<(), LabError> {
        let events = self.known();
        self.tip.act(action)?;
        self.acts.push((events, action.clone()));
        self.note();
        Ok(())
    }

    /// Goes on until so many events are known, if there are so many; says whether there were.
    pub fn explore(&mut self, events: u64) -> bool {
        while self.known() < events {
            if self.is_cut() || !self.tip.step() {
                return false;
            }
            self.note();
        }
        true
    }

    fn note(&mut self) {
        self.history.note(self.tip.take_records());
        if self.known().is_multiple_of(BETWEEN) {
            self.kept.push(self.tip.fork());
        }
    }

    /// What has happened.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// How many events are known.
    pub fn known(&self) -> u64 {
        self.tip.events()
    }

    /// Whether nothing more comes by itself, or nobody follows it any further.
    pub fn is_over(&self) -> bool {
        self.tip.stop().is_some() || self.is_cut()
    }

    /// Whether it was left because it became too long.
    pub fn is_cut(&self) -> bool {
        self.known() >= MAX_EVENTS.min(MAX_NUMBERS / self.scenario().ids.len() as u64)
    }

    /// The state at the end of what is known.
    pub fn tip(&self) -> &Stepper {
        &self.tip
    }

    /// The state after so many events, of those that are known.
    pub fn at(&self, events: u64) -> Stepper {
        if events >= self.known() {
            return self.tip.fork();
        }
        let nearest = self.kept.iter().rev().find(|kept| kept.events() <= events);
        let mut state = nearest.unwrap_or(&self.kept[0]).fork();
        self.lead(&mut state, events);
        state
    }

    /// Leads a state of this branch on until so many events have taken place.
    pub fn lead(&self, state: &mut Stepper, events: u64) {
        let begin = self.acts.partition_point(|(at, _)| *at < state.events());
        let mut acts = self.acts[begin..].iter().peekable();
        while state.events() < events {
            match acts.next_if(|(at, _)| *at == state.events()) {
                // It could be done the first time.
                Some((_, action)) => drop(state.act(action)),
                None => {
                    if !state.step() {
                        break;
                    }
                }
            }
        }
        state.take_records();
    }

    /// What was done by hand, each after so many events.
    pub fn acts(&self) -> &[(u64, Action)] {
        &self.acts
    }

    /// What has happened, as a trace.
    ///
    /// # Errors
    /// If nothing was recorded.
    pub fn trace(&self) -> Result<Trace, LabError> {
        let header = self.tip.header().ok_or(LabError::Missing("trace"))?;
        Ok(Trace { header, records: self.history.records().to_vec() })
    }

    /// What was done by hand with this event, if it was.
    pub fn act_before(&self, event: u64) -> Option<String> {
        let act = self.acts.iter().find(|(at, _)| at + 1 == event);
        act.map(|(_, action)| action.to_string())
    }

    /// The scenario with what was done by hand.
    pub fn scenario(&self) -> &Scenario {
        self.tip.scenario()
    }
}
