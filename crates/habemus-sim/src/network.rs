//! The network: when a message arrives, if it does.

use std::time::Duration;

use habemus::Address;
use habemus_report::{Stream, Use};
use habemus_scenario as scenario;
use habemus_trace::Dropped;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::NetworkDeed;
use crate::time::{Time, nanos};

/// A link, from the first to the second.
pub(crate) type Link = (Address, Address);

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives then.
    Arrives(Time),
    /// It arrives then, and again.
    Twice(Time, Time),
    /// It does not.
    Lost(Dropped),
}

/// What a deed changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    Cut(Vec<Link>),
    Healed(Vec<Link>),
}

/// The links between the processes, and what is wrong with them at present.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    model: scenario::TimeModel,
    latency: Latency,
    by_link: FxHashMap<Link, Latency>,
    order: Order,
    loss: f64,
    duplication: f64,
    cut: FxHashSet<Link>,
    slow: FxHashMap<Address, Time>,
    /// Whether a sender was ever slow: then constant latency alone no longer keeps a link in order.
    disturbed: bool,
    /// Nothing but latency: the common case, decided once.
    plain: bool,
    stream: Stream,
}

/// How messages on one link are kept in order.
#[derive(Clone, Debug)]
enum Order {
    /// Not at all; or the latency is constant, which keeps them in order by itself.
    Free,
    /// Every process has one outgoing link: the last arrival is kept by sender.
    BySender(Vec<Time>),
    /// The last arrival is kept by link.
    ByLink(FxHashMap<Link, Time>),
}

/// How long a message takes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Latency {
    Constant(Time),
    /// The least, and how many values there are from it on.
    Uniform(Time, Time),
    Exponential(f64),
    LogNormal(f64, f64),
}

/// Draws beyond this are cut: a message takes at most a day.
const LONGEST: f64 = 86_400e9;

impl Latency {
    fn new(latency: &scenario::Latency) -> Self {
        match latency {
            scenario::Latency::Constant(duration) => Latency::Constant(nanos(*duration)),
            scenario::Latency::Uniform { min, max } if min == max => Latency::Constant(nanos(*min)),
            scenario::Latency::Uniform { min, max } => {
                Latency::Uniform(nanos(*min), nanos(*max).saturating_sub(nanos(*min)).saturating_add(1))
            }
            scenario::Latency::Exponential { mean } => Latency::Exponential(nanos(*mean) as f64),
            scenario::Latency::LogNormal { median, sigma } => {
                Latency::LogNormal(nanos(*median) as f64, *sigma)
            }
        }
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> Time {
        // The common ones first, without a jump through a table.
        if let Latency::Constant(time) = self {
            return *time;
        }
        if let Latency::Uniform(min, values) = self {
            return min + stream.below(*values);
        }
        self.draw_odd(stream)
    }

    #[inline(never)]
    fn draw_odd(&self, stream: &mut Stream) -> Time {
        match *self {
            Latency::Constant(time) => time,
            Latency::Uniform(min, values) => min + stream.below(values),
            Latency::Exponential(mean) => stream.exponential(mean).min(LONGEST) as Time,
            Latency::LogNormal(median, sigma) => stream.log_normal(median, sigma).min(LONGEST) as Time,
        }
    }
}

impl Network {
    /// The network of a scenario, with links that have latencies of their own; `ring` is the number of
    /// processes if each has but one outgoing link.
    pub(crate) fn new(
        network: &scenario::Network,
        by_link: &[(Link, scenario::Latency)],
        ring: Option<usize>,
        seed: u64,
    ) -> Self {
        let mut by_link: FxHashMap<Link, Latency> =
            by_link.iter().map(|(link, latency)| (*link, Latency::new(latency))).collect();
        let mut latency = Latency::new(&network.latency);
        if let scenario::TimeModel::Synchronous { pulse } = network.model {
            // Everything sent in a pulse arrives before the next, which is one pulse away.
            latency = Latency::Constant(nanos(pulse) / 2);
            by_link.clear();
        }
        let keeps_order = matches!(latency, Latency::Constant(_)) && by_link.is_empty();
        let order = match (network.fifo, ring) {
            (false, _) => Order::Free,
            (true, Some(processes)) if !keeps_order => Order::BySender(vec![0; processes]),
            (true, _) => Order::ByLink(FxHashMap::default()),
        };
        let mut network = Network {
            model: network.model,
            latency,
            by_link,
            order,
            loss: network.loss,
            duplication: network.duplication,
            cut: FxHashSet::default(),
            slow: FxHashMap::default(),
            disturbed: false,
            plain: false,
            stream: Stream::new(seed, Use::Network),
        };
        network.decide_plain();
        network
    }

    /// Whether nothing but latency is between a sender and a receiver.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// When a message that is sent now arrives, if the network [is plain](Self::is_plain): the quick way for
    /// what is common.
    #[inline]
    pub(crate) fn plain_arrival(&mut self, now: Time, from: Address) -> Time {
        debug_assert!(self.plain, "more than latency decides");
        let arrival = now + self.latency.draw(&mut self.stream);
        let Order::BySender(last) = &mut self.order else { return arrival };
        let last = &mut last[from.index()];
        *last = arrival.max(*last);
        *last
    }

    /// What becomes of a message that is sent now.
    pub(crate) fn route(&mut self, now: Time, from: Address, to: Address) -> Fate {
        if self.is_cut(from, to) {
            return Fate::Lost(Dropped::Cut);
        }
        if self.stream.happens(self.loss) {
            return Fate::Lost(Dropped::Loss);
        }
        let first = self.arrival(now, from, to);
        if self.stream.happens(self.duplication) {
            Fate::Twice(first, self.arrival(now, from, to))
        } else {
            Fate::Arrives(first)
        }
    }

    fn arrival(&mut self, now: Time, from: Address, to: Address) -> Time {
        let latency = self.by_link.get(&(from, to)).copied().unwrap_or(self.latency);
        let mut arrival = now + latency.draw(&mut self.stream);
        if let scenario::TimeModel::PartiallySynchronous { gst, delta } = self.model {
            arrival = arrival.min(now.max(nanos(gst)) + nanos(delta));
        }
        arrival += self.slow.get(&from).copied().unwrap_or(0);
        let last = match &mut self.order {
            Order::Free => return arrival,
            Order::BySender(last) => &mut last[from.index()],
            Order::ByLink(last) => last.entry((from, to)).or_default(),
        };
        *last = arrival.max(*last);
        *last
    }

    /// A message on this link has been put off until then: what is sent from now on must not overtake it.
    pub(crate) fn put_off(&mut self, (from, to): Link, until: Time) {
        let last = match &mut self.order {
            Order::Free => return,
            Order::BySender(last) => &mut last[from.index()],
            Order::ByLink(last) => last.entry((from, to)).or_default(),
        };
        *last = until.max(*last);
        self.disturbed = true;
        self.decide_plain();
    }

    /// Whether messages on one link arrive in the order in which they were sent.
    pub(crate) fn is_fifo(&self) -> bool {
        !matches!(self.order, Order::Free)
    }

    /// What is promised about time.
    pub(crate) fn model(&self) -> scenario::TimeModel {
        self.model
    }

    /// The links that carry nothing at present.
    #[cfg(feature = "stepper")]
    pub(crate) fn cut_links(&self) -> Vec<Link> {
        let mut links: Vec<Link> = self.cut.iter().copied().collect();
        links.sort_unstable();
        links
    }

    /// Whether the link carries nothing at present.
    pub(crate) fn is_cut(&self, from: Address, to: Address) -> bool {
        !self.cut.is_empty() && self.cut.contains(&(from, to))
    }

    /// Changes the network; gives the links that were cut or healed, in the order in which they are named, of
    /// those that were not so before.
    pub(crate) fn perform(&mut self, deed: NetworkDeed) -> Option<Changed> {
        let changed = match deed {
            NetworkDeed::Slow { processes, by } => {
                processes.into_iter().for_each(|process| self.slow(process, by));
                None
            }
            NetworkDeed::Loss(probability) => {
                self.loss = probability;
                None
            }
            NetworkDeed::Cut(links) => {
                Some(Changed::Cut(links.into_iter().filter(|link| self.cut.insert(*link)).collect()))
            }
            NetworkDeed::Heal(links) => {
                Some(Changed::Healed(links.into_iter().filter(|link| self.cut.remove(link)).collect()))
            }
            NetworkDeed::HealAll => {
                let mut links: Vec<Link> = self.cut.drain().collect();
                links.sort_unstable();
                Some(Changed::Healed(links))
            }
        };
        self.decide_plain();
        changed
    }

    fn slow(&mut self, process: Address, by: Duration) {
        if by.is_zero() {
            self.slow.remove(&process);
        } else {
            self.slow.insert(process, nanos(by));
            self.disturbed = true;
        }
    }

    fn decide_plain(&mut self) {
        let ordered = match self.order {
            Order::Free | Order::BySender(_) => true,
            Order::ByLink(_) => matches!(self.latency, Latency::Constant(_)) && !self.disturbed,
        };
        self.plain = ordered
            && !matches!(
                self.model,
                scenario::TimeModel::PartiallySynchronous { .. } | scenario::TimeModel::Scripted
            )
            && self.by_link.is_empty()
            && self.loss == 0.0
            && self.duplication == 0.0
            && self.cut.is_empty()
            && self.slow.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Address = Address(0);
    const B: Address = Address(1);
    const MS: Time = 1_000_000;

    fn network(change: impl FnOnce(&mut scenario::Network)) -> Network {
        let mut network = scenario::Network::default();
        change(&mut network);
        Network::new(&network, &[], None, 1)
    }

    fn arrivals(network: &mut Network, count: usize) -> Vec<Time> {
        let route = |_| match network.route(0, A, B) {
            Fate::Arrives(at) => at,
            other => panic!("{other:?}"),
        };
        (0..count).map(route).collect()
    }

    #[test]
    fn fifo_links_keep_the_order_and_others_do_not() {
        let fifo = arrivals(&mut network(|_| {}), 100);
        assert!(fifo.is_sorted() && fifo.iter().all(|&at| (MS..=10 * MS).contains(&at)));
        let free = arrivals(&mut network(|network| network.fifo = false), 100);
        assert!(!free.is_sorted());
        let mut ring = Network::new(&scenario::Network::default(), &[], Some(3), 1);
        assert!(arrivals(&mut ring, 100).is_sorted());
    }

    #[test]
    fn fifo_order_survives_a_slow_spell() {
        let mut network = network(|network| {
            network.latency = scenario::Latency::Constant(Duration::from_millis(1));
        });
        let slow = |by| NetworkDeed::Slow { processes: vec![A], by };
        network.perform(slow(Duration::from_millis(50)));
        let late = arrivals(&mut network, 1)[0];
        network.perform(slow(Duration::ZERO));
        assert_eq!(late, 51 * MS);
        assert!(arrivals(&mut network, 1)[0] >= late);
    }

    #[test]
    fn after_the_stabilization_time_the_bound_holds() {
        let mut network = network(|network| {
            network.model = scenario::TimeModel::PartiallySynchronous {
                gst: Duration::from_millis(100),
                delta: Duration::from_millis(5),
            };
            network.latency = scenario::Latency::Exponential { mean: Duration::from_secs(1) };
            network.fifo = false;
        });
        for _ in 0..1000 {
            let Fate::Arrives(at) = network.route(0, A, B) else { panic!("lost") };
            assert!(at <= 105 * MS);
            let Fate::Arrives(at) = network.route(200 * MS, A, B) else { panic!("lost") };
            assert!(at <= 205 * MS);
        }
    }

    #[test]
    fn a_cut_is_one_way_and_heals() {
        let mut network = network(|_| {});
        let cut = network.perform(NetworkDeed::Cut(vec![(A, B), (A, B)]));
        assert_eq!(cut, Some(Changed::Cut(vec![(A, B)])));
        assert_eq!(network.route(0, A, B), Fate::Lost(Dropped::Cut));
        assert!(matches!(network.route(0, B, A), Fate::Arrives(_)));
        assert_eq!(network.perform(NetworkDeed::HealAll), Some(Changed::Healed(vec![(A, B)])));
        assert!(matches!(network.route(0, A, B), Fate::Arrives(_)));
    }

    #[test]
    fn loss_and_duplication_come_as_often_as_said() {
        let mut network = network(|network| (network.loss, network.duplication) = (0.1, 0.2));
        let (mut lost, mut twice) = (0, 0);
        for _ in 0..10_000 {
            match network.route(0, A, B) {
                Fate::Lost(_) => lost += 1,
                Fate::Twice(..) => twice += 1,
                Fate::Arrives(_) => {}
            }
        }
        assert!((900..1100).contains(&lost) && (1700..1900).contains(&twice), "{lost} {twice}");
    }
}
