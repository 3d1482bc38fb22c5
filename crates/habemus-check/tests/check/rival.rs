//! Any of our processes as an actor of stateright, an independent model checker.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use habemus::{Address, Context, Effect, Problem, Process, Status, Step, System};
use stateright::actor::{Actor, ActorModel, Id, Network, Out, model_timeout};
use stateright::{Checker, Expectation, Model};

/// A process with its client, who asks whenever it can.
#[derive(Clone)]
pub(crate) struct Wrapped<P: Process> {
    system: Arc<System<P>>,
    wants: u32,
}

/// What stateright keeps of a process: the same as our checker does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State<P: Process> {
    process: P,
    pub(crate) status: Status,
    wants: u32,
}

/// A timer of stateright's: one of the process, or the client's wish.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Alarm<T> {
    Client,
    Own(T),
}

impl<P: Process> Wrapped<P> {
    /// What the client asks next, and how many wishes it has afterwards.
    fn wish(state: &State<P>) -> Option<(habemus::Command<P>, u32)> {
        if P::Problem::next_command(&Status::Idle).is_none() {
            return P::Problem::command(P::Problem::COMMANDS[0]).zip(state.wants.checked_sub(1));
        }
        let command = P::Problem::next_command(&state.status)?;
        match state.status {
            Status::Idle => Some(command).zip(state.wants.checked_sub(1)),
            _ => Some((command, state.wants)),
        }
    }

    fn handle(
        &self,
        id: Id,
        state: &mut Cow<'_, State<P>>,
        out: &mut Out<Self>,
        handler: impl FnOnce(&mut P, &mut Context<'_, P>),
    ) {
        let mut step = Step::default();
        let mut chooser = |_| unreachable!("these models choose nothing");
        let address = Address(usize::from(id) as u32);
        let mut cx = Context::new(address, &self.system, Duration::ZERO, &mut step, &mut chooser);
        // To touch the state tells stateright that something happened, even if nothing changed.
        handler(&mut state.to_mut().process, &mut cx);
        self.carry_out(state.to_mut(), &step, out);
    }

    fn carry_out(&self, state: &mut State<P>, step: &Step<P>, out: &mut Out<Self>) {
        for effect in &step.effects {
            match effect {
                Effect::Send { to, message } => out.send(Id::from(to.index()), message.clone()),
                Effect::Output(output) => {
                    if let Some(status) = P::Problem::status_after_output(output) {
                        state.status = status;
                    }
                }
                Effect::SetTimer { timer, .. } => out.set_timer(Alarm::Own(timer.clone()), model_timeout()),
                Effect::CancelTimer(timer) => out.cancel_timer(Alarm::Own(timer.clone())),
                Effect::Suspicion(_) => unreachable!("these models have no detectors"),
            }
        }
        match Self::wish(state) {
            Some(_) => out.set_timer(Alarm::Client, model_timeout()),
            None => out.cancel_timer(Alarm::Client),
        }
    }
}

impl<P: Process> Actor for Wrapped<P> {
    type Msg = P::Message;
    type Timer = Alarm<P::Timer>;
    type State = State<P>;
    type Storage = ();
    type Random = ();

    fn on_start(&self, id: Id, _: &Option<()>, out: &mut Out<Self>) -> State<P> {
        let mut step = Step::default();
        let mut chooser = |_| unreachable!("these models choose nothing");
        let address = Address(usize::from(id) as u32);
        let mut cx = Context::new(address, &self.system, Duration::ZERO, &mut step, &mut chooser);
        let process = P::on_start(None, &mut cx);
        let mut state = State { process, status: Status::Idle, wants: self.wants };
        self.carry_out(&mut state, &step, out);
        state
    }

    fn on_msg(
        &self,
        id: Id,
        state: &mut Cow<'_, State<P>>,
        from: Id,
        message: P::Message,
        out: &mut Out<Self>,
    ) {
        let from = Address(usize::from(from) as u32);
        self.handle(id, state, out, |process, cx| process.on_message(from, message, cx));
    }

    fn on_timeout(
        &self,
        id: Id,
        state: &mut Cow<'_, State<P>>,
        alarm: &Alarm<P::Timer>,
        out: &mut Out<Self>,
    ) {
        if let Alarm::Own(timer) = alarm {
            return self.handle(id, state, out, |process, cx| process.on_timer(timer.clone(), cx));
        }
        let Some((command, wants)) = Self::wish(state) else { return };
        let inner = state.to_mut();
        inner.wants = wants;
        if let (Some(status), Status::Idle) = (P::Problem::status_after_command(&command), inner.status) {
            inner.status = status;
        }
        self.handle(id, state, out, |process, cx| process.on_command(command, cx));
    }
}

/// How stateright explores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    BreadthFirst,
    DepthFirst,
    /// Breadth first, so many steps far.
    Steps(u32),
}

/// How many distinct states stateright finds, where each client has `wants` things to begin and no two
/// processes may be of this status at once.
pub(crate) fn unique_states<P: Process>(
    system: System<P>,
    wants: u32,
    ordered: bool,
    alone: Status,
    way: Way,
    threads: usize,
) -> usize
where
    P::Message: Ord,
    P::Timer: Ord,
{
    let count = system.len();
    let actor = Wrapped { system: Arc::new(system), wants };
    let network = if ordered { Network::new_ordered([]) } else { Network::new_unordered_nonduplicating([]) };
    let model = ActorModel::<Wrapped<P>, Status, ()>::new(alone, ())
        .actors((0..count).map(|_| actor.clone()))
        .init_network(network)
        .property(Expectation::Always, "at most one", |model, state| {
            state.actor_states.iter().filter(|actor| actor.status == model.cfg).count() <= 1
        });
    let checker = model.checker().threads(threads);
    match way {
        Way::BreadthFirst => finished(&checker.spawn_bfs().join()),
        Way::DepthFirst => finished(&checker.spawn_dfs().join()),
        // It counts the initial state as a step.
        Way::Steps(steps) => finished(&checker.target_max_depth(steps as usize + 1).spawn_bfs().join()),
    }
}

fn finished<M>(checker: &impl Checker<M>) -> usize
where
    M: Model<State: Clone + PartialEq, Action: Clone + PartialEq>,
{
    assert!(checker.is_done(), "stateright explored everything");
    assert!(checker.discoveries().is_empty(), "stateright found nothing wrong");
    checker.unique_state_count()
}
