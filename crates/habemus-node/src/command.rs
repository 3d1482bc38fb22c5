//! The command line of a node: flags, environment, a file, signals, standard input.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use habemus::catalogue::{Setup, Shape};
use habemus::{Id, ProblemKind, Process, SystemError};
use habemus_machine::{Facts, Labels};
use habemus_scenario::{Processes, script, units};
use serde::Deserialize;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};
use tracing_subscriber::filter::Targets;

use crate::control::{NodeReport, SupervisorCommand};
use crate::logging;
use crate::node::{Node, NodeError, SupervisorHandle};
use crate::settings::{Settings, SettingsError};
use crate::subject::Subject;
use crate::tls::TlsFiles;

/// What a node is told on the command line. Flags come before the environment, and that before the file.
#[derive(Args, Clone, Debug, Default)]
pub struct NodeArgs {
    /// A TOML file with the same settings: id = 3, listen = "…", [peers], [options], …
    #[arg(long, value_name = "FILE", env = "HABEMUS_CONFIG")]
    config: Option<PathBuf>,
    /// This node's identifier.
    #[arg(long, value_name = "ID", env = "HABEMUS_ID")]
    id: Option<u64>,
    /// Where to listen for other nodes; port 0 lets the system choose.
    #[arg(long, value_name = "HOST:PORT", env = "HABEMUS_LISTEN")]
    listen: Option<String>,
    /// Another node and its address: 1=127.0.0.1:7101.
    #[arg(long = "peer", value_name = "ID=HOST:PORT", env = "HABEMUS_PEERS", value_delimiter = ',')]
    peers: Vec<String>,
    /// The algorithm (`habemus list` shows them).
    #[arg(long, value_name = "NAME", env = "HABEMUS_ALGORITHM")]
    algorithm: Option<String>,
    /// The cluster's name: nodes of different clusters refuse each other [default: habemus].
    #[arg(long, value_name = "NAME", env = "HABEMUS_CLUSTER")]
    cluster: Option<String>,
    /// All identifiers in the order of their addresses, which matters on a ring [default: itself and the
    /// peers, sorted].
    #[arg(long, value_name = "IDS", env = "HABEMUS_IDS")]
    ids: Option<String>,
    /// How the processes are connected [default: the algorithm's].
    #[arg(long, value_name = "SHAPE", env = "HABEMUS_TOPOLOGY", conflicts_with = "links")]
    topology: Option<String>,
    /// The links themselves: 1-2,2-3,3-1.
    #[arg(long, value_name = "LINKS", env = "HABEMUS_LINKS")]
    links: Option<String>,
    /// The failure detector [default: heartbeat, where the algorithm can use one].
    #[arg(long, value_name = "NAME", env = "HABEMUS_DETECTOR")]
    detector: Option<String>,
    /// An option of the algorithm or detector.
    #[arg(
        short = 'o',
        long = "option",
        value_name = "NAME=VALUE",
        env = "HABEMUS_OPTIONS",
        value_delimiter = ';'
    )]
    options: Vec<String>,
    /// The pulse of algorithms that work in pulses [default: 100ms].
    #[arg(long, value_name = "TIME", env = "HABEMUS_PULSE")]
    pulse: Option<String>,
    /// When to start, in seconds since 1970: all nodes of an algorithm that works in pulses need the same.
    #[arg(long, value_name = "SECONDS", env = "HABEMUS_BEGIN_AT")]
    begin_at: Option<f64>,
    /// Counts changes of settings on which all nodes must agree: the new ones are given to one node after the
    /// other, with a greater number [default: 1].
    #[arg(long, value_name = "NUMBER", env = "HABEMUS_EPOCH")]
    epoch: Option<u64>,
    /// This is the first start of this node, on an empty data directory. Never say so of a node that has run
    /// before.
    #[arg(long)]
    new: bool,
    /// Where to keep what must survive a crash.
    #[arg(long, value_name = "DIR", env = "HABEMUS_DATA")]
    data: Option<PathBuf>,
    /// Write what happens to trace.jsonl in the data directory.
    #[arg(long)]
    trace: bool,
    /// Where to serve /status, /leader, /health and /metrics.
    #[arg(long, value_name = "HOST:PORT", env = "HABEMUS_HTTP")]
    http: Option<String>,
    /// The certificate of the cluster's authority, for mutual TLS (`habemus certs` makes the files).
    #[arg(long, value_name = "FILE", env = "HABEMUS_TLS_AUTHORITY", requires = "tls_certificate")]
    tls_authority: Option<PathBuf>,
    /// This node's certificate.
    #[arg(long, value_name = "FILE", env = "HABEMUS_TLS_CERTIFICATE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// This node's private key.
    #[arg(long, value_name = "FILE", env = "HABEMUS_TLS_KEY", requires = "tls_authority")]
    tls_key: Option<PathBuf>,
    /// Listen beyond the loopback without TLS: whoever reaches the node can speak as any other.
    #[arg(long)]
    insecure_without_tls: bool,
    /// A directory with the keys of an algorithm that signs (`habemus certs` makes them): node-ID.sign of
    /// this node, node-ID.public of all.
    #[arg(long, value_name = "DIR", env = "HABEMUS_KEYS")]
    keys: Option<PathBuf>,
    /// What to log: error, warn, info, debug, or a filter such as habemus_node=debug [default: info].
    #[arg(long, value_name = "FILTER", env = "HABEMUS_LOG")]
    log: Option<String>,
    /// How to log.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", env = "HABEMUS_LOG_FORMAT")]
    log_format: LogFormat,
    /// What draws a random topology.
    #[arg(long, value_name = "SEED", default_value_t = 1, hide = true)]
    seed: u64,
    /// Write no trace although supervised: for measurements.
    #[arg(long, hide = true, requires = "supervised")]
    untraced: bool,
    /// Obey commands on standard input and report on standard output, as JSON lines; stop when they end.
    #[arg(long, hide = true)]
    supervised: bool,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}

/// The settings as a file says them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct File {
    id: Option<u64>,
    listen: Option<String>,
    peers: BTreeMap<String, String>,
    algorithm: Option<String>,
    cluster: Option<String>,
    ids: Option<Vec<u64>>,
    topology: Option<String>,
    links: Option<Vec<String>>,
    detector: Option<String>,
    options: BTreeMap<String, toml::Value>,
    pulse: Option<String>,
    begin_at: Option<f64>,
    epoch: Option<u64>,
    data: Option<PathBuf>,
    trace: bool,
    http: Option<String>,
    tls: Option<FileTls>,
    insecure_without_tls: bool,
    keys: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTls {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

/// Why a node was not run, or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The command line, the environment or the file makes no sense.
    #[error("{0}")]
    Input(String),
    /// The node could not be started or could not go on.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The system refuses.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl CommandError {
    /// Whether the input is to blame, not the world.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, CommandError::Input(_) | CommandError::Node(NodeError::Settings(_)))
    }
}

/// Run one process of an algorithm between real machines.
#[derive(Parser)]
#[command(name = "habemus-node", version, max_term_width = 100)]
struct Program {
    #[command(flatten)]
    node: NodeArgs,
}

/// The program that is nothing but a node and runs any algorithm of the catalogue.
pub fn main() -> ExitCode {
    ended(Program::parse().node.run())
}

/// A program that is a node and runs an algorithm of its own: `setup` makes the system of the processes with
/// these identifiers, and `arguments` are what `habemus node` understands, but for what only the catalogue
/// knows.
///
/// A [`Cluster`](crate::cluster::Cluster) of such a program starts it with
/// [`Program::this`](crate::cluster::Program::this) and the words in front of `arguments`.
///
/// # Example
/// ```no_run
/// use std::process::ExitCode;
///
/// use habemus::catalogue::{Entry, Setup};
/// use habemus::election::chang_roberts::{ChangRoberts, Config};
/// use habemus::topology::Ring;
/// use habemus::{Id, ProblemKind, System, SystemError};
///
/// static MINE: Entry = Entry::own("my-ring", ProblemKind::Election);
///
/// fn setup(ids: Vec<Id>) -> Result<Setup<ChangRoberts>, SystemError> {
///     Ok(Setup::own(&MINE, System::new(Ring::new(ids.len()), ids, Config::default())?))
/// }
///
/// fn main() -> ExitCode {
///     habemus_node::command::main_with(setup, std::env::args_os().skip(1))
/// }
/// ```
pub fn main_with<P: Process>(
    setup: impl FnOnce(Vec<Id>) -> Result<Setup<P>, SystemError>,
    arguments: impl IntoIterator<Item = OsString>,
) -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    ended(Program::parse_from(std::iter::once(name).chain(arguments)).node.run_with(setup))
}

fn ended(result: Result<(), CommandError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody may be there to read it.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(if error.is_bad_input() { 2 } else { 1 })
        }
    }
}

/// What makes the process that the settings ask for; the flag says whether labels are wanted.
type MakeSubject<'a> = Box<dyn FnOnce(&Settings, Labels) -> Result<Subject, SettingsError> + 'a>;

impl NodeArgs {
    /// Runs the node until it is told to stop.
    ///
    /// # Errors
    /// If the input makes no sense, or the node cannot go on.
    pub fn run(&self) -> Result<(), CommandError> {
        let mut settings = self.settings()?;
        settings.choose_safe_defaults();
        self.run_settings(settings, Box::new(Subject::of_the_catalogue))
    }

    /// As [`run`](NodeArgs::run), with an algorithm that need not be in the catalogue: see [`main_with`].
    ///
    /// # Errors
    /// As [`run`](NodeArgs::run), or if there is no such system.
    pub fn run_with<P: Process>(
        &self,
        setup: impl FnOnce(Vec<Id>) -> Result<Setup<P>, SystemError>,
    ) -> Result<(), CommandError> {
        let mut settings = self.settings_of(Some(""))?;
        let ids = settings.ids.iter().copied().map(Id).collect();
        let setup = setup(ids).map_err(|why| NodeError::from(SettingsError::from(why)))?;
        if settings.algorithm.is_empty() {
            setup.entry.name.clone_into(&mut settings.algorithm);
        }
        let make = |settings: &Settings, labels: Labels| Subject::of_its_own(setup, settings, labels);
        self.run_settings(settings, Box::new(make))
    }

    fn run_settings(&self, settings: Settings, make: MakeSubject<'_>) -> Result<(), CommandError> {
        let _flush = self.start_logging()?;
        // One thread is enough for a node, and costs least when there is nothing to do.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let result = runtime.block_on(run_until_stopped(settings, make));
        // A thread that reads standard input must not keep the program alive.
        runtime.shutdown_background();
        result
    }

    /// What flags, environment and file amount to.
    ///
    /// # Errors
    /// If they make no sense.
    pub fn settings(&self) -> Result<Settings, CommandError> {
        self.settings_of(None)
    }

    /// As [`settings`](NodeArgs::settings), of this algorithm unless another is named.
    fn settings_of(&self, algorithm: Option<&str>) -> Result<Settings, CommandError> {
        let file = match &self.config {
            Some(path) => read_file(path)?,
            None => File::default(),
        };
        let missing =
            |flag: &str| CommandError::Input(format!("--{flag} is missing (or {flag} in --config)"));
        let id = self.id.or(file.id).ok_or_else(|| missing("id"))?;
        let algorithm = self.algorithm.clone().or(file.algorithm).or_else(|| algorithm.map(str::to_owned));
        let algorithm = algorithm.ok_or_else(|| missing("algorithm"))?;
        let mut peers = BTreeMap::new();
        for (id, address) in file.peers {
            let id =
                id.parse().map_err(|_| CommandError::Input(format!("peers: '{id}' is no identifier")))?;
            peers.insert(id, address);
        }
        for peer in &self.peers {
            let wrong = || CommandError::Input(format!("--peer: expected ID=HOST:PORT, found '{peer}'"));
            let (id, address) = peer.split_once('=').ok_or_else(wrong)?;
            peers.insert(id.trim().parse().map_err(|_| wrong())?, address.trim().to_owned());
        }
        let ids = match (&self.ids, file.ids) {
            (Some(text), _) => script::parse_ids(text).map_err(|why| input("ids", &why))?,
            (None, Some(ids)) => ids,
            (None, None) => {
                let mut ids: Vec<u64> = peers.keys().copied().chain([id]).collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            }
        };
        let listen = match self.listen.clone().or(file.listen) {
            Some(listen) => listen,
            // An entry for the node itself says where it is.
            None => peers.get(&id).cloned().ok_or_else(|| missing("listen"))?,
        };
        peers.remove(&id);
        let links = self.links.clone().or_else(|| file.links.map(|links| links.join(",")));
        let topology = match (links, self.topology.clone().or(file.topology)) {
            (Some(links), _) => Some(Shape::Links(addresses(&links, &ids)?)),
            (None, Some(name)) => Some(Shape::Named(name)),
            (None, None) => None,
        };
        let mut options: BTreeMap<String, String> =
            file.options.into_iter().map(|(name, value)| (name, plain(&value))).collect();
        for option in &self.options {
            let wrong = || CommandError::Input(format!("--option: expected NAME=VALUE, found '{option}'"));
            let (name, value) = option.split_once('=').ok_or_else(wrong)?;
            options.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        let pulse = match self.pulse.as_ref().or(file.pulse.as_ref()) {
            Some(text) => units::parse_duration(text).map_err(|why| input("pulse", &why))?,
            None => crate::settings::DEFAULT_PULSE,
        };
        let begin_at = match self.begin_at.or(file.begin_at) {
            Some(seconds) if seconds.is_finite() && (0.0..1e10).contains(&seconds) => {
                Some(Duration::from_secs_f64(seconds).as_nanos() as u64)
            }
            Some(seconds) => {
                let text = format!("--begin-at: {seconds} is no time in seconds since 1970");
                return Err(CommandError::Input(text));
            }
            None => None,
        };
        let tls = match (&self.tls_authority, &self.tls_certificate, &self.tls_key) {
            (Some(authority), Some(certificate), Some(key)) => Some(TlsFiles {
                authority: authority.clone(),
                certificate: certificate.clone(),
                key: key.clone(),
            }),
            _ => file.tls.map(|FileTls { authority, certificate, key }| TlsFiles {
                authority,
                certificate,
                key,
            }),
        };
        let data = self.data.clone().or(file.data);
        if data.is_none() {
            return Err(missing("data"));
        }
        Ok(Settings {
            cluster: self.cluster.clone().or(file.cluster).unwrap_or_else(|| "habemus".to_owned()),
            algorithm,
            id,
            ids,
            listen,
            peers,
            topology,
            seed: self.seed,
            detector: self.detector.clone().or(file.detector),
            options,
            pulse,
            begin_at,
            epoch: self.epoch.or(file.epoch).unwrap_or(1),
            first_start: self.new,
            data,
            trace: self.trace || file.trace || (self.supervised && !self.untraced),
            trace_zero: 0,
            http: self.http.clone().or(file.http),
            tls,
            keys: self.keys.clone().or(file.keys),
            insecure_without_tls: self.insecure_without_tls || file.insecure_without_tls,
            patience: crate::transport::PATIENCE,
            supervised: self.supervised,
        })
    }

    fn start_logging(&self) -> Result<logging::Flush, CommandError> {
        let text = self.log.as_deref().unwrap_or("info");
        let filter: Targets = text.parse().map_err(|why| input("log", &why))?;
        let format = match self.log_format {
            LogFormat::Text => logging::Format::Text,
            LogFormat::Json => logging::Format::Json,
        };
        Ok(logging::start(filter, format))
    }
}

fn input(flag: &str, why: &dyn std::fmt::Display) -> CommandError {
    CommandError::Input(format!("--{flag}: {why}"))
}

fn read_file(path: &Path) -> Result<File, CommandError> {
    habemus_settings::read(path).map_err(CommandError::Input)
}

/// Links between identifiers as links between addresses.
fn addresses(links: &str, ids: &[u64]) -> Result<Vec<(u32, u32)>, CommandError> {
    let processes = Processes::new(ids);
    let links = script::parse_links(links, &processes).map_err(|why| input("links", &why))?;
    let address = |id: u64| ids.iter().position(|other| *other == id).unwrap_or_default() as u32;
    Ok(links.into_iter().map(|(a, b)| (address(a), address(b))).collect())
}

/// A value of a TOML file as the catalogue reads it.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Runs a node until a signal, its supervisor or a fault ends it.
async fn run_until_stopped(settings: Settings, make: MakeSubject<'_>) -> Result<(), CommandError> {
    let supervised = settings.supervised;
    if supervised {
        // However its supervisor ends, and even if this node stands still by then, it does not outlive it.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
            .map_err(std::io::Error::from)?;
    }
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let listener = supervised.then(|| {
        Box::new(|report: &NodeReport| {
            let mut line = serde_json::to_vec(report).unwrap_or_default();
            line.push(b'\n');
            // If nobody reads any more, standard input ends, too, and with it the node.
            let _ = std::io::stdout().lock().write_all(&line);
        }) as crate::engine::Listener
    });
    let labels = Labels::of_a_run(settings.trace || listener.is_some());
    let subject = make(&settings, labels).map_err(NodeError::from)?;
    let mut node = Node::launch(settings, subject, listener).await?;
    let supervisor = node.supervisor();
    if !supervised && waits_to_be_told(node.facts()) {
        supervisor.give(SupervisorCommand::Command { word: "elect".to_owned(), name: String::new() });
    }
    let has_names = node.facts().problem == ProblemKind::MutualExclusion;
    std::thread::spawn(move || read_commands(&supervisor, supervised, has_names));
    tokio::select! {
        result = node.finished() => return Ok(result?),
        _ = terminate.recv() => info!("asked to stop"),
        _ = interrupt.recv() => info!("interrupted"),
    }
    Ok(node.stop().await?)
}

/// Whether the algorithm elects nobody until somebody asks for it: a node that has just come up then asks.
fn waits_to_be_told(facts: &Facts) -> bool {
    facts.problem == ProblemKind::Election && (facts.hears_of_suspicions || !facts.perpetual)
}

/// Reads commands from standard input: JSON of a supervisor, words of a person.
fn read_commands(supervisor: &SupervisorHandle, supervised: bool, has_names: bool) {
    loop {
        wait_for_the_foreground();
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let command = match (line.trim(), supervised) {
            ("", _) => continue,
            (json, true) => serde_json::from_str(json).map_err(|why| why.to_string()),
            ("stop", _) => Ok(SupervisorCommand::Stop),
            // Only locks have names; elsewhere a command may carry a value.
            (words, false) if !has_names => {
                Ok(SupervisorCommand::Command { word: words.to_owned(), name: String::new() })
            }
            (words, false) => {
                let (word, name) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
                Ok(SupervisorCommand::Command { word: word.to_owned(), name: name.trim().to_owned() })
            }
        };
        match command {
            Ok(command) => {
                while !supervisor.give(command.clone()) {
                    if supervisor.is_closed() {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Err(why) => warn!(%why, "does not understand a command"),
        }
    }
    if supervised {
        supervisor.give(SupervisorCommand::Stop);
    }
}

/// Returns when there is something on standard input that this program may read: one in the background that
/// reads from the terminal is stopped, and a node that was started with `&` is not to stop.
fn wait_for_the_foreground() {
    use rustix::event::{PollFd, PollFlags, poll};
    let stdin = std::io::stdin();
    while stdin.is_terminal() {
        let _ = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None);
        let foreground = rustix::termios::tcgetpgrp(&stdin);
        if foreground.is_ok_and(|group| group == rustix::process::getpgrp()) {
            return;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn args() -> NodeArgs {
        NodeArgs {
            id: Some(3),
            listen: Some("127.0.0.1:0".to_owned()),
            peers: vec!["1=a:1".to_owned(), "2=b:2".to_owned()],
            algorithm: Some("bully".to_owned()),
            data: Some("data".into()),
            ..NodeArgs::default()
        }
    }

    #[test]
    fn flags_make_settings() {
        let settings = args().settings().unwrap();
        assert_eq!((settings.id, settings.ids), (3, vec![1, 2, 3]));
        assert_eq!(settings.peers[&2], "b:2");
    }

    #[test]
    fn a_file_says_the_same_and_flags_come_first() {
        let scratch = Scratch::new();
        let path = scratch.path().join("node.toml");
        let text = r#"
            id = 9
            algorithm = "majority"
            listen = "127.0.0.1:0"
            cluster = "office"
            ids = [3, 1, 2]
            data = "elsewhere"
            peers = { 1 = "x:1", 2 = "x:2" }
            [options]
            interval = "20ms"
            weights = [1, 2, 1]
        "#;
        std::fs::write(&path, text).unwrap();
        let flags = NodeArgs { config: Some(path.clone()), id: Some(3), ..NodeArgs::default() };
        let settings = flags.settings().unwrap();
        assert_eq!((settings.id, settings.algorithm.as_str()), (3, "majority"));
        assert_eq!((settings.cluster.as_str(), settings.ids), ("office", vec![3, 1, 2]));
        assert_eq!(settings.options["weights"], "1,2,1");
        std::fs::write(&path, "idd = 3").unwrap();
        let error = flags.settings().unwrap_err();
        assert!(error.is_bad_input() && error.to_string().contains("idd"), "{error}");
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let error_of = |args: NodeArgs| args.settings().unwrap_err().to_string();
        assert!(error_of(NodeArgs { id: None, ..args() }).contains("--id"));
        assert!(error_of(NodeArgs { data: None, ..args() }).contains("--data"));
        assert!(error_of(NodeArgs { peers: vec!["1:a".to_owned()], ..args() }).contains("ID=HOST:PORT"));
        assert!(error_of(NodeArgs { options: vec!["x".to_owned()], ..args() }).contains("NAME=VALUE"));
        assert!(error_of(NodeArgs { begin_at: Some(-1.0), ..args() }).contains("since 1970"));
    }
}
