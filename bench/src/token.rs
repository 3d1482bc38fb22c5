//! A token that goes round a ring, in the simulator. The peers pass the same token in the same way: a
//! receiver sends it on to its successor and does nothing else; the network takes one to ten milliseconds.

use habemus::election::{Command, Election};
use habemus::topology::Ring;
use habemus::{Address, Context, Id, Process, System};
use habemus_scenario::{Network, Until};
use habemus_sim::{Limits, Simulation, Stop};
use serde::{Deserialize, Serialize};

use crate::measurement::Measurement;
use crate::ring;

/// Passes the token on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Passer;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Message {
    Token,
}
habemus::kinds!(Message: Token);

impl Process for Passer {
    type Problem = Election;
    type Topology = Ring;
    type Config = ();
    type Message = Message;
    type Timer = ();
    type Stable = ();

    fn on_start(_: Option<()>, _: &mut Context<'_, Self>) -> Self {
        Passer
    }

    fn on_command(&mut self, _: Command, cx: &mut Context<'_, Self>) {
        cx.send(cx.successor(), Message::Token);
    }

    fn on_message(&mut self, _: Address, token: Message, cx: &mut Context<'_, Self>) {
        cx.send(cx.successor(), token);
    }
}

/// Passes the token so many times.
pub(crate) fn pass(processes: usize, hops: u64) -> Measurement {
    let build = || {
        let ids: Vec<Id> = (1..=processes as u64).map(Id).collect();
        let system = System::<Passer>::new(Ring::new(processes), ids, ()).expect("a range is no bad system");
        let network = Network { latency: ring::uniform(), ..Network::default() };
        let mut simulation = Simulation::plain(system, &network, 1, ());
        simulation.start();
        simulation
    };
    let (measurement, _) = Measurement::take(build, |simulation| {
        simulation.command(Address(0), Command::Elect);
        let stop = simulation.run(Limits { until: Until::Events(hops), ..Limits::quiet() });
        assert_eq!(stop, Stop::Events);
        simulation.delivered()
    });
    measurement
}
