//! A hand on a cluster: words of a person, or of a script on standard input.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use habemus::{ProblemKind, Status};
use habemus_scenario::{Processes, script};
use habemus_trace::draw::{self, Options};
use tokio::time::Instant;

use super::{Cluster, ClusterError};
use crate::control::SupervisorCommand;
use crate::is_name;

/// What can be said.
pub const HELP: &str = "\
status                  how every node is
leader                  who leads, in the eyes of all
elect 2                 tell 2 to start an election
acquire [NAME by] 2     let 2 ask for the lock, or for the lock called NAME
release [NAME by] 2     let 2 give it back
kill 5                  SIGKILL
restart 5               start it again from its disk (restart 5 with amnesia: without)
stop 5                  SIGTERM: it stops in good order
pause 3 / resume 3      SIGSTOP / SIGCONT
cut 1-2, 1->3           links carry nothing, both ways or one way
partition 1,2 | 3..5    only processes of the same group can talk
heal [1-2]              links carry messages again; alone: all of them
slow 3 by 50ms          everything it sends takes longer
loss 1%                 messages are lost
wait 500ms              wait
wait leader             wait until all live nodes agree on a leader (at most 30 s)
trace [FILE]            what happened so far: the last records, or all into a file
help, quit";

/// Obeys words.
#[derive(Debug)]
pub struct Console {
    /// Whether names make sense: only locks have them.
    names: bool,
    commands: &'static [&'static str],
}

/// What comes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was done; this is to be shown.
    Done(String),
    /// It makes no sense, or did not come about.
    Wrong(String),
    /// No more.
    Quit,
}

impl Console {
    /// A console for an algorithm with these commands.
    pub fn new(problem: ProblemKind, commands: &'static [&'static str]) -> Self {
        Console { names: problem == ProblemKind::MutualExclusion, commands }
    }

    /// Does what a line says.
    ///
    /// # Errors
    /// If the cluster cannot go on.
    pub async fn obey(&self, cluster: &mut Cluster, line: &str) -> Result<Reply, ClusterError> {
        let line = line.split('#').next().unwrap_or_default().trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        Ok(match (word, rest) {
            ("", _) => Reply::Done(String::new()),
            ("quit" | "exit", _) => Reply::Quit,
            ("help", _) => Reply::Done(HELP.to_owned()),
            ("status", _) => Reply::Done(status(cluster).await?),
            ("leader", _) => match cluster.agreed_leader() {
                Some(leader) => Reply::Done(format!("{leader} leads, and every live node knows it")),
                None => Reply::Done("the live nodes do not agree on a leader".to_owned()),
            },
            ("trace", file) => trace(cluster, file)?,
            ("wait", "leader") => wait_for_leader(cluster).await?,
            ("wait", time) => match habemus_scenario::units::parse_duration(time) {
                Ok(time) => {
                    let deadline = Instant::now() + time;
                    while cluster.attend(deadline).await?.is_some() {}
                    Reply::Done(String::new())
                }
                Err(why) => Reply::Wrong(why.to_string()),
            },
            ("stop", who) => match script::parse_processes(who, &Processes::new(cluster.ids())) {
                Ok(processes) => {
                    for id in processes {
                        cluster.terminate(id).await;
                    }
                    Reply::Done(String::new())
                }
                Err(why) => Reply::Wrong(why.to_string()),
            },
            ("kill", who) => self.act(cluster, &format!("crash {who}")).await?,
            ("restart", who) => self.act(cluster, &format!("recover {who}")).await?,
            (command, rest) if self.names && self.commands.contains(&command) && rest.contains(" by ") => {
                named(cluster, command, rest)
            }
            _ => self.act(cluster, line).await?,
        })
    }

    /// An action of the language of scripts.
    async fn act(&self, cluster: &mut Cluster, text: &str) -> Result<Reply, ClusterError> {
        let ids = cluster.ids().to_vec();
        let action = match script::parse_action(text, &Processes::new(&ids)) {
            Ok(action) => action,
            Err(why) => {
                let help = why.help.map(|help| format!(" ({help})")).unwrap_or_default();
                return Ok(Reply::Wrong(format!("{}{help}", why.message)));
            }
        };
        if let habemus_scenario::Action::Command { word, .. } = &action
            // A command may carry a value: propose 7.
            && !self.commands.contains(&word.split(' ').next().unwrap_or_default())
        {
            let known = self.commands.join(", ");
            return Ok(Reply::Wrong(format!(
                "there is no '{word}' here; there are: {known}, and what help shows"
            )));
        }
        cluster.perform(&action).await?;
        Ok(Reply::Done(String::new()))
    }
}

/// `acquire NAME by 2`.
fn named(cluster: &Cluster, word: &str, rest: &str) -> Reply {
    let (name, who) = rest.rsplit_once(" by ").unwrap_or(("", rest));
    let name = name.trim();
    if !is_name(name) {
        return Reply::Wrong(format!("'{name}' will not do as a name: use letters, digits, - and _"));
    }
    match script::parse_processes(who, &Processes::new(cluster.ids())) {
        Ok(processes) => {
            for id in processes {
                cluster.tell(id, SupervisorCommand::Command { word: word.to_owned(), name: name.to_owned() });
            }
            Reply::Done(String::new())
        }
        Err(why) => Reply::Wrong(why.to_string()),
    }
}

async fn status(cluster: &mut Cluster) -> Result<String, ClusterError> {
    let overviews = cluster.overviews(Instant::now() + Duration::from_secs(2)).await?;
    let mut text = String::new();
    for id in cluster.ids().to_vec() {
        let _ = write!(text, "{id:>4}  ");
        if cluster.status(id).is_none() {
            text.push_str("down\n");
            continue;
        }
        if cluster.is_paused(id) {
            text.push_str("paused\n");
            continue;
        }
        let Some(overview) = overviews.get(&id) else {
            text.push_str("does not answer\n");
            continue;
        };
        let term = if overview.term > 0 { format!(" (term {})", overview.term) } else { String::new() };
        let _ =
            write!(text, "{}{term}, connected to {}", describe(overview.status), list(&overview.connected));
        if !overview.suspected.is_empty() {
            let _ = write!(text, ", suspects {}", list(&overview.suspected));
        }
        for (name, status) in &overview.locks {
            let _ = write!(text, ", {name}: {}", describe(*status));
        }
        text.push('\n');
    }
    Ok(text)
}

fn describe(status: Status) -> String {
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

fn list(ids: &[u64]) -> String {
    if ids.is_empty() {
        return "nobody".to_owned();
    }
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

async fn wait_for_leader(cluster: &mut Cluster) -> Result<Reply, ClusterError> {
    Ok(match cluster.leader_by(Instant::now() + Duration::from_secs(30)).await? {
        Some(leader) => Reply::Done(format!("{leader} leads, and every live node knows it")),
        None => Reply::Wrong("the live nodes did not agree on a leader in time".to_owned()),
    })
}

fn trace(cluster: &Cluster, file: &str) -> Result<Reply, ClusterError> {
    const SHOWN: usize = 20;
    let trace = cluster.trace(None)?;
    if !file.is_empty() {
        let path = Path::new(file);
        let failed = |why| ClusterError::Io { path: path.to_owned(), why };
        let out = std::io::BufWriter::new(std::fs::File::create(path).map_err(failed)?);
        trace.write(out).map_err(failed)?;
        return Ok(Reply::Done(format!("{} records", trace.records.len())));
    }
    let picture = draw::text(&trace, &Options { last: Some(SHOWN), ..Options::default() });
    Ok(Reply::Done(picture))
}
