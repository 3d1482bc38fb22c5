//! The thread that writes: whatever has come while it was writing is written together.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use habemus_journal::{Extent, Files, Journal, JournalError};
use habemus_replica::{FrozenSnapshot, StoredSnapshot, Write};
use tokio::sync::mpsc::Sender;
use tokio::sync::{oneshot, watch};

use crate::engine::Input;
use crate::metrics::Metrics;

enum Job {
    Write(Vec<Write>),
    Compact(StoredSnapshot),
}

/// The way to the thread that writes.
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
    engine: Sender<Input>,
    collected: Vec<Write>,
}

impl Writer {
    /// Starts the thread, and hands over what is told when the disk fails. Then the whole member must stop:
    /// nobody knows any more what is durable, and nothing is confirmed.
    pub(crate) fn start(
        journal: Journal<Files>,
        engine: Sender<Input>,
        metrics: Metrics,
        extent: watch::Sender<Extent>,
    ) -> (Writer, oneshot::Receiver<JournalError>) {
        let (jobs, taken) = mpsc::channel();
        let (fails, failed) = oneshot::channel();
        let told = engine.clone();
        thread::spawn(move || {
            if let Err(error) = serve(journal, &taken, &told, &metrics, &extent) {
                // If nobody listens, the member is stopping.
                drop(fails.send(error));
            }
        });
        (Writer { jobs, engine, collected: Vec::new() }, failed)
    }

    pub(crate) fn write(&mut self, write: Write) {
        self.collected.push(write);
    }

    /// Hands over what was collected.
    pub(crate) fn flush(&mut self) {
        if !self.collected.is_empty() {
            let collected = std::mem::take(&mut self.collected);
            self.send(Job::Write(collected));
        }
    }

    /// Puts a snapshot in the place of what it says, when it is written down. With a million keys that takes
    /// a second, for which the engine does not wait.
    pub(crate) fn compact(&mut self, snapshot: FrozenSnapshot) {
        self.flush();
        let jobs = self.jobs.clone();
        // Whoever does not listen any more is stopping.
        thread::spawn(move || drop(jobs.send(Job::Compact(snapshot.to_stored()))));
    }

    /// Writes a snapshot down for those who are behind.
    pub(crate) fn offer(&self, snapshot: FrozenSnapshot) {
        let engine = self.engine.clone();
        thread::spawn(move || drop(engine.blocking_send(Input::Offer(snapshot.to_stored()))));
    }

    fn send(&self, job: Job) {
        // The thread ends early only if the disk fails, of which the member is told.
        drop(self.jobs.send(job));
    }
}

fn serve(
    mut journal: Journal<Files>,
    jobs: &mpsc::Receiver<Job>,
    engine: &Sender<Input>,
    metrics: &Metrics,
    extent: &watch::Sender<Extent>,
) -> Result<(), JournalError> {
    let mut next = jobs.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Compact(snapshot) => journal.compact(&snapshot)?,
            Job::Write(mut writes) => {
                while let Ok(more) = jobs.try_recv() {
                    match more {
                        Job::Write(more) => writes.extend(more),
                        Job::Compact(_) => {
                            next = Some(more);
                            break;
                        }
                    }
                }
                let begun = Instant::now();
                journal.write(&writes)?;
                extent.send_replace(journal.extent());
                metrics.write_seconds.observe(begun.elapsed().as_secs_f64());
                if let Some(last) = writes.iter().rev().find(|write| write.sync) {
                    // The engine is gone when the process stops.
                    drop(engine.blocking_send(Input::Persisted(last.number)));
                }
            }
        }
        next = next.or_else(|| jobs.recv().ok());
    }
    Ok(())
}
