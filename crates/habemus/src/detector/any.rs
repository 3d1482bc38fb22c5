//! Any of the detectors, as one process.
//!
//! An algorithm on a detector is compiled once for each detector. Programs that choose the detector at run
//! time need it only once, on this.

use super::Detection;
use super::eventually_perfect::EventuallyPerfect;
use super::heartbeat::{Heartbeat, Message, Timer};
use super::phi_accrual::PhiAccrual;
use crate::topology::Complete;
use crate::{Address, Context, Process, Said, Step, System};

/// The detector at one process, whichever it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnyDetector {
    /// The driver speaks, and nothing is sent.
    Oracle,
    /// With a fixed timeout.
    Heartbeat(Heartbeat<Complete>),
    /// With a timeout that grows.
    EventuallyPerfect(EventuallyPerfect<Complete>),
    /// With a timeout that follows what is seen.
    PhiAccrual(PhiAccrual<Complete>),
}

/// The system of the detector that was chosen.
#[derive(Clone, Debug)]
pub enum Choice {
    /// The driver speaks, and nothing is sent.
    Oracle,
    /// With a fixed timeout.
    Heartbeat(System<Heartbeat<Complete>>),
    /// With a timeout that grows.
    EventuallyPerfect(System<EventuallyPerfect<Complete>>),
    /// With a timeout that follows what is seen.
    PhiAccrual(System<PhiAccrual<Complete>>),
}

impl Process for AnyDetector {
    type Problem = Detection;
    type Topology = Complete;
    type Config = Choice;
    type Message = Message;
    type Timer = Timer;
    type Stable = ();

    /// One of them does.
    const READS_CLOCK: bool = true;

    fn on_start(_: Option<()>, cx: &mut Context<'_, Self>) -> Self {
        match cx.config() {
            Choice::Oracle => AnyDetector::Oracle,
            Choice::Heartbeat(system) => AnyDetector::Heartbeat(start(system, cx)),
            Choice::EventuallyPerfect(system) => AnyDetector::EventuallyPerfect(start(system, cx)),
            Choice::PhiAccrual(system) => AnyDetector::PhiAccrual(start(system, cx)),
        }
    }

    fn on_message(&mut self, from: Address, message: Message, cx: &mut Context<'_, Self>) {
        match (self, cx.config()) {
            (AnyDetector::Oracle, Choice::Oracle) => {}
            (AnyDetector::Heartbeat(detector), Choice::Heartbeat(system)) => {
                run(system, cx, |cx| detector.on_message(from, message, cx));
            }
            (AnyDetector::EventuallyPerfect(detector), Choice::EventuallyPerfect(system)) => {
                run(system, cx, |cx| detector.on_message(from, message, cx));
            }
            (AnyDetector::PhiAccrual(detector), Choice::PhiAccrual(system)) => {
                run(system, cx, |cx| detector.on_message(from, message, cx));
            }
            _ => unreachable!("the choice is made once"),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_, Self>) {
        match (self, cx.config()) {
            (AnyDetector::Oracle, Choice::Oracle) => {}
            (AnyDetector::Heartbeat(detector), Choice::Heartbeat(system)) => {
                run(system, cx, |cx| detector.on_timer(timer, cx));
            }
            (AnyDetector::EventuallyPerfect(detector), Choice::EventuallyPerfect(system)) => {
                run(system, cx, |cx| detector.on_timer(timer, cx));
            }
            (AnyDetector::PhiAccrual(detector), Choice::PhiAccrual(system)) => {
                run(system, cx, |cx| detector.on_timer(timer, cx));
            }
            _ => unreachable!("the choice is made once"),
        }
    }
}

fn start<D>(system: &System<D>, cx: &mut Context<'_, AnyDetector>) -> D
where
    D: Process<Problem = Detection, Message = Message, Timer = Timer>,
{
    let (detector, step) = cx.inner(system, |cx| D::on_start(None, cx));
    pass_on(step, cx);
    detector
}

fn run<D>(system: &System<D>, cx: &mut Context<'_, AnyDetector>, handler: impl FnOnce(&mut Context<'_, D>))
where
    D: Process<Problem = Detection, Message = Message, Timer = Timer>,
{
    let ((), step) = cx.inner(system, handler);
    pass_on(step, cx);
}

fn pass_on<D>(step: Step<D>, cx: &mut Context<'_, AnyDetector>)
where
    D: Process<Problem = Detection, Message = Message, Timer = Timer>,
{
    for effect in step.effects {
        if let Some(Said::Suspicion(suspicion)) = cx.carry_out(effect, |message| message, |timer| timer) {
            cx.report(suspicion);
        }
    }
}
