//! A machine: one member with its disk and its clock, and the clients that it serves. The replica and the
//! journal are the service's own.

use std::collections::{BTreeMap, VecDeque};

use habemus_journal::{Extent, Hexadecimal, Journal, Known, Life, Limits};
use habemus_replica::{MemberId, Recovered, Replica, RequestId, Settings, StoredSnapshot, Write};
use habemus_store::Revision;

use crate::client::{Ask, CallId};
use crate::clock::{Micros, SkewedClock};
use crate::disk::CruelDisk;
use crate::seen::Seen;

/// Segments are short, so that many begin and end.
const LIMITS: Limits = Limits { segment: 32 << 10 };

/// A machine, running or not.
pub(crate) struct Machine {
    pub(crate) id: MemberId,
    pub(crate) clock: SkewedClock,
    pub(crate) disk: CruelDisk,
    pub(crate) running: Option<Running>,
    /// Counts lives, so that nothing meant for one reaches the next.
    pub(crate) life: u64,
    pub(crate) paused_until: Micros,
    /// How long a write takes, beyond the ordinary.
    pub(crate) slowness: Micros,
    /// It has been told to go, and does not come back.
    pub(crate) gone: bool,
    /// A bit of what it had synced has flipped: it must not start again.
    pub(crate) rotten: bool,
    /// Its disk is an older one: it may start, and nobody may listen to it.
    pub(crate) older: bool,
    /// It was told so, and stays away.
    pub(crate) dismissed: bool,
    /// What its directory says beside the journal.
    pub(crate) directory: Directory,
    /// After so many effects it stops.
    pub(crate) stops_after: Option<u64>,
}

/// What a directory says beside the journal: how often it was started, and what is known of others' disks.
#[derive(Clone, Default)]
pub(crate) struct Directory {
    pub(crate) starts: u64,
    pub(crate) known: BTreeMap<MemberId, Known>,
}

/// What a machine has in its memory.
pub(crate) struct Running {
    pub(crate) replica: Replica,
    journal: Journal<CruelDisk>,
    jobs: VecDeque<Job>,
    /// Whether the disk is at work.
    pub(crate) busy: bool,
    /// Who is to be answered, and about what.
    pub(crate) asked: BTreeMap<RequestId, (CallId, Ask)>,
    /// Who waits to be let in: session, key and token.
    pub(crate) waiting: BTreeMap<CallId, (i64, bytes::Bytes, Revision)>,
    /// Who watches, and up to which revision it was told everything.
    pub(crate) watching: BTreeMap<CallId, Revision>,
    /// The request by which history is being forgotten.
    pub(crate) forgetting: Option<RequestId>,
    /// The last index at which its store was compared with that of others.
    pub(crate) digested: u64,
    /// With which disk it speaks.
    pub(crate) face: Life,
    /// In which of their lives it has met others.
    pub(crate) met: BTreeMap<MemberId, u64>,
    /// When it says next what it knows of disks.
    pub(crate) speaks_at: Micros,
    /// The last index at which a command was applied, and how many were there.
    last_applied: (u64, usize),
}

/// What the disk has to do.
pub(crate) enum Job {
    Write(Write),
    Compact(StoredSnapshot),
}

impl Machine {
    pub(crate) fn new(id: MemberId, seed: u64, clock: SkewedClock, first: &Recovered) -> Machine {
        let disk = CruelDisk::new(seed ^ id.0);
        Journal::create(disk.clone(), LIMITS, first).expect("nothing is wrong with an empty disk");
        Machine {
            id,
            clock,
            disk,
            running: None,
            life: 0,
            paused_until: 0,
            slowness: 0,
            gone: false,
            rotten: false,
            older: false,
            dismissed: false,
            directory: Directory::default(),
            stops_after: None,
        }
    }

    /// Whether its disk is not what it was.
    pub(crate) fn has_bad_disk(&self) -> bool {
        !self.gone && (self.rotten || self.older)
    }

    /// Starts from the disk; says why not, if it cannot.
    pub(crate) fn start(&mut self, now: Micros, settings: Settings, seen: &mut Seen) -> Result<(), String> {
        self.directory.starts += 1;
        let opened = Journal::open(self.disk.clone(), LIMITS);
        seen.started(opened.as_ref().ok().map(|(_, recovered)| recovered));
        let (journal, recovered) = opened.map_err(|error| format!("member {}: {error}", self.id))?;
        let replica = Replica::start(settings, &recovered, self.clock.at(now));
        let replica = replica.map_err(|error| format!("member {}: {error}", self.id))?;
        self.life += 1;
        self.stops_after = None;
        let face = Life {
            disk: Hexadecimal(self.id.0),
            starts: self.directory.starts,
            life: Hexadecimal(self.life),
            found: journal.found(),
        };
        self.running = Some(Running {
            replica,
            journal,
            face,
            met: BTreeMap::new(),
            speaks_at: now,
            jobs: VecDeque::new(),
            busy: false,
            asked: BTreeMap::new(),
            waiting: BTreeMap::new(),
            watching: BTreeMap::new(),
            forgetting: None,
            digested: 0,
            last_applied: (0, 0),
        });
        Ok(())
    }

    /// Stops at once. What the disk was at may come through in part: `through` of its operations do.
    pub(crate) fn crash(&mut self, through: u64) {
        if let Some(mut running) = self.running.take() {
            self.disk.fail_after(through as usize);
            // It is torn, or not: nobody will know.
            let _ = running.work();
        }
        self.disk.restart();
        // What it writes meanwhile could make up for what it has lost, in the eyes of those who were away.
        self.dismissed |= self.older;
        self.life += 1;
    }
}

impl Running {
    /// The place among its like of a command that was just applied at this index.
    pub(crate) fn nth_at(&mut self, index: u64) -> usize {
        let (last, count) = &mut self.last_applied;
        *count = if *last == index { *count + 1 } else { 0 };
        *last = index;
        *count
    }

    /// How far its journal goes.
    pub(crate) fn extent(&self) -> Extent {
        self.journal.extent()
    }

    pub(crate) fn give(&mut self, job: Job) {
        self.jobs.push_back(job);
    }

    pub(crate) fn has_work(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Does what there is to do by one write, or one snapshot; says up to which number all is durable.
    pub(crate) fn work(&mut self) -> Result<Option<u64>, String> {
        if let Some(Job::Compact(snapshot)) = self.jobs.front() {
            self.journal.compact(snapshot).map_err(|error| error.to_string())?;
            self.jobs.pop_front();
            return Ok(None);
        }
        let mut writes = Vec::new();
        while let Some(Job::Write(write)) = self.jobs.pop_front_if(|job| matches!(job, Job::Write(_))) {
            writes.push(write);
        }
        self.journal.write(&writes).map_err(|error| error.to_string())?;
        Ok(writes.iter().filter(|write| write.sync).map(|write| write.number).next_back())
    }
}
