//! A conversation with a cluster: words from a terminal or from standard input, and what comes of them.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::time::Duration;

use habemus::ProblemKind;
use habemus_node::cluster::console::{Console, Reply};
use habemus_node::cluster::standing::Standing;
use habemus_node::cluster::{Cluster, ClusterError};
use habemus_node::{Facts, NodeReport, SupervisorCommand};
use habemus_report::{Ended, Ending};
use habemus_trace::Happening;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::prompt::{Prompt, Typed};
use super::{dashboard, interrupted};
use crate::error::CliError;
use crate::output;

/// So long the first election is waited for before the console opens without it.
const FIRST_ELECTION: Duration = Duration::from_secs(10);

/// Lets the nodes begin, tells everybody to elect, and obeys until there is no more to obey.
pub(super) async fn converse(
    cluster: &mut Cluster,
    facts: &Facts,
    with_dashboard: bool,
) -> Result<Ending, CliError> {
    let console = Console::new(facts, cluster.ids().len());
    cluster.begin();
    if facts.problem == ProblemKind::Election {
        for id in cluster.ids().to_vec() {
            cluster.tell(id, SupervisorCommand::Command { word: "elect".to_owned(), name: String::new() });
        }
        await_first_election(cluster, &console).await?;
    }
    let at_a_terminal = std::io::stdin().is_terminal();
    if with_dashboard {
        return dashboard::run(cluster, &console, facts).await;
    }
    if !at_a_terminal {
        return obey_a_script(cluster, &console).await;
    }
    output::print(&opening(cluster, &console, facts))?;
    // Without a terminal that can be written on there are still lines to be read.
    match Prompt::open(facts.algorithm, console.words(), cluster.ids()) {
        Ok(prompt) if std::io::stdout().is_terminal() => obey_a_person(cluster, &console, prompt).await,
        _ => obey_a_script(cluster, &console).await,
    }
}

async fn await_first_election(cluster: &mut Cluster, console: &Console) -> Result<(), ClusterError> {
    let deadline = Instant::now() + FIRST_ELECTION;
    while !matches!(console.standing(cluster), Standing::Agreed { .. }) && Instant::now() < deadline {
        cluster.attend(deadline).await?;
    }
    Ok(())
}

/// The line with which the console opens.
fn opening(cluster: &Cluster, console: &Console, facts: &Facts) -> String {
    let standing = match facts.problem {
        ProblemKind::Election => {
            let after = cluster.elapsed().as_secs_f64();
            format!("after {after:.2} s {}", console.standing(cluster))
        }
        ProblemKind::MutualExclusion => "nobody has asked for the lock (acquire 1)".to_owned(),
        _ => "nobody has proposed anything (propose 7 by 1)".to_owned(),
    };
    format!("{} nodes are up; {standing}.\nhelp shows what can be said.", cluster.ids().len())
}

/// What nodes tell their applications, as one line each; what a node says again is not shown again.
#[derive(Default)]
pub(super) struct Events {
    last: BTreeMap<(u64, String), String>,
}

impl Events {
    /// The line for a report, if it deserves one.
    pub(super) fn line(&mut self, id: u64, report: &NodeReport) -> Option<String> {
        let NodeReport::Record { name, record } = report else { return None };
        let Happening::Output { label, .. } = &record.what else { return None };
        let said = self.last.entry((id, name.clone())).or_default();
        if *said == **label {
            return None;
        }
        *said = label.to_string();
        let of = if name.is_empty() { String::new() } else { format!(" ({name})") };
        Some(format!("{:>9.3} s  {id} {label}{of}", record.at as f64 / 1e9))
    }
}

async fn obey_a_person(
    cluster: &mut Cluster,
    console: &Console,
    mut prompt: Prompt,
) -> Result<Ending, CliError> {
    let mut events = Events::default();
    prompt.show();
    loop {
        let soon = Instant::now() + Duration::from_millis(200);
        tokio::select! {
            said = prompt.said() => match said {
                None => break,
                Some(Typed::Interrupt) => return Ok(interrupted(cluster.elapsed())),
                Some(Typed::Line(text)) => {
                    // What is pasted may be several lines.
                    for line in text.lines() {
                        match console.obey(cluster, line).await? {
                            Reply::Done(text) if text.is_empty() => {}
                            Reply::Done(text) | Reply::Wrong(text) => output::print(&text)?,
                            Reply::Quit => return Ok(closed(cluster)),
                        }
                    }
                    prompt.show();
                }
            },
            report = cluster.attend(soon) => {
                if let Some(line) = report?.and_then(|(id, report)| events.line(id, &report)) {
                    prompt.print(&line);
                }
            }
        }
    }
    Ok(closed(cluster))
}

fn closed(cluster: &Cluster) -> Ending {
    let time = cluster.elapsed().as_nanos() as u64;
    Ending { stop: "the console was closed".to_owned(), ended: Ended::AsAsked, time }
}

/// Obeys standard input until it ends.
async fn obey_a_script(cluster: &mut Cluster, console: &Console) -> Result<Ending, CliError> {
    let (lines, mut said) = mpsc::channel::<String>(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if lines.blocking_send(line).is_err() {
                break;
            }
        }
    });
    let (mut failed, mut obeyed) = (false, false);
    loop {
        let soon = Instant::now() + Duration::from_millis(200);
        tokio::select! {
            line = said.recv() => {
                let Some(line) = line else { break };
                obeyed |= !line.trim().is_empty();
                match console.obey(cluster, &line).await? {
                    Reply::Done(text) if text.is_empty() => {}
                    Reply::Done(text) => output::print(&text)?,
                    Reply::Wrong(text) => {
                        failed = true;
                        anstream::eprintln!("{line}: {text}");
                    }
                    Reply::Quit => break,
                }
            }
            report = cluster.attend(soon) => drop(report?),
        }
    }
    // A script that could not be followed has not shown what it was written for.
    if failed {
        return Err(CliError::new("not everything on standard input could be done"));
    }
    // Where nobody said anything, nothing was shown: that is neither right nor wrong.
    if !obeyed {
        let stop = "standard input was empty".to_owned();
        return Ok(Ending { stop, ended: Ended::AtALimit, ..closed(cluster) });
    }
    Ok(closed(cluster))
}
