//! The guardian: a process beside the wrapper that sees to it that the program is dead before anybody else
//! can hold the lock, also when the wrapper is killed or stopped; and that nobody waits longer than need be.
//!
//! The wrapper tells it by its standard input until when the lock is surely held, and which process group the
//! program has. When that ends without a word, the wrapper is dead.

use std::time::Duration;

use clap::Args;
use habemus_client::{Client, now};
use habemus_etcd::etcdserverpb::LeaseRevokeRequest;
use habemus_etcd::etcdserverpb::lease_client::LeaseClient;
use rustix::process::{Pid, Signal};
use tokio::sync::mpsc;

use crate::codes::Failed;
use crate::options::ServiceOptions;
use crate::processes::Family;

/// For how long it is tried to end the session.
const PATIENCE: Duration = Duration::from_secs(5);

/// See to it that a program is dead in time.
#[derive(Args)]
pub(crate) struct Guardian {
    #[command(flatten)]
    service: ServiceOptions,
    /// The session by which the lock is held.
    #[arg(long)]
    session: i64,
    /// The mark of the program.
    #[arg(long)]
    mark: String,
    /// So long before the lock may be lost the program is asked to end.
    #[arg(long)]
    grace_ms: u64,
    /// Until when the lock is surely held.
    #[arg(long)]
    until_ns: u64,
}

/// What the wrapper says.
enum Word {
    Until(Duration),
    Group(i32),
    Done,
}

fn word(line: &str) -> Option<Word> {
    match line.split_once(' ') {
        Some(("until", nanoseconds)) => nanoseconds.parse().ok().map(Duration::from_nanos).map(Word::Until),
        Some(("group", pid)) => pid.parse().ok().map(Word::Group),
        _ => (line == "done").then_some(Word::Done),
    }
}

/// Why the guardian acts.
enum GuardianCause {
    /// The program has ended, and the wrapper has seen to everything.
    Done,
    /// The wrapper is dead.
    Orphaned,
    /// The time is over.
    Late,
}

impl Guardian {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let client = self.service.connect()?;
        let mut family = Family::new(&self.mark);
        let mut lines = lines();
        if let GuardianCause::Done = self.watch(&mut lines, &mut family).await {
            return Ok(0);
        }
        family.kill().await;
        // Only now may anybody else be inside.
        // If nobody can be told so for a while, its own time ends the session.
        drop(tokio::time::timeout(PATIENCE, revoke(&client, self.session)).await);
        Ok(0)
    }

    async fn watch(&self, lines: &mut mpsc::Receiver<String>, family: &mut Family) -> GuardianCause {
        let grace = Duration::from_millis(self.grace_ms);
        let mut until = Duration::from_nanos(self.until_ns);
        let mut is_asked = false;
        loop {
            let next = if is_asked { killed_at(until, grace) } else { until.saturating_sub(grace) };
            tokio::select! {
                line = lines.recv() => match line.as_deref().map(word) {
                    Some(Some(Word::Until(later))) => {
                        until = until.max(later);
                    }
                    Some(Some(Word::Group(group))) => family.group = Pid::from_raw(group),
                    Some(Some(Word::Done)) => return GuardianCause::Done,
                    Some(None) => {}
                    None => return GuardianCause::Orphaned,
                },
                () = wait_until(next) => {
                    if is_asked {
                        return GuardianCause::Late;
                    }
                    is_asked = true;
                    family.signal(Signal::TERM);
                }
            }
        }
    }
}

/// What the wrapper says, line by line, as long as it lives.
fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::spawn(move || {
        std::io::stdin().lines().map_while(Result::ok).try_for_each(|line| sender.blocking_send(line))
    });
    receiver
}

/// When a program is killed so that it is dead before `until`, also on a machine that is busy: all that it
/// has started must be found first.
pub(crate) fn killed_at(until: Duration, grace: Duration) -> Duration {
    until.saturating_sub((grace / 4).min(Duration::from_millis(100)))
}

/// Waits until then, by the clock that also runs while the machine sleeps.
pub(crate) async fn wait_until(then: Duration) {
    loop {
        let left = then.saturating_sub(now());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(Duration::from_millis(100))).await;
    }
}

/// Ends the session.
async fn revoke(client: &Client, id: i64) {
    loop {
        // If there is no token to be had, the next answer says so.
        drop(client.authenticate().await);
        match LeaseClient::new(client.channel()).lease_revoke(LeaseRevokeRequest { id }).await {
            Err(status) if status.code() != tonic::Code::NotFound => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            _ => return,
        }
    }
}
