//! A process of any type behind one interface that speaks bytes and plain data.
//!
//! The catalogue hands out systems whose type is known only to the compiler. [`build`] wraps one process of such a
//! system in a [`Machine`]. This is the only part of the driver that is compiled once per algorithm, so it does
//! nothing but translate; transport, timers, storage and records are the same code for all. It is a crate of its own
//! so that whoever works on those does not wait for every algorithm to be compiled again.

use std::sync::Arc;
use std::time::Duration;

use habemus::catalogue::{self, Entry, Request, Setup, SetupError, Visitor};
use habemus::property::Population;
use habemus::{
    Address, Context, Delay, Effect, Message, Problem, Process, Status, Step, Suspicion, System, Topology,
};

mod random;
pub use random::Random;

/// What there is to know of a system before it runs.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What the catalogue says of the algorithm.
    pub entry: &'static Entry,
    /// Who takes part.
    pub population: Population,
    /// How the processes are connected, to be shown.
    pub topology: String,
    /// The words for the problem's commands.
    pub commands: &'static [&'static str],
    /// Whether it works in pulses.
    pub synchronous: bool,
    /// After how long somebody who knows must say who crashed; `None`: nobody must.
    pub oracle: Option<Duration>,
    /// Whether it never comes to rest.
    pub perpetual: bool,
}

/// A process that can be driven without knowing its type.
pub trait Machine: Send {
    /// Another process of the same system at the same place, not started.
    fn fresh(&self) -> Box<dyn Machine>;

    /// What stable storage holds before anything was stored.
    fn blank(&self) -> Vec<u8>;

    /// Starts it; `recovered` is what stable storage held, `None` at the first start.
    ///
    /// # Errors
    /// If that is not what this algorithm stores.
    fn start(&mut self, recovered: Option<&[u8]>, now: Duration, out: &mut Outcome) -> Result<(), Garbled>;

    /// A message has arrived.
    ///
    /// # Errors
    /// If it is none of this algorithm; then nothing has changed.
    fn message(
        &mut self,
        from: Address,
        bytes: &[u8],
        now: Duration,
        out: &mut Outcome,
    ) -> Result<Label, Garbled>;

    /// A timer has run out; `key` is what [`Act::SetTimer`] gave.
    ///
    /// # Errors
    /// If nothing ever gave it.
    fn timer(&mut self, key: &[u8], now: Duration, out: &mut Outcome) -> Result<Label, Garbled>;

    /// The application asks for something, by a word of the problem; `None` if there is no such word.
    fn command(&mut self, word: &str, now: Duration, out: &mut Outcome) -> Option<Said>;

    /// Whoever knows says who crashed or came back.
    fn suspicion(&mut self, suspicion: Suspicion, now: Duration, out: &mut Outcome);

    /// It is about to be stopped in good order.
    fn stop(&mut self, now: Duration, out: &mut Outcome);

    /// What a client that works in a loop asks next, when the process has come to this status.
    fn next_command(&self, status: &Status) -> Option<String>;
}

/// Everything that one handler asked for, as plain data. It is reused from call to call.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What stable storage must hold before anything else is done.
    pub persist: Option<Vec<u8>>,
    /// What to do, in this order.
    pub acts: Vec<Act>,
}

/// One thing to do.
#[derive(Debug)]
pub enum Act {
    /// Send a message.
    Send {
        /// To whom.
        to: Address,
        /// The message.
        bytes: Vec<u8>,
        /// What people see of it.
        label: Label,
    },
    /// Wake the process later; a running timer of the same key is replaced.
    SetTimer {
        /// What to give back then.
        key: Vec<u8>,
        /// After how long.
        after: Delay,
        /// Whether it is the hum of a detector.
        background: bool,
    },
    /// Do not wake it after all.
    CancelTimer {
        /// The timer's key.
        key: Vec<u8>,
    },
    /// Tell the application.
    Output(Said),
    /// The detector speaks.
    Suspicion(Suspicion),
}

/// What people see of a message or timer. The text is empty where nobody records.
#[derive(Clone, Debug, Default)]
pub struct Label {
    /// The name of the message's kind; empty for timers.
    pub kind: &'static str,
    /// All of it, to be shown.
    pub text: String,
    /// Whether it is the hum of a detector.
    pub background: bool,
}

/// A command or an output: for people, for the record, and for those who know its type.
#[derive(Clone, Debug)]
pub struct Said {
    /// To be shown.
    pub label: String,
    /// For the record; null where nobody records.
    pub value: serde_json::Value,
    /// For those who know its type, in postcard.
    pub bytes: Vec<u8>,
    /// What it makes of the process, if anything.
    pub status: Option<Status>,
}

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no {0} of this algorithm")]
pub struct Garbled(
    /// What they should be.
    pub &'static str,
);

/// Makes the process at the place `me` in the system that `request` describes. `describe` says whether labels are
/// wanted.
///
/// # Errors
/// If the request makes no sense.
pub fn build(
    request: &Request<'_>,
    me: Address,
    describe: bool,
) -> Result<(Facts, Box<dyn Machine>), SetupError> {
    catalogue::build(request)?.accept(Erase { me, describe })
}

/// What there is to know of the system that `request` describes.
///
/// # Errors
/// If the request makes no sense.
pub fn facts(request: &Request<'_>) -> Result<Facts, SetupError> {
    build(request, Address(0), false).map(|(facts, _)| facts)
}

struct Erase {
    me: Address,
    describe: bool,
}

impl Visitor for Erase {
    type Result = (Facts, Box<dyn Machine>);

    fn visit<P: Process>(self, setup: Setup<P>) -> Self::Result {
        let facts = Facts {
            entry: setup.entry,
            population: setup.population,
            topology: setup.topology,
            commands: P::Problem::COMMANDS,
            synchronous: setup.synchronous,
            oracle: setup.oracle,
            perpetual: setup.perpetual,
        };
        let driven = Driven::<P> {
            system: Arc::new(setup.system),
            me: self.me,
            describe: self.describe,
            process: None,
            step: Step::default(),
            random: Random::new(),
        };
        (facts, Box::new(driven))
    }
}

/// One process, and what its handlers need.
struct Driven<P: Process> {
    system: Arc<System<P>>,
    me: Address,
    describe: bool,
    process: Option<P>,
    step: Step<P>,
    random: Random,
}

impl<P: Process> Driven<P> {
    fn handle(
        &mut self,
        now: Duration,
        out: &mut Outcome,
        handler: impl FnOnce(&mut P, &mut Context<'_, P>),
    ) {
        // Nothing happens to a process that has not started.
        let Some(process) = &mut self.process else { return };
        let chooser = &mut |bound: u32| self.random.below(u64::from(bound)) as u32;
        handler(process, &mut Context::new(self.me, &self.system, now, &mut self.step, chooser));
        self.translate(out);
    }

    fn translate(&mut self, out: &mut Outcome) {
        out.persist = self.step.persist.take().map(|stable| encode(&stable));
        let (describe, system, me) = (self.describe, &self.system, self.me);
        out.acts.extend(self.step.effects.drain(..).map(|effect| match effect {
            Effect::Send { to, message } => {
                assert!(
                    system.topology.linked(me, to),
                    "bug in the algorithm: {me:?} sent to {to:?}, but there is no such link"
                );
                Act::Send { to, bytes: encode(&message), label: label_of(&message, describe) }
            }
            Effect::SetTimer { timer, after } => {
                Act::SetTimer { key: encode(&timer), after, background: P::is_background(&timer) }
            }
            Effect::CancelTimer(timer) => Act::CancelTimer { key: encode(&timer) },
            Effect::Output(output) => {
                Act::Output(said(&output, P::Problem::status_after_output(&output), describe))
            }
            Effect::Suspicion(suspicion) => Act::Suspicion(suspicion),
        }));
    }
}

impl<P: Process> Machine for Driven<P> {
    fn fresh(&self) -> Box<dyn Machine> {
        Box::new(Driven::<P> {
            system: Arc::clone(&self.system),
            me: self.me,
            describe: self.describe,
            process: None,
            step: Step::default(),
            random: Random::new(),
        })
    }

    fn blank(&self) -> Vec<u8> {
        encode(&P::Stable::default())
    }

    fn start(&mut self, recovered: Option<&[u8]>, now: Duration, out: &mut Outcome) -> Result<(), Garbled> {
        let recovered =
            recovered.map(postcard::from_bytes).transpose().map_err(|_| Garbled("stored state"))?;
        let chooser = &mut |bound: u32| self.random.below(u64::from(bound)) as u32;
        let mut cx = Context::new(self.me, &self.system, now, &mut self.step, chooser);
        self.process = Some(P::on_start(recovered, &mut cx));
        self.translate(out);
        Ok(())
    }

    fn message(
        &mut self,
        from: Address,
        bytes: &[u8],
        now: Duration,
        out: &mut Outcome,
    ) -> Result<Label, Garbled> {
        let message: P::Message = decode(bytes).ok_or(Garbled("message"))?;
        let label = label_of(&message, self.describe);
        self.handle(now, out, |process, cx| process.on_message(from, message, cx));
        Ok(label)
    }

    fn timer(&mut self, key: &[u8], now: Duration, out: &mut Outcome) -> Result<Label, Garbled> {
        let timer: P::Timer = decode(key).ok_or(Garbled("timer"))?;
        let text = if self.describe { format!("{timer:?}") } else { String::new() };
        let label = Label { kind: "", text, background: P::is_background(&timer) };
        self.handle(now, out, |process, cx| process.on_timer(timer, cx));
        Ok(label)
    }

    fn command(&mut self, word: &str, now: Duration, out: &mut Outcome) -> Option<Said> {
        let command = P::Problem::command(word)?;
        let said = said(&command, P::Problem::status_after_command(&command), self.describe);
        self.handle(now, out, |process, cx| process.on_command(command, cx));
        Some(said)
    }

    fn suspicion(&mut self, suspicion: Suspicion, now: Duration, out: &mut Outcome) {
        self.handle(now, out, |process, cx| process.on_suspicion(suspicion, cx));
    }

    fn stop(&mut self, now: Duration, out: &mut Outcome) {
        self.handle(now, out, P::on_stop);
    }

    fn next_command(&self, status: &Status) -> Option<String> {
        P::Problem::next_command(status).map(|command| command.to_string())
    }
}

fn encode(value: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).expect("a plain value can always be serialised")
}

/// All of the bytes must belong to the value.
fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::take_from_bytes(bytes).ok().and_then(|(value, rest)| rest.is_empty().then_some(value))
}

fn label_of<M: Message>(message: &M, describe: bool) -> Label {
    let text = if describe { format!("{message:?}") } else { String::new() };
    Label { kind: message.kind(), text, background: message.is_background() }
}

fn said<T: serde::Serialize + std::fmt::Display>(value: &T, status: Option<Status>, describe: bool) -> Said {
    let json =
        if describe { serde_json::to_value(value).unwrap_or_default() } else { serde_json::Value::Null };
    Said { label: value.to_string(), value: json, bytes: encode(value), status }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use habemus::Id;

    use super::*;

    fn bully() -> Box<dyn Machine> {
        let options = BTreeMap::new();
        let request = Request {
            algorithm: "bully",
            ids: (1..=3).map(Id).collect(),
            shape: None,
            detector: Some("none"),
            options: &options,
            pulse: habemus::DEFAULT_PULSE,
            seed: 0,
            signatures: None,
        };
        build(&request, Address(1), true).expect("the catalogue has a bully").1
    }

    #[test]
    fn a_process_is_driven_by_bytes_alone() {
        let (mut machine, mut out) = (bully(), Outcome::default());
        machine.start(None, Duration::ZERO, &mut out).expect("nothing is recovered");
        out = Outcome::default();
        machine.command("elect", Duration::ZERO, &mut out).expect("elections can be started");
        let sent = out.acts.iter().find_map(|act| match act {
            Act::Send { to, bytes, label } => Some((*to, bytes.clone(), label.text.clone())),
            _ => None,
        });
        let (to, bytes, text) = sent.expect("2 asks 3");
        assert_eq!((to, text.starts_with("Election")), (Address(2), true));
        out = Outcome::default();
        let label = machine.message(Address(0), &bytes, Duration::ZERO, &mut out).expect("it is a message");
        assert_eq!(label.kind, "Election");
    }

    #[test]
    fn garbage_is_refused_and_changes_nothing() {
        let (mut machine, mut out) = (bully(), Outcome::default());
        machine.start(None, Duration::ZERO, &mut out).expect("nothing is recovered");
        out = Outcome::default();
        let garbage = [0xff; 40];
        assert_eq!(
            machine.message(Address(0), &garbage, Duration::ZERO, &mut out).unwrap_err(),
            Garbled("message")
        );
        assert_eq!(machine.timer(&garbage, Duration::ZERO, &mut out).unwrap_err(), Garbled("timer"));
        assert!(machine.command("abdicate", Duration::ZERO, &mut out).is_none());
        assert!(out.acts.is_empty() && out.persist.is_none());
    }
}
