//! Who holds, who waits, who leads, and how the members are.

use std::collections::BTreeMap;

use bytes::Bytes;
use clap::Args;
use habemus_client::{Leader, Place};
use habemus_store::Mode;
use habemus_store::queue::admitted;

use crate::codes::Failed;
use crate::options::ServiceOptions;

/// Show who holds and who waits.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus locks                   all locks and elections that somebody wants
  habemus locks orders            who holds this one, and who waits for it

Exit codes: 0 done, 125 the service could not be reached")]
pub(crate) struct Locks {
    #[command(flatten)]
    service: ServiceOptions,
    /// Of this lock or election; of all if none is named
    name: Option<String>,
}

/// Show who leads an election.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus leader scheduler
  habemus leader scheduler --follow      a line whenever another one leads

Exit codes: 0 somebody leads, 1 nobody does, 125 the service could not be
reached")]
pub(crate) struct Leads {
    #[command(flatten)]
    service: ServiceOptions,
    /// The name of the election
    name: String,
    /// Go on telling whenever that changes, also when nobody leads
    #[arg(long)]
    follow: bool,
}

/// Show how the members are.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus status
  habemus status --endpoints 127.0.0.1:2379,127.0.0.1:2479,127.0.0.1:2579

Exit codes: 0 all answer, 1 some do not")]
pub(crate) struct Health {
    #[command(flatten)]
    service: ServiceOptions,
}

/// The queue in which a key stands by its session, if it does.
fn queue_of(place: &Place) -> Option<Bytes> {
    let slash = place.key.iter().rposition(|byte| *byte == b'/')?;
    let session = format!("{:x}", place.session);
    let rest = place.key[slash + 1..].strip_prefix(session.as_bytes())?;
    (rest.is_empty() || rest.starts_with(b";")).then(|| place.key.slice(..slash))
}

/// Beside whom somebody may be inside, as its key says.
fn mode(name: &[u8], place: &Place) -> Mode {
    let session = format!("{:x}", place.session);
    let rest = place.key.get(name.len() + 1..).and_then(|rest| rest.strip_prefix(session.as_bytes()));
    match rest.and_then(|rest| str::from_utf8(rest).ok()) {
        Some(";shared") => Mode::Shared,
        Some(rest) => {
            let permits = rest.strip_prefix(";permits=").and_then(|permits| permits.parse().ok());
            permits.map_or(Mode::Exclusive, Mode::Permits)
        }
        None => Mode::Exclusive,
    }
}

fn told(mode: Mode) -> String {
    match mode {
        Mode::Exclusive => String::new(),
        Mode::Shared => "shared".to_owned(),
        Mode::Permits(permits) => format!("of {permits}"),
    }
}

fn line(name: &[u8], state: &str, mode: Mode, place: &Place) -> String {
    let (name, value) = (String::from_utf8_lossy(name), String::from_utf8_lossy(&place.value));
    let (token, session, mode) = (place.token, place.session, told(mode));
    let told = format!("{name:20} {state:5} {mode:7} {token:>8} {session:>16x} {value}");
    told.trim_end().to_owned()
}

impl Locks {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let client = self.service.connect()?;
        let mut queues: BTreeMap<Bytes, Vec<Place>> = BTreeMap::new();
        match self.name {
            Some(name) => drop(queues.insert(name.clone().into(), client.queue(&name).await?)),
            None => {
                for place in client.standing().await? {
                    if let Some(name) = queue_of(&place) {
                        queues.entry(name).or_default().push(place);
                    }
                }
            }
        }
        println!("{:20} {:5} {:7} {:>8} {:>16} VALUE", "NAME", "STATE", "MODE", "TOKEN", "SESSION");
        for (name, places) in queues {
            let inside = admitted(places.iter().map(|place| mode(&name, place)));
            for (index, place) in places.iter().enumerate() {
                let state = if index < inside { "holds" } else { "waits" };
                println!("{}", line(&name, state, mode(&name, place), place));
            }
        }
        Ok(0)
    }
}

fn tell(leader: Option<&Leader>) {
    match leader {
        Some(Leader { value, token, .. }) => println!("{token} {}", String::from_utf8_lossy(value)),
        None => println!("nobody"),
    }
}

impl Leads {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let client = self.service.connect()?;
        if !self.follow {
            let leader = client.leader(&self.name).await?;
            tell(leader.as_ref());
            return Ok(u8::from(leader.is_none()));
        }
        let mut observation = client.observe(&self.name);
        loop {
            tell(observation.next().await?.as_ref());
        }
    }
}

impl Health {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let mut all = true;
        println!(
            "{:24} {:>16} {:9} {:>6} {:>12} {:>12}",
            "ENDPOINT", "MEMBER", "ROLE", "TERM", "INDEX", "BYTES"
        );
        for endpoint in &self.service.endpoints {
            match self.service.connect_to(std::slice::from_ref(endpoint))?.status().await {
                Ok(status) => {
                    let member = status.header.map_or(0, |header| header.member_id);
                    let role = match status.leader {
                        0 => "no leader",
                        leader if leader == member => "leader",
                        _ if status.is_learner => "learner",
                        _ => "follower",
                    };
                    println!(
                        "{endpoint:24} {member:>16x} {role:9} {:>6} {:>12} {:>12}",
                        status.raft_term, status.raft_applied_index, status.db_size
                    );
                }
                Err(error) => {
                    all = false;
                    println!("{endpoint:24} {error}");
                }
            }
        }
        Ok(u8::from(!all))
    }
}
