//! `lock` and `elect`: a program that runs while something is held, and not a moment longer.

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal};
use std::num::NonZeroU32;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use habemus_client::{ClientError, Guard, Mode, Session, Wait};
use rustix::process::{Pid, Signal};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::codes::{self, Failed};
use crate::guardian::{killed_at, wait_until};
use crate::options::{ServiceOptions, duration};
use crate::processes::{Family, MARK};

/// How it is held.
#[derive(Args, Clone)]
struct HoldOptions {
    #[command(flatten)]
    service: ServiceOptions,
    /// How long after this machine has gone it may be lost; etcd counts whole seconds
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "DURATION")]
    ttl: Duration,
    /// So long before it may be lost the program is asked to end, by SIGTERM; then it is killed [default: 2s,
    /// or a quarter of --ttl if that is less]
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    grace: Option<Duration>,
}

impl HoldOptions {
    fn grace(&self) -> Duration {
        self.grace.unwrap_or(Duration::from_secs(2).min(self.ttl / 4))
    }

    /// A session is renewed after a third of its time: whoever had to be asked before that would be asked at
    /// once.
    fn check(&self) -> Result<(), Failed> {
        if self.grace() <= self.ttl / 2 {
            return Ok(());
        }
        let (ttl, half) = (self.ttl, self.ttl / 2);
        let why =
            format!("--grace leaves no time of --ttl {ttl:?}: give {half:?} or less, or a longer --ttl");
        Err(Failed { code: codes::UNREACHABLE, why })
    }
}

/// Run a program while holding a lock; it is dead before anybody else can hold it.
#[derive(Args)]
#[command(after_help = format!("Examples:
  habemus lock orders -- ./nightly-job
  habemus lock orders --try -- ./nightly-job
  habemus lock orders --wait 30s --ttl 5s -- sh -c 'echo token $HABEMUS_TOKEN'
  habemus lock orders --shared -- ./report
  habemus lock licences --permits 3 -- ./simulation

The program finds HABEMUS_LOCK (the name) and HABEMUS_TOKEN (the fencing token)
in its environment, and ETCD_LOCK_KEY and ETCD_LOCK_REV as under etcdctl. It has
this program's input, output and terminal, and gets the signals that this one
gets. If the lock may be lost (the service cannot be reached, this program is
killed or stopped), the program and all that it has started are ended before
anybody else is inside.

{}", codes::HELP))]
pub(crate) struct Lock {
    /// The name of the lock
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// Do not wait if somebody else holds it
    #[arg(long = "try", conflicts_with = "wait")]
    tries: bool,
    /// Wait no longer than this
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    wait: Option<Duration>,
    /// Hold it beside others who share it, too
    #[arg(long, conflicts_with = "permits")]
    shared: bool,
    /// Hold it beside others, so many in all, who give the same number
    #[arg(long, value_name = "NUMBER")]
    permits: Option<NonZeroU32>,
    #[command(flatten)]
    hold: HoldOptions,
    /// The program, with its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Run a program while holding one of several permits.
#[derive(Args)]
#[command(after_help = format!("Examples:
  habemus semaphore licences --permits 3 -- ./simulation
      three at once; whoever comes fourth waits
  habemus semaphore licences --permits 3 --try -- ./simulation

As `habemus lock --permits`. All must give the same number: whoever gives
another waits until those are gone.

{}", codes::HELP))]
pub(crate) struct Semaphore {
    /// The name of the semaphore
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// How many may be inside at once
    #[arg(long, value_name = "NUMBER")]
    permits: NonZeroU32,
    /// Do not wait if all permits are taken
    #[arg(long = "try", conflicts_with = "wait")]
    tries: bool,
    /// Wait no longer than this
    #[arg(long, value_parser = duration, value_name = "DURATION")]
    wait: Option<Duration>,
    #[command(flatten)]
    hold: HoldOptions,
    /// The program, with its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Semaphore {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let Semaphore { name, permits, tries, wait, hold, program } = self;
        Lock { name, tries, wait, shared: false, permits: Some(permits), hold, program }.execute().await
    }
}

/// Run a program while leading an election, again after every loss.
#[derive(Args)]
#[command(after_help = format!("Examples:
  habemus elect scheduler -- ./scheduler
  habemus elect scheduler --value \"$(hostname)\" --once -- ./scheduler

As `habemus lock`, but it stands for election again when leadership was lost.
When the program ends by itself, this ends.

{}", codes::HELP))]
pub(crate) struct Elect {
    /// The name of the election
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// What observers see while this one leads [default: the number of this process]
    #[arg(long)]
    value: Option<String>,
    /// End when leadership was lost
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    hold: HoldOptions,
    /// The program, with its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Lock {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let wait = match (self.tries, self.wait) {
            (true, _) => Wait::Never,
            (false, Some(limit)) => Wait::For(limit),
            (false, None) => Wait::Always,
        };
        self.hold.check()?;
        let client = self.hold.service.connect()?;
        let session = client.session(self.hold.ttl).await?;
        let mode = match (self.shared, self.permits) {
            (true, _) => Mode::Shared,
            (false, Some(permits)) => Mode::Permits(permits),
            (false, None) => Mode::Exclusive,
        };
        let guard = held(&session, session.lock_as(&self.name, mode, wait)).await?;
        let ended = run(&self.hold, guard, &self.program).await?;
        match ended {
            Ended::ByItself(status) => Ok(code(status)),
            Ended::Lost => Err(lost()),
        }
    }
}

impl Elect {
    pub(crate) async fn execute(self) -> Result<u8, Failed> {
        let value = self.value.clone().unwrap_or_else(|| std::process::id().to_string());
        self.hold.check()?;
        let client = self.hold.service.connect()?;
        loop {
            let session = client.session(self.hold.ttl).await?;
            let guard = held(&session, session.campaign(&self.name, value.clone(), Wait::Always)).await;
            let ended = match guard {
                Ok(guard) => run(&self.hold, guard, &self.program).await?,
                Err(failed) if failed.code == codes::LOST => Ended::Lost,
                Err(failed) => return Err(failed),
            };
            match ended {
                Ended::ByItself(status) => return Ok(code(status)),
                Ended::Lost if self.once => return Err(lost()),
                Ended::Lost => eprintln!("habemusctl: leadership was lost; it stands for election again"),
            }
        }
    }
}

fn lost() -> Failed {
    Failed { code: codes::LOST, why: "it was lost, and the program was ended because of that".to_owned() }
}

/// Waits for what is wanted; whoever is told to stop meanwhile leaves the queue.
async fn held(
    session: &Session,
    wanted: impl Future<Output = Result<Guard, ClientError>>,
) -> Result<Guard, Failed> {
    let failed = tokio::select! {
        held = wanted => match held {
            Ok(guard) => return Ok(guard),
            Err(error) => Failed::from(error),
        },
        signal = stopping() => {
            Failed { code: 128 + signal, why: "it was told to stop before it was inside".to_owned() }
        }
    };
    // If that cannot be told, the session's time ends it.
    drop(tokio::time::timeout(Duration::from_secs(1), session.close()).await);
    Err(failed)
}

async fn stopping() -> u8 {
    let mut terminate = signal(SignalKind::terminate()).expect("signals can be heard");
    let mut interrupt = signal(SignalKind::interrupt()).expect("signals can be heard");
    tokio::select! {
        _ = terminate.recv() => 15,
        _ = interrupt.recv() => 2,
    }
}

/// The code with which a program ended, as shells tell it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// How the program ended.
enum Ended {
    ByItself(ExitStatus),
    Lost,
}

/// The way to the guardian.
struct Told {
    guardian: Child,
    words: ChildStdin,
}

impl Told {
    fn start(hold: &HoldOptions, guard: &Guard, mark: &str, until: Duration) -> Result<Told, Failed> {
        let cannot = |why: &dyn std::fmt::Display| Failed {
            code: codes::NOT_RUN,
            why: format!("the guardian cannot be started: {why}"),
        };
        let own = std::env::current_exe().map_err(|error| cannot(&error))?;
        let mut guardian = Command::new(own);
        hold.service.pass_on(&mut guardian);
        let mut guardian = guardian
            .arg("guardian")
            .args(["--session", &guard.session().id().to_string()])
            .args(["--mark", mark])
            .args(["--grace-ms", &hold.grace().as_millis().to_string()])
            .args(["--until-ns", &until.as_nanos().to_string()])
            // What the terminal sends is not for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| cannot(&error))?;
        let words = guardian.stdin.take().ok_or_else(|| cannot(&"it has no input"))?;
        Ok(Told { guardian, words })
    }

    async fn tell(&mut self, word: &str) {
        // If it is gone, the wrapper alone sees to everything.
        drop(self.words.write_all(format!("{word}\n").as_bytes()).await);
        drop(self.words.flush().await);
    }

    async fn dismiss(mut self) {
        self.tell("done").await;
        drop(self.words);
        // It may still be busy ending a session of which nobody can be told.
        drop(tokio::time::timeout(Duration::from_millis(100), self.guardian.wait()).await);
    }
}

/// Runs the program while the lock is held.
async fn run(hold: &HoldOptions, guard: Guard, program: &[OsString]) -> Result<Ended, Failed> {
    let Some(until) = guard.valid_until() else { return Ok(Ended::Lost) };
    let mark = format!("{:x}-{:x}-{}", guard.session().id(), guard.token(), std::process::id());
    let mut family = Family::new(&mark);
    let mut told = Told::start(hold, &guard, &mark, until)?;
    let started = start(&guard, program, &mark);
    let (mut child, group) = match started {
        Ok(started) => started,
        Err(failed) => {
            told.dismiss().await;
            close(&guard).await;
            return Err(failed);
        }
    };
    if let Some(group) = group {
        family.group = Some(group);
        told.tell(&format!("group {}", group.as_raw_nonzero())).await;
    }
    let ended = watch(hold, &guard, &mut child, &family, &mut told).await;
    // Whatever it has left running must not go on without the lock.
    family.kill().await;
    close(&guard).await;
    told.dismiss().await;
    ended
}

/// Ends the session, and with it whatever was held by it. If that cannot be told, its time ends it.
async fn close(guard: &Guard) {
    drop(tokio::time::timeout(Duration::from_secs(1), guard.session().close()).await);
}

fn start(guard: &Guard, program: &[OsString], mark: &str) -> Result<(Child, Option<Pid>), Failed> {
    let Some((file, arguments)) = program.split_first() else {
        return Err(Failed { code: codes::NOT_FOUND, why: "no program is given".to_owned() });
    };
    let mut command = Command::new(file);
    command
        .args(arguments)
        .env(MARK, mark)
        .env("HABEMUS_LOCK", guard.name())
        .env("HABEMUS_TOKEN", guard.token().to_string())
        .env("ETCD_LOCK_KEY", String::from_utf8_lossy(guard.key()).as_ref())
        .env("ETCD_LOCK_REV", guard.token().to_string());
    // In a group of its own it could not read from a terminal.
    let has_group = !std::io::stdin().is_terminal();
    if has_group {
        command.process_group(0);
    }
    let child = command.spawn().map_err(|error| Failed {
        code: if error.kind() == ErrorKind::NotFound { codes::NOT_FOUND } else { codes::NOT_RUN },
        why: format!("{}: {error}", file.to_string_lossy()),
    })?;
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    Ok((child, pid.filter(|_| has_group)))
}

/// Waits until the program ends, and ends it when it must.
async fn watch(
    hold: &HoldOptions,
    guard: &Guard,
    child: &mut Child,
    family: &Family,
    told: &mut Told,
) -> Result<Ended, Failed> {
    let hear = |kind| signal(kind).expect("signals can be heard");
    let mut terminate = hear(SignalKind::terminate());
    let mut interrupt = hear(SignalKind::interrupt());
    let mut hang_up = hear(SignalKind::hangup());
    let mut quit = hear(SignalKind::quit());
    let mut is_asked = false;
    loop {
        let until = guard.valid_until().unwrap_or_default();
        let grace = hold.grace();
        let next = if is_asked { killed_at(until, grace) } else { until.saturating_sub(grace) };
        let passed_on = tokio::select! {
            status = child.wait() => {
                let failed = |error: std::io::Error| Failed { code: codes::NOT_RUN, why: error.to_string() };
                let status = status.map_err(failed)?;
                return Ok(if is_asked { Ended::Lost } else { Ended::ByItself(status) });
            }
            Some(later) = guard.session().renewed() => {
                told.tell(&format!("until {}", later.as_nanos())).await;
                None
            }
            () = wait_until(next) => {
                if is_asked {
                    family.kill().await;
                    drop(child.wait().await);
                    return Ok(Ended::Lost);
                }
                eprintln!("habemusctl: it may be lost soon; the program is asked to end");
                is_asked = true;
                Some(Signal::TERM)
            }
            _ = terminate.recv() => Some(Signal::TERM),
            _ = hang_up.recv() => Some(Signal::HUP),
            // A terminal sends these to the program itself.
            _ = interrupt.recv() => family.group.map(|_| Signal::INT),
            _ = quit.recv() => family.group.map(|_| Signal::QUIT),
        };
        if let Some(signal) = passed_on {
            family.signal(signal);
        }
    }
}
