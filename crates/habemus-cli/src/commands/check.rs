//! `habemus check`: every run of a small system.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};
use habemus::catalogue::{self, Entry};
use habemus::{Address, Id};
use habemus_check::{
    ANY_NUMBER, Budget, CheckHandle, CheckReport, CheckVerdict, DeliveryOrder, MAX_FAULTS, NEED_CLOCKS,
    Properties, Replay, Setting, Speed, Spill, Start, Timers,
};
use habemus_scenario::{Processes, Scenario, script, units};

use super::draw::{Format, Style};
use crate::args::{Described, LabFlag, SubjectFlags, Where, flag};
use crate::error::CliError;
use crate::{Outcome, interrupt, output, show};

/// Check every run of a small system: every order of events, every choice, every fault that is allowed.
#[derive(Args)]
#[command(after_help = "Examples:
  habemus check chang-roberts --processes 4
  habemus check ricart-agrawala --entries 2 --clocks
  habemus check ricart-agrawala --entries any --property EM1
  habemus check bully --crashes 1 --suspicions 1
  habemus check coordinator -o timeout=20ms -o lease=10ms --timers timed --drift 1% --delay 0ms..5ms
  habemus check anonymous-ring --property uniqueness --draw svg --out two-leaders.svg
  habemus check exhibits/s4-quorum-amnesia.toml --memory 8G
  habemus check bully --partitions 1 --property uniqueness --trace split.jsonl --scenario split.toml
  habemus check bully --crashes 1 --all-properties --certificate bully.jsonl
  habemus check anonymous-ring --property uniqueness --lab
  habemus run --replay split.jsonl
  habemus run split.toml --draw text")]
#[command(mut_arg("processes", |arg| arg.help("How many processes; their identifiers are 1 to N [default: \
    3]")))]
pub(crate) struct Check {
    #[command(flatten)]
    subject: SubjectFlags,

    /// Who starts an election or proposes: 17,3, all, none, any: every choice of at least one, or one,
    /// whichever.
    #[arg(long, value_name = "IDS|all|none|any|one", help_heading = "Circumstances")]
    start: Option<String>,
    /// How often each client enters a lock, or any: as often as it likes [default: 1].
    #[arg(long, value_name = "N|any", value_parser = entries, help_heading = "Circumstances")]
    entries: Option<u32>,
    /// Which processes are clients of a lock [default: all].
    #[arg(long, value_name = "IDS", help_heading = "Circumstances")]
    clients: Option<String>,
    /// Whether messages on a link stay in order.
    #[arg(long, value_enum, help_heading = "Circumstances")]
    order: Option<OrderArg>,
    /// When timers run out [default: as the algorithm assumes].
    #[arg(long, value_enum, help_heading = "Circumstances")]
    timers: Option<TimersArg>,
    /// With timed timers, by how much a clock may run fast or slow, all the time or now and then [default:
    /// 1%; of a scenario file: as much as its script lets one].
    #[arg(long, value_name = "PERCENT", help_heading = "Circumstances")]
    drift: Option<String>,
    /// With timed timers, how long a message takes, at least and at most: 1ms..10ms, or 0ms: no time
    /// [default: as the network says].
    #[arg(long, value_name = "DURATION", help_heading = "Circumstances")]
    delay: Option<String>,

    /// How many crashes there may be in a run.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    crashes: Option<u8>,
    /// Who may crash [default: all; of a scenario file: those that its script lets crash].
    #[arg(long, value_name = "IDS", help_heading = "Faults")]
    faulty: Option<String>,
    /// How many recoveries.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    recoveries: Option<u8>,
    /// Recovering processes have forgotten what they had stored.
    #[arg(long, help_heading = "Faults")]
    amnesia: bool,
    /// How many lost messages.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    loss: Option<u8>,
    /// How many messages that arrive twice.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    duplication: Option<u8>,
    /// How many suspicions of live processes by the oracle detector.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    suspicions: Option<u8>,
    /// How many timers run out too early, where messages come before timers.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    wrong_timeouts: Option<u8>,
    /// How many partitions into two groups; each heals in the end.
    #[arg(long, value_name = "N", help_heading = "Faults", value_parser = fault())]
    partitions: Option<u8>,

    /// Check this property, or several, E1,E2, instead of those that the algorithm promises.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Properties")]
    property: Vec<String>,
    /// Check every property of the problem.
    #[arg(long, conflicts_with = "property", help_heading = "Properties")]
    all_properties: bool,
    /// Track which request happened before which, as EM3 and bounded-waiting need it; this makes more states.
    #[arg(long, help_heading = "Properties")]
    clocks: bool,
    /// Go on after a violation, until every property is decided.
    #[arg(long, help_heading = "Properties")]
    keep_going: bool,
    /// Do not look for runs without end in which somebody waits for ever; what these might break stays open.
    #[arg(long, help_heading = "Properties")]
    no_liveness: bool,

    /// Explore every order of events, even where it makes no difference.
    #[arg(long, help_heading = "Exploration")]
    no_reduction: bool,
    /// Tell states apart that are equal up to a rotation of interchangeable processes, up to a shift of all
    /// logical clocks, or up to the names of terms.
    #[arg(long, help_heading = "Exploration")]
    no_symmetry: bool,
    /// Count the states once more without each reduction, and with none.
    #[arg(long, help_heading = "Exploration")]
    counts: bool,
    /// How many threads explore [default: as many as there are cores]; with several, another counterexample
    /// of the same length may be told each time if there are more than a million states.
    #[arg(long, value_name = "T", help_heading = "Exploration")]
    threads: Option<usize>,
    /// Stop when the program takes so much memory: 8G, 500M [default: four fifths of what is free].
    #[arg(long, value_name = "SIZE", help_heading = "Exploration")]
    memory: Option<String>,
    /// Let states go to files in this directory when a quarter of the memory is full, instead of
    /// stopping; it takes longer.
    #[arg(long, value_name = "DIR", help_heading = "Exploration")]
    spill: Option<PathBuf>,
    /// Stop after so many steps from the beginning.
    #[arg(long, value_name = "N", help_heading = "Exploration")]
    depth: Option<u32>,
    /// Stop after so many states.
    #[arg(long, value_name = "N", help_heading = "Exploration")]
    states: Option<u64>,

    /// Write a run that breaks a property to a file, as JSON lines.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    trace: Option<PathBuf>,
    /// Write it to a file as a scenario that the simulator plays, in which a script calls every event.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    scenario: Option<PathBuf>,
    /// Write what another program needs to recompute the counts and verdicts, nothing left out, as JSON
    /// lines.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    certificate: Option<PathBuf>,
    /// Draw a run that breaks a property [default: text].
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    draw: Option<Format>,
    #[command(flatten)]
    style: Style,
    #[command(flatten)]
    lab: LabFlag,
    /// The report as JSON.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Whether messages on a link stay in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OrderArg {
    /// On each link in the order in which they were sent.
    Fifo,
    /// In any order.
    Any,
}

/// When timers run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TimersArg {
    /// At any time: nothing is known about speed.
    Any,
    /// Only when nothing else is under way, in the order of their deadlines.
    MessagesFirst,
    /// The same, but whoever is inside a lock may stay while time passes.
    LateClients,
    /// When their time has come, by clocks that drift; messages take their time, and clients as long as they
    /// like.
    Timed,
}

fn fault() -> clap::builder::RangedI64ValueParser<u8> {
    clap::value_parser!(u8).range(0..=i64::from(MAX_FAULTS))
}

/// Without a word about their number, so many processes are checked: few enough for every algorithm.
const USUAL_PROCESSES: u64 = 3;

impl Check {
    pub(crate) fn execute(&self) -> Result<Outcome, CliError> {
        let Described { scenario, parsed } = self.subject.describe(USUAL_PROCESSES)?;
        let wrong = |error: CliError| error.in_file(parsed.as_ref());
        let entry = catalogue::entry(&scenario.algorithm).map_err(|error| wrong(error.into()))?;
        let setting = self.setting(&scenario, entry, parsed.is_some())?;
        let request =
            habemus_report::request(&scenario).map_err(|error| CliError::from_run(error, parsed.as_ref()))?;
        let handle = Arc::new(CheckHandle { stop: interrupt::flag(), ..CheckHandle::default() });
        let watched = Arc::clone(&handle);
        let progress = output::Progress::new("states", move || {
            let (depth, level) = (&watched.depth, &watched.level);
            let (depth, level) = (depth.load(Ordering::Relaxed), level.load(Ordering::Relaxed));
            let remark = match watched.cycle_search.load(Ordering::Relaxed) {
                0 => format!("depth {depth}, {} there", show::plural(level, "state", "states")),
                looked => format!("search for cycles: {} looked at", show::plural(looked, "state", "states")),
            };
            (watched.states.load(Ordering::Relaxed), 0, remark)
        });
        let report = habemus_check::check(&request, &setting, &handle);
        drop(progress);
        let mut report = report.map_err(|error| wrong(error.into()))?;
        if self.counts {
            report.counts = habemus_check::counts(&request, &setting, &handle)?;
        }
        if let Some(path) = &self.certificate {
            let certificate = habemus_check::certificate(&request, &setting, &handle)?;
            output::write_file(path, |file| file.write_all(certificate.as_bytes()))?;
        }
        self.publish(&scenario, &setting, &report)?;
        let counterexample = report.properties.iter().find_map(|line| line.counterexample.as_ref());
        if let (true, Some(trace)) = (self.lab.is_given(), counterexample) {
            let picture = self.draw.is_some_and(|format| format != Format::Text) && self.style.out.is_none();
            let place = if self.json || picture { Where::Aside } else { Where::Output };
            show_in_lab(&self.lab, &habemus_check::replay(trace, None)?, place)?;
        }
        Ok(outcome(&report))
    }

    /// The circumstances that the file and the flags amount to.
    fn setting(&self, scenario: &Scenario, entry: &Entry, from_file: bool) -> Result<Setting, CliError> {
        let processes = Processes::new(&scenario.ids);
        let mut setting = Setting { timers: Timers::usual(entry), ..Setting::default() };
        if from_file {
            setting.follow_script(scenario);
        }
        match self.start.as_deref() {
            None => {}
            Some("any") => setting.start = Start::EveryChoice,
            Some("one") => setting.start = Start::AnyOne,
            Some("none") => setting.start = Start::These(Vec::new()),
            Some(ids) => {
                let ids = script::parse_processes(ids, &processes).map_err(|e| flag("start", &e))?;
                setting.start = Start::These(addresses(scenario, &ids));
            }
        }
        if let Some(clients) = &self.clients {
            let ids = script::parse_processes(clients, &processes).map_err(|e| flag("clients", &e))?;
            setting.clients = addresses(scenario, &ids);
        }
        if let Some(faulty) = &self.faulty {
            let ids = script::parse_processes(faulty, &processes).map_err(|e| flag("faulty", &e))?;
            setting.faulty = addresses(scenario, &ids);
        }
        setting.entries = self.entries.unwrap_or(setting.entries);
        match self.order {
            None => {}
            Some(OrderArg::Fifo) => setting.order = DeliveryOrder::Fifo,
            Some(OrderArg::Any) => setting.order = DeliveryOrder::Any,
        }
        match self.timers {
            None => {}
            Some(TimersArg::Any) if entry.is_synchronous() => {
                return Err(CliError::new(format!(
                    "--timers any: {} works in pulses, which are never late",
                    entry.name
                )));
            }
            Some(TimersArg::Any) => setting.timers = Timers::AnyTime,
            Some(TimersArg::MessagesFirst) => setting.timers = Timers::MessagesFirst,
            Some(TimersArg::LateClients) => setting.timers = Timers::LateClients,
            Some(TimersArg::Timed) => setting.timers = Timers::Timed(self.speed(scenario)?),
        }
        for (name, value) in [("drift", &self.drift), ("delay", &self.delay)] {
            if value.is_some() && self.timers != Some(TimersArg::Timed) {
                let error = format!("--{name}: there are no clocks unless timers run by them");
                return Err(CliError::help(error, "add --timers timed"));
            }
        }
        let budget = &mut setting.budget;
        budget.crashes = self.crashes.unwrap_or(budget.crashes);
        budget.recoveries = self.recoveries.unwrap_or(budget.recoveries);
        budget.amnesia |= self.amnesia;
        budget.losses = self.loss.unwrap_or(budget.losses);
        budget.duplications = self.duplication.unwrap_or(budget.duplications);
        budget.suspicions = self.suspicions.unwrap_or(budget.suspicions);
        budget.partitions = self.partitions.unwrap_or(budget.partitions);
        budget.wrong_timeouts = self.wrong_timeouts.unwrap_or(budget.wrong_timeouts);
        if self.all_properties {
            setting.properties = Properties::All;
        } else if !self.property.is_empty() {
            setting.properties = Properties::Named(self.property.clone());
        }
        // Whoever asks for what needs clocks asks for clocks.
        let needs_clocks = |name: &String| NEED_CLOCKS.iter().any(|other| other.eq_ignore_ascii_case(name));
        setting.clocks = self.clocks || self.property.iter().any(needs_clocks);
        setting.keep_going = self.keep_going;
        setting.liveness = !self.no_liveness;
        setting.reduction = !self.no_reduction;
        setting.symmetry = !self.no_symmetry;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        setting.threads = match self.threads {
            Some(0) => return Err(CliError::new("--threads must be at least 1")),
            Some(threads) => threads.min(MAX_THREADS),
            None => cores.min(MAX_THREADS),
        };
        setting.max_depth = self.depth;
        setting.max_states = self.states;
        setting.max_memory = match &self.memory {
            Some(text) => Some(size(text)?),
            None => free_memory().map(|free| free / 5 * 4),
        };
        setting.spill = match (&self.spill, setting.max_memory) {
            (None, _) => None,
            (Some(directory), _) if !directory.is_dir() => {
                return Err(CliError::new(format!("--spill: {} is not a directory", directory.display())));
            }
            (Some(directory), Some(memory)) => {
                Some(Spill { directory: directory.clone(), after: memory / 4 })
            }
            (Some(_), None) => return Err(CliError::new("--spill: say with --memory how much is too much")),
        };
        Ok(setting)
    }

    /// What is known about speed: the flags, or else what the scenario says.
    fn speed(&self, scenario: &Scenario) -> Result<Speed, CliError> {
        let mut speed = Speed::of(scenario);
        if let Some(text) = &self.drift {
            speed.drift = Speed::parse_drift(text).map_err(|e| flag("drift", &e))?;
        }
        match &self.delay {
            Some(text) => speed.delay = units::parse_range(text).map_err(|e| flag("delay", &e))?,
            None if Speed::delay_of(&scenario.network).is_none() => {
                let error = "--timers timed: the network says how long messages take on average, not at most";
                return Err(CliError::help(error, "add a bound, such as --delay 0ms..50ms"));
            }
            None => {}
        }
        Ok(speed)
    }

    fn publish(&self, scenario: &Scenario, setting: &Setting, report: &CheckReport) -> Result<(), CliError> {
        let counterexample = report.properties.iter().find_map(|line| line.counterexample.as_ref());
        if let (Some(path), Some(trace)) = (&self.trace, counterexample) {
            output::write_file(path, |file| trace.write(file))?;
        }
        if let (Some(path), Some(trace)) = (&self.scenario, counterexample) {
            write_scenario(path, &habemus_check::replay(trace, None)?)?;
        }
        let format = self.draw.unwrap_or(Format::Text);
        if let Some(trace) = counterexample
            && (self.style.out.is_some() || !self.json)
        {
            self.style.draw(trace, format)?;
        }
        if self.json {
            return output::print_json(report);
        }
        let text = show::check(scenario, setting, report);
        if counterexample.is_some() && format != Format::Text && self.style.out.is_none() {
            // Standard output is a picture for another program: the verdict goes beside it.
            anstream::eprint!("{text}");
            Ok(())
        } else {
            output::print(&text)
        }
    }
}

/// Prints a link to the lab that opens a repeated run, if one is wanted.
pub(crate) fn show_in_lab(lab: &LabFlag, replay: &Replay, place: Where) -> Result<(), CliError> {
    match replay.scenario() {
        Some(scenario) => lab.show(&scenario, place)?,
        None if lab.is_given() => {
            let why = "this run goes round in a cycle for ever, and no link can hold it: --trace FILE keeps \
                the run, \
                       and the lab opens the file when it is dropped on its page.";
            anstream::eprint!("{}", show::wrap("note: ", why, 80));
        }
        None => {}
    }
    Ok(())
}

/// Writes a repeated run as a scenario.
pub(crate) fn write_scenario(path: &Path, replay: &Replay) -> Result<(), CliError> {
    let Some(scenario) = replay.scenario() else {
        let why = "this run goes round in a cycle for ever, and a script has an end: no scenario was \
            written. \
                   --trace FILE keeps the run, and habemus run --replay FILE repeats it.";
        anstream::eprint!("{}", show::wrap("note: ", why, 80));
        return Ok(());
    };
    output::write_file(path, |file| file.write_all(habemus_scenario::to_toml(&scenario).as_bytes()))
}

/// More threads than this have never helped anybody.
const MAX_THREADS: usize = 256;

fn addresses(scenario: &Scenario, ids: &[u64]) -> Vec<Address> {
    let address = |id: &u64| habemus_report::address_of(scenario, *id);
    ids.iter().filter_map(address).collect()
}

/// The bytes of memory that nobody uses, where the system says so.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// A number of entries, or any.
fn entries(text: &str) -> Result<u32, String> {
    match text.trim() {
        "any" => Ok(ANY_NUMBER),
        number => number.parse().map_err(|_| "give a number of entries, or any".to_owned()),
    }
}

/// 8G, 500M, 64K or a number of bytes.
fn size(text: &str) -> Result<u64, CliError> {
    let upper = text.trim().to_ascii_uppercase();
    let upper = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
        CliError::help(format!("--memory: '{text}' is not a size"), "for example: 8G, 500M or 64K")
    })
}

fn outcome(report: &CheckReport) -> Outcome {
    match (report.holds(), report.extent) {
        (false, _) => Outcome::Fails,
        (true, _) if report.proves() => Outcome::Holds,
        (true, _) => Outcome::Incomplete,
    }
}

/// Whether this line of a report belongs to what was checked.
pub(crate) fn is_checked(verdict: CheckVerdict) -> bool {
    verdict != CheckVerdict::NotCovered
}

/// The budget in words, for reports: "1 crash, 1 loss".
pub(crate) fn faults(budget: &Budget) -> String {
    let amnesia = if budget.amnesia { " with amnesia" } else { "" };
    let all = [
        (budget.crashes, "crash", "crashes", ""),
        (budget.recoveries, "recovery", "recoveries", amnesia),
        (budget.losses, "loss", "losses", ""),
        (budget.duplications, "duplication", "duplications", ""),
        (budget.suspicions, "false suspicion", "false suspicions", ""),
        (budget.partitions, "partition", "partitions", ""),
        (budget.wrong_timeouts, "wrong timeout", "wrong timeouts", ""),
    ];
    let said: Vec<String> = all
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many, note)| format!("{}{note}", show::plural(u64::from(*count), one, many)))
        .collect();
    if said.is_empty() { "no faults".to_owned() } else { format!("up to {}", said.join(", ")) }
}

/// The identifier of the process at an address, for reports.
pub(crate) fn id(scenario: &Scenario, address: Address) -> Id {
    Id(scenario.ids.get(address.index()).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let bytes = |text| size(text).ok();
        assert_eq!(bytes("8G"), Some(8 << 30));
        assert_eq!(bytes("500mb"), Some(500 << 20));
        assert_eq!(bytes("12"), Some(12));
        assert_eq!([bytes("0"), bytes("G"), bytes("many"), bytes("99999999999G")], [None; 4]);
    }

    #[test]
    fn faults_read_like_a_sentence() {
        assert_eq!(faults(&Budget::default()), "no faults");
        let budget = Budget { crashes: 1, recoveries: 2, amnesia: true, ..Budget::default() };
        assert_eq!(faults(&budget), "up to 1 crash, 2 recoveries with amnesia");
    }
}
