//! How processes are connected, as a cheap shared description: no process stores its neighbours.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use crate::{Address, Context, Id, Process};

/// A network of `len` processes, addressed 0 … len−1.
pub trait Topology: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// How many processes it connects.
    fn len(&self) -> usize;

    /// How many processes are present: all but those that [`without`](Topology::without) took away.
    fn present(&self) -> usize;

    /// Whether it connects none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `from` may send to `to`.
    fn linked(&self, from: Address, to: Address) -> bool;

    /// Those that `of` may send to.
    fn neighbours(&self, of: Address) -> impl Iterator<Item = Address> + '_;

    /// The same network without some of its processes: a ring closes over the gap, a graph loses their links.
    /// Addresses stay what they are.
    #[must_use]
    fn without(&self, gone: &BTreeSet<Address>) -> Self;
}

/// Those that are no longer there, shared; nobody in the common case.
type Gone = Option<Arc<BTreeSet<Address>>>;

fn gone(processes: &BTreeSet<Address>) -> Gone {
    (!processes.is_empty()).then(|| Arc::new(processes.clone()))
}

fn count_gone(gone: &Gone) -> usize {
    gone.as_ref().map_or(0, |gone| gone.len())
}

#[inline]
fn is_gone(gone: &Gone, process: Address) -> bool {
    #[inline(never)]
    fn contains(gone: &BTreeSet<Address>, process: Address) -> bool {
        gone.contains(&process)
    }
    gone.as_ref().is_some_and(|gone| contains(gone, process))
}

/// Those of the first `processes` that are still there, without `of`.
#[inline]
fn others(of: Address, processes: u32, gone: &Gone) -> impl Iterator<Item = Address> + '_ {
    (0..processes).map(Address).filter(move |&other| other != of && !is_gone(gone, other))
}

/// Everyone is connected with everyone, and knows everyone's identifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Complete {
    processes: u32,
    gone: Gone,
}

impl Complete {
    /// A complete graph.
    pub fn new(processes: usize) -> Self {
        Complete { processes: address_count(processes), gone: None }
    }
}

impl Topology for Complete {
    fn len(&self) -> usize {
        self.processes as usize
    }

    fn present(&self) -> usize {
        self.len() - count_gone(&self.gone)
    }

    #[inline]
    fn linked(&self, from: Address, to: Address) -> bool {
        // To oneself one can always talk: a logical ring of one does.
        from == to || (to.0 < self.processes && !is_gone(&self.gone, to))
    }

    #[inline]
    fn neighbours(&self, of: Address) -> impl Iterator<Item = Address> + '_ {
        others(of, self.processes, &self.gone)
    }

    fn without(&self, processes: &BTreeSet<Address>) -> Self {
        Complete { gone: gone(processes), ..*self }
    }
}

impl<'a, P: Process<Topology = Complete>> Context<'a, P> {
    /// The identifier of another process: in a complete graph all are known.
    #[inline]
    pub fn id_of(&self, address: Address) -> Id {
        self.system.ids[address.index()]
    }

    /// The next address after `address`, for a logical ring over the complete graph.
    pub fn after(&self, address: Address) -> Address {
        Address((address.0 + 1) % self.process_count() as u32)
    }
}

/// A one-way ring: each process sends only to its successor.
///
/// A *logical* ring lies over a network in which everyone reaches everyone: an algorithm may then send past a
/// dead successor, to the next operational process, and everyone else is its neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    processes: u32,
    logical: bool,
    gone: Gone,
}

impl Ring {
    /// A ring of real links.
    pub fn new(processes: usize) -> Self {
        Ring { processes: address_count(processes), logical: false, gone: None }
    }

    /// A ring that exists only in the processes' minds.
    pub fn logical(processes: usize) -> Self {
        Ring { processes: address_count(processes), logical: true, gone: None }
    }

    /// The process after `of`.
    #[inline]
    pub fn successor(&self, of: Address) -> Address {
        if self.gone.is_some() { self.present_after(of) } else { self.next(of) }
    }

    /// The process after `of`, where some are no longer there. It is apart, so that the common case stays
    /// small.
    #[inline(never)]
    fn present_after(&self, of: Address) -> Address {
        let mut next = self.next(of);
        while next != of && is_gone(&self.gone, next) {
            next = self.next(next);
        }
        next
    }

    #[inline]
    fn next(&self, of: Address) -> Address {
        let next = of.0 + 1;
        Address(if next == self.processes { 0 } else { next })
    }
}

impl Topology for Ring {
    fn len(&self) -> usize {
        self.processes as usize
    }

    fn present(&self) -> usize {
        self.len() - count_gone(&self.gone)
    }

    #[inline]
    fn linked(&self, from: Address, to: Address) -> bool {
        self.successor(from) == to || (self.logical && to.0 < self.processes)
    }

    #[inline]
    fn neighbours(&self, of: Address) -> impl Iterator<Item = Address> + '_ {
        let successor = (!self.logical).then(|| self.successor(of));
        let reached = if self.logical { self.processes } else { 0 };
        successor.into_iter().chain(others(of, reached, &self.gone))
    }

    fn without(&self, processes: &BTreeSet<Address>) -> Self {
        Ring { gone: gone(processes), ..*self }
    }
}

impl<'a, P: Process<Topology = Ring>> Context<'a, P> {
    /// The next process on the ring.
    #[inline]
    pub fn successor(&self) -> Address {
        self.system.topology.successor(self.me)
    }

    /// The process after `address` on the ring.
    #[inline]
    pub fn successor_of(&self, address: Address) -> Address {
        self.system.topology.successor(address)
    }
}

/// A ring in which messages travel both ways; it can be logical like the one-way [`Ring`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TwoWayRing {
    processes: u32,
    logical: bool,
    gone: Gone,
}

impl TwoWayRing {
    /// A two-way ring of real links.
    pub fn new(processes: usize) -> Self {
        TwoWayRing { processes: address_count(processes), logical: false, gone: None }
    }

    /// A two-way ring that exists only in the processes' minds.
    pub fn logical(processes: usize) -> Self {
        TwoWayRing { processes: address_count(processes), logical: true, gone: None }
    }

    /// The neighbour in the direction of growing addresses.
    #[inline]
    pub fn right(&self, of: Address) -> Address {
        self.next(of, 1)
    }

    /// The neighbour in the direction of falling addresses.
    #[inline]
    pub fn left(&self, of: Address) -> Address {
        self.next(of, self.processes - 1)
    }

    #[inline]
    fn next(&self, of: Address, step: u32) -> Address {
        let mut next = Address((of.0 + step) % self.processes);
        while next != of && is_gone(&self.gone, next) {
            next = Address((next.0 + step) % self.processes);
        }
        next
    }
}

impl Topology for TwoWayRing {
    fn len(&self) -> usize {
        self.processes as usize
    }

    fn present(&self) -> usize {
        self.len() - count_gone(&self.gone)
    }

    #[inline]
    fn linked(&self, from: Address, to: Address) -> bool {
        self.left(from) == to || self.right(from) == to || (self.logical && to.0 < self.processes)
    }

    fn neighbours(&self, of: Address) -> impl Iterator<Item = Address> + '_ {
        let (left, right) = (self.left(of), self.right(of));
        let linked = [(!self.logical).then_some(left), (!self.logical && left != right).then_some(right)];
        let reached = if self.logical { self.processes } else { 0 };
        linked.into_iter().flatten().chain(others(of, reached, &self.gone))
    }

    fn without(&self, processes: &BTreeSet<Address>) -> Self {
        TwoWayRing { gone: gone(processes), ..*self }
    }
}

impl<'a, P: Process<Topology = TwoWayRing>> Context<'a, P> {
    /// The neighbour in the direction of falling addresses.
    #[inline]
    pub fn left(&self) -> Address {
        self.system.topology.left(self.me)
    }

    /// The neighbour in the direction of growing addresses.
    #[inline]
    pub fn right(&self) -> Address {
        self.system.topology.right(self.me)
    }
}

/// Any graph with two-way links.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Graph {
    /// `neighbours[first[a] .. first[a + 1]]` are the neighbours of `a`, in order.
    first: Arc<[u32]>,
    neighbours: Arc<[Address]>,
    gone: u32,
}

impl Graph {
    /// The graph of `processes` with the given links; a link counts once however often it is named.
    ///
    /// # Panics
    /// If a link leads to nowhere or to itself; [`catalogue`](crate::catalogue) checks links given by people.
    pub fn new(processes: usize, links: &[(u32, u32)]) -> Self {
        let count = address_count(processes);
        let mut both: Vec<(u32, u32)> = links.iter().flat_map(|&(a, b)| [(a, b), (b, a)]).collect();
        both.sort_unstable();
        both.dedup();
        let mut first = vec![0_u32; processes + 1];
        for &(from, to) in &both {
            assert!(from < count && to < count, "the link {from}-{to} leads out of the graph");
            assert!(from != to, "process {from} is linked with itself");
            first[from as usize + 1] += 1;
        }
        for index in 0..processes {
            first[index + 1] += first[index];
        }
        Graph {
            first: first.into(),
            neighbours: both.into_iter().map(|(_, to)| Address(to)).collect(),
            gone: 0,
        }
    }

    /// The neighbours of `of`, in order.
    #[inline]
    pub fn links_of(&self, of: Address) -> &[Address] {
        &self.neighbours[self.first[of.index()] as usize..self.first[of.index() + 1] as usize]
    }

    /// How many links there are.
    pub fn link_count(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Whether every process can be reached from every other.
    pub fn is_connected(&self) -> bool {
        let mut seen = vec![false; self.len()];
        let mut open: Vec<Address> = (!self.is_empty()).then_some(Address(0)).into_iter().collect();
        let mut reached = 0;
        while let Some(here) = open.pop() {
            if std::mem::replace(&mut seen[here.index()], true) {
                continue;
            }
            reached += 1;
            open.extend(self.links_of(here).iter().filter(|next| !seen[next.index()]));
        }
        reached == self.len()
    }
}

impl Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({} processes, {} links)", self.len(), self.link_count())
    }
}

impl Topology for Graph {
    fn len(&self) -> usize {
        self.first.len() - 1
    }

    fn present(&self) -> usize {
        self.len() - self.gone as usize
    }

    #[inline]
    fn linked(&self, from: Address, to: Address) -> bool {
        self.links_of(from).binary_search(&to).is_ok()
    }

    #[inline]
    fn neighbours(&self, of: Address) -> impl Iterator<Item = Address> + '_ {
        self.links_of(of).iter().copied()
    }

    fn without(&self, processes: &BTreeSet<Address>) -> Self {
        let all = (0..self.len() as u32).map(Address);
        let kept = all.flat_map(|from| self.links_of(from).iter().map(move |&to| (from, to)));
        let kept = kept.filter(|(from, to)| !processes.contains(from) && !processes.contains(to));
        let links: Vec<(u32, u32)> = kept.map(|(from, to)| (from.0, to.0)).collect();
        Graph { gone: address_count(processes.len()), ..Graph::new(self.len(), &links) }
    }
}

fn address_count(processes: usize) -> u32 {
    u32::try_from(processes).expect("a system has at most 2³² processes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbours(topology: &impl Topology, of: u32) -> Vec<u32> {
        topology.neighbours(Address(of)).map(|address| address.0).collect()
    }

    #[test]
    fn a_one_way_ring_leads_to_the_successor_alone() {
        let ring = Ring::new(3);
        assert_eq!(neighbours(&ring, 2), [0]);
        assert!(ring.linked(Address(2), Address(0)) && !ring.linked(Address(0), Address(2)));
        assert!(Ring::logical(3).linked(Address(0), Address(2)));
    }

    #[test]
    fn on_a_logical_ring_everyone_reaches_everyone() {
        assert_eq!(neighbours(&Ring::logical(4), 1), [0, 2, 3]);
        assert_eq!(neighbours(&TwoWayRing::logical(5), 1), [0, 2, 3, 4]);
        let gone = BTreeSet::from([Address(2)]);
        assert_eq!(neighbours(&Ring::logical(4).without(&gone), 1), [0, 3]);
    }

    #[test]
    fn a_two_way_ring_of_two_has_one_neighbour() {
        assert_eq!(neighbours(&TwoWayRing::new(2), 0), [1]);
        assert_eq!(neighbours(&TwoWayRing::new(4), 0), [3, 1]);
    }

    #[test]
    fn a_complete_graph_leads_to_all_others() {
        assert_eq!(neighbours(&Complete::new(4), 1), [0, 2, 3]);
    }

    #[test]
    fn without_some_processes_a_ring_closes_and_the_others_lose_their_links() {
        let gone = BTreeSet::from([Address(1), Address(2)]);
        assert_eq!(neighbours(&Ring::new(4).without(&gone), 0), [3]);
        assert_eq!(neighbours(&TwoWayRing::new(4).without(&gone), 0), [3]);
        assert_eq!(neighbours(&TwoWayRing::new(5).without(&gone), 0), [4, 3]);
        assert_eq!(neighbours(&Complete::new(4).without(&gone), 0), [3]);
        assert_eq!((Complete::new(4).without(&gone).present(), Complete::new(4).present()), (2, 4));
        assert_eq!(neighbours(&Graph::new(4, &[(0, 1), (0, 3), (2, 3)]).without(&gone), 3), [0]);
        let all_but_me = (1..4).map(Address).collect();
        assert_eq!(Ring::new(4).without(&all_but_me).successor(Address(0)), Address(0));
    }

    #[test]
    fn a_graph_counts_a_link_once_and_knows_whether_it_is_connected() {
        let path = Graph::new(3, &[(0, 1), (1, 2), (2, 1)]);
        assert_eq!(path.link_count(), 2);
        assert_eq!(neighbours(&path, 1), [0, 2]);
        assert!(path.is_connected());
        assert!(!Graph::new(3, &[(0, 1)]).is_connected());
    }
}
