//! Recomputes what a certificate claims, from the certificate alone: docs/certificate.md is all that it is
//! made after. It shares no code with the checker, and is made to be read and not to be fast.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

/// A reaction: the local state afterwards, what is sent to whom, what monitors see.
type Reaction = (u64, Vec<(usize, u64)>, u64);

/// A global state.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    locals: Vec<u64>,
    /// What is on its way to each process: by channel, and on a channel in the order of sending; where
    /// messages overtake each other each is a channel of its own.
    inboxes: Vec<BTreeMap<Channel, Vec<u64>>>,
    left: Budget,
    /// The processes that a partition cuts off.
    apart: Vec<bool>,
    monitors: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Channel {
    From(u64),
    Message(u64),
    Oracle(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Budget {
    crashes: u64,
    recoveries: u64,
    losses: u64,
    duplications: u64,
    suspicions: u64,
    partitions: u64,
    wrong_timeouts: u64,
}

struct Local {
    life: String,
    client: String,
    timers: Vec<(u64, u64, u64)>,
}

/// A certificate, read.
struct Certificate {
    processes: usize,
    keeps_order: bool,
    time_in_order: bool,
    pulses: bool,
    oracle: bool,
    faulty: Vec<u64>,
    budget: Budget,
    properties: Vec<String>,
    locals: HashMap<u64, Local>,
    reactions: HashMap<(u64, String, u64), Vec<Reaction>>,
    halfways: HashMap<(u64, u64, u64, u64), Reaction>,
    elapsed: HashMap<(u64, u64), u64>,
    watched: HashMap<(u64, u64), u64>,
    channels: HashMap<u64, Channel>,
    notices: HashMap<(String, u64), u64>,
    /// Broken, lacking, at stake.
    judged: HashMap<u64, [Vec<u64>; 3]>,
    initial: Vec<State>,
    claim: Value,
}

/// The counts and verdicts that a certificate's tables come to, if they are what it claims.
pub(crate) fn recheck(text: &str) -> Result<Value, String> {
    let certificate = Certificate::read(text)?;
    let found = certificate.explore()?;
    let claim = &certificate.claim;
    if found == *claim { Ok(found) } else { Err(format!("it claims {claim}, but it is {found}")) }
}

fn number(value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("{value} is no number"))
}

fn numbers(value: &Value) -> Result<Vec<u64>, String> {
    value.as_array().ok_or_else(|| format!("{value} is no list"))?.iter().map(number).collect()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn reaction(value: &Value) -> Result<Reaction, String> {
    let sends = value[1].as_array().ok_or("sends are a list")?;
    let sends: Result<_, String> =
        sends.iter().map(|send| Ok((number(&send[0])? as usize, number(&send[1])?))).collect();
    Ok((number(&value[0])?, sends?, number(&value[2])?))
}

impl Certificate {
    fn read(text: &str) -> Result<Self, String> {
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        let lines = lines.map_err(|error| error.to_string())?;
        let header = lines.first().ok_or("it is empty")?;
        let budget = &header["budget"];
        let mut certificate = Certificate {
            processes: number(&header["processes"])? as usize,
            keeps_order: header["order"] == "fifo",
            time_in_order: header["time"] == "in-order",
            pulses: header["pulses"] == true,
            oracle: header["oracle"] == true,
            faulty: numbers(&header["faulty"])?,
            budget: Budget {
                crashes: number(&budget["crashes"])?,
                recoveries: number(&budget["recoveries"])?,
                losses: number(&budget["losses"])?,
                duplications: number(&budget["duplications"])?,
                suspicions: number(&budget["suspicions"])?,
                partitions: number(&budget["partitions"])?,
                wrong_timeouts: number(&budget["wrong-timeouts"])?,
            },
            properties: header["properties"].as_array().into_iter().flatten().map(word).collect(),
            locals: HashMap::new(),
            reactions: HashMap::new(),
            halfways: HashMap::new(),
            elapsed: HashMap::new(),
            watched: HashMap::new(),
            channels: HashMap::new(),
            notices: HashMap::new(),
            judged: HashMap::new(),
            initial: Vec::new(),
            claim: lines.last().cloned().unwrap_or_default(),
        };
        for line in &lines[1..lines.len() - 1] {
            certificate.line(line)?;
        }
        // What is on its way at first is known by channel only when all items are.
        for line in lines.iter().filter(|line| line["initial"].is_array()) {
            certificate.begin(line)?;
        }
        Ok(certificate)
    }

    fn line(&mut self, line: &Value) -> Result<(), String> {
        if line["reactions"].is_array() {
            let local = number(&line["local"])?;
            let reactions: Result<Vec<_>, String> =
                line["reactions"].as_array().into_iter().flatten().map(reaction).collect();
            if line["halfway"].is_array() {
                let key = numbers(&line["halfway"])?;
                let one = reactions?.pop().ok_or("a crash halfway has a reaction")?;
                self.halfways.insert((local, key[0], key[1], key[2]), one);
            } else {
                self.reactions.insert((local, word(&line["cause"]), number(&line["which"])?), reactions?);
            }
        } else if line["life"].is_string() {
            let timers: Result<_, String> =
                line["timers"].as_array().into_iter().flatten().map(numbers).collect();
            let timers: Vec<Vec<u64>> = timers?;
            let timers = timers.iter().map(|timer| (timer[0], timer[1], timer[2])).collect();
            let local = Local { life: word(&line["life"]), client: word(&line["client"]), timers };
            self.locals.insert(number(&line["local"])?, local);
        } else if line["elapse"].is_array() {
            let parts = numbers(&line["elapse"])?;
            self.elapsed.insert((parts[0], parts[1]), parts[2]);
        } else if line["watch"].is_array() {
            let parts = numbers(&line["watch"])?;
            self.watched.insert((parts[0], parts[1]), parts[2]);
        } else if line["item"].is_u64() {
            let item = number(&line["item"])?;
            let channel = match (line["from"].as_u64(), line["suspect"].as_u64(), line["restore"].as_u64()) {
                (Some(from), ..) if self.keeps_order => Channel::From(from),
                (Some(_), ..) => Channel::Message(item),
                (_, Some(about), _) | (_, _, Some(about)) => Channel::Oracle(about),
                _ => return Err(format!("what is {line}?")),
            };
            for kind in ["suspect", "restore"] {
                if let Some(about) = line[kind].as_u64() {
                    self.notices.insert((kind.to_owned(), about), item);
                }
            }
            self.channels.insert(item, channel);
        } else if line["broken"].is_array() {
            let judged = [&line["broken"], &line["lacking"], &line["at-stake"]].map(numbers);
            let [broken, lacking, at_stake] = judged;
            self.judged.insert(number(&line["monitors"])?, [broken?, lacking?, at_stake?]);
        }
        Ok(())
    }

    fn begin(&mut self, line: &Value) -> Result<(), String> {
        let n = self.processes;
        let mut state = State {
            locals: Vec::new(),
            inboxes: vec![BTreeMap::new(); n],
            left: self.budget,
            apart: vec![false; n],
            monitors: number(&line["monitors"])?,
        };
        for (address, situation) in line["initial"].as_array().into_iter().flatten().enumerate() {
            state.locals.push(number(&situation[0])?);
            for item in numbers(&situation[1])? {
                self.add(&mut state, address, item)?;
            }
        }
        self.initial.push(state);
        Ok(())
    }

    fn local(&self, local: u64) -> Result<&Local, String> {
        self.locals.get(&local).ok_or_else(|| format!("nothing is said of the local state {local}"))
    }

    fn lives(&self, state: &State, address: usize) -> Result<&str, String> {
        Ok(&self.local(state.locals[address])?.life)
    }

    fn reactions(&self, local: u64, cause: &str, which: u64) -> Result<&[Reaction], String> {
        let key = (local, cause.to_owned(), which);
        let found = self.reactions.get(&key).ok_or_else(|| format!("nothing is said of {key:?}"))?;
        Ok(found)
    }

    /// One more item is on its way.
    fn add(&self, state: &mut State, to: usize, item: u64) -> Result<(), String> {
        let channel =
            *self.channels.get(&item).ok_or_else(|| format!("nothing is said of the item {item}"))?;
        state.inboxes[to].entry(channel).or_default().push(item);
        Ok(())
    }

    fn react(&self, state: &mut State, address: usize, reaction: &Reaction) -> Result<(), String> {
        let (local, sends, seen) = reaction;
        state.locals[address] = *local;
        for &(to, item) in sends {
            if state.apart[address] == state.apart[to] && self.lives(state, to)? != "dead" {
                self.add(state, to, item)?;
            }
        }
        if *seen != 0 {
            let watched = self.watched.get(&(state.monitors, *seen));
            state.monitors = *watched.ok_or_else(|| format!("{seen} is not watched"))?;
        }
        Ok(())
    }

    fn notify(&self, state: &mut State, whom: usize, kind: &str, about: usize) -> Result<(), String> {
        let notice = self.notices.get(&(kind.to_owned(), about as u64));
        self.add(state, whom, *notice.ok_or("the oracle has no such notice")?)
    }

    /// The oracle says nothing of this kind any more to anybody who has not heard it yet.
    fn take_back(&self, state: &mut State, kind: &str, about: usize) {
        let Some(notice) = self.notices.get(&(kind.to_owned(), about as u64)) else { return };
        for inbox in &mut state.inboxes {
            inbox.values_mut().for_each(|items| items.retain(|item| item != notice));
            inbox.retain(|_, items| !items.is_empty());
        }
    }

    /// The oracle tells all others that are up.
    fn tell_others(&self, state: &mut State, kind: &str, about: usize) -> Result<(), String> {
        for other in (0..self.processes).filter(|&other| other != about) {
            if self.oracle && self.lives(state, other)? == "up" {
                self.notify(state, other, kind, about)?;
            }
        }
        Ok(())
    }

    /// Every step out of a state, and whether a run may end there.
    fn steps(&self, state: &State) -> Result<(Vec<State>, bool), String> {
        let mut steps = Vec::new();
        let (mut owed, mut under_way) = (false, false);
        for address in 0..self.processes {
            let number = state.locals[address];
            let local = self.local(number)?;
            if local.life == "dead" {
                continue;
            }
            for (channel, items) in &state.inboxes[address] {
                (owed, under_way) = (true, true);
                let mut without = state.clone();
                take(&mut without, address, *channel);
                if local.life == "down" {
                    steps.push(without);
                    continue;
                }
                let is_message = !matches!(channel, Channel::Oracle(_));
                for reaction in self.reactions(number, "item", items[0])? {
                    let mut next = without.clone();
                    self.react(&mut next, address, reaction)?;
                    steps.push(next);
                    if is_message && state.left.duplications > 0 {
                        let mut next = state.clone();
                        next.left.duplications -= 1;
                        self.react(&mut next, address, reaction)?;
                        steps.push(next);
                    }
                }
                if is_message && state.left.losses > 0 {
                    without.left.losses -= 1;
                    steps.push(without);
                }
            }
            if local.life == "down" {
                continue;
            }
            for reaction in self.reactions(number, "client", 0)? {
                owed |= local.client != "whim";
                under_way |= local.client == "owed";
                let mut next = state.clone();
                self.react(&mut next, address, reaction)?;
                steps.push(next);
            }
            for &(timer, ..) in local.timers.iter().filter(|_| !self.time_in_order) {
                for reaction in self.reactions(number, "timer", timer)? {
                    (owed, under_way) = (true, true);
                    let mut next = state.clone();
                    self.react(&mut next, address, reaction)?;
                    steps.push(next);
                }
            }
        }
        if self.time_in_order && !under_way {
            let before = steps.len();
            self.let_time_pass(state, &mut steps)?;
            owed |= steps.len() > before;
        }
        if state.apart.contains(&true) {
            owed = true;
            steps.push(State { apart: vec![false; self.processes], ..state.clone() });
        }
        self.fail(state, &mut steps)?;
        Ok((steps, !owed))
    }

    /// The timers that may be next run out; everybody waits until then.
    fn let_time_pass(&self, state: &State, steps: &mut Vec<State>) -> Result<(), String> {
        let mut timers = Vec::new();
        for (address, &local) in state.locals.iter().enumerate() {
            timers.extend(self.local(local)?.timers.iter().map(|timer| (address, *timer)));
        }
        let latest = timers.iter().map(|(_, (_, _, max))| *max).min().unwrap_or(0);
        for (address, (timer, min, _)) in timers.into_iter().filter(|(_, (_, min, _))| *min <= latest) {
            let mut waited = state.clone();
            for local in waited.locals.iter_mut().filter(|_| min > 0) {
                let after = self.elapsed.get(&(*local, min));
                *local = *after.ok_or_else(|| format!("nothing is said of {local} after {min}"))?;
            }
            let local = waited.locals[address];
            for (choice, reaction) in self.reactions(local, "timer", timer)?.iter().enumerate() {
                let mut next = waited.clone();
                self.react(&mut next, address, reaction)?;
                steps.push(next);
                if !self.pulses || state.left.crashes == 0 || !self.may_crash(address) {
                    continue;
                }
                // In a pulse it may crash when some of its messages are sent: any but none and all.
                for kept in 1..(1_u64 << reaction.1.len()).saturating_sub(1) {
                    let halfway = self.halfways.get(&(local, timer, choice as u64, kept));
                    let mut next = waited.clone();
                    next.left.crashes -= 1;
                    next.inboxes[address].clear();
                    self.react(&mut next, address, halfway.ok_or("nothing is said of a crash halfway")?)?;
                    self.take_back(&mut next, "restore", address);
                    self.tell_others(&mut next, "suspect", address)?;
                    steps.push(next);
                }
            }
        }
        Ok(())
    }

    fn may_crash(&self, address: usize) -> bool {
        self.faulty.is_empty() || self.faulty.contains(&(address as u64))
    }

    /// The faults that are left, but for those of single messages.
    fn fail(&self, state: &State, steps: &mut Vec<State>) -> Result<(), String> {
        let (n, left) = (self.processes, state.left);
        for address in 0..n {
            let (number, life) = (state.locals[address], self.lives(state, address)?);
            if life == "up" && left.crashes > 0 && self.may_crash(address) {
                let forever = left.recoveries == 0;
                for reaction in self.reactions(number, "crash", u64::from(forever))? {
                    let mut next = state.clone();
                    next.left.crashes -= 1;
                    let stays = |channel: &Channel| !forever && !matches!(channel, Channel::Oracle(_));
                    next.inboxes[address].retain(|channel, _| stays(channel));
                    self.react(&mut next, address, reaction)?;
                    self.take_back(&mut next, "restore", address);
                    self.tell_others(&mut next, "suspect", address)?;
                    steps.push(next);
                }
            }
            if life == "down" && left.recoveries > 0 {
                for reaction in self.reactions(number, "recover", 0)? {
                    let mut next = state.clone();
                    next.left.recoveries -= 1;
                    self.react(&mut next, address, reaction)?;
                    for other in (0..n).filter(|&other| other != address) {
                        if self.oracle && self.lives(state, other)? != "up" {
                            self.notify(&mut next, address, "suspect", other)?;
                        }
                    }
                    self.take_back(&mut next, "suspect", address);
                    self.tell_others(&mut next, "restore", address)?;
                    steps.push(next);
                }
            }
        }
        for address in (0..n).filter(|_| left.wrong_timeouts > 0) {
            let number = state.locals[address];
            for &(timer, ..) in &self.local(number)?.timers {
                for reaction in self.reactions(number, "timer", timer)? {
                    let mut next = state.clone();
                    next.left.wrong_timeouts -= 1;
                    self.react(&mut next, address, reaction)?;
                    steps.push(next);
                }
            }
        }
        for by in (0..n).filter(|_| left.suspicions > 0) {
            for suspect in (0..n).filter(|&suspect| suspect != by) {
                if self.lives(state, by)? != "up" || self.lives(state, suspect)? != "up" {
                    continue;
                }
                for reaction in self.reactions(state.locals[by], "suspect", suspect as u64)? {
                    let mut next = state.clone();
                    next.left.suspicions -= 1;
                    self.react(&mut next, by, reaction)?;
                    self.notify(&mut next, by, "restore", suspect)?;
                    steps.push(next);
                }
            }
        }
        if left.partitions > 0 && !state.apart.contains(&true) {
            // The first process is on the side that is not cut off.
            for group in 1..1_u64 << (n - 1) {
                let mut next = state.clone();
                next.left.partitions -= 1;
                next.apart = (0..n).map(|address| address > 0 && group >> (address - 1) & 1 == 1).collect();
                steps.push(next);
            }
        }
        Ok(())
    }

    /// Breadth first through all states; what is found, in the form of a claim.
    fn explore(&self) -> Result<Value, String> {
        let mut known: HashMap<State, usize> = HashMap::new();
        let mut states: Vec<(State, u64)> = Vec::new();
        for state in &self.initial {
            if known.insert(state.clone(), states.len()).is_none() {
                states.push((state.clone(), 0));
            } else {
                known.insert(state.clone(), states.iter().position(|(other, _)| other == state).unwrap_or(0));
            }
        }
        let (mut transitions, mut quiet, mut depth) = (0_u64, 0_u64, 0);
        let mut edges: Vec<Vec<usize>> = Vec::new();
        // By property: after how many steps it is broken first.
        let mut broken: Vec<Option<u64>> = vec![None; self.properties.len()];
        let mut at_stake = vec![false; self.properties.len()];
        while let Some((state, steps)) = states.get(edges.len()).cloned() {
            depth = depth.max(steps);
            let judged = self.judged.get(&state.monitors).ok_or("monitors without a judgement")?;
            let mut fall = |properties: &[u64]| {
                for &property in properties {
                    let first = &mut broken[property as usize];
                    *first = Some(first.map_or(steps, |known| known.min(steps)));
                }
            };
            fall(&judged[0]);
            judged[2].iter().for_each(|property| at_stake[*property as usize] = true);
            let (next, may_end) = self.steps(&state)?;
            if may_end {
                quiet += 1;
                fall(&judged[1]);
            }
            transitions += next.len() as u64;
            let mut leads = Vec::new();
            for next in next {
                let number = *known.entry(next).or_insert_with_key(|next| {
                    states.push((next.clone(), steps + 1));
                    states.len() - 1
                });
                leads.push(number);
            }
            edges.push(leads);
        }
        let verdict = |(property, name): (usize, &String)| {
            let lacks = |state: &(State, u64)| {
                self.judged
                    .get(&state.0.monitors)
                    .is_some_and(|judged| judged[1].contains(&(property as u64)))
            };
            let lacking: Vec<bool> = states.iter().map(lacks).collect();
            let verdict = match broken[property] {
                Some(_) => "violated",
                None if has_cycle(&edges, &lacking) => "rests-on-fairness",
                None if !at_stake[property] => "does-not-apply",
                None => "holds",
            };
            serde_json::json!({ "name": name, "verdict": verdict, "steps": broken[property] })
        };
        Ok(serde_json::json!({
            "states": states.len(),
            "transitions": transitions,
            "quiet": quiet,
            "depth": depth,
            "verdicts": self.properties.iter().enumerate().map(verdict).collect::<Vec<_>>(),
        }))
    }
}

/// Takes the first item of a channel.
fn take(state: &mut State, address: usize, channel: Channel) {
    let inbox = &mut state.inboxes[address];
    if let Some(items) = inbox.get_mut(&channel) {
        items.remove(0);
        if items.is_empty() {
            inbox.remove(&channel);
        }
    }
}

/// Whether a walk through these states alone comes back to where it was: a search in depth.
fn has_cycle(edges: &[Vec<usize>], among: &[bool]) -> bool {
    let (mut entered, mut left) = (vec![false; edges.len()], vec![false; edges.len()]);
    for start in (0..edges.len()).filter(|state| among[*state]) {
        let mut way = if entered[start] { Vec::new() } else { vec![(start, 0)] };
        entered[start] = true;
        while let Some((state, tried)) = way.last_mut() {
            let Some(&next) = edges[*state].get(*tried) else {
                left[*state] = true;
                way.pop();
                continue;
            };
            *tried += 1;
            if among[next] && entered[next] && !left[next] {
                return true;
            }
            if among[next] && !entered[next] {
                entered[next] = true;
                way.push((next, 0));
            }
        }
    }
    false
}
