//! What must hold, watched by the same monitors that watch the simulator, the checker and real nodes.

use std::time::{Duration, Instant};

use habemus::election::{self, Election};
use habemus::mutex::{self, Mutex, Token};
use habemus::property::{
    End, Fencing, Monitor, Observation, ObservedEvent, OneInside, OneLeaderPerTerm, Population, Verdict,
    Violation,
};
use habemus::{Address, Id, Problem};

/// One property, what was seen of it, and the first time that it was broken.
pub(crate) struct Watched<M> {
    monitor: M,
    broken: Option<Violation>,
}

impl<M> Watched<M> {
    fn new(monitor: M) -> Watched<M> {
        Watched { monitor, broken: None }
    }

    fn observe<P: Problem>(&mut self, seen: &Observation<'_, P>, who: &Population)
    where
        M: Monitor<P>,
    {
        if let (Err(violation), None) = (self.monitor.observe(seen, who), &self.broken) {
            self.broken = Some(violation);
        }
    }

    fn verdict<P: Problem>(&self, who: &Population) -> Ruling
    where
        M: Monitor<P>,
    {
        let verdict = match &self.broken {
            Some(violation) => Verdict::Violated(violation.clone()),
            None => self.monitor.at_end(End::CutOff, who),
        };
        Ruling { name: self.monitor.name(), verdict }
    }
}

/// What is said of one property.
pub(crate) struct Ruling {
    pub(crate) name: &'static str,
    pub(crate) verdict: Verdict,
}

/// All monitors of the story. The clients are numbered from 1, the members as well.
pub(crate) struct Judge {
    begin: Instant,
    clients: Population,
    members: Population,
    one_inside: Watched<OneInside>,
    fencing: Watched<Fencing>,
    one_leader: Watched<OneLeaderPerTerm>,
    one_member_leads: Watched<OneLeaderPerTerm>,
}

fn population(count: usize) -> Population {
    let ids = (1..=count as u64).map(Id).collect();
    Population { ids, preference: None, permits: 1, is_sure_to_start: true }
}

impl Judge {
    pub(crate) fn new(clients: usize, members: usize) -> Judge {
        Judge {
            begin: Instant::now(),
            clients: population(clients),
            members: population(members),
            one_inside: Watched::new(OneInside::default()),
            fencing: Watched::new(Fencing::default()),
            one_leader: Watched::new(OneLeaderPerTerm::default()),
            one_member_leads: Watched::new(OneLeaderPerTerm::default()),
        }
    }

    /// A client is inside, with this token.
    pub(crate) fn entered(&mut self, client: usize, token: u64) {
        self.mutex(client, ObservedEvent::Output(&mutex::Output::Entered { token: Some(Token(token)) }));
    }

    /// A client has left, or knows at last that it was put out.
    pub(crate) fn left(&mut self, client: usize) {
        self.mutex(client, ObservedEvent::Output(&mutex::Output::Left));
    }

    /// A client leads, and its token is the term.
    pub(crate) fn client_leads(&mut self, client: usize, term: u64) {
        let output = election::Output::Leads { term };
        let seen = self.election(client, &output);
        self.one_leader.observe(&seen, &self.clients);
    }

    /// A member leads the members.
    pub(crate) fn member_leads(&mut self, member: usize, term: u64) {
        let output = election::Output::Leads { term };
        let seen = self.election(member, &output);
        self.one_member_leads.observe(&seen, &self.members);
    }

    fn mutex(&mut self, client: usize, what: ObservedEvent<'_, Mutex>) {
        let seen = Observation { at: self.at(), process: Address(client as u32), clock: None, what };
        self.one_inside.observe(&seen, &self.clients);
        self.fencing.observe(&seen, &self.clients);
    }

    fn election<'a>(&self, who: usize, output: &'a election::Output) -> Observation<'a, Election> {
        Observation {
            at: self.at(),
            process: Address(who as u32),
            clock: None,
            what: ObservedEvent::Output(output),
        }
    }

    fn at(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// Whether two clients were ever inside at once, to their own knowledge.
    pub(crate) fn one_inside(&self) -> Ruling {
        self.one_inside.verdict(&self.clients)
    }

    pub(crate) fn fencing(&self) -> Ruling {
        self.fencing.verdict(&self.clients)
    }

    pub(crate) fn one_leader(&self) -> Ruling {
        self.one_leader.verdict(&self.clients)
    }

    pub(crate) fn one_member_leads(&self) -> Ruling {
        self.one_member_leads.verdict(&self.members)
    }
}
