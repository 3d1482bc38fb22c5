//! A hand on a cluster: words of a person, or of a script on standard input.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use habemus::ProblemKind;
use habemus::catalogue::{self, Survivors};
use habemus_machine::Facts;
use habemus_scenario::{Processes, nearest, script};
use habemus_trace::draw::{self, Options, Window};
use tokio::time::Instant;

use super::standing::{Standing, describe, list};
use super::{Cluster, ClusterError};
use crate::control::SupervisorCommand;
use crate::is_name;

/// So long `wait leader` waits.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What can be said.
pub const HELP: &str = "\
status                  how every node is
leader                  who leads, in the eyes of all
elect 2                 tell 2 to start an election
acquire [NAME by] 2     let 2 ask for the lock, or for the lock called NAME
release [NAME by] 2     let 2 give it back
kill 5                  SIGKILL
restart 5               start it again from its disk (with amnesia: without it)
stop 5                  SIGTERM: it stops in good order
pause 3 / resume 3      SIGSTOP / SIGCONT
cut 1-2, 1->3           links carry nothing, both ways or one way
partition 1,2 | 3..5    only processes of the same group can talk
heal [1-2]              links carry messages again; alone: all of them
slow 3 by 50ms          everything it sends takes longer
loss 1%                 messages are lost
wait 500ms              wait
wait leader             wait until all live nodes agree, at most 30 s
trace [FILE]            the last records of what happened; all into a file
help, quit";

/// The words of [`HELP`], without those of the problem.
const WORDS: [&str; 20] = [
    "status",
    "leader",
    "kill",
    "restart",
    "stop",
    "pause",
    "resume",
    "cut",
    "partition",
    "heal",
    "slow",
    "loss",
    "wait",
    "trace",
    "help",
    "quit",
    "exit",
    "drift",
    "crash",
    "recover",
];

/// Obeys words.
#[derive(Clone, Debug)]
pub struct Console {
    algorithm: &'static str,
    problem: ProblemKind,
    commands: &'static [&'static str],
    /// So many nodes must be able to talk to each other before anybody can be elected.
    quorum: usize,
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
    /// A console for a cluster of so many nodes.
    pub fn new(facts: &Facts, nodes: usize) -> Self {
        let survivors = catalogue::entry(facts.algorithm).map(|entry| entry.model.survivors);
        let needs_quorum = matches!(survivors, Ok(Survivors::Majority));
        Console {
            algorithm: facts.algorithm,
            problem: facts.problem,
            commands: facts.commands,
            quorum: if needs_quorum { nodes / 2 + 1 } else { 1 },
        }
    }

    /// Everything that a line can begin with.
    pub fn words(&self) -> Vec<&'static str> {
        let shown = WORDS.iter().filter(|word| HELP.contains(*word) || **word == "exit");
        self.commands.iter().chain(shown).copied().collect()
    }

    /// Who leads, or why nobody does.
    pub fn standing(&self, cluster: &Cluster) -> Standing {
        cluster.standing(self.quorum)
    }

    /// Why there is no leader to ask for, if the algorithm elects none.
    fn no_election(&self) -> Option<Reply> {
        let what = match self.problem {
            ProblemKind::Election => return None,
            ProblemKind::MutualExclusion => "a lock: nobody leads, and status says who is inside",
            _ => "an agreement: nobody leads, and status says who has decided",
        };
        Some(Reply::Wrong(format!("{} is {what}", self.algorithm)))
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
            ("leader", _) => match self.no_election() {
                Some(refusal) => refusal,
                None => Reply::Done(self.standing(cluster).to_string()),
            },
            ("trace", file) => trace(cluster, file)?,
            ("wait", "leader") => self.wait_for_leader(cluster).await?,
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
            (command, rest)
                if self.takes_names() && self.commands.contains(&command) && rest.contains(" by ") =>
            {
                named(cluster, command, rest)
            }
            (word, _) if !self.commands.contains(&word) && !WORDS.contains(&word) => self.unknown(word),
            _ => self.act(cluster, line).await?,
        })
    }

    /// Whether names make sense: only locks have them.
    fn takes_names(&self) -> bool {
        self.problem == ProblemKind::MutualExclusion
    }

    fn unknown(&self, word: &str) -> Reply {
        let meant = nearest(word, self.words()).map(|near| format!(" did you mean '{near}'?"));
        let meant = meant.unwrap_or_default();
        Reply::Wrong(format!("there is no '{word}' here;{meant} help shows what can be said"))
    }

    async fn wait_for_leader(&self, cluster: &mut Cluster) -> Result<Reply, ClusterError> {
        if let Some(refusal) = self.no_election() {
            return Ok(refusal);
        }
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut standing = self.standing(cluster);
        while !matches!(standing, Standing::Agreed { .. }) && Instant::now() < deadline {
            cluster.attend(deadline).await?;
            standing = self.standing(cluster);
        }
        Ok(match standing {
            Standing::Agreed { .. } => Reply::Done(standing.to_string()),
            _ => Reply::Wrong(format!("waited for {} s: {standing}", LONGEST_WAIT.as_secs())),
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
    let picture = draw::text(&trace, &Options { window: Window::Last(SHOWN), ..Options::default() });
    Ok(Reply::Done(picture))
}

#[cfg(test)]
mod tests {
    use super::HELP;

    #[test]
    fn the_help_fits_a_terminal() {
        assert!(HELP.lines().all(|line| line.chars().count() <= 80), "{HELP}");
    }
}
