//! How soon the next one is inside when a holder under `habemus lock` is killed, or its machine stops.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::cluster::{Cluster, Kind};
use crate::table::{Goal, Table};
use crate::{Effort, Outcome};

/// The session of a holder that is stopped, in milliseconds.
const TTL: f64 = 2000.0;

struct Holder {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Holder {
    /// A program under the lock that says when it is inside, and its own number.
    fn start(program: &Path, cluster: &Cluster) -> Outcome<Holder> {
        let all: Vec<&str> = cluster.members.iter().map(|member| member.client.as_str()).collect();
        let ttl = format!("{TTL}ms");
        let mut command = Command::new(program);
        command.args([
            "lock",
            "door",
            "--ttl",
            &ttl,
            "--grace",
            "200ms",
            "--endpoints",
            &all.join(","),
            "--",
        ]);
        command.args(["sh", "-c", "echo $$; exec sleep 1000"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("nothing is heard of it")?).lines();
        Ok(Holder { child, lines })
    }

    async fn inside(&mut self) -> Outcome<String> {
        self.lines.next_line().await?.ok_or_else(|| "it has ended".into())
    }
}

/// All processes that belong to a holder: the wrapper, its guardian, the program.
fn processes(wrapper: u32) -> Outcome<Vec<u32>> {
    let mut all = vec![wrapper];
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().unwrap_or_default().split_whitespace().nth(1).map(str::parse);
        if parent == Some(Ok(wrapper)) {
            all.push(pid);
        }
    }
    Ok(all)
}

async fn signal(name: &str, pids: &[u32]) -> Outcome<()> {
    let pids = pids.iter().map(u32::to_string);
    Command::new("kill").arg(format!("-{name}")).args(pids).status().await?;
    Ok(())
}

pub(crate) async fn measure(kind: &Kind, program: &Path, effort: Effort, table: &mut Table) -> Outcome<()> {
    let cluster = Cluster::start(kind, 3).await?;
    for is_frozen in [false, true] {
        for _ in 0..effort.rounds {
            let mut first = Holder::start(program, &cluster)?;
            first.inside().await?;
            let mut second = Holder::start(program, &cluster)?;
            // It stands in the queue by now, and has renewed its session.
            tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
            let wrapper = first.child.id().ok_or("it has ended")?;
            let all = processes(wrapper)?;
            let begin = Instant::now();
            if is_frozen {
                signal("STOP", &all).await?;
            } else {
                first.child.start_kill()?;
            }
            second.inside().await?;
            let millis = begin.elapsed().as_secs_f64() * 1e3;
            let (what, goal) = match is_frozen {
                false => ("holder killed to the next one inside", Goal::Within(50.0)),
                true => ("holder's machine stopped, of 2 s, to the next one", Goal::Within(TTL * 1.2)),
            };
            table.add(kind, what, "ms", goal, millis);
            // All of them, for those who are stopped hear nothing else.
            signal("KILL", &all).await?;
        }
    }
    Ok(())
}
