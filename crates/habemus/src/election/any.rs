//! Any election that can be held again and again, as one process.
//!
//! What stands on an election (a lock whose coordinator is elected) would be compiled once for each of them.
//! Programs that choose the election at run time need it only once, on this.

use std::any::Any;
use std::fmt::{self, Debug};
use std::time::Duration;

use super::all_to_all::AllToAll;
use super::anonymous_ring::AnonymousRing;
use super::bully::Bully;
use super::capture_async::CaptureAsync;
use super::capture_sync::CaptureSync;
use super::chang_roberts::ChangRoberts;
use super::collecting_ring::CollectingRing;
use super::dolev_klawe_rodeh::DolevKlaweRodeh;
use super::franklin::Franklin;
use super::franklin::as_printed::FranklinAsPrinted;
use super::hirschberg_sinclair::HirschbergSinclair;
use super::itai_rodeh::ItaiRodeh;
use super::large_group::LargeGroup;
use super::majority::Majority;
use super::omega::Omega;
use super::recurring::Recurring;
use super::stable::StableElection;
use super::yo_yo::YoYo;
use super::{Command, Election};
use crate::rounds::Synchronous;
use crate::term::{Sort, Term, TermInvariant, TermPart};
use crate::topology::Complete;
use crate::{Address, Context, Process, Said, Step, Suspicion, System};

/// Writes the five types, which have one variant for each election, and passes every event on to the right
/// one.
macro_rules! any_election {
    ($($(#[$doc:meta])* $name:ident($process:ty)),+ $(,)?) => {
        /// The election at one process, whichever it is.
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub enum AnyElection { $($(#[$doc])* $name($process)),+ }

        /// The system of the election that was chosen.
        #[derive(Clone, Debug)]
        pub enum Choice { $($(#[$doc])* $name(System<$process>)),+ }

        /// What is sent.
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum Message { $($(#[$doc])* $name(<$process as Process>::Message)),+ }

        /// What a process is woken for.
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum Timer { $($(#[$doc])* $name(<$process as Process>::Timer)),+ }

        /// What survives a crash.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum Remembered {
            /// Nothing was stored yet.
            #[default]
            Nothing,
            $($(#[$doc])* $name(<$process as Process>::Stable)),+
        }

        impl Debug for AnyElection {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(AnyElection::$name(inner) => inner.fmt(f)),+ }
            }
        }

        impl Debug for Message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Message::$name(inner) => inner.fmt(f)),+ }
            }
        }

        impl Debug for Timer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Timer::$name(inner) => inner.fmt(f)),+ }
            }
        }

        impl crate::Message for Message {
            fn kind(&self) -> &'static str {
                match self { $(Message::$name(inner) => inner.kind()),+ }
            }

            fn vocabulary() -> Vec<&'static str> {
                let mut kinds = Vec::new();
                $(kinds.extend(<<$process as Process>::Message as crate::Message>::vocabulary());)+
                kinds.sort_unstable();
                kinds.dedup();
                kinds
            }

            fn is_background(&self) -> bool {
                match self { $(Message::$name(inner) => inner.is_background()),+ }
            }
        }

        impl Choice {
            /// The choice of this system, if it is one of an election that can be held again and again.
            pub fn of<P: Process>(system: System<P>) -> Option<Self> {
                let system: Box<dyn Any> = Box::new(system);
                let system = match system.downcast::<System<AnyElection>>() {
                    Ok(system) => return Some(system.config),
                    Err(other) => other,
                };
                $(let system = match system.downcast::<System<$process>>() {
                    Ok(system) => return Some(Choice::$name(*system)),
                    Err(other) => other,
                };)+
                drop(system);
                None
            }
        }

        impl Process for AnyElection {
            type Problem = Election;
            /// Inside, each election sees its own network in this one.
            type Topology = Complete;
            type Config = Choice;
            type Message = Message;
            type Timer = Timer;
            type Stable = Remembered;

            fn is_background(timer: &Timer) -> bool {
                match timer { $(Timer::$name(inner) => <$process>::is_background(inner)),+ }
            }

            fn on_start(recovered: Option<Remembered>, cx: &mut Context<'_, Self>) -> Self {
                match cx.config() {
                    $(Choice::$name(system) => {
                        let recovered = match recovered {
                            Some(Remembered::$name(stable)) => Some(stable),
                            Some(_) => Some(Default::default()),
                            None => None,
                        };
                        let (election, step) = cx.inner(system, |cx| <$process>::on_start(recovered, cx));
                        pass_on(step, cx, Message::$name, Timer::$name, Remembered::$name);
                        AnyElection::$name(election)
                    })+
                }
            }

            fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
                match (self, message, cx.config()) {
                    $((AnyElection::$name(election), Message::$name(message), Choice::$name(system)) => {
                        let ((), step) = cx.inner(system, |cx| election.on_message(from, message, cx));
                        pass_on(step, cx, Message::$name, Timer::$name, Remembered::$name);
                    })+
                    // What another election says has no meaning in this one.
                    _ => {}
                }
            }

            fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
                match (self, timer, cx.config()) {
                    $((AnyElection::$name(election), Timer::$name(timer), Choice::$name(system)) => {
                        let ((), step) = cx.inner(system, |cx| election.on_timer(timer, cx));
                        pass_on(step, cx, Message::$name, Timer::$name, Remembered::$name);
                    })+
                    _ => {}
                }
            }

            fn on_command(&mut self, command: Command, cx: &mut Context<'_, Self>) {
                match (self, cx.config()) {
                    $((AnyElection::$name(election), Choice::$name(system)) => {
                        let ((), step) = cx.inner(system, |cx| election.on_command(command, cx));
                        pass_on(step, cx, Message::$name, Timer::$name, Remembered::$name);
                    })+
                    _ => unreachable!("the choice is made once"),
                }
            }

            fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
                match (self, cx.config()) {
                    $((AnyElection::$name(election), Choice::$name(system)) => {
                        let ((), step) = cx.inner(system, |cx| election.on_suspicion(suspicion, cx));
                        pass_on(step, cx, Message::$name, Timer::$name, Remembered::$name);
                    })+
                    _ => unreachable!("the choice is made once"),
                }
            }

            fn on_stop(&mut self, cx: &mut Context<'_, Self>) {
                match (self, cx.config()) {
                    $((AnyElection::$name(election), Choice::$name(system)) => {
                        let ((), step) = cx.inner(system, |cx| election.on_stop(cx));
                        pass_on(step, cx, Message::$name, Timer::$name, Remembered::$name);
                    })+
                    _ => unreachable!("the choice is made once"),
                }
            }

            fn lease(&self, system: &System<Self>) -> Option<Timer> {
                match (self, &system.config) {
                    $((AnyElection::$name(election), Choice::$name(system)) => {
                        election.lease(system).map(Timer::$name)
                    })+
                    _ => unreachable!("the choice is made once"),
                }
            }

            fn leadership(&self, system: &System<Self>) -> Option<super::Output> {
                match (self, &system.config) {
                    $((AnyElection::$name(election), Choice::$name(system)) => election.leadership(system),)+
                    _ => unreachable!("the choice is made once"),
                }
            }

            fn renumbered(stable: Remembered) -> Option<Remembered> {
                match stable {
                    Remembered::Nothing => Some(Remembered::Nothing),
                    $(Remembered::$name(stable) => <$process>::renumbered(stable).map(Remembered::$name)),+
                }
            }

            fn longest_lease(system: &System<Self>) -> Option<Duration> {
                match &system.config { $(Choice::$name(system) => <$process>::longest_lease(system)),+ }
            }
        }

        impl TermInvariant for AnyElection {
            fn visit_terms(part: TermPart<'_, Self>, visit: &mut dyn FnMut(Sort, &mut Term)) {
                match part {
                    $(TermPart::Process(AnyElection::$name(inner)) => {
                        <$process>::visit_terms(TermPart::Process(inner), visit);
                    })+
                    $(TermPart::Message(Message::$name(inner)) => {
                        <$process>::visit_terms(TermPart::Message(inner), visit);
                    })+
                    $(TermPart::Timer(Timer::$name(inner)) => {
                        <$process>::visit_terms(TermPart::Timer(inner), visit);
                    })+
                    $(TermPart::Stable(Remembered::$name(inner)) => {
                        <$process>::visit_terms(TermPart::Stable(inner), visit);
                    })+
                    TermPart::Stable(Remembered::Nothing) => {}
                }
            }
        }
    };
}

/// Elections that count nothing which only grows.
macro_rules! without_terms {
    ($($process:ty),+) => {
        $(impl TermInvariant for $process {
            fn visit_terms(_: TermPart<'_, Self>, _: &mut dyn FnMut(Sort, &mut Term)) {}
        })+
    };
}

// How often a process has started is no term: few recoveries make few of them.
without_terms!(Bully, StableElection, Omega, CollectingRing, LargeGroup, YoYo, CaptureAsync, AnonymousRing);
without_terms!(ChangRoberts, Franklin, FranklinAsPrinted, HirschbergSinclair, DolevKlaweRodeh);
without_terms!(Synchronous<CaptureSync>, Synchronous<AllToAll>);

any_election! {
    /// Bully.
    Bully(Bully),
    /// Stable.
    Stable(StableElection),
    /// The eventual leader.
    Omega(Omega),
    /// Majority.
    Majority(Majority),
    /// The collecting ring.
    CollectingRing(CollectingRing),
    /// Chang and Roberts's.
    ChangRoberts(Recurring<ChangRoberts>),
    /// Franklin's.
    Franklin(Recurring<Franklin>),
    /// Franklin's, as the notes print it.
    FranklinAsPrinted(Recurring<FranklinAsPrinted>),
    /// Hirschberg and Sinclair's.
    HirschbergSinclair(Recurring<HirschbergSinclair>),
    /// Dolev, Klawe and Rodeh's.
    DolevKlaweRodeh(Recurring<DolevKlaweRodeh>),
    /// The anonymous ring.
    AnonymousRing(Recurring<AnonymousRing>),
    /// Itai and Rodeh's.
    ItaiRodeh(Recurring<ItaiRodeh>),
    /// Yo-Yo.
    YoYo(Recurring<YoYo>),
    /// Asynchronous capture.
    CaptureAsync(Recurring<CaptureAsync>),
    /// Synchronous capture.
    CaptureSync(Recurring<Synchronous<CaptureSync>>),
    /// Everybody tells everybody.
    AllToAll(Recurring<Synchronous<AllToAll>>),
    /// The probabilistic election for large groups.
    LargeGroup(Recurring<LargeGroup>),
}

/// What one election asked for is asked of the driver, in the words of all.
fn pass_on<P: Process<Problem = Election>>(
    step: Step<P>,
    cx: &mut Context<'_, AnyElection>,
    message_of: fn(P::Message) -> Message,
    timer_of: fn(P::Timer) -> Timer,
    remembered: fn(P::Stable) -> Remembered,
) {
    if let Some(stable) = step.persist {
        cx.persist(remembered(stable));
    }
    for effect in step.effects {
        match cx.carry_out(effect, message_of, timer_of) {
            Some(Said::Output(output)) => cx.output(output),
            Some(Said::Suspicion(suspicion)) => cx.report(suspicion),
            None => {}
        }
    }
}
