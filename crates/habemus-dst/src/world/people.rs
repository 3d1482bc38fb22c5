//! Clients, where they stand, and how they are told.

use std::collections::VecDeque;

use habemus_store::Mode;
use habemus_trace::Dropped;

use super::{World, skew};
use crate::agenda::Due;
use crate::client::{CallId, Client, Hands, KeyClient, LockClient, Reply, WatchClient};
use crate::clock::{Micros, SkewedClock};
use crate::shape::SeedShape;
use crate::story::Told;

/// A client, where it stands and how it is.
pub(super) struct Person {
    pub(super) client: Client,
    pub(super) clock: SkewedClock,
    /// Which machine it asks.
    pub(super) machine: usize,
    pub(super) paused_until: Micros,
    /// When it looks around next.
    pub(super) wakes_at: Micros,
    /// What came while it stood still.
    pub(super) held: VecDeque<(CallId, Reply, Option<Told>)>,
}

impl World {
    pub(super) fn add_people(&mut self, shape: &SeedShape) {
        let two = Mode::Permits(2.try_into().expect("it is not zero"));
        let shared = [Mode::Shared, Mode::Shared, Mode::Exclusive];
        let lock = |name, mode| Client::Lock(LockClient::new(name, mode));
        let mut clients = Vec::new();
        clients.extend((0..shape.watches).map(|_| Client::Watch(WatchClient::new())));
        clients.extend((0..shape.keys).map(|_| Client::Keys(KeyClient::default())));
        clients.extend((0..shape.orders).map(|_| lock("orders", Mode::Exclusive)));
        clients.extend((0..shape.leaders).map(|_| lock("leader", Mode::Exclusive)));
        clients.extend((0..shape.parkers).map(|_| lock("park", two)));
        clients.extend(shared.into_iter().take(shape.readers).map(|mode| lock("book", mode)));
        debug_assert_eq!(clients.len(), shape.clients());
        for client in clients {
            // Where clocks are wilder than is allowed for, those of clients are, too.
            let wild = if self.script.clocks_are_right() { 1 } else { 30 };
            let clock = SkewedClock::new(self.random.below(1 << 40), wild * skew(&mut self.random));
            let machine = self.random.below(self.machines.len() as u64) as usize;
            let wakes_at = self.random.below(100_000);
            self.agenda.plan(wakes_at, Due::Wake { client: self.people.len(), at: wakes_at });
            self.people.push(Person {
                client,
                clock,
                machine,
                paused_until: 0,
                wakes_at,
                held: VecDeque::new(),
            });
        }
    }

    pub(super) fn wake(&mut self, client: usize, at: Micros) {
        let person = &mut self.people[client];
        if person.wakes_at != at {
            return;
        }
        let until = person.paused_until;
        if until > self.now {
            person.wakes_at = until;
            return self.agenda.plan(until, Due::Wake { client, at: until });
        }
        self.with_hands(client, Client::wake);
    }

    pub(super) fn reply(&mut self, call: CallId, reply: Reply, told: Option<Told>) {
        let person = &mut self.people[call.client];
        // Whatever comes while it stands still waits at its door, in order.
        if person.paused_until > self.now || !person.held.is_empty() {
            if person.held.is_empty() {
                self.agenda.plan(person.paused_until, Due::Resume { client: call.client });
            }
            return person.held.push_back((call, reply, told));
        }
        self.hear(call, reply, told.as_ref());
    }

    fn hear(&mut self, call: CallId, reply: Reply, told: Option<&Told>) {
        if let (Some(story), Some(told)) = (&mut self.story, told) {
            story.arrived_at_client(self.now, call.client, told);
        }
        self.with_hands(call.client, |client, hands| client.hear(call.number, reply, hands));
    }

    /// A client that stood still hears what has waited for it.
    pub(super) fn resume(&mut self, client: usize) {
        let person = &mut self.people[client];
        if person.paused_until > self.now {
            return self.agenda.plan(person.paused_until, Due::Resume { client });
        }
        for (call, reply, told) in std::mem::take(&mut person.held) {
            self.hear(call, reply, told.as_ref());
        }
    }

    pub(super) fn with_hands(&mut self, index: usize, act: impl FnOnce(&mut Client, &mut Hands<'_>)) {
        let person = &mut self.people[index];
        let before = self.story.as_ref().and_then(|_| person.client.inside());
        let mut hands = Hands {
            client: index,
            now: self.now,
            clock: &person.clock,
            random: &mut self.random,
            history: &mut self.history,
            calls: &mut self.calls,
            think: self.pace.think,
            asks: Vec::new(),
            switches: false,
            is_ending: self.is_ending,
        };
        act(&mut person.client, &mut hands);
        let (asks, switches) = (hands.asks, hands.switches);
        let next = person.client.next_wake(&person.clock, self.is_ending).max(self.now + 1);
        if person.wakes_at <= self.now || next < person.wakes_at {
            person.wakes_at = next;
            self.agenda.plan(next, Due::Wake { client: index, at: next });
        }
        if switches {
            // Clients are told who belongs to the cluster, by hand or by its members.
            let here: Vec<usize> = (0..self.machines.len()).filter(|&it| !self.machines[it].gone).collect();
            person.machine = here[self.random.below(here.len() as u64) as usize];
        }
        let machine = person.machine;
        if let Some(story) = &mut self.story {
            let inside = person.client.inside();
            if inside != before {
                story.believes(self.now, index, inside.as_ref().map(|(name, token)| (&name[..], *token)));
            }
        }
        for (call, ask) in asks {
            let id = self.machines[machine].id;
            let told = self.story.as_mut().map(|story| story.asked(self.now, index, id, &ask));
            if self.unreachable.contains(&machine) {
                self.tell_loss(id, told.as_ref(), Dropped::Cut);
            } else {
                let at = self.now + self.random.between(50, self.weather.max_delay.max(50));
                self.agenda.plan(at, Due::Request { machine, call, ask, told });
            }
        }
    }
}
