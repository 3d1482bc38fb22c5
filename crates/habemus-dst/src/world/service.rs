//! How a machine serves its clients, as a server does: it answers what was applied, lets wait who must wait,
//! and tells those who watch.

use bytes::Bytes;
use habemus_replica::{RequestId, Unanswered};
use habemus_store::{Answer, Applied, Command, KeyRange, Range, Revised, Revision, SessionId, StoreError};

use super::World;
use crate::agenda::Due;
use crate::client::{Ask, CallId, Reply};
use crate::seen::Kind;
use crate::story::Told;

impl World {
    /// A request arrives.
    pub(super) fn request(&mut self, index: usize, call: CallId, ask: Ask, told: Option<Told>) {
        if let Some(until) = self.sleeps(index) {
            return self.agenda.plan(until, Due::Request { machine: index, call, ask, told });
        }
        if let (Some(story), Some(told)) = (&mut self.story, &told) {
            story.arrived_at_machine(self.now, self.machines[index].id, told);
        }
        let request = self.next_request(self.machines[index].id);
        let Some(running) = &mut self.machines[index].running else {
            // Nobody listens, which is noticed at once.
            return self.answer(index, call, Reply::Refused);
        };
        match &ask {
            Ask::Command(command) => {
                running.replica.propose(request, command.clone());
                running.asked.insert(request, (call, ask));
            }
            Ask::Read(_) | Ask::ReadAll(_) | Ask::Leader(_) => {
                running.replica.read(request);
                running.asked.insert(request, (call, ask));
            }
            Ask::Watch(first) => {
                running.watching.insert(call, Revision(first.0 - 1));
                self.tell_watcher(index, call);
            }
        }
        self.flush(index);
    }

    /// Tells somebody who watches everything that it was not told yet.
    fn tell_watcher(&mut self, index: usize, call: CallId) {
        let Some(running) = &mut self.machines[index].running else { return };
        let Some(told) = running.watching.get_mut(&call) else { return };
        let next = Revision(told.0 + 1);
        let store = running.replica.store();
        if store.revision() < next {
            return;
        }
        let events: Result<Vec<Revised>, StoreError> = store.since(next).map(|all| all.cloned().collect());
        let reply = match events {
            Ok(events) => {
                *told = store.revision();
                Reply::Events(events)
            }
            Err(_) => {
                let compacted = store.compacted();
                running.watching.remove(&call);
                Reply::Compacted(Revision(compacted.0 + 1))
            }
        };
        self.answer(index, call, reply);
    }

    /// A command was applied here.
    pub(super) fn serve(&mut self, index: usize, request: Option<RequestId>, applied: &Applied) {
        let Some(running) = &mut self.machines[index].running else { return };
        running.forgetting.take_if(|forgetting| request == Some(*forgetting));
        let mut replies = Vec::new();
        if let Some((call, ask)) = request.and_then(|request| running.asked.remove(&request)) {
            match (&ask, &applied.answer) {
                (Ask::Command(Command::Enter(enter)), Ok(Answer::Entered(entered))) => {
                    let (key, token) = (entered.key.clone(), entered.token);
                    if entered.granted {
                        replies.push((call, Reply::Inside { key, token }));
                    } else {
                        running.waiting.insert(call, (enter.session.0, key, token));
                    }
                }
                (_, answer) => {
                    let (answer, revision) = (answer.clone(), applied.revision);
                    replies.push((call, Reply::Applied { answer, revision }));
                }
            }
        }
        let grants: Vec<_> = applied.queues.iter().flat_map(|change| &change.granted).collect();
        running.waiting.retain(|call, (session, key, token)| {
            if grants.iter().any(|grant| grant.key == *key && grant.token == *token) {
                replies.push((*call, Reply::Inside { key: key.clone(), token: *token }));
                return false;
            }
            if applied.ended.iter().any(|ended| ended.0 == *session) {
                replies.push((*call, Reply::SessionOver));
                return false;
            }
            true
        });
        for revised in &applied.revised {
            for (call, told) in &mut running.watching {
                if revised.revision > *told {
                    *told = revised.revision;
                    replies.push((*call, Reply::Events(vec![revised.clone()])));
                }
            }
        }
        for (call, reply) in replies {
            self.answer(index, call, reply);
        }
    }

    pub(super) fn serve_read(&mut self, index: usize, request: RequestId) {
        let Some(running) = &mut self.machines[index].running else { return };
        let Some((call, ask)) = running.asked.remove(&request) else { return };
        let store = running.replica.store();
        let revision = store.revision();
        let all = |prefix: &Bytes| {
            let found = store.range(&Range::of(KeyRange::prefix(prefix.clone())));
            found.map(|found| found.keys).unwrap_or_default()
        };
        let reply = match &ask {
            Ask::Read(key) => {
                Reply::Found { revision, value: store.get(key).map(|found| found.value.clone()) }
            }
            Ask::ReadAll(prefix) => {
                let values = all(prefix).iter().map(|it| (it.key.clone(), it.value.clone())).collect();
                Reply::FoundAll { revision, values }
            }
            Ask::Leader(prefix) => {
                let first = all(prefix).into_iter().min_by_key(|it| it.created);
                Reply::Found { revision, value: first.map(|it| it.value.clone()) }
            }
            Ask::Command(_) | Ask::Watch(_) => return,
        };
        self.answer(index, call, reply);
    }

    pub(super) fn not_served(&mut self, index: usize, request: RequestId, why: Unanswered) {
        let Some(running) = &mut self.machines[index].running else { return };
        running.forgetting.take_if(|forgetting| request == *forgetting);
        let Some((call, _)) = running.asked.remove(&request) else { return };
        let reply = if why == Unanswered::Unknown { Reply::Unknown } else { Reply::Refused };
        self.answer(index, call, reply);
    }

    /// The machine got a snapshot: whoever waits is looked at anew, and whoever watches is told what is new.
    pub(super) fn serve_anew(&mut self, index: usize) {
        let Some(running) = &mut self.machines[index].running else { return };
        let store = running.replica.store();
        let mut replies = Vec::new();
        running.waiting.retain(|call, (session, key, token)| {
            if store.session(SessionId(*session)).is_none() {
                replies.push((*call, Reply::SessionOver));
                return false;
            }
            if store.is_inside(key, *token) {
                replies.push((*call, Reply::Inside { key: key.clone(), token: *token }));
                return false;
            }
            true
        });
        let watching: Vec<CallId> = running.watching.keys().copied().collect();
        for (call, reply) in replies {
            self.answer(index, call, reply);
        }
        for call in watching {
            self.tell_watcher(index, call);
        }
    }

    /// Sends an answer. A connection keeps what a watch is told in order; what is lost ends the connection.
    fn answer(&mut self, index: usize, call: CallId, reply: Reply) {
        let is_lost = self.unreachable.contains(&index) || self.random.happens(self.weather.loss);
        let mut at = self.now + self.random.between(50, self.weather.max_delay.max(50));
        if matches!(reply, Reply::Events(_) | Reply::Compacted(_)) {
            let stream = self.streams.entry(call).or_default();
            if is_lost {
                *stream = u64::MAX;
            }
            if *stream == u64::MAX {
                if let Some(running) = &mut self.machines[index].running {
                    running.watching.remove(&call);
                }
                return;
            }
            at = at.max(*stream);
            *stream = at;
        }
        self.seen.note(Kind::Answer, reply.kind());
        if !is_lost {
            let id = self.machines[index].id;
            let told = self.story.as_mut().map(|story| story.answered(self.now, id, call.client, &reply));
            self.agenda.plan(at, Due::Reply { call, reply, told });
        }
    }
}
