//! `habemus cluster`: many nodes on this machine, obeying a console or a scenario file.

mod converse;
mod dashboard;
mod prompt;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use habemus::catalogue;
use habemus_node::cluster::play::EndReason;
use habemus_node::cluster::{self, Blueprint, ClusterError, Program, play};
use habemus_node::{Facts, certs, facts};
use habemus_page::Page;
use habemus_report::{Ended, Ending, JudgeError, Report, judge};
use habemus_scenario::{Expectations, Occasion, Parsed, Scenario, TimeModel, TopologyChoice, units};
use habemus_trace::Header;

use super::draw::{Format, Style};
use super::live::Live;
use crate::args::{SystemFlags, scenario_file};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Run many nodes on this machine, with a console or a scenario file.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus cluster bully
  habemus cluster majority -n 3 --dashboard
  printf 'kill 5\\nwait leader\\nstatus\\n' | habemus cluster bully
  habemus cluster exhibits/s1-chang-roberts.toml --draw text
  ./habemus cluster bully --lab

Every node is a process of its own with its own data directory. At the end what
they recorded is merged and checked by the same monitors as in the simulator.")]
#[command(mut_arg("processes", |arg| arg.help("How many nodes; their identifiers are 1 to N [default: 5]")))]
#[command(mut_arg("detector", |arg| arg.help(DETECTOR_HELP)))]
pub(crate) struct Cluster {
    /// An algorithm (`habemus list`), with a console; or a scenario file to play.
    #[arg(
        value_name = "ALGORITHM|FILE",
        required_unless_present = "algorithm",
        conflicts_with = "algorithm"
    )]
    what: Option<String>,
    /// The algorithm, as before the other flags.
    #[arg(long, value_name = "NAME", hide = true)]
    algorithm: Option<String>,
    #[command(flatten)]
    system: SystemFlags,

    /// Where the nodes keep their data, which is left there [default: a temporary directory, removed at the
    /// end].
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    data: Option<PathBuf>,
    /// Mutual TLS between the nodes, with certificates made for the occasion.
    #[arg(long, help_heading = "Run")]
    tls: bool,
    /// Everything takes so many times longer than the scenario says, also the nodes' own timers [default: as
    /// many times as its finest times need to be kept on a real machine].
    #[arg(long, value_name = "FACTOR", help_heading = "Run")]
    slower: Option<f64>,
    /// Expect nothing of the scenario but what the algorithm promises.
    #[arg(long, help_heading = "Run")]
    unjudged: bool,
    /// Show the nodes in the lab, whose page is in this directory, and take the console's words from there;
    /// until `quit`, or Ctrl-C. `./habemus` builds the page and knows where it is.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, conflicts_with = "dashboard")]
    #[arg(default_missing_value = "", help_heading = "Run")]
    lab: Option<PathBuf>,
    /// How long a system that never rests is left in peace before it is judged.
    #[arg(long, value_name = "TIME", default_value = "3s", help_heading = "Run")]
    peace: String,
    /// How long a scenario may take in all.
    #[arg(long, value_name = "TIME", default_value = "120s", help_heading = "Run")]
    patience: String,
    /// Show the nodes, who leads or holds, their links and messages, and take faults by keys.
    #[arg(long, help_heading = "Run")]
    dashboard: bool,

    /// Write the merged trace to a file, as JSON lines.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trace: Option<PathBuf>,
    /// Draw what happened.
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    draw: Option<Format>,
    #[command(flatten)]
    style: Style,
    /// The report as JSON.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What the flag means here.
const DETECTOR_HELP: &str = "The failure detector [default: heartbeat; in a scenario what the file says, and \
    the \
                             cluster plays the oracle]";
/// More nodes would bring the machine down before they would show anything.
const MAX_NODES: usize = 100;
/// So many nodes run if nobody says how many.
const USUAL_NODES: u64 = 5;

impl Cluster {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let stop = &*interrupt::flag();
        let parsed = self.file().map(habemus_scenario::read).transpose()?;
        self.refuse_what_makes_no_sense(parsed.is_some())?;
        let mut scenario = self.scenario(parsed.as_ref())?;
        if self.unjudged {
            scenario.expect = Expectations::default();
        }
        let wrong = |error| CliError::from_run(error, parsed.as_ref());
        let locks = habemus_report::scenarios_of_locks(&scenario).map_err(wrong)?;
        let report = if locks.is_empty() {
            self.play(scenario.clone(), parsed.as_ref(), self.data.as_deref(), stop)?
        } else {
            refuse_luck(&scenario, stop)?;
            let mut reports = BTreeMap::new();
            for (name, own) in locks {
                let data = self.data.as_ref().map(|data| data.join(&name));
                let report = self.play(own, parsed.as_ref(), data.as_deref(), stop)?;
                let interrupted = report.stop == INTERRUPTED;
                reports.insert(name, report);
                if interrupted {
                    break;
                }
            }
            habemus_report::report_of_locks(&scenario, reports)
        };
        self.show(&scenario, &report)?;
        Ok(super::run::outcome(&report))
    }

    /// What it is about: an algorithm, or the path of a file.
    fn named(&self) -> &str {
        self.what.as_deref().or(self.algorithm.as_deref()).unwrap_or_default()
    }

    /// The scenario file, if one is meant.
    fn file(&self) -> Option<PathBuf> {
        if self.algorithm.is_some() { None } else { scenario_file(self.named()) }
    }

    fn refuse_what_makes_no_sense(&self, plays_a_file: bool) -> Result<(), CliError> {
        if plays_a_file && self.system.names_processes() {
            let help = "change it in the file, or give an algorithm instead of a file";
            return Err(CliError::help("the file says which processes there are", help));
        }
        if plays_a_file && self.dashboard {
            let help = "give an algorithm instead of a file: habemus cluster bully --dashboard";
            return Err(CliError::help("--dashboard takes faults by keys, and a file has its own", help));
        }
        if plays_a_file && self.lab.is_some() {
            let help = "give an algorithm instead of a file: habemus cluster bully --lab";
            return Err(CliError::help("--lab takes the console's words, and a file has its own", help));
        }
        if self.unjudged && !plays_a_file {
            let help = "leave --unjudged out: a console expects nothing but what the algorithm promises";
            return Err(CliError::help("--unjudged is about what a scenario file expects", help));
        }
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if self.dashboard && !is_terminal {
            let help = "leave --dashboard out, and say words on standard input (help shows them)";
            return Err(CliError::help("--dashboard needs a terminal", help));
        }
        Ok(())
    }

    /// Plays a scenario about one lock, or about none, on nodes of its own.
    fn play(
        &self,
        scenario: Scenario,
        parsed: Option<&Parsed>,
        data: Option<&Path>,
        stop: &AtomicBool,
    ) -> Result<Report, CliError> {
        let wrong = |error| CliError::from_run(error, parsed);
        let drawn = habemus_report::with_drawn_faults(&scenario);
        let drawn = drawn.map_err(wrong)?;
        let scenario = drawn.unwrap_or(scenario);
        let request = habemus_report::request(&scenario).map_err(wrong)?;
        let facts = facts(&request).map_err(|error| wrong(error.into()))?;
        habemus_report::know_kinds(&scenario, &facts.kinds).map_err(wrong)?;
        check(&scenario, &facts)?;
        refuse_luck(&scenario, stop)?;
        let directory = Directory::new(data)?;
        let blueprint = self.blueprint(&scenario, &facts, &directory.path)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (trace, ending, unmet) =
            runtime.block_on(self.run_nodes(blueprint, &scenario, &facts, parsed, stop))?;
        let report = judge(&request, &scenario.expect, trace, &ending);
        let report = report.map_err(|error| match error {
            JudgeError::Run(error) => wrong(error),
            error @ JudgeError::Foreign { .. } => CliError::new(error.to_string()),
        })?;
        Ok(Report { unmet, ..report })
    }

    /// The scenario of the file, or one in which nothing is scripted.
    fn scenario(&self, parsed: Option<&Parsed>) -> Result<Scenario, CliError> {
        if self.slower.is_some_and(|slower| !(0.01..=1000.0).contains(&slower)) {
            return Err(CliError::new("--slower must be from 0.01 to 1000"));
        }
        let mut scenario = match parsed {
            Some(parsed) => parsed.scenario.clone(),
            None => Scenario { algorithm: self.named().to_owned(), ..Scenario::default() },
        };
        let entry = match parsed {
            // Errors of a file point into it.
            Some(_) => catalogue::entry(&scenario.algorithm).ok(),
            None => Some(catalogue::entry(&scenario.algorithm)?),
        };
        if parsed.is_none() {
            if entry.is_some_and(catalogue::Entry::is_synchronous) {
                scenario.network.model = TimeModel::Synchronous { pulse: Duration::from_millis(100) };
            }
            let heartbeat = entry.is_some_and(|entry| entry.detectors.contains(&"heartbeat"));
            scenario.detector = heartbeat.then(|| "heartbeat".to_owned());
        }
        self.system.apply(&mut scenario, USUAL_NODES)?;
        if parsed.is_none() {
            habemus_node::add_safe_defaults(&scenario.algorithm, &mut scenario.options);
        }
        Ok(scenario)
    }

    fn blueprint(&self, scenario: &Scenario, facts: &Facts, directory: &Path) -> Result<Blueprint, CliError> {
        let mut flags = vec!["--algorithm".to_owned(), scenario.algorithm.clone()];
        let mut flag = |name: &str, value: String| flags.extend([format!("--{name}"), value]);
        match &scenario.topology {
            None => {}
            Some(TopologyChoice::Named(name)) => flag("topology", name.clone()),
            Some(TopologyChoice::Links(links)) => {
                let links: Vec<String> = links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
                flag("links", links.join(","));
            }
        }
        if let Some(detector) = &scenario.detector {
            flag("detector", detector.clone());
        }
        for (name, value) in &scenario.options {
            flag("option", format!("{name}={value}"));
        }
        if let TimeModel::Synchronous { pulse } = scenario.network.model {
            flag("pulse", format!("{}ns", pulse.as_nanos()));
        }
        flag("seed", scenario.seed.to_string());
        flag("http", "127.0.0.1:0".to_owned());
        let mut own_flags = BTreeMap::new();
        if self.tls {
            let certificates = directory.join("certs");
            certs::make(&certificates, &scenario.ids, certs::Existing::Replace)
                .map_err(|error| CliError::new(error.to_string()))?;
            for id in &scenario.ids {
                let files = certs::node_files(&certificates, *id);
                let text = |path: &Path| path.display().to_string();
                let flags = [
                    ("--tls-authority", text(&files.authority)),
                    ("--tls-certificate", text(&files.certificate)),
                    ("--tls-key", text(&files.key)),
                ];
                own_flags.insert(
                    *id,
                    flags.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect(),
                );
            }
        }
        Ok(Blueprint {
            program: Program::this(["node"])?,
            ids: scenario.ids.clone(),
            flags,
            own_flags,
            hosts: BTreeMap::new(),
            wrappers: BTreeMap::new(),
            directory: directory.to_owned(),
            oracle: facts.oracle,
            stretch: self.slower(scenario),
        })
    }

    /// How many times slower than written it is played.
    fn slower(&self, scenario: &Scenario) -> f64 {
        match self.slower {
            Some(slower) => slower,
            None if self.file().is_some() => play::slowness(scenario),
            None => 1.0,
        }
    }

    async fn run_nodes(
        &self,
        blueprint: Blueprint,
        scenario: &Scenario,
        facts: &Facts,
        parsed: Option<&Parsed>,
        stop: &AtomicBool,
    ) -> Result<(habemus_trace::Trace, Ending, Vec<String>), CliError> {
        let time = |name: &str, text: &str| {
            units::parse_duration(text).map_err(|error| CliError::new(format!("--{name}: {error}")))
        };
        let limits =
            play::Limits { peace: time("peace", &self.peace)?, patience: time("patience", &self.patience)? };
        let dead = play::dead_from_the_beginning(scenario);
        let started = tokio::select! {
            started = cluster::Cluster::start(blueprint, &dead) => started?,
            () = asked_to_stop(stop) => return Err(CliError::Interrupted),
        };
        let mut cluster = started;
        let mut unmet = Vec::new();
        let ending = if parsed.is_some() {
            let played = play::play(&mut cluster, scenario, facts.perpetual, limits);
            tokio::select! {
                played = played => {
                    let play::Played { reason, unmet: lines } = played?;
                    unmet = lines;
                    Some(Ending {
                        stop: reason.words().to_owned(),
                        ended: ended(reason),
                        time: cluster.elapsed().as_nanos() as u64,
                    })
                }
                () = asked_to_stop(stop) => None,
            }
        } else {
            let mut live = self.live().await?;
            tokio::select! {
                ending = converse::converse(&mut cluster, facts, self.dashboard, live.as_mut()) => {
                    Some(ending?)
                }
                () = asked_to_stop(stop) => None,
            }
        };
        let ending = ending.unwrap_or_else(|| interrupted(cluster.elapsed()));
        let trace = cluster.trace_under(header(scenario, facts))?;
        cluster.end().await;
        Ok((trace, ending, unmet))
    }

    /// The lab, if it is to show the nodes.
    async fn live(&self) -> Result<Option<Live>, CliError> {
        let Some(directory) = &self.lab else { return Ok(None) };
        let named = (!directory.as_os_str().is_empty()).then_some(directory.as_path());
        let help = "./habemus lab --export DIR makes one, and --lab=DIR shows it";
        let page = Page::find(named).map_err(|error| CliError::help(format!("--lab: {error}"), help))?;
        let page = page.ok_or_else(|| CliError::help("--lab: nobody has said where the page is", help))?;
        let (live, link) = Live::start(page).await?;
        anstream::eprintln!("{link}");
        Ok(Some(live))
    }

    fn show(&self, scenario: &Scenario, report: &Report) -> Result<(), CliError> {
        let draw = self.draw.filter(|_| self.style.out.is_some() || !self.json);
        self.style.publish(report, self.trace.as_deref(), draw)?;
        if self.json {
            return output::print_json(report);
        }
        let slower = self.slower(scenario);
        if self.slower.is_none() && slower > 1.0 {
            let slower = (slower * 10.0).round() / 10.0;
            output::print(&format!(
                "Played {slower} times slower than written; --slower 1 plays at full speed."
            ))?;
        }
        output::print(&show::report(scenario, report))
    }
}

impl From<ClusterError> for CliError {
    fn from(error: ClusterError) -> Self {
        CliError::new(error.to_string())
    }
}

/// What the reason means for what has not happened yet.
fn ended(reason: EndReason) -> Ended {
    match reason {
        EndReason::Rest => Ended::AtRest,
        EndReason::Time | EndReason::Events | EndReason::Agreement => Ended::AsAsked,
        EndReason::TimeLimit | EndReason::LeftInPeace => Ended::AtALimit,
        EndReason::Deadline => Ended::AtTheDeadline,
    }
}

/// What the trace of a run says of it.
fn header(scenario: &Scenario, facts: &Facts) -> Header {
    Header {
        format: habemus_trace::FORMAT,
        algorithm: facts.algorithm.to_owned(),
        problem: facts.problem,
        title: scenario.title.clone(),
        processes: scenario.ids.clone(),
        topology: facts.topology.clone(),
        seed: None,
        origin: None,
        cycle: None,
    }
}

/// What is said of a run that Ctrl-C ended.
const INTERRUPTED: &str = "it was interrupted";

fn interrupted(after: Duration) -> Ending {
    Ending { stop: INTERRUPTED.to_owned(), ended: Ended::Interrupted, time: after.as_nanos() as u64 }
}

/// Waits for Ctrl-C.
async fn asked_to_stop(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// What real nodes cannot do.
fn check(scenario: &Scenario, facts: &Facts) -> Result<(), CliError> {
    if scenario.ids.len() > MAX_NODES {
        return Err(CliError::new(format!("a cluster has at most {MAX_NODES} nodes on one machine")));
    }
    if scenario.network.model == TimeModel::Scripted
        || scenario.script.iter().any(|cue| cue.action.picks() || matches!(cue.occasion, Occasion::After(_)))
    {
        return Err(CliError::help(
            "real messages and timers wait for no script, and nobody counts the events of all nodes: what \
                picks one of \
             them or waits for their number can only be simulated",
            "habemus run plays it",
        ));
    }
    if facts.synchronous && !matches!(scenario.network.model, TimeModel::Synchronous { .. }) {
        return Err(CliError::help(
            format!("{} works in pulses, and the scenario's network is not synchronous", facts.algorithm),
            "set model = \"synchronous\" in [network]",
        ));
    }
    Ok(())
}

/// With so many other seeds a scenario is tried in the simulator.
const OTHER_SEEDS: u64 = 20;

/// Chance has no seed on real nodes, so nobody can expect of them what came about by the luck of one.
fn refuse_luck(scenario: &Scenario, stop: &AtomicBool) -> Result<(), CliError> {
    if scenario.expect == Expectations::default() {
        return Ok(());
    }
    let unlucky = |seed: &u64| {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let other = Scenario { seed: scenario.seed.wrapping_add(*seed), ..scenario.clone() };
        habemus_sim::run(&other, false).is_ok_and(|report| !report.succeeded())
    };
    if unlucky(&0) {
        // It is not luck but wrong, and real nodes will say so, too.
        return Ok(());
    }
    match (1..=OTHER_SEEDS).filter(unlucky).count() {
        _ if stop.load(Ordering::Relaxed) => Err(CliError::Interrupted),
        0 => Ok(()),
        count => Err(CliError::help(
            format!(
                "what this scenario expects depends on its seed: with {count} of {OTHER_SEEDS} other seeds \
                    the simulator \
                 itself does not meet it, and chance on real nodes has no seed"
            ),
            "--unjudged runs it all the same and checks only what the algorithm promises",
        )),
    }
}

/// Where the nodes live.
struct Directory {
    path: PathBuf,
    /// If it is a temporary one: a shell that removes it when this command has ended, however it ends. It
    /// notices that by the end of its input.
    remover: Option<std::process::Child>,
}

impl Directory {
    fn new(asked: Option<&Path>) -> Result<Self, CliError> {
        let path = match asked {
            Some(path) => path.to_owned(),
            None => std::env::temp_dir().join(format!("habemus-cluster-{}", std::process::id())),
        };
        let cannot = |error| CliError::new(format!("cannot make {}: {error}", path.display()));
        std::fs::create_dir_all(&path).map_err(cannot)?;
        let path = path.canonicalize()?;
        let remover = match asked {
            Some(_) => None,
            None => Some(remover(&path)?),
        };
        Ok(Directory { path, remover })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Some(mut remover) = self.remover.take() {
            drop(remover.stdin.take());
            let _ = remover.wait();
        }
    }
}

fn remover(path: &Path) -> std::io::Result<std::process::Child> {
    use std::os::unix::process::CommandExt;
    // Nodes that are being killed may still write: it tries again for a while.
    let script = "read -r _; for _ in 1 2 3 4 5; do rm -rf -- \"$1\" && exit; sleep 1; done";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(path).stdin(std::process::Stdio::piped());
    // In a group of its own it survives an interrupt from the terminal.
    shell.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).process_group(0).spawn()
}
