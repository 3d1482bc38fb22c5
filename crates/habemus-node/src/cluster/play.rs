//! Playing a scenario on real nodes: the same file that the simulator plays.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use habemus_scenario::{Action, Cue, Latency, Occasion, Scenario, TimeModel, Trigger, TriggerKind, Until};
use tokio::time::Instant;

use super::{Cluster, ClusterError, clients, moment};
use crate::control::{Moment, NodeReport, SupervisorCommand};

/// How long to wait for the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a system that never rests is left in peace after the last scripted event.
    pub peace: Duration,
    /// How long a run may take in all.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { peace: Duration::from_secs(3), patience: Duration::from_secs(120) }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The time that was asked for had come.
    Time,
    /// The number of events that was asked for was reached.
    Events,
    /// All live processes agreed on the leader, as was asked for.
    Agreement,
    /// The time limit came before the end that was asked for.
    TimeLimit,
    /// A system that never rests was left in peace for as long as anybody would wait.
    LeftInPeace,
    /// The time was over within which everything was expected to hold.
    Deadline,
    /// It came to rest by itself.
    Rest,
}

impl EndReason {
    /// To be shown.
    pub fn words(self) -> &'static str {
        match self {
            EndReason::Time => "the time asked for had come",
            EndReason::Events => "the number of events asked for was reached",
            EndReason::Agreement => "all live processes agreed on the leader",
            EndReason::TimeLimit => "the time limit was reached",
            EndReason::LeftInPeace => "it was left in peace for long enough",
            EndReason::Deadline => "the deadline had come",
            EndReason::Rest => "nothing more could happen",
        }
    }
}

/// So long before their time commands are given and processes started again, which then keep the time
/// themselves.
const AHEAD: Duration = Duration::from_millis(500);

/// A machine that does other things besides is punctual to less than this.
const FINEST: Duration = Duration::from_millis(10);

/// What is sent in a pulse of this length arrives before the next, also on a machine that does other things.
const SHORTEST_PULSE: Duration = Duration::from_millis(100);

/// A process that was killed is ready to begin again after this.
const RESTART: Duration = Duration::from_millis(100);

/// Nobody wants to wait for more than so many times as long.
const SLOWEST: f64 = 100.0;

/// A cue that waits for its time.
struct Timed {
    time: Duration,
    action: Action,
    /// Those who have been given the command already, each in which of its lives.
    given: BTreeMap<u64, u32>,
}

/// A cue that waits for its occasion.
struct Waiting {
    trigger: Trigger,
    left: u32,
    action: Action,
}

/// Those that a scenario has crash at the very beginning: they are never started.
pub fn dead_from_the_beginning(scenario: &Scenario) -> Vec<u64> {
    let at_once = scenario.script.iter().filter(|cue| cue.occasion == Occasion::At(Duration::ZERO));
    let crashes = at_once.filter_map(|cue| match &cue.action {
        Action::Crash(processes) => Some(processes.clone()),
        _ => None,
    });
    crashes.flatten().collect()
}

/// How many times slower than written a scenario should be played so that a real machine can keep to it: so
/// that the shortest difference between two times in its network, script and workload lasts 10 ms, a pulse
/// 100 ms, and the time between a crash and the recovery 100 ms; but not more than 100 times.
pub fn slowness(scenario: &Scenario) -> f64 {
    if let TimeModel::Synchronous { pulse } = scenario.network.model {
        return (SHORTEST_PULSE.as_secs_f64() / pulse.as_secs_f64()).clamp(1.0, SLOWEST);
    }
    let mut times = BTreeSet::from([Duration::ZERO]);
    // Times that are drawn at random distinguish nothing.
    for latency in scenario.network.links.values().chain([&scenario.network.latency]) {
        if let Latency::Constant(time) = latency {
            times.insert(*time);
        }
    }
    for cue in &scenario.script {
        if let Occasion::At(time) = cue.occasion {
            times.insert(time);
        }
    }
    if let Some(workload) = &scenario.workload {
        for (min, max) in [workload.hold, workload.think] {
            if min == max {
                times.insert(min);
            }
        }
    }
    let differences = times.iter().zip(times.iter().skip(1)).map(|(earlier, later)| *later - *earlier);
    let needed = |min: Duration, time: Duration| min.as_secs_f64() / time.as_secs_f64();
    let finest = differences.map(|time| needed(FINEST, time));
    finest.chain(downtimes(scenario).map(|time| needed(RESTART, time))).fold(1.0, f64::max).min(SLOWEST)
}

/// How long processes are down that the script brings back.
fn downtimes(scenario: &Scenario) -> impl Iterator<Item = Duration> + '_ {
    let at = |cue: &Cue| if let Occasion::At(time) = cue.occasion { Some(time) } else { None };
    let crashes = scenario.script.iter().filter_map(move |cue| match &cue.action {
        Action::Crash(processes) => Some((at(cue)?, processes)),
        _ => None,
    });
    crashes.filter_map(move |(crash, crashed)| {
        let returns = scenario.script.iter().filter_map(|cue| match &cue.action {
            Action::Recover { processes, .. } if processes.iter().any(|id| crashed.contains(id)) => at(cue),
            _ => None,
        });
        returns.filter(|time| *time > crash).map(|time| time - crash).min()
    })
}

/// What became of a scenario that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// Why it ended.
    pub reason: EndReason,
    /// The lines of the script that waited for something that did not happen.
    pub unmet: Vec<String>,
}

/// Plays `scenario` on a cluster whose nodes stand by, and says why it ended. `perpetual` says that the
/// system never comes to rest.
///
/// # Errors
/// If a node ends by itself or does not come up again.
pub async fn play(
    cluster: &mut Cluster,
    scenario: &Scenario,
    perpetual: bool,
    limits: Limits,
) -> Result<Played, ClusterError> {
    let (timed, mut waiting) = sort(scenario);
    let reason = play_all(cluster, scenario, perpetual, limits, timed, &mut waiting).await?;
    let line =
        |Waiting { trigger, action, .. }| Cue { occasion: Occasion::When(trigger), action }.to_string();
    Ok(Played { reason, unmet: waiting.into_iter().map(line).collect() })
}

async fn play_all(
    cluster: &mut Cluster,
    scenario: &Scenario,
    perpetual: bool,
    limits: Limits,
    mut timed: Vec<Timed>,
    waiting: &mut Vec<Waiting>,
) -> Result<EndReason, ClusterError> {
    let stretch = cluster.blueprint.stretch;
    // A scenario means what it means in the simulator.
    cluster.cuts_lose = true;
    arrange(cluster, scenario);
    let last = timed.last().map_or(Duration::ZERO, |cue| cue.time);
    timed.reverse();
    // What the network is like at the beginning, it is like before anybody speaks.
    while let Some(cue) = timed.pop_if(|cue| cue.time.is_zero() && is_about_the_network(&cue.action)) {
        cluster.perform(&cue.action).await?;
    }
    cluster.begin();
    let mut settled = match scenario.network.model {
        TimeModel::PartiallySynchronous { gst, .. } => Some(cluster.instant(gst)),
        _ => None,
    };
    let patience = cluster.instant(Duration::ZERO) + limits.patience;
    let limit = scenario.time_limit.map(|limit| cluster.instant(limit));
    let peace = cluster.instant(last).max(settled.unwrap_or_else(Instant::now)) + limits.peace;
    let within = scenario.expect.within.map(|within| within.mul_f64(stretch));
    let deadline = within.map(|within| peace - limits.peace + within);
    let mut rest = Rest::default();
    loop {
        let now = Instant::now();
        if settled.take_if(|settled| *settled <= now).is_some()
            && let TimeModel::PartiallySynchronous { delta, .. } = scenario.network.model
        {
            cluster.tell_all(SupervisorCommand::LatencyLimit(delta.mul_f64(stretch)));
        }
        prepare(cluster, &mut timed, now)?;
        if let Some(Timed { action, given, .. }) = timed.pop_if(|cue| cluster.instant(cue.time) <= now) {
            let action = without(action, |id| given.get(&id) == Some(&cluster.members[&id].life));
            perform(cluster, &action, waiting).await?;
            continue;
        }
        let script_is_over = timed.is_empty();
        match scenario.until {
            Until::Time(time) if cluster.instant(time) <= now => {
                cluster.end_at(time);
                return Ok(EndReason::Time);
            }
            Until::Events(events) if cluster.records() >= events => {
                return Ok(EndReason::Events);
            }
            Until::Agree if script_is_over && cluster.agreed_leader().is_some() => {
                return Ok(EndReason::Agreement);
            }
            _ => {}
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Ok(EndReason::Deadline);
        }
        if limit.is_some_and(|limit| limit <= now) {
            // Whatever else this machine does: what comes after the limit is not part of the run.
            scenario.time_limit.inspect(|limit| cluster.end_at(*limit));
            return Ok(EndReason::TimeLimit);
        }
        if patience <= now {
            return Ok(EndReason::TimeLimit);
        }
        let asks_for_rest = matches!(scenario.until, Until::Quiet | Until::Agree);
        if asks_for_rest && script_is_over {
            if perpetual && deadline.is_none() && peace <= now {
                return Ok(EndReason::LeftInPeace);
            }
            if !perpetual && rest.has_come(cluster).await? {
                return Ok(EndReason::Rest);
            }
        }
        let next = timed.last().map(|cue| cluster.instant(cue.time));
        let soon = now + Duration::from_millis(20);
        let end = if let Until::Time(time) = scenario.until { Some(cluster.instant(time)) } else { None };
        let deadline = [next, settled, limit, deadline, end].into_iter().flatten().fold(soon, Instant::min);
        if let Some((id, NodeReport::Reached(reached))) = cluster.attend(deadline).await? {
            occasion(cluster, id, &reached, waiting).await?;
        }
    }
}

/// Tells every node what the network is to be like, where to stand still, and what its clients do.
fn arrange(cluster: &mut Cluster, scenario: &Scenario) {
    let stretch = cluster.blueprint.stretch;
    let network = &scenario.network;
    if matches!(network.model, TimeModel::Synchronous { .. }) {
        // Messages arrive well within a pulse as it is.
    } else {
        let latency = longer(&network.latency, stretch).to_string();
        cluster.tell_all(SupervisorCommand::Latency { to: None, latency });
        for ((from, to), latency) in &network.links {
            let latency = longer(latency, stretch).to_string();
            cluster.tell_always(*from, SupervisorCommand::Latency { to: Some(*to), latency });
        }
        cluster.tell_all(SupervisorCommand::Fifo(network.fifo));
    }
    if network.loss > 0.0 {
        cluster.tell_all(SupervisorCommand::Loss(network.loss));
    }
    if network.duplication > 0.0 {
        cluster.tell_all(SupervisorCommand::Duplication(network.duplication));
    }
    for id in cluster.ids().to_vec() {
        let breaks: Vec<Moment> = scenario
            .script
            .iter()
            .filter_map(|cue| match &cue.occasion {
                Occasion::When(trigger) if trigger.process.is_none_or(|process| process == id) => {
                    moment(&trigger.what)
                }
                _ => None,
            })
            .collect();
        if !breaks.is_empty() {
            cluster.tell_always(id, SupervisorCommand::Break(breaks));
        }
        if let Some(workload) = &scenario.workload {
            cluster.tell(id, clients(workload, id, stretch));
        }
    }
}

fn longer(latency: &Latency, stretch: f64) -> Latency {
    match latency {
        Latency::Constant(time) => Latency::Constant(time.mul_f64(stretch)),
        Latency::Uniform { min, max } => {
            Latency::Uniform { min: min.mul_f64(stretch), max: max.mul_f64(stretch) }
        }
        Latency::Exponential { mean } => Latency::Exponential { mean: mean.mul_f64(stretch) },
        Latency::LogNormal { median, sigma } => {
            Latency::LogNormal { median: median.mul_f64(stretch), sigma: *sigma }
        }
    }
}

/// The script in the order of time, and what waits for an occasion.
fn sort(scenario: &Scenario) -> (Vec<Timed>, Vec<Waiting>) {
    let (mut timed, mut waiting) = (Vec::new(), Vec::new());
    for Cue { occasion, action } in &scenario.script {
        match occasion {
            Occasion::At(time) => {
                timed.push(Timed { time: *time, action: action.clone(), given: BTreeMap::new() });
            }
            // Nobody counts the events of all nodes: whoever starts a cluster refuses it.
            Occasion::After(_) => {}
            Occasion::When(trigger) => waiting.push(Waiting {
                left: trigger.nth.max(1),
                trigger: trigger.clone(),
                action: action.clone(),
            }),
        }
    }
    timed.sort_by_key(|cue| cue.time);
    (timed, waiting)
}

/// Gives commands and starts processes again ahead of their time: a node is more punctual than commands to
/// it. `timed` has the next cue last.
fn prepare(cluster: &mut Cluster, timed: &mut [Timed], now: Instant) -> Result<(), ClusterError> {
    for cue in timed.iter_mut().rev() {
        if cluster.instant(cue.time) > now + AHEAD {
            break;
        }
        match &cue.action {
            Action::Command { word, processes } => {
                let at = cue.time.mul_f64(cluster.blueprint.stretch).as_nanos() as u64;
                for id in processes {
                    let member = &cluster.members[id];
                    if member.is_alive() && !member.paused && !cue.given.contains_key(id) {
                        cue.given.insert(*id, member.life);
                        cluster.tell(*id, SupervisorCommand::CommandAt { word: word.clone(), at });
                    }
                }
            }
            Action::Recover { processes, amnesia } => {
                for id in processes {
                    cluster.restart_ahead(*id, *amnesia, cue.time)?;
                }
            }
            // What comes later may depend on whom this brings down.
            Action::Crash(_) => break,
            _ => {}
        }
    }
    Ok(())
}

/// The action, without those who know already if it is a command.
fn without(action: Action, knows: impl Fn(u64) -> bool) -> Action {
    match action {
        Action::Command { word, mut processes } => {
            processes.retain(|id| !knows(*id));
            Action::Command { word, processes }
        }
        other => other,
    }
}

/// Whether it only changes what becomes of messages.
fn is_about_the_network(action: &Action) -> bool {
    matches!(
        action,
        Action::Cut(_)
            | Action::Partition(_)
            | Action::Heal(_)
            | Action::Slow { .. }
            | Action::Drift { .. }
            | Action::Loss(_)
    )
}

/// Does something, and what waits for the crashes that this makes.
async fn perform(
    cluster: &mut Cluster,
    action: &Action,
    waiting: &mut Vec<Waiting>,
) -> Result<(), ClusterError> {
    let mut actions = vec![action.clone()];
    while let Some(action) = actions.pop() {
        cluster.perform(&action).await?;
        if let Action::Crash(crashed) = &action {
            for id in crashed {
                actions.extend(due(waiting, *id, |kind| *kind == TriggerKind::Crashes));
            }
        }
    }
    Ok(())
}

/// Takes out what waited for this.
fn due(waiting: &mut Vec<Waiting>, id: u64, fits: impl Fn(&TriggerKind) -> bool) -> Vec<Action> {
    let mut actions = Vec::new();
    waiting.retain_mut(|one| {
        if one.trigger.process.is_some_and(|process| process != id) || !fits(&one.trigger.what) {
            return true;
        }
        one.left -= 1;
        if one.left == 0 {
            actions.push(one.action.clone());
        }
        one.left > 0
    });
    actions
}

/// A node stands still because of something that the script may wait for.
async fn occasion(
    cluster: &mut Cluster,
    id: u64,
    reached: &Moment,
    waiting: &mut Vec<Waiting>,
) -> Result<(), ClusterError> {
    let life = cluster.members[&id].life;
    let mut went = false;
    for action in due(waiting, id, |kind| moment(kind).as_ref() == Some(reached)) {
        // Who is paused finishes its step first, as in the simulator.
        if matches!(&action, Action::Pause(processes) if processes.contains(&id)) && !went {
            went = true;
            cluster.tell(id, SupervisorCommand::Go);
            let deadline = Instant::now() + Duration::from_secs(2);
            while let Some(report) = cluster.attend_anew(deadline).await? {
                match report {
                    (who, NodeReport::Went) if who == id => break,
                    (_, NodeReport::Reached(_)) => cluster.postponed.push_back(report),
                    _ => {}
                }
            }
        }
        perform(cluster, &action, waiting).await?;
    }
    if !went && cluster.members[&id].life == life {
        cluster.tell(id, SupervisorCommand::Go);
    }
    Ok(())
}

/// Whether nothing can happen any more: nothing has happened for a while, and nobody waits for a timer.
#[derive(Debug, Default)]
struct Rest {
    records: u64,
    looked: Option<Instant>,
    quiet_looks: u32,
}

impl Rest {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    const QUIET_LOOKS: u32 = 4;

    async fn has_come(&mut self, cluster: &mut Cluster) -> Result<bool, ClusterError> {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now.duration_since(looked) < Self::LOOK_EVERY) {
            return Ok(false);
        }
        self.looked = Some(now);
        let asked: BTreeSet<u64> = cluster.alive().filter(|id| !cluster.is_paused(*id)).collect();
        let overviews = cluster.overviews(now + Duration::from_secs(2)).await?;
        let idle = overviews.len() == asked.len()
            && overviews.values().all(|overview| overview.started && overview.pending == 0)
            && cluster.foretold.is_empty();
        let silent = std::mem::replace(&mut self.records, cluster.records()) == cluster.records();
        self.quiet_looks = if idle && silent { self.quiet_looks + 1 } else { 0 };
        Ok(self.quiet_looks >= Self::QUIET_LOOKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        let text = format!("algorithm = \"coordinator\"\nprocesses = 3\n{text}");
        habemus_scenario::parse("test.toml", &text).expect("it is a scenario").scenario
    }

    #[test]
    fn a_scenario_is_played_as_slowly_as_its_finest_distinction_needs() {
        let script = "script = [\"0ms acquire 1\", \"40ms acquire 2\", \"42ms crash 1\"]\n";
        assert_eq!(slowness(&scenario(script)), 5.0);
        assert_eq!(slowness(&scenario("[network]\nlatency = \"5ms\"")), 2.0);
        assert_eq!(slowness(&scenario("[network]\nlatency = \"1ms..2ms\"")), 1.0);
        assert_eq!(slowness(&scenario("[network]\nlatency = \"1us\"")), SLOWEST);
        assert_eq!(slowness(&scenario("script = [\"20ms crash 1\", \"70ms recover 1\"]")), 2.0);
        assert_eq!(slowness(&scenario("[network]\nmodel = \"synchronous\"\npulse = \"20ms\"")), 5.0);
    }
}
