//! Elections as all members remember them together: whose place somebody took, how long it took, and what was
//! said.

use std::collections::{BTreeMap, VecDeque};

use habemus_replica::{Ballot, MemberId};
use serde::Serialize;

use super::chronicle::{Record, What, Why};

/// So many rows are told of one election, the last of them.
const ROWS: usize = 80;

/// So many elections are told, the last of them.
const INCIDENTS: usize = 30;

/// An election, or the return of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Incident {
    pub(crate) kind: Kind,
    /// In which term somebody leads since; the last one known if it goes on.
    pub(crate) term: u64,
    /// Who leads since, if anybody does.
    pub(crate) leader: Option<Name>,
    /// Who led before, if that is known.
    pub(crate) before: Option<Name>,
    /// Why it does no more.
    pub(crate) why: Option<Why>,
    /// When it began, in microseconds since 1970.
    pub(crate) began: u64,
    /// How many microseconds nobody led, and by whose clock: one clock has both ends.
    pub(crate) took: Option<u64>,
    pub(crate) clock: Option<Name>,
    /// How many rows are left out before these.
    pub(crate) left_out: usize,
    pub(crate) rows: Vec<IncidentRow>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Somebody leads.
    Elected,
    /// A member has found the leader (again) that the others never lost.
    Returned,
    /// Nobody leads yet.
    Open,
}

/// A member, as JSON can have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) MemberId);

impl Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// One record in the diagram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct IncidentRow {
    pub(crate) member: Name,
    /// When, by that member's clock, in microseconds since 1970.
    pub(crate) at: u64,
    pub(crate) what: &'static str,
    /// Whom else it is about.
    pub(crate) other: Option<Name>,
    pub(crate) term: Option<u64>,
    pub(crate) ballot: Option<Ballot>,
    pub(crate) silent: Option<u64>,
    pub(crate) why: Option<Why>,
    /// The row in which this was sent.
    pub(crate) sent_in: Option<usize>,
}

impl IncidentRow {
    fn new(member: MemberId, Record { at, what }: Record) -> IncidentRow {
        let (word, other, term, ballot, silent, why) = match what {
            What::Started => ("started", None, None, None, None, None),
            What::Sent { to, ballot } => ("sent", Some(to), Some(ballot.term), Some(ballot), None, None),
            What::Heard { from, ballot } => {
                ("heard", Some(from), Some(ballot.term), Some(ballot), None, None)
            }
            What::Lost { leader, term, silent, why } => {
                ("lost", Some(leader), Some(term), None, Some(silent), Some(why))
            }
            What::Resigned { term, why } => ("resigned", None, Some(term), None, None, Some(why)),
            What::Leads { term } => ("leads", None, Some(term), None, None, None),
            What::Follows { leader, term } => ("follows", Some(leader), Some(term), None, None, None),
        };
        let (member, other) = (Name(member), other.map(Name));
        IncidentRow { member, at, what: word, other, term, ballot, silent, why, sent_in: None }
    }
}

/// The records of one member that belong together.
type Part = (MemberId, Vec<Record>);

/// What became of one member's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Elected { term: u64 },
    Returned { at: u64, member: MemberId, term: u64 },
    Open,
}

/// What all members remember of elections, the latest first.
pub(crate) fn incidents(told: &BTreeMap<MemberId, Vec<Record>>) -> Vec<Incident> {
    let mut parts: BTreeMap<End, Vec<Part>> = BTreeMap::new();
    for (member, records) in told {
        for (end, part) in split(*member, records) {
            parts.entry(end).or_default().push((*member, part));
        }
    }
    let mut incidents: Vec<Incident> = parts.into_iter().map(|(end, parts)| incident(end, &parts)).collect();
    incidents.sort_by_key(|incident| std::cmp::Reverse((incident.kind == Kind::Open, incident.began)));
    incidents.truncate(INCIDENTS);
    incidents
}

/// One member's records by what they led to. Once it leads or follows, an election is over for it; what is
/// said later of the same term still belongs to it, until its leader is lost or somebody stands against it.
fn split(member: MemberId, records: &[Record]) -> Vec<(End, Vec<Record>)> {
    let mut done: Vec<(End, Vec<Record>)> = Vec::new();
    let mut open: Vec<Record> = Vec::new();
    for record in records {
        let late = match record.what {
            What::Sent { ballot, .. } | What::Heard { ballot, .. } => Some(ballot.term),
            _ => None,
        };
        match (record.what, done.last_mut()) {
            (_, Some((End::Elected { term }, part)))
                if open.is_empty() && late.is_some_and(|of| of <= *term) =>
            {
                part.push(*record);
            }
            (What::Leads { term } | What::Follows { term, .. }, _) => {
                open.push(*record);
                let part = std::mem::take(&mut open);
                let known = done.iter().any(|(end, _)| *end == End::Elected { term });
                let lost = part.iter().any(|it| matches!(it.what, What::Lost { term: of, .. } if of == term));
                let end = match known || lost {
                    true => End::Returned { at: record.at, member, term },
                    false => End::Elected { term },
                };
                done.push((end, part));
            }
            _ => open.push(*record),
        }
    }
    let is_lost =
        |record: &Record| matches!(record.what, What::Lost { .. } | What::Resigned { .. } | What::Started);
    // Whoever only heard others ask has not lost anybody.
    if open.iter().any(is_lost) {
        done.push((End::Open, open));
    }
    done
}

fn incident(end: End, parts: &[Part]) -> Incident {
    let all = || parts.iter().flat_map(|(member, part)| part.iter().map(move |record| (*member, *record)));
    let lost = all().find_map(|(member, record)| match record.what {
        What::Lost { leader, why, .. } => Some((leader, why)),
        What::Resigned { why, .. } => Some((member, why)),
        _ => None,
    });
    // Whoever noticed a silence knows better why than those who only heard of a later term.
    let cause = |why: Why| {
        all().any(|(_, record)| match record.what {
            What::Lost { why: it, .. } | What::Resigned { why: it, .. } => it == why,
            _ => false,
        })
    };
    let why = [Why::HandedOver, Why::Silence, Why::LaterTerm].into_iter().find(|why| cause(*why));
    let leader = all().find_map(|(member, record)| match record.what {
        What::Leads { .. } => Some(member),
        What::Follows { leader, .. } => Some(leader),
        _ => None,
    });
    let (kind, term) = match end {
        End::Elected { term } => (Kind::Elected, term),
        End::Returned { term, .. } => (Kind::Returned, term),
        End::Open => (
            Kind::Open,
            all().filter_map(|(member, record)| IncidentRow::new(member, record).term).max().unwrap_or(0),
        ),
    };
    // The new leader's own clock, if it still remembers.
    let own = parts.iter().find(|(member, _)| Some(*member) == leader).and_then(span);
    let span = own.or_else(|| parts.iter().filter_map(span).min_by_key(|(_, began, _)| *began));
    let began = span.map(|(_, began, _)| began).or_else(|| all().map(|(_, record)| record.at).min());
    let (left_out, rows) = rows(parts);
    Incident {
        kind,
        term,
        leader: leader.map(Name),
        before: lost.map(|(before, _)| Name(before)),
        why,
        began: began.unwrap_or(0),
        took: span.filter(|_| kind != Kind::Open).map(|(_, began, ended)| ended.saturating_sub(began)),
        clock: span.map(|(member, ..)| Name(member)),
        left_out,
        rows,
    }
}

/// From when to when one member knew no leader: since it last heard of the one before, until it leads or
/// follows.
fn span((member, part): &Part) -> Option<(MemberId, u64, u64)> {
    let ended = part.iter().find(|it| matches!(it.what, What::Leads { .. } | What::Follows { .. }))?.at;
    let began = part.iter().find_map(|record| match record.what {
        What::Lost { silent, .. } => Some(record.at.saturating_sub(silent)),
        What::Resigned { .. } => Some(record.at),
        _ => None,
    });
    Some((*member, began.or_else(|| part.first().map(|first| first.at))?, ended))
}

/// The records of all members in an order that could have been: everybody's own, nothing heard before it was
/// sent, and otherwise by their clocks, which may be wrong.
fn rows(parts: &[Part]) -> (usize, Vec<IncidentRow>) {
    let of = |(member, part): &Part| part.iter().map(|record| IncidentRow::new(*member, *record)).collect();
    let mut queues: Vec<VecDeque<IncidentRow>> = parts.iter().map(of).collect();
    let is_sent = |row: &&IncidentRow| matches!(row.what, "sent" | "leads");
    let mut waiting: Vec<IncidentRow> = queues.iter().flatten().filter(is_sent).cloned().collect();
    let mut rows: Vec<IncidentRow> = Vec::new();
    let mut taken = Vec::new();
    loop {
        // What is heard comes after its sending was told, if it will be; if clocks and records contradict,
        // the earliest goes on.
        let told = |row: &IncidentRow| {
            (0..rows.len()).find(|sent| {
                let is_once = rows[*sent].what == "sent";
                row.answers(&rows[*sent]) && !(is_once && taken.contains(sent))
            })
        };
        let is_free =
            |row: &IncidentRow| told(row).is_some() || !waiting.iter().any(|sent| row.answers(sent));
        let earliest = |free: bool| {
            let heads = queues.iter().enumerate().filter_map(|(index, queue)| {
                let head = queue.front()?;
                (!free || is_free(head)).then_some((head.at, index))
            });
            heads.min().map(|(_, index)| index)
        };
        let Some(index) = earliest(true).or_else(|| earliest(false)) else { break };
        let Some(mut row) = queues[index].pop_front() else { break };
        if let Some(place) = waiting.iter().position(|sent| *sent == row) {
            waiting.remove(place);
        }
        row.sent_in = told(&row);
        taken.extend(row.sent_in);
        rows.push(row);
    }
    let left_out = rows.len().saturating_sub(ROWS);
    let mut rows = rows.split_off(left_out);
    for row in &mut rows {
        row.sent_in = row.sent_in.and_then(|sent| sent.checked_sub(left_out));
    }
    (left_out, rows)
}

impl IncidentRow {
    /// Whether this is the hearing of what was sent in the other row: a message, or that somebody leads.
    fn answers(&self, sent: &IncidentRow) -> bool {
        match (self.what, sent.what) {
            ("heard", "sent") => {
                self.other == Some(sent.member)
                    && sent.other == Some(self.member)
                    && self.ballot == sent.ballot
            }
            ("follows", "leads") => self.other == Some(sent.member) && self.term == sent.term,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use habemus_replica::BallotKind;

    use super::*;

    const A: MemberId = MemberId(1);
    const B: MemberId = MemberId(2);
    const C: MemberId = MemberId(3);

    fn told<const N: usize>(told: [(MemberId, &[(u64, What)]); N]) -> BTreeMap<MemberId, Vec<Record>> {
        let records =
            |list: &[(u64, What)]| list.iter().map(|(at, what)| Record { at: *at, what: *what }).collect();
        told.into_iter().map(|(member, list)| (member, records(list))).collect()
    }

    fn ask() -> Ballot {
        Ballot { term: 3, kind: BallotKind::AskVote }
    }

    fn vote() -> Ballot {
        Ballot { term: 3, kind: BallotKind::Vote { granted: true } }
    }

    /// A led, and was killed; B took over with C's vote. C's clock is a second behind.
    fn failover() -> BTreeMap<MemberId, Vec<Record>> {
        let lost = |silent, why| What::Lost { leader: A, term: 2, silent, why };
        told([
            (
                B,
                &[
                    (1_000_000, What::Follows { leader: A, term: 2 }),
                    (9_000_000, lost(150_000, Why::Silence)),
                    (9_000_100, What::Sent { to: A, ballot: ask() }),
                    (9_000_100, What::Sent { to: C, ballot: ask() }),
                    (9_002_000, What::Heard { from: C, ballot: vote() }),
                    (9_002_000, What::Leads { term: 3 }),
                ],
            ),
            (
                C,
                &[
                    (100_000, What::Follows { leader: A, term: 2 }),
                    (8_001_000, What::Heard { from: B, ballot: ask() }),
                    (8_001_000, lost(151_000, Why::LaterTerm)),
                    (8_001_900, What::Sent { to: B, ballot: vote() }),
                    (8_003_000, What::Follows { leader: B, term: 3 }),
                ],
            ),
        ])
    }

    #[test]
    fn a_fail_over_says_who_took_over_from_whom_why_and_how_long_nobody_led_by_one_clock() {
        let incidents = incidents(&failover());
        let [last, first] = &incidents[..] else { panic!("{incidents:#?}") };
        assert_eq!(
            (last.kind, last.term, last.leader, last.before),
            (Kind::Elected, 3, Some(Name(B)), Some(Name(A)))
        );
        assert_eq!((last.why, last.took, last.clock), (Some(Why::Silence), Some(152_000), Some(Name(B))));
        assert_eq!((first.term, first.leader, first.before), (2, Some(Name(A)), None));
    }

    #[test]
    fn nothing_is_heard_before_it_is_sent_whatever_the_clocks_say() {
        let rows = &incidents(&failover())[0].rows;
        let told: Vec<(MemberId, &str, Option<usize>)> =
            rows.iter().map(|row| (row.member.0, row.what, row.sent_in)).collect();
        assert_eq!(
            told,
            [
                (B, "lost", None),
                (B, "sent", None),
                (B, "sent", None),
                (C, "heard", Some(2)),
                (C, "lost", None),
                (C, "sent", None),
                (B, "heard", Some(5)),
                (B, "leads", None),
                (C, "follows", Some(7)),
            ]
        );
    }

    #[test]
    fn whoever_asks_twice_is_heard_between() {
        let asks = [(10, What::Sent { to: B, ballot: ask() }), (30, What::Sent { to: B, ballot: ask() })];
        let hears =
            [(20, What::Heard { from: A, ballot: ask() }), (40, What::Heard { from: A, ballot: ask() })];
        let parts = [(A, &asks), (B, &hears)].map(|(member, list)| {
            (member, list.iter().map(|(at, what)| Record { at: *at, what: *what }).collect())
        });
        let order: Vec<(u64, Option<usize>)> =
            rows(&parts).1.iter().map(|row| (row.at, row.sent_in)).collect();
        assert_eq!(order, [(10, None), (20, Some(0)), (30, None), (40, Some(2))]);
    }

    #[test]
    fn a_member_that_finds_its_leader_again_is_no_fail_over() {
        let incidents = incidents(&told([(
            C,
            &[
                (10, What::Follows { leader: A, term: 2 }),
                (50, What::Lost { leader: A, term: 2, silent: 20, why: Why::Silence }),
                (90, What::Follows { leader: A, term: 2 }),
            ],
        )]));
        let kinds: Vec<(Kind, Option<u64>)> = incidents.iter().map(|it| (it.kind, it.took)).collect();
        assert_eq!(kinds, [(Kind::Returned, Some(60)), (Kind::Elected, Some(0))]);
    }

    #[test]
    fn while_nobody_leads_it_is_open_and_comes_first() {
        let mut told = failover();
        told.insert(A, vec![Record { at: 9_500_000, what: What::Started }]);
        let incidents = incidents(&told);
        assert_eq!((incidents[0].kind, incidents[0].took), (Kind::Open, None));
        assert_eq!(incidents[0].rows.len(), 1);
    }

    #[test]
    fn members_that_ask_in_vain_for_hours_fill_a_page_and_no_more() {
        let lost = What::Lost { leader: A, term: 2, silent: 1, why: Why::Silence };
        let asks = (0..500).map(|at| (at + 2, What::Sent { to: A, ballot: ask() }));
        let records: Vec<(u64, What)> = [(1, lost)].into_iter().chain(asks).collect();
        let incident = &incidents(&told([(B, &records)]))[0];
        assert_eq!((incident.rows.len(), incident.left_out), (ROWS, 421));
    }
}
