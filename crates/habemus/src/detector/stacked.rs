//! An algorithm on top of a failure detector, as one process.

use std::fmt::{self, Debug};
use std::time::Duration;

use super::Detection;
use crate::{Address, Command, Context, Message, Process, Said, Step, Suspicion, System};

/// Something that belongs to one of the two layers: a message or a timer.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Layer<D, A> {
    /// The detector's.
    Detector(D),
    /// The algorithm's.
    Algorithm(A),
}

/// A layer is a wrapping that people need not see.
impl<D: Debug, A: Debug> Debug for Layer<D, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Detector(inner) => inner.fmt(f),
            Layer::Algorithm(inner) => inner.fmt(f),
        }
    }
}

impl<D: Message, A: Message> Message for Layer<D, A> {
    fn kind(&self) -> &'static str {
        match self {
            Layer::Detector(message) => message.kind(),
            Layer::Algorithm(message) => message.kind(),
        }
    }

    fn vocabulary() -> Vec<&'static str> {
        [A::vocabulary(), D::vocabulary()].concat()
    }

    fn is_background(&self) -> bool {
        match self {
            Layer::Detector(_) => true,
            Layer::Algorithm(message) => message.is_background(),
        }
    }
}

/// The two systems whose processes are stacked in pairs: the same identifiers at the same addresses.
#[derive(Clone, Debug)]
pub struct Layers<D: Process, A: Process> {
    /// The detectors.
    pub detector: System<D>,
    /// The algorithm.
    pub algorithm: System<A>,
}

/// `algorithm` over `detector`: what the one suspects, the other is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stacked<D: Process, A: Process> {
    /// The layer below.
    pub detector: D,
    /// The layer above.
    pub algorithm: A,
    /// What each layer last stored: either may store without the other.
    stored: (D::Stable, A::Stable),
}

impl<D, A> Process for Stacked<D, A>
where
    D: Process<Problem = Detection>,
    A: Process,
{
    type Problem = A::Problem;
    /// The detector's is the real network; the algorithm may see a logical one in it.
    type Topology = D::Topology;
    type Config = Layers<D, A>;
    type Message = Layer<D::Message, A::Message>;
    type Timer = Layer<D::Timer, A::Timer>;
    type Stable = (D::Stable, A::Stable);

    const READS_CLOCK: bool = D::READS_CLOCK || A::READS_CLOCK;

    fn is_background(timer: &Self::Timer) -> bool {
        match timer {
            Layer::Detector(_) => true,
            Layer::Algorithm(timer) => A::is_background(timer),
        }
    }

    fn on_start(recovered: Option<Self::Stable>, cx: &mut Context<'_, Self>) -> Self {
        let layers = cx.config();
        let stored = recovered.clone().unwrap_or_default();
        let (below, above) = recovered.unzip();
        let (algorithm, asked) = cx.inner(&layers.algorithm, |cx| A::on_start(above, cx));
        let (detector, noticed) = cx.inner(&layers.detector, |cx| D::on_start(below, cx));
        let mut stacked = Stacked { detector, algorithm, stored };
        stacked.pass_on(asked, cx);
        stacked.notice(noticed, cx);
        stacked
    }

    fn on_message(&mut self, from: Address, message: Self::Message, cx: &mut Context<'_, Self>) {
        match message {
            Layer::Detector(message) => self.detect(cx, |process, cx| process.on_message(from, message, cx)),
            Layer::Algorithm(message) => self.run(cx, |process, cx| process.on_message(from, message, cx)),
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Context<'_, Self>) {
        match timer {
            Layer::Detector(timer) => self.detect(cx, |process, cx| process.on_timer(timer, cx)),
            Layer::Algorithm(timer) => self.run(cx, |process, cx| process.on_timer(timer, cx)),
        }
    }

    fn on_command(&mut self, command: Command<Self>, cx: &mut Context<'_, Self>) {
        self.run(cx, |process, cx| process.on_command(command, cx));
    }

    fn on_suspicion(&mut self, suspicion: Suspicion, cx: &mut Context<'_, Self>) {
        self.run(cx, |process, cx| process.on_suspicion(suspicion, cx));
    }

    fn on_stop(&mut self, cx: &mut Context<'_, Self>) {
        self.run(cx, Process::on_stop);
    }

    fn lease(&self, system: &System<Self>) -> Option<Self::Timer> {
        self.algorithm.lease(&system.config.algorithm).map(Layer::Algorithm)
    }

    fn leadership(&self, system: &System<Self>) -> Option<crate::election::Output> {
        self.algorithm.leadership(&system.config.algorithm)
    }

    fn renumbered((below, above): Self::Stable) -> Option<Self::Stable> {
        // What a detector stores is about those whom it watched.
        A::renumbered(above).filter(|_| below == D::Stable::default()).map(|above| (below, above))
    }

    fn longest_lease(system: &System<Self>) -> Option<Duration> {
        A::longest_lease(&system.config.algorithm)
    }
}

impl<D, A> Stacked<D, A>
where
    D: Process<Problem = Detection>,
    A: Process,
{
    fn run(&mut self, cx: &mut Context<'_, Self>, handler: impl FnOnce(&mut A, &mut Context<'_, A>)) {
        let layers = cx.config();
        let ((), step) = cx.inner(&layers.algorithm, |inner| handler(&mut self.algorithm, inner));
        self.pass_on(step, cx);
    }

    fn detect(&mut self, cx: &mut Context<'_, Self>, handler: impl FnOnce(&mut D, &mut Context<'_, D>)) {
        let layers = cx.config();
        let ((), step) = cx.inner(&layers.detector, |inner| handler(&mut self.detector, inner));
        self.notice(step, cx);
    }

    /// What the algorithm asked for is asked of the driver.
    fn pass_on(&mut self, step: Step<A>, cx: &mut Context<'_, Self>) {
        if let Some(stable) = step.persist {
            self.stored.1 = stable;
            cx.persist(self.stored.clone());
        }
        for effect in step.effects {
            match cx.carry_out(effect, Layer::Algorithm, Layer::Algorithm) {
                Some(Said::Output(output)) => cx.output(output),
                Some(Said::Suspicion(suspicion)) => cx.report(suspicion),
                None => {}
            }
        }
    }

    /// What the detector asked for is asked of the driver; what it suspects, the algorithm is told, too.
    fn notice(&mut self, step: Step<D>, cx: &mut Context<'_, Self>) {
        if let Some(stable) = step.persist {
            self.stored.0 = stable;
            cx.persist(self.stored.clone());
        }
        for effect in step.effects {
            if let Some(Said::Suspicion(suspicion)) = cx.carry_out(effect, Layer::Detector, Layer::Detector) {
                cx.report(suspicion);
                self.run(cx, |process, cx| process.on_suspicion(suspicion, cx));
            }
        }
    }
}
