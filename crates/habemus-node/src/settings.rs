//! What a node is told before it starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use habemus::catalogue::{self, Request, SetupError, Shape};
use habemus::signatures::Scheme;
use habemus::{Address, Id, SystemError};
use habemus_signatures::{Ed25519, KeysError};
use tracing::warn;

use crate::record::Configuration;
use crate::tls::TlsFiles;

/// Everything that a node must know. All nodes of a cluster must agree on all but `id`, addresses and
/// directories.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The cluster's name: nodes of different clusters refuse each other.
    pub cluster: String,
    /// The algorithm's name: in the catalogue, or the one that a program gives to its own.
    pub algorithm: String,
    /// This node's identifier.
    pub id: u64,
    /// All identifiers, in the order of their addresses in the topology.
    pub ids: Vec<u64>,
    /// Where to listen for other nodes; port 0 lets the system choose.
    pub listen: String,
    /// Where the others are, as far as known.
    pub peers: BTreeMap<u64, String>,
    /// How the processes are connected: `None` leaves it to the algorithm.
    pub topology: Option<Shape>,
    /// What draws a random topology.
    pub seed: u64,
    /// The failure detector; `None`: heartbeats, if the algorithm can stand on a detector.
    pub detector: Option<String>,
    /// Options of the algorithm and of its detector, as the catalogue knows them.
    pub options: BTreeMap<String, String>,
    /// The length of a pulse, for algorithms that work in pulses. Everything that is sent in one must arrive
    /// before the next, and all nodes must begin at the same time.
    pub pulse: Duration,
    /// When to start, in nanoseconds since 1970; `None`: at once.
    pub begin_at: Option<u64>,
    /// Counts changes of the settings on which nodes must agree: a node whose data was made under others is
    /// refused unless this has grown.
    pub epoch: u64,
    /// Whether this is the first start of the node, on an empty data directory. A node that has run before,
    /// and finds nothing, is refused.
    pub first_start: bool,
    /// Where to keep what must survive a crash; `None`: nowhere, which suits tests.
    pub data: Option<PathBuf>,
    /// Whether to write the trace into the data directory.
    pub trace: bool,
    /// When the trace's time begins, in nanoseconds since 1970.
    pub trace_zero: u64,
    /// Where to serve HTTP, if at all.
    pub http: Option<String>,
    /// Mutual TLS, if wanted.
    pub tls: Option<TlsFiles>,
    /// Where the keys of algorithms that sign are, if it is one.
    pub keys: Option<PathBuf>,
    /// Whether to listen beyond the loopback without TLS, where anybody can speak as any node.
    pub insecure_without_tls: bool,
    /// How long messages wait for a node that is away, where the algorithm does not assume that all arrive.
    pub patience: Duration,
    /// Whether a supervisor says when to begin and plays the oracle.
    pub supervised: bool,
}

/// The pulse unless another is asked for: long enough for a loopback or a local network on a busy machine.
pub(crate) const DEFAULT_PULSE: Duration = Duration::from_millis(100);

/// Why a node cannot be set up like this.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The catalogue refuses.
    #[error("{0}")]
    Setup(SetupError),
    /// The node is not among the processes.
    #[error("node {id} is not among the processes {ids:?}: give every node the same list, itself included")]
    NotThere {
        /// The node.
        id: u64,
        /// The processes.
        ids: Vec<u64>,
    },
    /// An address of nobody.
    #[error("there is an address for node {id}, but the processes are {ids:?}")]
    UnknownPeer {
        /// The node.
        id: u64,
        /// The processes.
        ids: Vec<u64>,
    },
    /// An address at which nobody can be.
    #[error("'{address}' cannot be the address of node {id}: {why}")]
    Address {
        /// The node.
        id: u64,
        /// Its address, as given.
        address: String,
        /// Why not, and what would do.
        why: &'static str,
    },
    /// There is no oracle here.
    #[error(
        "there is no oracle on a real network: nobody knows who has crashed. Choose one of the detectors \
            that \
         listen for heartbeats: heartbeat, eventually-perfect, phi-accrual"
    )]
    Oracle,
    /// A process that works in pulses must know when to begin.
    #[error(
        "{0} works in pulses, so all nodes must begin at the same time: give each the same time to begin at, \
            or \
         let `habemus cluster` start them"
    )]
    Pulses(String),
    /// The keys cannot be used.
    #[error("{0}. `habemus certs` makes keys; a node needs its own secret one and the public ones of all")]
    Keys(#[from] KeysError),
    /// The program's own system cannot be made.
    #[error("{0}")]
    System(SystemError),
    /// The program's own algorithm has another name.
    #[error("this program runs {algorithm}, not {asked}")]
    OtherAlgorithm {
        /// The program's.
        algorithm: &'static str,
        /// That of the settings.
        asked: String,
    },
    /// The program's own system has other processes.
    #[error("the system has the processes {system:?}, and the settings have {settings:?}")]
    OtherProcesses {
        /// Those of the system.
        system: Vec<u64>,
        /// Those of the settings.
        settings: Vec<u64>,
    },
    /// Something that only the catalogue could know.
    #[error(
        "{algorithm} is this program's own algorithm, and the program says which {what} it has: leave it out"
    )]
    NotOfTheCatalogue {
        /// The algorithm.
        algorithm: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// Listening beyond the loopback without TLS.
    #[error(
        "{address} can be reached from other machines, and without TLS whoever reaches it can speak as any \
            node. \
         Give the certificates (--tls-authority, --tls-certificate, --tls-key; `habemus certs` makes them), \
         listen \
         on the loopback, or say that you mean it: --insecure-without-tls"
    )]
    Insecure {
        /// Where it should listen.
        address: String,
    },
    /// A trace needs a directory.
    #[error("a trace needs a data directory to be written to")]
    TraceNowhere,
}

impl From<SetupError> for SettingsError {
    fn from(error: SetupError) -> Self {
        SettingsError::Setup(error)
    }
}

impl From<SystemError> for SettingsError {
    fn from(error: SystemError) -> Self {
        SettingsError::System(error)
    }
}

/// What real nodes do unless something else is asked for: a coordinator is elected by a majority, a holder
/// renews its lease as long as it is inside, and gets a fencing token where the algorithm has one to give.
/// (In the simulator the catalogue's own defaults show what the notes describe.)
pub fn add_safe_defaults(algorithm: &str, options: &mut BTreeMap<String, String>) {
    let mut choose = |name: &str, value: &str| {
        options.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    };
    if algorithm == "elected-coordinator" {
        choose("election", "majority");
        choose("keep-alive", "true");
    }
    let entry = catalogue::entry(algorithm).ok();
    if entry.is_some_and(|entry| entry.options.iter().any(|option| option.name == "fencing")) {
        choose("fencing", "true");
    }
}

impl Settings {
    /// Node `id` of a cluster of `ids` on the loopback, without stable storage.
    pub fn new(algorithm: &str, id: u64, ids: impl Into<Vec<u64>>) -> Self {
        Settings {
            cluster: "habemus".to_owned(),
            algorithm: algorithm.to_owned(),
            id,
            ids: ids.into(),
            listen: "127.0.0.1:0".to_owned(),
            peers: BTreeMap::new(),
            topology: None,
            seed: 1,
            detector: None,
            options: BTreeMap::new(),
            pulse: DEFAULT_PULSE,
            begin_at: None,
            epoch: 1,
            first_start: false,
            data: None,
            trace: false,
            trace_zero: 0,
            http: None,
            tls: None,
            keys: None,
            insecure_without_tls: false,
            patience: crate::transport::PATIENCE,
            supervised: false,
        }
    }

    /// The detector that the node stands on: the one asked for, or heartbeats where the algorithm can use
    /// them.
    ///
    /// # Errors
    /// If the algorithm does not exist, or if the oracle is asked for and nobody can play it.
    pub fn detector(&self) -> Result<Option<&str>, SettingsError> {
        let entry = catalogue::entry(&self.algorithm)?;
        match self.detector.as_deref() {
            Some("oracle") if !self.supervised => Err(SettingsError::Oracle),
            None if self.supervised => Ok(None),
            None => Ok(entry.detectors.iter().copied().find(|name| *name == "heartbeat")),
            asked => Ok(asked),
        }
    }

    /// The weights of votes, if they have any.
    pub(crate) fn weights(&self) -> Vec<u64> {
        let text = ["weights", "election-weights"].iter().find_map(|name| self.options.get(*name));
        text.map_or(Vec::new(), |text| text.split(',').filter_map(|part| part.trim().parse().ok()).collect())
    }

    /// Where nothing else is asked for, real nodes are safe: see [`add_safe_defaults`]. What a supervisor
    /// says is all that it wants.
    pub(crate) fn choose_safe_defaults(&mut self) {
        if !self.supervised {
            add_safe_defaults(&self.algorithm, &mut self.options);
        }
    }

    /// Says so if what is asked for lets two be inside.
    pub(crate) fn warn_of_unsafe_choices(&self) {
        let election = self.options.get("election").map(String::as_str);
        if self.algorithm == "elected-coordinator" && election != Some("majority") {
            warn!(
                election = election.unwrap_or("bully"),
                "two may be inside while the network is cut or a node is slow; -o election=majority forbids \
                    it"
            );
        }
    }

    /// What is asked of the catalogue.
    pub(crate) fn request(&self) -> Result<Request<'_>, SettingsError> {
        Ok(Request {
            algorithm: &self.algorithm,
            ids: self.ids.iter().copied().map(Id).collect(),
            shape: self.topology.clone(),
            detector: self.detector()?,
            options: &self.options,
            pulse: self.pulse,
            seed: self.seed,
            signatures: self.signatures()?,
        })
    }

    /// The keys of the directory; else, keys that anybody can derive are good enough to look at an algorithm,
    /// and for nothing else.
    fn signatures(&self) -> Result<Option<Scheme>, SettingsError> {
        let Some(directory) = &self.keys else {
            return Ok(self.supervised.then_some(Scheme::Made(habemus_signatures::ed25519)));
        };
        let ids: Vec<Id> = self.ids.iter().copied().map(Id).collect();
        let keys = Ed25519::read_files(directory, self.id, &ids)?;
        Ok(Some(Scheme::Given(Arc::new(keys))))
    }

    /// What all nodes of a cluster must agree on, in words.
    pub(crate) fn agreement(&self) -> Result<String, SettingsError> {
        use std::fmt::Write;
        let mut words = format!("{} with processes", self.algorithm);
        for id in &self.ids {
            let _ = write!(words, " {id}");
        }
        match &self.topology {
            None => {}
            Some(Shape::Named(name)) if name == "random" => {
                let _ = write!(words, ", topology random of seed {}", self.seed);
            }
            Some(Shape::Named(name)) => {
                let _ = write!(words, ", topology {name}");
            }
            Some(Shape::Links(links)) => {
                let _ = write!(words, ", links {links:?}");
            }
        }
        if let Some(detector) = self.detector()? {
            let _ = write!(words, ", detector {detector}");
        }
        for (name, value) in &self.options {
            let _ = write!(words, ", {name}={value}");
        }
        let _ = write!(words, ", pulse {:?}{}", self.pulse, self.epoch_in_words());
        Ok(words)
    }

    /// The epoch, to be said after the rest of what nodes must agree on; nothing as long as nothing has
    /// changed.
    pub(crate) fn epoch_in_words(&self) -> String {
        if self.epoch > 1 { format!(", epoch {}", self.epoch) } else { String::new() }
    }

    /// What a data directory is compared with.
    pub(crate) fn configuration(&self, agreement: &str, promised: Option<Duration>) -> Configuration {
        Configuration {
            epoch: self.epoch,
            agreement: agreement.to_owned(),
            ids: self.ids.clone(),
            weighted: self.options.keys().any(|name| name.ends_with("weights")),
            promised,
        }
    }

    /// Where the node is in the topology.
    pub(crate) fn address(&self) -> Address {
        let index = self.ids.iter().position(|id| *id == self.id);
        Address(index.unwrap_or_default() as u32)
    }

    /// Refuses what does not fit the program's own `algorithm` with these processes, and what only the
    /// catalogue understands.
    pub(crate) fn check_own(&self, algorithm: &'static str, ids: Vec<u64>) -> Result<(), SettingsError> {
        if self.algorithm != algorithm {
            return Err(SettingsError::OtherAlgorithm { algorithm, asked: self.algorithm.clone() });
        }
        if self.ids != ids {
            return Err(SettingsError::OtherProcesses { system: ids, settings: self.ids.clone() });
        }
        let asked = [
            (self.topology.is_some(), "topology"),
            (self.detector.is_some(), "detector"),
            (!self.options.is_empty(), "options"),
            (self.keys.is_some(), "keys"),
        ];
        match asked.into_iter().find(|(is_asked, _)| *is_asked) {
            Some((_, what)) => Err(SettingsError::NotOfTheCatalogue { algorithm, what }),
            None => Ok(()),
        }
    }

    /// Refuses what makes no sense before anything is touched.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let ids = || self.ids.clone();
        if !self.ids.contains(&self.id) {
            return Err(SettingsError::NotThere { id: self.id, ids: ids() });
        }
        if let Some(id) = self.peers.keys().find(|id| !self.ids.contains(id)) {
            return Err(SettingsError::UnknownPeer { id: *id, ids: ids() });
        }
        for (id, address) in &self.peers {
            let wrong = |why| SettingsError::Address { id: *id, address: address.clone(), why };
            check_address(address).map_err(wrong)?;
            if *address == self.listen {
                return Err(wrong("this node listens there itself"));
            }
            if self.peers.iter().any(|(other, its)| other < id && its == address) {
                return Err(wrong("another node is said to be there"));
            }
        }
        if self.trace && self.data.is_none() {
            return Err(SettingsError::TraceNowhere);
        }
        Ok(())
    }
}

/// Whether somebody could be reached there; why not, otherwise.
pub(crate) fn check_address(address: &str) -> Result<(), &'static str> {
    let (host, port) = address.rsplit_once(':').ok_or("expected HOST:PORT, for example 10.0.0.2:7100")?;
    match port.parse::<u16>() {
        Ok(0) => return Err("port 0 is nobody's: say which port the node listens on"),
        Ok(_) => {}
        Err(_) => return Err("expected a port from 1 to 65535 after the last colon"),
    }
    if let Some(number) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return number
            .parse::<std::net::Ipv6Addr>()
            .map(|_| ())
            .map_err(|_| "expected an IPv6 address in []");
    }
    let in_a_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if host.is_empty() || host.len() > 253 || !host.bytes().all(in_a_name) {
        return Err("expected a name, an IPv4 address, or an IPv6 address in [] before the port");
    }
    // Only digits and dots: meant as a number, and a name cannot be.
    if host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let number =
            host.parse::<std::net::Ipv4Addr>().map_err(|_| "expected an IPv4 address of four numbers")?;
        if number.is_unspecified() || number.is_broadcast() || number.is_multicast() {
            return Err("nobody can be reached there");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_are_the_default_where_there_is_a_detector_at_all() {
        assert_eq!(Settings::new("bully", 1, [1, 2]).detector().unwrap(), Some("heartbeat"));
        assert_eq!(Settings::new("chang-roberts", 1, [1, 2]).detector().unwrap(), Some("heartbeat"));
        assert_eq!(Settings::new("majority", 1, [1, 2]).detector().unwrap(), None);
    }

    #[test]
    fn the_oracle_is_refused_unless_somebody_plays_it() {
        let asked = Settings { detector: Some("oracle".to_owned()), ..Settings::new("bully", 1, [1, 2]) };
        let error = asked.detector().unwrap_err().to_string();
        assert!(error.contains("heartbeat"), "{error}");
        assert_eq!(Settings { supervised: true, ..asked }.detector().unwrap(), Some("oracle"));
    }

    #[test]
    fn senseless_settings_are_refused() {
        let stranger = Settings::new("bully", 7, [1, 2]);
        assert!(matches!(stranger.check(), Err(SettingsError::NotThere { id: 7, .. })));
        let mut unknown = Settings::new("bully", 1, [1, 2]);
        unknown.peers.insert(9, "localhost:1".to_owned());
        assert!(matches!(unknown.check(), Err(SettingsError::UnknownPeer { id: 9, .. })));
        let nowhere = Settings { trace: true, ..Settings::new("bully", 1, [1, 2]) };
        assert!(matches!(nowhere.check(), Err(SettingsError::TraceNowhere)));
    }

    #[test]
    fn addresses_at_which_nobody_can_be_are_refused() {
        for good in ["a:1", "10.0.0.2:7100", "node-2.example:65535", "[::1]:9", "localhost:7101"] {
            assert_eq!(check_address(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "a",
            ":1",
            "a:",
            "a:0",
            "a:65536",
            "a:http",
            "a b:1",
            "http://a:1",
            "1.2.3:4",
            "1.2.3.400:5",
            "0.0.0.0:7",
            "255.255.255.255:7",
            "::1:9",
            "[::1:9",
            "[x]:9",
            "10.0.0.2:-1",
        ] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
        let with = |peers: &[(u64, &str)]| Settings {
            listen: "127.0.0.1:7101".to_owned(),
            peers: peers.iter().map(|(id, address)| (*id, (*address).to_owned())).collect(),
            ..Settings::new("bully", 1, [1, 2, 3])
        };
        assert!(with(&[(2, "x:1"), (3, "x:2")]).check().is_ok());
        for peers in [[(2, "x:1"), (3, "x:1")], [(2, "x:1"), (3, "127.0.0.1:7101")], [(2, "x"), (3, "x:1")]] {
            assert!(matches!(with(&peers).check(), Err(SettingsError::Address { .. })), "{peers:?}");
        }
    }

    #[test]
    fn what_nodes_must_agree_on_shows_every_difference() {
        let one = Settings::new("bully", 1, [1, 2]);
        assert_eq!(one.agreement().unwrap(), Settings::new("bully", 2, [1, 2]).agreement().unwrap());
        assert_ne!(one.agreement().unwrap(), Settings::new("bully", 1, [2, 1]).agreement().unwrap());
        let mut other = one.clone();
        other.options.insert("heartbeat-timeout".to_owned(), "1s".to_owned());
        assert_ne!(one.agreement().unwrap(), other.agreement().unwrap());
    }
}
