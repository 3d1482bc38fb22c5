//! What a member is told at its start: by options, by the environment, or by a file, in this order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use serde::Deserialize;

use crate::endpoint::Endpoint;
use crate::identity::Names;
use crate::limits::Limits;
use crate::quota::Quota;
use crate::tls::{TlsFiles, Wants};

/// Locks, elections and sessions behind etcd's interface.
#[derive(Clone, Debug, Default, Parser, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[command(
    name = "habemusd",
    version,
    about,
    after_help = "Examples:
  habemusd
      one member, data in ./habemus-data; `etcdctl` finds it without flags
  habemusd --name a --data a --cluster a=127.0.0.1:2380,b=127.0.0.1:2480,c=127.0.0.1:2580
  habemusd --name b --data b --cluster … --listen 127.0.0.1:2479
      two of three members: the same --cluster for all, its own name and addresses for each
  etcdctl member add d --learner --peer-urls=http://127.0.0.1:2680
  habemusd --name d --data d --peer 127.0.0.1:2680 --join 127.0.0.1:2380 --listen 127.0.0.1:2679
      a fourth one, while the others work

  habemusctl certs --hosts 127.0.0.1,192.0.2.7 --users root --out certs
  habemusd --listen 192.0.2.7:2379 --cert-file certs/server.pem --key-file certs/server.key \\
      --trusted-ca-file certs/ca.pem --client-cert-auth
      clients elsewhere, with TLS and certificates of their own; the files are read again when they change

A configuration file has the options' names: name = \"a\", cluster =
[\"a=127.0.0.1:2380\", …]. All that is wrong in it is told at once.

Beyond loopback addresses habemusd listens with TLS only, unless it is told
--insecure-beyond-loopback.

Exit codes:
  0  stopped as told
  1  could not go on
  2  bad input"
)]
pub(crate) struct Arguments {
    /// What this member is called [default: default]
    #[arg(long, env = "HABEMUS_NAME")]
    name: Option<String>,
    /// Where everything is kept [default: habemus-data]
    #[arg(long, value_name = "DIRECTORY", env = "HABEMUS_DATA")]
    data: Option<PathBuf>,
    /// Where clients are heard; port 0 for any that is free [default: 127.0.0.1:2379]
    #[arg(long, value_name = "ADDRESS", env = "HABEMUS_LISTEN")]
    listen: Option<SocketAddr>,
    /// The first members of the cluster, with the addresses where they hear each other
    #[arg(long, value_name = "NAME=ADDRESS,…", value_delimiter = ',', env = "HABEMUS_CLUSTER")]
    cluster: Option<Vec<String>>,
    /// Members of a cluster to which this one was added
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',', env = "HABEMUS_JOIN")]
    #[arg(conflicts_with = "cluster", requires = "peer")]
    join: Option<Vec<String>>,
    /// Where this member, which was added to a cluster, hears the others
    #[arg(long, value_name = "ADDRESS", env = "HABEMUS_PEER")]
    peer: Option<Endpoint>,
    /// Where this member hears the others, if not where they reach it: behind a name or a port that is passed
    /// on
    #[arg(long, value_name = "ADDRESS", env = "HABEMUS_LISTEN_PEER")]
    listen_peer: Option<SocketAddr>,
    /// How many bytes of keys, values, history and sessions are kept, roughly [default: 512 MiB]
    #[arg(long, value_name = "BYTES", env = "HABEMUS_QUOTA")]
    quota: Option<usize>,
    /// How many revisions are remembered for watchers and reads of the past [default: 100000]
    #[arg(long, value_name = "REVISIONS", env = "HABEMUS_HISTORY")]
    history: Option<usize>,
    /// For how long they are, if not for as long as there are no more than that
    #[arg(long, value_name = "SECONDS", env = "HABEMUS_HISTORY_SECONDS")]
    history_seconds: Option<u64>,
    /// How many connections of clients are open at once [default: 8192]
    #[arg(long, value_name = "NUMBER", env = "HABEMUS_MAX_CONNECTIONS")]
    max_connections: Option<usize>,
    /// How many requests a second may come on one connection, on average [default: 50000]
    #[arg(long, value_name = "NUMBER", env = "HABEMUS_MAX_RATE")]
    max_rate: Option<u32>,
    /// How many seconds a client may take to greet, and to finish what stands before a request [default: 10]
    #[arg(long, value_name = "SECONDS", env = "HABEMUS_GREETING_SECONDS")]
    greeting_seconds: Option<u64>,
    /// What clients are told as this member's address, if they reach it at another than it listens on
    #[arg(long, value_name = "ADDRESS", env = "HABEMUS_ADVERTISE")]
    advertise: Option<SocketAddr>,
    /// The certificate that clients are shown; with it they must use TLS
    #[arg(long, value_name = "FILE", env = "HABEMUS_CERT_FILE", help_heading = "TLS")]
    cert_file: Option<PathBuf>,
    /// The key of that certificate; only its owner may read it
    #[arg(long, value_name = "FILE", env = "HABEMUS_KEY_FILE", help_heading = "TLS")]
    key_file: Option<PathBuf>,
    /// Who signs clients' certificates
    #[arg(long, value_name = "FILE", env = "HABEMUS_TRUSTED_CA_FILE", help_heading = "TLS")]
    trusted_ca_file: Option<PathBuf>,
    /// Which of them are taken back
    #[arg(long, value_name = "FILE", env = "HABEMUS_CLIENT_CRL_FILE", help_heading = "TLS")]
    client_crl_file: Option<PathBuf>,
    /// Let nobody in without such a certificate; whom it names is its user
    #[arg(long, env = "HABEMUS_CLIENT_CERT_AUTH", help_heading = "TLS")]
    #[serde(default)]
    client_cert_auth: bool,
    /// The certificate that members show each other, valid for servers and for clients
    #[arg(long, value_name = "FILE", env = "HABEMUS_PEER_CERT_FILE", help_heading = "TLS")]
    peer_cert_file: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, value_name = "FILE", env = "HABEMUS_PEER_KEY_FILE", help_heading = "TLS")]
    peer_key_file: Option<PathBuf>,
    /// Who signs members' certificates, and nobody else's
    #[arg(long, value_name = "FILE", env = "HABEMUS_PEER_TRUSTED_CA_FILE", help_heading = "TLS")]
    peer_trusted_ca_file: Option<PathBuf>,
    /// Listen beyond loopback addresses without TLS: whoever reaches them can read and change everything
    #[arg(long, env = "HABEMUS_INSECURE_BEYOND_LOOPBACK", help_heading = "TLS")]
    #[serde(default)]
    insecure_beyond_loopback: bool,
    /// A file with any of these
    #[arg(long, value_name = "FILE", env = "HABEMUS_CONFIG")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// Make the directory of a member of a new cluster from this backup, and start nothing
    #[arg(long, value_name = "FILE", conflicts_with = "join")]
    #[serde(skip)]
    restore: Option<PathBuf>,
    /// How many revisions are left out then, so that none is given twice [default: 1000000000000]
    #[arg(long, value_name = "REVISIONS", requires = "restore")]
    #[serde(skip)]
    restore_skip: Option<u64>,
    /// Check all of it, show it as a file that says the same, and start nothing
    #[arg(long)]
    #[serde(skip)]
    check: bool,
}

/// What a member was told, and makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) name: Option<String>,
    pub(crate) data: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) origin: Origin,
    /// Where it hears the others, if that is another address than they are told.
    pub(crate) listen_peer: Option<SocketAddr>,
    pub(crate) quota: Quota,
    pub(crate) limits: Limits,
    /// What clients are told as this member's address.
    pub(crate) advertise: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) peer_tls: Option<TlsFiles>,
    pub(crate) is_insecure_beyond_loopback: bool,
    pub(crate) check: bool,
    pub(crate) restore: Option<Restore>,
}

/// From which backup a directory is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Restore {
    pub(crate) file: PathBuf,
    /// How many revisions are left out.
    pub(crate) skip: u64,
}

/// More than any cluster gives in the time since its last backup; so often that one can do it some thousand
/// times before revisions are too large for JavaScript.
const SKIP: u64 = 1_000_000_000_000;

/// How a member comes to its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is alone.
    Alone,
    /// It is one of the first.
    First(Names),
    /// It was added; these belong to the cluster already, and there it hears them.
    Added { members: Vec<String>, peer: Endpoint },
}

impl Config {
    /// What this member was told.
    ///
    /// # Errors
    /// Everything that makes no sense, a line for each, with what to write instead.
    pub(crate) fn new(given: Arguments) -> Result<Config, String> {
        let file = given.config.as_deref().map_or(Ok(Arguments::default()), habemus_settings::read)?;
        Config::of(given, file)
    }

    /// What this member was told by options or the environment, and else by a file.
    ///
    /// # Errors
    /// As [`Config::new`].
    pub(crate) fn of(given: Arguments, file: Arguments) -> Result<Config, String> {
        let name = given.name.or(file.name);
        let listen = given.listen.or(file.listen).unwrap_or(SocketAddr::from(([127, 0, 0, 1], 2379)));
        let mut wrong = Vec::new();
        let origin = origin(
            name.as_deref(),
            given.cluster.or(file.cluster),
            given.join.or(file.join),
            given.peer.or(file.peer),
        );
        // What is beside it can only be judged if it is clear.
        let is_clear = origin.is_ok();
        let origin = origin.unwrap_or_else(|why| noted(&mut wrong, why, Origin::Alone));
        let tls = client_files(
            given.cert_file.or(file.cert_file),
            given.key_file.or(file.key_file),
            given.trusted_ca_file.or(file.trusted_ca_file),
            given.client_crl_file.or(file.client_crl_file),
            given.client_cert_auth || file.client_cert_auth,
        );
        let has_tls = !matches!(tls, Ok(None));
        let tls = tls.unwrap_or_else(|why| noted(&mut wrong, why, None));
        let peer_tls = peer_files(
            given.peer_cert_file.or(file.peer_cert_file),
            given.peer_key_file.or(file.peer_key_file),
            given.peer_trusted_ca_file.or(file.peer_trusted_ca_file),
        );
        let has_peer_tls = !matches!(peer_tls, Ok(None));
        let peer_tls = peer_tls.unwrap_or_else(|why| noted(&mut wrong, why, None));
        let advertise = given.advertise.or(file.advertise);
        let listen_peer = given.listen_peer.or(file.listen_peer);
        if listen_peer.is_some() && is_clear && origin == Origin::Alone {
            wrong.push(
                "--listen-peer is for a member among others: say with --cluster or --join who they are"
                    .to_owned(),
            );
        }
        let is_insecure_beyond_loopback = given.insecure_beyond_loopback || file.insecure_beyond_loopback;
        if !is_insecure_beyond_loopback {
            let clients = (!has_tls).then_some(listen.into());
            wrong.extend(beyond(clients, "--cert-file and --key-file"));
            let listen_peer = listen_peer.map(Endpoint::from);
            let peers = origin.endpoints().chain(listen_peer).filter(|_| !has_peer_tls);
            wrong.extend(beyond(peers, "--peer-cert-file, --peer-key-file and --peer-trusted-ca-file"));
        }
        if advertise.is_none() && listen.ip().is_unspecified() {
            wrong.push(format!(
                "clients cannot reach anybody at {listen}: say with --advertise where they reach this member"
            ));
        }
        let quota = Quota {
            bytes: given.quota.or(file.quota).unwrap_or(512 << 20),
            history: given.history.or(file.history).unwrap_or(100_000),
            age: given.history_seconds.or(file.history_seconds).map(Duration::from_secs),
        };
        let usual = Limits::default();
        let limits = Limits {
            connections: given.max_connections.or(file.max_connections).unwrap_or(usual.connections),
            rate: given.max_rate.or(file.max_rate).unwrap_or(usual.rate),
            greeting: given
                .greeting_seconds
                .or(file.greeting_seconds)
                .map_or(usual.greeting, Duration::from_secs),
        };
        if limits.connections == 0 || limits.rate == 0 || limits.greeting.is_zero() {
            wrong.push(
                "--max-connections, --max-rate and --greeting-seconds must be more than 0: with nothing \
                 nobody could be served"
                    .to_owned(),
            );
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let data = given.data.or(file.data).unwrap_or_else(|| PathBuf::from("habemus-data"));
        let skip = given.restore_skip.unwrap_or(SKIP);
        let restore = given.restore.map(|file| Restore { file, skip });
        Ok(Config {
            name,
            data,
            listen,
            origin,
            listen_peer,
            quota,
            limits,
            advertise,
            tls,
            peer_tls,
            is_insecure_beyond_loopback,
            check: given.check,
            restore,
        })
    }
}

/// Refuses addresses that strangers may reach, if there is nothing to keep them out.
fn beyond(endpoints: impl IntoIterator<Item = Endpoint>, mend: &str) -> Option<String> {
    let endpoint = endpoints.into_iter().find(|endpoint| !endpoint.is_loopback())?;
    Some(format!(
        "{endpoint} is no loopback address, and without TLS whoever reaches it can read and change \
         everything: give {mend} (`habemusctl certs` makes them), or use 127.0.0.1. If that is what you \
         want, say --insecure-beyond-loopback"
    ))
}

/// Takes note of what is wrong, and goes on with something that is not.
fn noted<T>(wrong: &mut Vec<String>, why: String, instead: T) -> T {
    wrong.push(why);
    instead
}

fn client_files(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    authority: Option<PathBuf>,
    revoked: Option<PathBuf>,
    must_show: bool,
) -> Result<Option<TlsFiles>, String> {
    let wants = if must_show { Wants::Certificate } else { Wants::Nothing };
    if authority.is_none() && (must_show || revoked.is_some()) {
        return Err("--client-cert-auth and --client-crl-file need --trusted-ca-file: who signs clients' \
                    certificates?"
            .to_owned());
    }
    match (certificate, key) {
        (None, None) if authority.is_none() => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key, authority, revoked, wants })),
        _ => Err("for TLS with clients give both --cert-file and --key-file".to_owned()),
    }
}

fn peer_files(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    authority: Option<PathBuf>,
) -> Result<Option<TlsFiles>, String> {
    match (certificate, key, authority) {
        (None, None, None) => Ok(None),
        (Some(certificate), Some(key), Some(authority)) => {
            let (authority, wants) = (Some(authority), Wants::Certificate);
            Ok(Some(TlsFiles { certificate, key, authority, revoked: None, wants }))
        }
        _ => Err("for TLS between members give --peer-cert-file, --peer-key-file and \
                  --peer-trusted-ca-file: each shows its own, and looks at the others'"
            .to_owned()),
    }
}

fn origin(
    name: Option<&str>,
    cluster: Option<Vec<String>>,
    join: Option<Vec<String>>,
    peer: Option<Endpoint>,
) -> Result<Origin, String> {
    match (cluster, join, peer) {
        (None, None, None) => Ok(Origin::Alone),
        (None, None, Some(_)) => Err("--peer says where a member that was added hears the others: say with \
                                      --join where they are"
            .to_owned()),
        (None, Some(_), None) => {
            Err("--join needs --peer: where does this member hear the others?".to_owned())
        }
        (None, Some(members), Some(peer)) => Ok(Origin::Added { members, peer }),
        (Some(_), Some(_), _) => {
            Err("--cluster is for the first members and --join for those that come later: give one"
                .to_owned())
        }
        (Some(_), None, Some(_)) => Err("--cluster says already where this member hears the others: leave \
                                         out --peer"
            .to_owned()),
        (Some(cluster), None, None) => {
            let names = first_members(&cluster)?;
            let name = name.unwrap_or("default");
            if !names.contains_key(name) {
                let known: Vec<&str> = names.keys().map(String::as_str).collect();
                return Err(format!(
                    "--cluster names {}, but not `{name}`: say with --name which of them this is",
                    known.join(", ")
                ));
            }
            Ok(Origin::First(names))
        }
    }
}

fn first_members(cluster: &[String]) -> Result<Names, String> {
    let mut names = Names::new();
    for text in cluster {
        let (name, address) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            format!("--cluster: `{text}` should be NAME=ADDRESS, for example a=127.0.0.1:2380")
        })?;
        let address = address.parse().map_err(|error| format!("--cluster: `{address}` is {error}"))?;
        if names.values().any(|known| *known == address) {
            return Err(format!("--cluster: two members cannot both hear the others at {address}"));
        }
        if names.insert(name.to_owned(), address).is_some() {
            return Err(format!("--cluster: two members cannot both be called `{name}`"));
        }
    }
    Ok(names)
}

impl Origin {
    /// The first members, if it says who they are.
    pub(crate) fn names(&self) -> Option<&Names> {
        match self {
            Origin::First(names) => Some(names),
            Origin::Alone | Origin::Added { .. } => None,
        }
    }

    fn endpoints(&self) -> impl Iterator<Item = Endpoint> {
        let all: Vec<Endpoint> = match self {
            Origin::Alone => Vec::new(),
            Origin::First(names) => names.values().cloned().collect(),
            Origin::Added { peer, .. } => vec![peer.clone()],
        };
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn config(arguments: &[&str]) -> Result<Config, String> {
        let arguments = ["habemusd"].iter().chain(arguments);
        Config::new(Arguments::try_parse_from(arguments).map_err(|error| error.to_string())?)
    }

    #[test]
    fn nothing_need_be_given() {
        let config = config(&[]).expect("it needs no flags");
        assert_eq!(config.origin, Origin::Alone);
        assert_eq!(
            (config.listen.to_string().as_str(), config.data.as_path()),
            ("127.0.0.1:2379", Path::new("habemus-data"))
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_to_write_instead() {
        let refused = |arguments: &[&str]| config(arguments).expect_err("it makes no sense");
        let three = "a=127.0.0.1:1,b=127.0.0.1:2,c=127.0.0.1:3";
        assert!(refused(&["--cluster", three]).contains("say with --name which of them"));
        assert!(refused(&["--cluster", "a:1"]).contains("NAME=ADDRESS"));
        let named = ["--cluster", "a=db1:2380,b=db2:2380", "--name", "a"];
        assert!(refused(&named).contains("db1:2380 is no loopback address"));
        assert!(config(&[&named[..], &["--insecure-beyond-loopback"]].concat()).is_ok());
        assert!(refused(&["--listen-peer", "127.0.0.1:2380"]).contains("who they are"));
        let wide = ["--cluster", "a=127.0.0.1:1", "--name", "a", "--listen-peer", "0.0.0.0:1"];
        assert!(refused(&wide).contains("0.0.0.0:1 is no loopback address"));
        assert!(refused(&["--cluster", "a=nowhere"]).contains("nor a name like"));
        assert!(
            refused(&["--name", "a", "--cluster", "a=127.0.0.1:1,a=127.0.0.1:2"]).contains("both be called")
        );
        assert!(refused(&["--name", "a", "--cluster", "a=127.0.0.1:1,b=127.0.0.1:1"]).contains("both hear"));
        assert!(refused(&["--listen", "192.0.2.7:2379"]).contains("--insecure-beyond-loopback"));
        let beyond = ["--name", "a", "--cluster", "a=192.0.2.7:2380"];
        assert!(refused(&beyond).contains("--peer-cert-file"));
        let everywhere = ["--listen", "0.0.0.0:2379", "--insecure-beyond-loopback"];
        assert!(refused(&everywhere).contains("--advertise"));
        assert!(refused(&["--max-rate", "0"]).contains("more than 0"));
        assert!(refused(&["--cert-file", "a"]).contains("--key-file"));
        assert!(refused(&["--client-cert-auth"]).contains("--trusted-ca-file"));
        assert!(refused(&["--peer-cert-file", "a"]).contains("--peer-trusted-ca-file"));
        assert!(refused(&["--peer", "127.0.0.1:1"]).contains("--join"));
        assert!(refused(&["--join", "127.0.0.1:1"]).contains("--peer"));
        let five = ["--cert-file", "a", "--peer-key-file", "b", "--max-rate", "0", "--cluster", "a=here"];
        let told = refused(&[&five[..], &["--listen", "0.0.0.0:1", "--listen-peer", "127.0.0.1:2"]].concat());
        assert_eq!(told.lines().count(), 5, "each once, and none that follows from another: {told}");
    }

    #[test]
    fn beyond_loopback_it_listens_with_tls_or_if_told_in_so_many_words() {
        let listen = ["--listen", "192.0.2.7:2379"];
        assert!(config(&[&listen[..], &["--cert-file", "a", "--key-file", "b"]].concat()).is_ok());
        assert!(config(&[&listen[..], &["--insecure-beyond-loopback"]].concat()).is_ok());
        let peer = ["--peer-cert-file", "a", "--peer-key-file", "b", "--peer-trusted-ca-file", "c"];
        assert!(config(&[&["--name", "a", "--cluster", "a=192.0.2.7:2380"], &peer[..]].concat()).is_ok());
    }

    #[test]
    fn a_file_says_what_no_option_does() {
        let path = std::env::temp_dir().join(format!("habemus-config-{}.toml", std::process::id()));
        let given = path.to_str().expect("it is a text");
        std::fs::write(&path, "name = \"a\"\nhistory = 7\ncluster = [\"a=127.0.0.1:1\"]\n")
            .expect("it is ours");
        let config_of_file = config(&["--config", given, "--history", "8"]).expect("it makes sense");
        assert_eq!((config_of_file.name.as_deref(), config_of_file.quota.history), (Some("a"), 8));
        std::fs::write(&path, "nmae = \"a\"\n").expect("it is ours");
        assert!(config(&["--config", given]).is_err_and(|text| text.contains("nmae")));
        std::fs::remove_file(&path).expect("it is ours");
    }
}
