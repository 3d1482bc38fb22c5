//! The flags that describe a run, and the scenario they amount to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use habemus::catalogue;
use habemus_scenario::{
    Action, Cue, Occasion, Parsed, Processes, RandomFaults, Scenario, TimeModel, TopologyChoice, Workload,
    script, units,
};

use crate::complaint::Complaint;

/// The system: which algorithm, which processes, how connected. Flags come on top of what a scenario file says.
#[derive(Args, Debug, Clone)]
pub(crate) struct SystemFlags {
    /// An algorithm of the catalogue (`habemus list`), or a scenario file.
    #[arg(value_name = "ALGORITHM|FILE", required = true)]
    what: Option<String>,

    /// How many processes; their identifiers are 1 to N.
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "ids", help_heading = "System")]
    processes: Option<usize>,
    /// The identifiers, in the order of their places: 3,17,24 or 0..7.
    #[arg(long, value_name = "IDS", help_heading = "System")]
    ids: Option<String>,
    /// How the processes are connected: complete, ring, grid, …
    #[arg(long, value_name = "SHAPE", conflicts_with = "links", help_heading = "System")]
    topology: Option<String>,
    /// The links themselves: 1-2,2-3,3-1.
    #[arg(long, value_name = "LINKS", help_heading = "System")]
    links: Option<String>,
    /// The failure detector: oracle, heartbeat, …
    #[arg(long, value_name = "NAME", help_heading = "System")]
    detector: Option<String>,
    /// An option of the algorithm or detector, as `habemus list ALGORITHM` shows them.
    #[arg(short = 'o', long = "option", value_name = "NAME=VALUE", help_heading = "System")]
    options: Vec<String>,
}

/// What to run, and under which circumstances.
#[derive(Args, Debug, Clone)]
pub(crate) struct What {
    #[command(flatten)]
    system: SystemFlags,

    /// Who starts at the beginning: 17,3 or all (the default, but for locks).
    #[arg(long, value_name = "IDS|all|none", help_heading = "Script")]
    start: Option<String>,
    #[command(flatten)]
    script: ScriptFlags,
    #[command(flatten)]
    network: NetworkFlags,
    #[command(flatten)]
    random: RandomFlags,

    /// Locks with names, each an instance of its own over the same processes: orders,stock.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Clients of a lock")]
    resources: Vec<String>,
    /// How often each client enters a lock [default: 1].
    #[arg(long, value_name = "N", help_heading = "Clients of a lock")]
    entries: Option<u32>,
    /// Which processes are clients [default: all].
    #[arg(long, value_name = "IDS", help_heading = "Clients of a lock")]
    clients: Option<String>,
    /// How long a client stays inside [default: 5ms].
    #[arg(long, value_name = "TIME", help_heading = "Clients of a lock")]
    hold: Option<String>,
    /// How long a client waits before it asks [default: 0ms..5ms].
    #[arg(long, value_name = "TIME", help_heading = "Clients of a lock")]
    think: Option<String>,
    /// How many wishes a second come up at each client, whatever became of the earlier ones: 5/s.
    #[arg(long, value_name = "RATE", conflicts_with = "think", help_heading = "Clients of a lock")]
    rate: Option<String>,

    /// The seed of everything drawn at random [default: 1].
    #[arg(long, value_name = "SEED", help_heading = "Run")]
    seed: Option<u64>,
    /// When it is over: quiet, agree, 500ms, "10000 events" [default: quiet].
    #[arg(long, value_name = "WHEN", help_heading = "Run")]
    until: Option<String>,
    /// Virtual time at which it is cut off.
    #[arg(long, value_name = "TIME", help_heading = "Run")]
    time_limit: Option<String>,
    /// Events after which it is cut off [default: 1000000000].
    #[arg(long, value_name = "N", help_heading = "Run")]
    event_limit: Option<u64>,
}

/// What goes wrong when.
#[derive(Args, Debug, Clone)]
pub(crate) struct ScriptFlags {
    /// A line of a script: "20ms crash 5", "when 3 sends Ok: crash 3".
    #[arg(long, value_name = "LINE", help_heading = "Script")]
    at: Vec<String>,
    /// Crash processes: 5@20ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    crash: Vec<String>,
    /// Recover processes: 5@60ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    recover: Vec<String>,
    /// Pause processes, as SIGSTOP does: 5@20ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    pause: Vec<String>,
    /// Resume paused processes: 5@60ms.
    #[arg(long, value_name = "IDS@TIME", help_heading = "Script")]
    resume: Vec<String>,
    /// Cut links, both ways or one: 1-2@10ms, 1->2@10ms.
    #[arg(long, value_name = "LINKS@TIME", help_heading = "Script")]
    cut: Vec<String>,
    /// Split the processes into groups: "1,2 | 3,4,5@10ms".
    #[arg(long, value_name = "GROUPS@TIME", help_heading = "Script")]
    partition: Vec<String>,
    /// Heal links, or all of them: 1-2@50ms, @50ms.
    #[arg(long, value_name = "LINKS@TIME", help_heading = "Script")]
    heal: Vec<String>,
}

/// The network.
#[derive(Args, Debug, Clone)]
pub(crate) struct NetworkFlags {
    /// What is promised about time: asynchronous, synchronous, partially-synchronous; or scripted: nothing
    /// happens but what the script calls.
    #[arg(long, value_name = "MODEL", help_heading = "Network")]
    model: Option<String>,
    /// The pulse of a synchronous network [default: 10ms].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    pulse: Option<String>,
    /// The Global Stabilization Time of a partially synchronous network [default: 1s].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    gst: Option<String>,
    /// The bound on latency after it [default: 10ms].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    delta: Option<String>,
    /// 5ms, 1ms..10ms, "exponential 5ms" or "log-normal 5ms 0.8" [default: 1ms..10ms].
    #[arg(long, value_name = "TIME", help_heading = "Network")]
    latency: Option<String>,
    /// Whether messages on a link stay in order: fifo or any [default: fifo].
    #[arg(long, value_name = "ORDER", help_heading = "Network")]
    order: Option<String>,
    /// How many messages are lost: 1%.
    #[arg(long, value_name = "SHARE", help_heading = "Network")]
    loss: Option<String>,
    /// How many messages arrive twice: 1%.
    #[arg(long, value_name = "SHARE", help_heading = "Network")]
    duplication: Option<String>,
}

/// What goes wrong at random.
#[derive(Args, Debug, Clone)]
pub(crate) struct RandomFlags {
    /// Random crashes, over all processes: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    crash_rate: Option<String>,
    /// How long a crashed process stays down [default: 50ms..200ms]; never: for ever.
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    recover_after: Option<String>,
    /// Recovering processes have forgotten what they had stored.
    #[arg(long, help_heading = "Random faults")]
    amnesia: bool,
    /// How many processes may be down at once [default: a minority].
    #[arg(long, value_name = "N", help_heading = "Random faults")]
    most_down: Option<usize>,
    /// Random pauses, over all processes: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    pause_rate: Option<String>,
    /// How long a pause lasts [default: 10ms..200ms].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    pause_for: Option<String>,
    /// Random cuts of links and partitions: 2/s.
    #[arg(long, value_name = "RATE", help_heading = "Random faults")]
    cut_rate: Option<String>,
    /// How long a cut lasts [default: 10ms..200ms].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    cut_for: Option<String>,
    /// When the random faults end and all is well again [default: 2s].
    #[arg(long, value_name = "TIME", help_heading = "Random faults")]
    faults_until: Option<String>,
}

/// A scenario, and the file it came from.
pub(crate) struct Described {
    /// What to run.
    pub(crate) scenario: Scenario,
    /// The file, for errors that point into it.
    pub(crate) parsed: Option<Parsed>,
}

impl SystemFlags {
    /// The scenario of the file, or an empty one, with the system that the flags ask for, or with `usual`
    /// processes.
    pub(crate) fn describe(&self, usual: u64) -> Result<Described, Complaint> {
        let parsed = self.file()?.map(habemus_scenario::read).transpose()?;
        let mut scenario = match &parsed {
            Some(parsed) => parsed.scenario.clone(),
            None => Scenario { algorithm: self.what().to_owned(), ..Scenario::default() },
        };
        if parsed.is_none() && catalogue::entry(self.what())?.is_synchronous() {
            // Flags may still say otherwise.
            scenario.network.model = TimeModel::Synchronous { pulse: habemus::DEFAULT_PULSE };
        }
        self.system(&mut scenario, usual)?;
        Ok(Described { scenario, parsed })
    }

    /// What is meant; nothing, where a recorded run says it.
    fn what(&self) -> &str {
        self.what.as_deref().unwrap_or_default()
    }

    /// The scenario file, if one is meant.
    fn file(&self) -> Result<Option<PathBuf>, Complaint> {
        let path = Path::new(self.what());
        let looks_like_one = path.extension().is_some_and(|extension| extension == "toml")
            || self.what().contains(std::path::MAIN_SEPARATOR);
        if looks_like_one {
            return Ok(Some(path.to_owned()));
        }
        if catalogue::entry(self.what()).is_err() && path.is_file() {
            return Ok(Some(path.to_owned()));
        }
        Ok(None)
    }

    fn system(&self, scenario: &mut Scenario, usual: u64) -> Result<(), Complaint> {
        if let Some(ids) = &self.ids {
            scenario.ids = script::parse_ids(ids).map_err(|e| flag("ids", &e))?;
        } else if let Some(count) = self.processes {
            if count == 0 || count > usize::try_from(habemus_scenario::MOST_PROCESSES).unwrap_or(usize::MAX) {
                return Err(Complaint::new(format!(
                    "--processes must be from 1 to {}",
                    habemus_scenario::MOST_PROCESSES
                )));
            }
            scenario.ids = (1..=count as u64).collect();
        } else if scenario.ids.is_empty() {
            scenario.ids = (1..=usual).collect();
        }
        if let Some(topology) = &self.topology {
            scenario.topology = Some(TopologyChoice::Named(topology.clone()));
        }
        if let Some(links) = &self.links {
            let processes = Processes::new(&scenario.ids);
            let all = script::parse_links(links, &processes).map_err(|e| flag("links", &e))?;
            scenario.topology = Some(TopologyChoice::Links(all));
        }
        if self.detector.is_some() {
            scenario.detector.clone_from(&self.detector);
        }
        scenario.options.extend(parse_options(&self.options)?);
        Ok(())
    }
}

impl What {
    /// Whether the command says what to run at all.
    pub(crate) fn is_given(&self) -> bool {
        self.system.what.is_some()
    }

    /// Whether the command says who the processes are.
    pub(crate) fn names_processes(&self) -> bool {
        self.system.processes.is_some() || self.system.ids.is_some()
    }

    /// The scenario that the flags and the file amount to.
    pub(crate) fn describe(&self) -> Result<Described, Complaint> {
        let Described { mut scenario, parsed } = self.system.describe(5)?;
        if let Some(seed) = self.seed {
            scenario.seed = seed;
        }
        self.network.apply(&mut scenario)?;
        self.script(&mut scenario, parsed.is_some())?;
        self.random.apply(&mut scenario)?;
        self.clients(&mut scenario, parsed.is_some())?;
        self.limits(&mut scenario)?;
        Ok(Described { scenario, parsed })
    }

    fn script(&self, scenario: &mut Scenario, from_file: bool) -> Result<(), Complaint> {
        let processes = Processes::new(&scenario.ids);
        let mut cues = self.script.cues(&processes)?;
        let problem = catalogue::entry(&scenario.algorithm).map(|entry| entry.problem).unwrap_or_default();
        let start = match (&self.start, from_file) {
            (Some(start), _) if start == "none" => None,
            (Some(start), _) => {
                Some(script::parse_processes(start, &processes).map_err(|e| flag("start", &e))?)
            }
            (None, false) if problem != "mutual exclusion" && !has_command(&cues) => {
                Some(scenario.ids.clone())
            }
            (None, _) => None,
        };
        if let Some(start) = start {
            let word = match problem {
                "election" => "elect",
                "agreement" => "propose",
                _ => "acquire",
            };
            let action = Action::Command { word: word.to_owned(), processes: start };
            cues.push(Cue { occasion: Occasion::At(Duration::ZERO), action });
        }
        scenario.script.extend(cues);
        Ok(())
    }

    fn clients(&self, scenario: &mut Scenario, from_file: bool) -> Result<(), Complaint> {
        if !self.resources.is_empty() {
            scenario.resources.clone_from(&self.resources);
        }
        let times = [&self.clients, &self.hold, &self.think, &self.rate];
        let given =
            self.entries.is_some() || !self.resources.is_empty() || times.iter().any(|flag| flag.is_some());
        let is_lock =
            catalogue::entry(&scenario.algorithm).is_ok_and(|entry| entry.problem == "mutual exclusion");
        if !given && (from_file || !is_lock) {
            return Ok(());
        }
        let usual = Workload::usual(has_command(&scenario.script));
        let workload = scenario.workload.get_or_insert(usual);
        workload.entries = self.entries.unwrap_or(workload.entries);
        let range = |name: &str, text: &Option<String>, otherwise| match text {
            Some(text) => units::parse_range(text).map_err(|e| flag(name, &e)),
            None => Ok(otherwise),
        };
        workload.hold = range("hold", &self.hold, workload.hold)?;
        workload.think = range("think", &self.think, workload.think)?;
        if let Some(rate) = &self.rate {
            workload.rate = units::parse_rate(rate).map_err(|e| flag("rate", &e))?;
        }
        if let Some(clients) = &self.clients {
            let processes = Processes::new(&scenario.ids);
            workload.clients =
                script::parse_processes(clients, &processes).map_err(|e| flag("clients", &e))?;
        }
        Ok(())
    }

    fn limits(&self, scenario: &mut Scenario) -> Result<(), Complaint> {
        if let Some(until) = &self.until {
            scenario.until = until.parse().map_err(|e: units::UnitError| flag("until", &e))?;
        }
        if let Some(limit) = &self.time_limit {
            scenario.time_limit = Some(units::parse_duration(limit).map_err(|e| flag("time-limit", &e))?);
        }
        if let Some(limit) = self.event_limit {
            scenario.event_limit = limit;
        }
        Ok(())
    }
}

impl ScriptFlags {
    /// As cues of a scenario.
    pub(crate) fn cues(&self, processes: &Processes<'_>) -> Result<Vec<Cue>, Complaint> {
        let mut cues = Vec::new();
        for (word, values) in [
            ("crash", &self.crash),
            ("recover", &self.recover),
            ("pause", &self.pause),
            ("resume", &self.resume),
            ("cut", &self.cut),
            ("partition", &self.partition),
            ("heal", &self.heal),
        ] {
            for value in values {
                cues.push(script::parse_flag(word, value, processes).map_err(|e| flag(word, &e))?);
            }
        }
        for line in &self.at {
            cues.push(script::parse_line(line, processes).map_err(|e| flag("at", &e))?.cue);
        }
        Ok(cues)
    }

    /// Whether it says who crashes: by a flag, or perhaps by a line.
    pub(crate) fn crashes(&self) -> bool {
        !self.crash.is_empty() || !self.at.is_empty()
    }
}

impl NetworkFlags {
    /// Changes the network of a scenario.
    pub(crate) fn apply(&self, scenario: &mut Scenario) -> Result<(), Complaint> {
        let network = &mut scenario.network;
        let time = |name: &str, text: &Option<String>, otherwise: u64| match text {
            Some(text) => units::parse_duration(text).map_err(|e| flag(name, &e)),
            None => Ok(Duration::from_millis(otherwise)),
        };
        let model = match (self.model.as_deref(), &self.pulse, &self.gst, &self.delta) {
            (None, None, None, None) => None,
            (None | Some("synchronous"), Some(_), None, None) => Some("synchronous"),
            (None | Some("partially-synchronous"), None, _, _) => Some("partially-synchronous"),
            (Some(model), None, None, None) => Some(model),
            (Some(model), ..) => {
                return Err(Complaint::help(
                    format!("--pulse, --gst and --delta do not fit the model {model}"),
                    "--pulse belongs to synchronous, --gst and --delta to partially-synchronous",
                ));
            }
            _ => return Err(Complaint::new("--pulse does not go with --gst or --delta")),
        };
        match model {
            None => {}
            Some("asynchronous") => network.model = TimeModel::Asynchronous,
            Some("scripted") => network.model = TimeModel::Scripted,
            Some("synchronous") => {
                network.model = TimeModel::Synchronous { pulse: time("pulse", &self.pulse, 10)? };
            }
            Some("partially-synchronous") => {
                let (gst, delta) = (time("gst", &self.gst, 1000)?, time("delta", &self.delta, 10)?);
                network.model = TimeModel::PartiallySynchronous { gst, delta };
            }
            Some(other) => {
                let known = ["asynchronous", "synchronous", "partially-synchronous", "scripted"];
                let near = habemus_scenario::nearest(other, known);
                let help = match near {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("there are: {}", known.join(", ")),
                };
                return Err(Complaint::help(format!("there is no network model '{other}'"), help));
            }
        }
        if let Some(latency) = &self.latency {
            network.latency = latency.parse().map_err(|e: units::UnitError| flag("latency", &e))?;
        }
        match self.order.as_deref() {
            None => {}
            Some("fifo") => network.fifo = true,
            Some("any") => network.fifo = false,
            Some(other) => {
                return Err(Complaint::new(format!("--order must be fifo or any, not '{other}'")));
            }
        }
        if let Some(loss) = &self.loss {
            network.loss = units::parse_probability(loss).map_err(|e| flag("loss", &e))?;
        }
        if let Some(duplication) = &self.duplication {
            network.duplication =
                units::parse_probability(duplication).map_err(|e| flag("duplication", &e))?;
        }
        Ok(())
    }
}

impl RandomFlags {
    /// Whether it says when the faults end.
    pub(crate) fn ends(&self) -> bool {
        self.faults_until.is_some()
    }

    /// Changes the random faults of a scenario.
    pub(crate) fn apply(&self, scenario: &mut Scenario) -> Result<(), Complaint> {
        let rate = |name: &str, text: &Option<String>| match text {
            Some(text) => units::parse_rate(text).map(Some).map_err(|e| flag(name, &e)),
            None => Ok(None),
        };
        let range = |name: &str, text: &Option<String>| match text {
            Some(text) => units::parse_range(text).map(Some).map_err(|e| flag(name, &e)),
            None => Ok(None),
        };
        let crashes = rate("crash-rate", &self.crash_rate)?;
        let pauses = rate("pause-rate", &self.pause_rate)?;
        let cuts = rate("cut-rate", &self.cut_rate)?;
        let given = crashes.is_some() || pauses.is_some() || cuts.is_some();
        if !given && scenario.random.is_none() {
            return Ok(());
        }
        let usual = RandomFaults::usual(scenario.ids.len());
        let random = scenario.random.get_or_insert(usual);
        random.crashes = crashes.unwrap_or(random.crashes);
        random.pauses = pauses.unwrap_or(random.pauses);
        random.cuts = cuts.unwrap_or(random.cuts);
        random.amnesia |= self.amnesia;
        random.most_down = self.most_down.unwrap_or(random.most_down);
        if self.recover_after.as_deref() == Some("never") {
            random.recover_after = None;
        } else if let Some(after) = range("recover-after", &self.recover_after)? {
            random.recover_after = Some(after);
        }
        random.pause_for = range("pause-for", &self.pause_for)?.unwrap_or(random.pause_for);
        random.cut_for = range("cut-for", &self.cut_for)?.unwrap_or(random.cut_for);
        if let Some(until) = &self.faults_until {
            random.until = units::parse_duration(until).map_err(|e| flag("faults-until", &e))?;
        }
        Ok(())
    }
}

fn has_command(cues: &[Cue]) -> bool {
    cues.iter().any(|cue| matches!(cue.action, Action::Command { .. }))
}

/// Something wrong with a flag's value.
pub(crate) fn flag(name: &str, error: &impl std::fmt::Display) -> Complaint {
    Complaint::new(format!("--{name}: {error}"))
}

/// NAME=VALUE pairs.
pub(crate) fn parse_options(pairs: &[String]) -> Result<BTreeMap<String, String>, Complaint> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(Complaint::help(
            format!("--option: expected NAME=VALUE, found '{text}'"),
            "for example: -o variant=as-printed",
        )),
    };
    pairs.iter().map(pair).collect()
}
