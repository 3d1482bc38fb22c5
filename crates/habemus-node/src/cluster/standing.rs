//! Who leads a cluster, or why nobody does, as far as the nodes' reports say.

use std::fmt;

use habemus::Status;

use super::Cluster;

/// Who leads, or why nobody does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It leads, and every live node knows it; these are paused and were not asked.
    Agreed {
        /// Who leads.
        leader: u64,
        /// Who stands still.
        paused: Vec<u64>,
    },
    /// The others follow one that is paused: they have not missed it yet.
    LeaderPaused(u64),
    /// The others follow one that is down: they have not missed it yet.
    LeaderDown(u64),
    /// Nobody has led since the beginning.
    NoElectionYet,
    /// Too few nodes can talk to each other to elect anybody.
    NoQuorum {
        /// So many can.
        together: usize,
        /// So many are needed.
        needed: usize,
        /// So many there are.
        all: usize,
    },
    /// An election is under way, or the nodes are of different minds: what each of them says.
    Undecided(Vec<(u64, Status)>),
    /// Nobody could know.
    AllDown,
}

impl Cluster {
    /// Who leads, or why nobody does. Nobody can be elected unless `needed` nodes can talk to each other.
    pub fn standing(&self, needed: usize) -> Standing {
        let (paused, awake): (Vec<u64>, Vec<u64>) = self.alive().partition(|id| self.is_paused(*id));
        let minds: Vec<(u64, Status)> =
            awake.iter().filter_map(|id| Some((*id, self.status(*id)?))).collect();
        if minds.is_empty() && paused.is_empty() {
            return Standing::AllDown;
        }
        let mut named = minds.iter().filter_map(|(id, status)| match status {
            Status::Leading => Some(Some(*id)),
            Status::Following(Some(leader)) => Some(Some(leader.0)),
            // It knows that somebody leads, and not who.
            Status::Following(None) => None,
            _ => Some(None),
        });
        let first = named.next().flatten();
        let leader = first.filter(|leader| named.all(|other| other == Some(*leader)));
        let leads = |id| self.status(id) == Some(Status::Leading);
        match leader {
            Some(leader) if paused.contains(&leader) => return Standing::LeaderPaused(leader),
            Some(leader) if self.status(leader).is_none() => return Standing::LeaderDown(leader),
            Some(leader) if leads(leader) => return Standing::Agreed { leader, paused },
            _ => {}
        }
        let together = awake.iter().map(|id| self.reachable_from(*id, &awake)).max().unwrap_or(0);
        if together < needed {
            return Standing::NoQuorum { together, needed, all: self.ids().len() };
        }
        if self.has_led { Standing::Undecided(minds) } else { Standing::NoElectionYet }
    }

    /// How many of these a node can talk with, itself included.
    fn reachable_from(&self, id: u64, others: &[u64]) -> usize {
        let is_cut = |other: u64| self.cut.contains(&(id, other)) || self.cut.contains(&(other, id));
        others.iter().filter(|other| **other == id || !is_cut(**other)).count()
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Agreed { leader, paused } if paused.is_empty() => {
                write!(f, "{leader} leads, and every live node knows it")
            }
            Standing::Agreed { leader, paused } => {
                write!(f, "{leader} leads, and every live node knows it but {}, paused", list(paused))
            }
            Standing::LeaderPaused(leader) => {
                write!(
                    f,
                    "{leader} leads in the eyes of the others, but it is paused: resume {leader}, or wait \
                        leader"
                )
            }
            Standing::LeaderDown(leader) => {
                write!(f, "{leader} leads in the eyes of the others, but it is down: wait leader")
            }
            Standing::NoElectionYet => f.write_str("no election is over yet: wait leader"),
            Standing::NoQuorum { together, needed, all } => {
                let are = if *needed == 1 { "is" } else { "are" };
                write!(
                    f,
                    "no quorum: {together} of {all} nodes can talk to each other, and {needed} {are} needed"
                )
            }
            Standing::Undecided(minds) => {
                let mind = |(id, status): &(u64, Status)| format!("{id} {}", describe(*status));
                let minds: Vec<String> = minds.iter().map(mind).collect();
                write!(f, "the live nodes do not agree on a leader: {}", minds.join(", "))
            }
            Standing::AllDown => f.write_str("all nodes are down: restart 1"),
        }
    }
}

/// What a process is, in words.
pub fn describe(status: Status) -> String {
    match status {
        Status::Idle => "idle".to_owned(),
        Status::Waiting => "waiting".to_owned(),
        Status::Inside => "inside".to_owned(),
        Status::Leading => "leads".to_owned(),
        Status::Following(Some(leader)) => format!("follows {leader}"),
        Status::Following(None) => "has a leader".to_owned(),
        Status::Decided => "decided".to_owned(),
    }
}

/// Identifiers, in words.
pub fn list(ids: &[u64]) -> String {
    if ids.is_empty() {
        return "nobody".to_owned();
    }
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
