//! The global states of a system, and the steps between them.
//!
//! A state is a short row of numbers: the local state and the inbox of each process, the environment, the
//! monitors. What a process does depends on its local state and on the cause alone, and is computed once for
//! each pair; what becomes of an inbox, once for each inbox and item. Afterwards exploring is looking up.

use habemus::Address;

use crate::environment::Environment;
use crate::inbox::Inboxes;
use crate::numbered::Numbered;
use crate::protocol::{Beginning, Trouble};
use crate::rate::Rates;
use crate::reactions::Reactions;
use crate::row::{self, put, situation};
use crate::search::Search;
use crate::setting::{DeliveryOrder, Setting, Start};
use crate::watching::Seen;

mod ample;
mod blocks;
mod canonical;
mod faults;
mod local_transition;
mod successors;
mod tables;
mod terms;
mod time;
mod timed;
mod worker;

pub(crate) use successors::{Expansion, Successors};
pub(crate) use tables::{Shown, Tables};
use timed::Timetable;
pub(crate) use worker::Worker;

/// A system and the circumstances under which it is explored.
pub(crate) struct World {
    pub(crate) system: Numbered,
    pub(crate) setting: Setting,
    inboxes: Inboxes,
    reactions: Reactions,
    processes: usize,
    /// The processes, as a set of bits, that each process may send to, itself aside.
    pub(crate) receivers: Vec<u32>,
    /// Whether everybody may send to everybody at any time: then nobody is ever alone.
    crowded: bool,
    /// What is known about time, if there are clocks.
    timetable: Option<Timetable>,
    rates: Rates,
}

/// An initial state, and how it came about: each client's wishes and each process's choice.
#[derive(Clone, Debug)]
pub(crate) struct InitialState {
    pub(crate) row: Vec<u32>,
    pub(crate) beginnings: Vec<Beginning>,
}

impl World {
    pub(crate) fn new(system: Numbered, setting: Setting, rates: Rates) -> Self {
        let processes = system.processes();
        let links = |from: usize| {
            let others = (0..processes).filter(|&to| to != from && system.linked(from as u8, to as u8));
            others.fold(0, |set, to| set | 1_u32 << to)
        };
        let receivers: Vec<u32> = (0..processes).map(links).collect();
        let to_all = |to: &u32| to.count_ones() as usize + 1 == processes;
        World {
            crowded: setting.order == DeliveryOrder::Any && receivers.iter().all(to_all),
            receivers,
            inboxes: Inboxes::new(),
            reactions: Reactions::default(),
            timetable: Timetable::new(&setting),
            rates,
            system,
            setting,
            processes,
        }
    }

    pub(crate) fn processes(&self) -> usize {
        self.processes
    }

    /// Whether the process at `address` is among those that may crash.
    fn may_crash(&self, address: usize) -> bool {
        self.setting.faulty.is_empty() || self.setting.faulty.contains(&Address(address as u32))
    }

    /// How many numbers make a state.
    pub(crate) fn width(&self) -> usize {
        // Rows are of pairs: beside the zone there is room.
        row::width(self.processes) + if self.timetable.is_some() { 2 } else { 0 }
    }

    pub(crate) fn environment_at(&self) -> usize {
        row::environment_at(self.processes)
    }

    pub(crate) fn monitors_at(&self) -> usize {
        row::monitors_at(self.processes)
    }

    /// Every state in which a run may begin, and the kinds of status that processes have from the start.
    pub(crate) fn initial_states(&self) -> Result<(Vec<InitialState>, u32), Trouble> {
        let mut worker = Worker::new(self, Search::whole(self));
        let mut initial = Vec::new();
        for wants in self.wants() {
            // Who has not started may have mail already.
            let mut blank = vec![0; self.width()];
            blank[self.environment_at()] = Environment::new(&self.setting.budget).0;
            blank[self.monitors_at()] = self.system.watching.initial();
            let mut partial = vec![InitialState { row: blank, beginnings: Vec::new() }];
            for (address, &wants) in wants.iter().enumerate() {
                let mut reactions = Vec::new();
                for &rate in self.rates.choices() {
                    let started = self.system.start(address as u8, wants, rate)?;
                    let beginning = |choice| Beginning { wants, rate, choice: choice as u16 };
                    reactions.extend((0..).map(beginning).zip(started));
                }
                let mut grown = Vec::new();
                for state in &partial {
                    for (beginning, reaction) in &reactions {
                        let InitialState { mut row, mut beginnings } = state.clone();
                        let (_, inbox) = situation(&row, address);
                        put(&mut row, address, (reaction.local, inbox));
                        for &(to, item) in &reaction.sends {
                            worker.add(&mut row, to as usize, item);
                        }
                        let monitors = &mut row[self.monitors_at()];
                        *monitors = worker.watch(*monitors, reaction.observations);
                        beginnings.push(*beginning);
                        grown.push(InitialState { row, beginnings });
                    }
                }
                partial = grown;
            }
            // What anybody says from now on is judged; a command that an election is begun with may not be
            // seen.
            let all_started = self.system.watching.number(vec![Seen::all_started()]);
            for InitialState { row, .. } in &mut partial {
                let monitors = &mut row[self.monitors_at()];
                *monitors = worker.watch(*monitors, all_started);
                worker.begin_time(row);
            }
            initial.extend(partial);
        }
        Ok((initial, worker.reached))
    }

    /// How many things each client wants to begin, for every choice of those that start.
    fn wants(&self) -> Vec<Vec<u32>> {
        let addresses = 0..self.processes as u32;
        if !self.system.facts.one_shot {
            let clients = &self.setting.clients;
            let asks = |address: u32| clients.is_empty() || clients.contains(&Address(address));
            return vec![
                addresses.map(|address| if asks(address) { self.setting.entries } else { 0 }).collect(),
            ];
        }
        match &self.setting.start {
            Start::These(those) => {
                vec![addresses.map(|address| u32::from(those.contains(&Address(address)))).collect()]
            }
            Start::EveryChoice => {
                let choice = |set: u32| addresses.clone().map(|address| (set >> address) & 1).collect();
                (1..1_u32 << self.processes).map(choice).collect()
            }
            Start::AnyOne => {
                let alone = |one: u32| addresses.clone().map(|address| u32::from(address == one)).collect();
                addresses.clone().map(alone).collect()
            }
        }
    }
}
