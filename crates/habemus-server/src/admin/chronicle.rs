//! What a member remembers of elections: who stood, who voted, whom it lost and followed, and why.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use habemus_replica::{Ballot, BallotKind, Effect, MemberId, PeerMessage, Role};
use serde::{Deserialize, Serialize};

/// So many records are kept: some dozens of elections, in a few kilobytes.
pub(crate) const RECORDS: usize = 512;

/// Something that happened to this member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// When, in microseconds since 1970 by this member's clock.
    pub(crate) at: u64,
    /// What.
    pub(crate) what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// The member started.
    Started,
    /// It sent this.
    Sent { to: MemberId, ballot: Ballot },
    /// It heard this.
    Heard { from: MemberId, ballot: Ballot },
    /// It follows its leader no more, of whom it had heard nothing for so many microseconds.
    Lost { leader: MemberId, term: u64, silent: u64, why: Why },
    /// It leads no more.
    Resigned { term: u64, why: Why },
    /// It leads.
    Leads { term: u64 },
    /// It follows.
    Follows { leader: MemberId, term: u64 },
}

/// Why somebody leads or follows no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// Nothing was heard: of the leader, or of a majority.
    Silence,
    /// There is a later term.
    LaterTerm,
    /// The leader hands over.
    HandedOver,
}

/// The records of this member since it was started, the latest of them.
#[derive(Clone, Debug)]
pub(crate) struct Chronicle {
    me: MemberId,
    /// What time it was, since 1970, when the member's clock stood at zero: that clock never goes back.
    zero: Duration,
    role: Role,
    /// When the leader was last heard.
    heard: Duration,
    /// In which term somebody was told to take over, by whom or to whom.
    handed_over: Option<u64>,
    records: VecDeque<Record>,
}

impl Chronicle {
    /// Begins when the member's clock says `now`.
    pub(crate) fn new(me: MemberId, role: Role, now: Duration) -> Chronicle {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let zero = since.saturating_sub(now);
        let mut chronicle =
            Chronicle { me, zero, role, heard: now, handed_over: None, records: VecDeque::new() };
        chronicle.add(What::Started, now);
        chronicle
    }

    /// Why this member last led or followed no more, and how long it had heard nothing of its leader then.
    pub(crate) fn last_loss(&self) -> Option<(Why, Duration)> {
        self.records.iter().rev().find_map(|record| match record.what {
            What::Lost { silent, why, .. } => Some((why, Duration::from_micros(silent))),
            What::Resigned { why, .. } => Some((why, Duration::ZERO)),
            _ => None,
        })
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.records.iter().copied().collect()
    }

    /// Notes what another member says, before it is listened to.
    pub(crate) fn hear(&mut self, from: MemberId, message: &PeerMessage, now: Duration) {
        match message.ballot() {
            Some(ballot) => {
                self.note_handover(ballot);
                self.add(What::Heard { from, ballot }, now);
            }
            // Whoever asks for votes does not lead.
            None if self.role.leader == Some(from) => self.heard = now,
            None => {}
        }
    }

    /// Notes what is to be done. Messages come before the roles for which they are sent, and are noted after
    /// them.
    pub(crate) fn note(&mut self, effects: &[Effect], now: Duration) {
        for effect in effects {
            if let Effect::Send { message, .. } = effect
                && let Some(ballot) = message.ballot()
            {
                self.note_handover(ballot);
            }
        }
        for effect in effects {
            if let Effect::Role(role) = effect {
                self.follow(*role, now);
            }
        }
        for effect in effects {
            if let Effect::Send { to, message } = effect
                && let Some(ballot) = message.ballot()
            {
                self.add(What::Sent { to: *to, ballot }, now);
            }
        }
    }

    fn note_handover(&mut self, ballot: Ballot) {
        if ballot.kind == BallotKind::TimeoutNow {
            self.handed_over = Some(ballot.term);
        }
    }

    fn follow(&mut self, role: Role, now: Duration) {
        let before = std::mem::replace(&mut self.role, role);
        let term = before.term;
        let why = match role.term > term {
            _ if self.handed_over == Some(term) => Why::HandedOver,
            true => Why::LaterTerm,
            false => Why::Silence,
        };
        let is_new = role.leader != before.leader || role.term != term;
        if let Some(leader) = before.leader.filter(|_| is_new) {
            let silent = micros(now.saturating_sub(self.heard));
            self.add(
                if before.leads {
                    What::Resigned { term, why }
                } else {
                    What::Lost { leader, term, silent, why }
                },
                now,
            );
        }
        if let Some(leader) = role.leader.filter(|_| is_new) {
            self.heard = now;
            let term = role.term;
            self.add(
                if leader == self.me { What::Leads { term } } else { What::Follows { leader, term } },
                now,
            );
        }
    }

    fn add(&mut self, what: What, now: Duration) {
        if self.records.len() == RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(Record { at: micros(self.zero + now), what });
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: MemberId = MemberId(1);
    const OTHER: MemberId = MemberId(2);

    fn role(term: u64, leader: Option<MemberId>) -> Role {
        Role { term, leader, leads: leader == Some(ME) }
    }

    fn after(roles: &[Role]) -> Vec<What> {
        let mut chronicle = Chronicle::new(ME, role(1, None), Duration::ZERO);
        for (turn, role) in (1..).zip(roles) {
            chronicle.note(&[Effect::Role(*role)], Duration::from_millis(turn));
        }
        chronicle.records.iter().skip(1).map(|record| record.what).collect()
    }

    #[test]
    fn a_leader_that_falls_silent_is_lost_with_how_long_it_was_silent() {
        let (leader, why) = (OTHER, Why::Silence);
        assert_eq!(
            after(&[role(2, Some(OTHER)), role(2, None), role(3, None), role(3, Some(ME))]),
            [
                What::Follows { leader, term: 2 },
                What::Lost { leader, term: 2, silent: 1000, why },
                What::Leads { term: 3 }
            ]
        );
    }

    #[test]
    fn whoever_leads_and_meets_a_later_term_resigns_for_it() {
        assert_eq!(
            after(&[role(2, Some(ME)), role(3, Some(OTHER))]),
            [
                What::Leads { term: 2 },
                What::Resigned { term: 2, why: Why::LaterTerm },
                What::Follows { leader: OTHER, term: 3 }
            ]
        );
        assert_eq!(
            after(&[role(2, Some(ME)), role(2, None)])[1],
            What::Resigned { term: 2, why: Why::Silence },
            "no majority answers"
        );
    }

    #[test]
    fn it_remembers_the_latest_records_and_no_more() {
        let mut chronicle = Chronicle::new(ME, role(1, None), Duration::ZERO);
        for term in 0..RECORDS as u64 + 10 {
            chronicle.note(&[Effect::Role(role(term, Some(ME)))], Duration::ZERO);
        }
        let last = chronicle.records.back().map(|record| record.what);
        assert_eq!(
            (chronicle.records().len(), last),
            (RECORDS, Some(What::Leads { term: RECORDS as u64 + 9 }))
        );
    }
}
