//! One way that an experiment went: what was done by hand, what happened, and how to be at any moment of it again.

use habemus_scenario::{Action, Occasion, Scenario};
use habemus_sim::{Stepper, stepper};
use habemus_trace::{Happening, Record};

use crate::error::LabError;

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
    /// What has happened.
    records: Vec<Record>,
    /// How many records there were after so many events.
    after: Vec<u32>,
    /// What became of each message, by number.
    passages: Vec<Passage>,
    /// States on the way, the first at the beginning.
    kept: Vec<Stepper>,
}

/// What became of a message: the records that tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Of its sending.
    pub sent: u32,
    /// Of its first arrival.
    pub delivered: Option<u32>,
    /// Of its loss.
    pub dropped: Option<u32>,
}

impl Branch {
    /// The beginning of a scenario. The lines of its script that wait for a number of events are done by hand.
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
        let (after, kept) = (vec![records.len() as u32], vec![tip.fork()]);
        let passages = Vec::new();
        let mut branch = Branch { parent: None, acts: Vec::new(), tip, records, after, passages, kept };
        branch.follow(0);
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
        let mut tip = self.at(events);
        tip.take_records();
        let mut fork = Branch {
            parent: Some((number, events)),
            acts: self.acts.iter().filter(|(at, _)| *at < events).cloned().collect(),
            records: self.records[..self.records_after(events)].to_vec(),
            after: self.after[..=events as usize].to_vec(),
            kept: self.kept.iter().filter(|kept| kept.events() <= events).map(Stepper::fork).collect(),
            passages: Vec::new(),
            tip,
        };
        fork.follow(0);
        fork.act(action)?;
        Ok(fork)
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
        let before = self.records.len();
        self.records.extend(self.tip.take_records());
        self.follow(before);
        self.after.push(self.records.len() as u32);
        if self.known().is_multiple_of(BETWEEN) {
            self.kept.push(self.tip.fork());
        }
    }

    /// Follows the messages of the records from here on.
    fn follow(&mut self, from: usize) {
        for (place, record) in self.records.iter().enumerate().skip(from) {
            let place = place as u32;
            match &record.what {
                Happening::Send { .. } => {
                    self.passages.push(Passage { sent: place, delivered: None, dropped: None });
                }
                Happening::Deliver { message, .. } => {
                    if let Some(passage) = self.passages.get_mut(*message as usize) {
                        passage.delivered = passage.delivered.or(Some(place));
                    }
                }
                Happening::Drop { message, .. } => {
                    if let Some(passage) = self.passages.get_mut(*message as usize) {
                        passage.dropped = passage.dropped.or(Some(place));
                    }
                }
                _ => {}
            }
        }
    }

    /// What became of each message, by number.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
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

    /// The scenario with what was done by hand.
    pub fn scenario(&self) -> &Scenario {
        self.tip.scenario()
    }

    /// All records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How many records there were after so many events.
    pub fn records_after(&self, events: u64) -> usize {
        let place = (events as usize).min(self.after.len() - 1);
        self.after[place] as usize
    }

    /// The records of one event; those of event 0 are of the beginning.
    pub fn records_of(&self, event: u64) -> &[Record] {
        let begin = if event == 0 { 0 } else { self.records_after(event - 1) };
        &self.records[begin..self.records_after(event)]
    }

    /// With which event a record was written.
    pub fn event_of(&self, record: usize) -> u64 {
        self.after.partition_point(|after| *after as usize <= record) as u64
    }

    /// The first event after which this branch and another differ, if they do.
    pub fn differs(&self, other: &Branch) -> Option<u64> {
        let same = self.records.iter().zip(&other.records).take_while(|(one, other)| one == other).count();
        if same == self.records.len() && same == other.records.len() {
            return None;
        }
        Some(self.event_of(same).min(other.event_of(same)))
    }

    /// When properties were broken: which, and with which event.
    pub fn violations(&self) -> impl Iterator<Item = (u64, &str)> {
        self.records.iter().enumerate().filter_map(|(place, record)| match &record.what {
            Happening::Violation { property, .. } => Some((self.event_of(place), property.as_str())),
            _ => None,
        })
    }
}
