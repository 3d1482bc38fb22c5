//! Who a member is, for ever: written into its directory, and compared at every start.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::Path;

pub(crate) use habemus_journal::Hexadecimal;
use habemus_replica::{Member, MemberId};
use serde::{Deserialize, Serialize};

use crate::endpoint::Endpoint;
use crate::random;

/// The first members of a cluster, by their names.
pub(crate) type Names = BTreeMap<String, Endpoint>;

/// The file that says who a member is.
const FILE: &str = "identity";

/// Who a member is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// Which cluster it belongs to.
    pub(crate) cluster: Hexadecimal,
    /// Which member it is.
    pub(crate) member: Hexadecimal,
    /// What people call it.
    pub(crate) name: String,
    /// Where the other members reach it.
    pub(crate) peer: Endpoint,
    /// Drawn when the directory was made: one that was wiped has another.
    pub(crate) disk: Hexadecimal,
    /// How often it was started: a copy of the directory from an earlier time has fewer.
    pub(crate) starts: u64,
    /// Whether its journal was made: then it must be there.
    pub(crate) has_journal: bool,
    /// Which backup its cluster was made from, if it was: another cluster than one that has the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restored: Option<Hexadecimal>,
}

/// FNV-1a: members of one cluster must come to the same numbers from the same names, in every version.
fn number(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step).max(1)
}

/// The number of the cluster that begins with these members, from a backup or from nothing.
pub(crate) fn cluster(names: &Names, restored: Option<Hexadecimal>) -> u64 {
    let all = names.iter().map(|(name, address)| format!("{name}={address}"));
    let all: Vec<String> = all.chain(restored.map(String::from)).collect();
    number(&all.join(","))
}

/// The number of a member of that cluster.
fn member(cluster: u64, name: &str) -> MemberId {
    MemberId(number(&format!("{cluster:x}/{name}")))
}

/// The first members, as the others know them.
pub(crate) fn members(names: &Names, restored: Option<Hexadecimal>) -> Vec<(MemberId, Member)> {
    let cluster = cluster(names, restored);
    let members = names.iter().map(|(name, address)| {
        let known = Member {
            name: name.clone(),
            peer_addresses: vec![address.to_string()],
            client_addresses: Vec::new(),
            learner: false,
        };
        (member(cluster, name), known)
    });
    members.collect()
}

impl Identity {
    /// One of the first members of a cluster.
    pub(crate) fn first(
        names: &Names,
        name: &str,
        peer: Endpoint,
        restored: Option<Hexadecimal>,
    ) -> Identity {
        let cluster = cluster(names, restored);
        Identity { restored, ..Identity::added(cluster, member(cluster, name), name, peer) }
    }

    /// A member that was added to a cluster.
    pub(crate) fn added(cluster: u64, member: MemberId, name: &str, peer: Endpoint) -> Identity {
        let (cluster, member) = (Hexadecimal(cluster), Hexadecimal(member.0));
        let (name, disk) = (name.to_owned(), Hexadecimal(random::bits()));
        Identity { cluster, member, name, peer, disk, starts: 0, has_journal: false, restored: None }
    }

    pub(crate) fn id(&self) -> MemberId {
        MemberId(self.member.0)
    }

    /// Writes it down, durably.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), String> {
        let text = toml::to_string(self).map_err(|error| error.to_string())?;
        write_durably(directory, FILE, &text)
    }

    /// Who was here before, if anybody was.
    pub(crate) fn read(directory: &Path) -> Result<Option<Identity>, String> {
        let path = directory.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let tell = |error: &dyn ToString| format!("{}: {}", path.display(), error.to_string());
        let text = fs::read_to_string(&path).map_err(|error| tell(&error))?;
        toml::from_str(&text).map(Some).map_err(|error| tell(&error))
    }

    /// Whether this is the one that is to be started. Says what to do if it is not.
    pub(crate) fn check(
        &self,
        directory: &Path,
        name: Option<&str>,
        names: Option<&Names>,
    ) -> Result<(), String> {
        let directory = directory.display();
        if let Some(name) = name.filter(|name| *name != self.name) {
            return Err(format!(
                "{directory} belongs to the member `{}`, not to `{name}`: start it with --name {}, or choose \
                 another directory with --data",
                self.name, self.name
            ));
        }
        if names.is_some_and(|names| cluster(names, self.restored) != self.cluster.0) {
            return Err(format!(
                "{directory} belongs to a member of another cluster ({:016x}) than --cluster describes: give \
                 the names and addresses that it was begun with, or none at all; or choose another directory \
                 with --data",
                self.cluster.0
            ));
        }
        Ok(())
    }
}

/// Writes a file beside the present one, and puts it in its place.
pub(crate) fn write_durably(directory: &Path, file: &str, text: &str) -> Result<(), String> {
    let (path, new) = (directory.join(file), directory.join(format!("{file}.new")));
    let write = || {
        fs::write(&new, text)?;
        File::open(&new)?.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(directory)?.sync_all()
    };
    write().map_err(|error| format!("{}: {error}", path.display()))
}

/// Keeps others out of the directory for as long as the file lives.
pub(crate) fn lock(directory: &Path) -> Result<File, String> {
    let path = directory.join("lock");
    let tell = |error: &dyn ToString| format!("{}: {}", path.display(), error.to_string());
    let file = File::create(&path).map_err(|error| tell(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(format!(
            "{} is in use by another habemusd: stop that one, or choose another directory with --data",
            directory.display()
        )),
        Err(TryLockError::Error(error)) => Err(tell(&error)),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn names(text: &[(&str, u16)]) -> Names {
        let address = |port: u16| Endpoint::from(SocketAddr::from(([127, 0, 0, 1], port)));
        text.iter().map(|(name, port)| ((*name).to_owned(), address(*port))).collect()
    }

    #[test]
    fn numbers_follow_from_names_and_never_change() {
        let names = names(&[("a", 2380), ("b", 2381)]);
        assert_eq!(format!("{:x}", cluster(&names, None)), "2dc5b542afa5a16b");
        assert_eq!(members(&names, None)[0].0.to_string(), "922a6f8d1aa824a3");
    }

    #[test]
    fn a_directory_is_refused_to_another_name_and_another_cluster() {
        let three = names(&[("a", 1), ("b", 2), ("c", 3)]);
        let identity = Identity::first(&three, "a", three["a"].clone(), None);
        let check = |name, names: Option<&Names>| identity.check(Path::new("data"), name, names);
        assert_eq!(check(None, None), Ok(()));
        assert_eq!(check(Some("a"), Some(&three)), Ok(()));
        assert!(check(Some("b"), Some(&three)).is_err_and(|text| text.contains("start it with --name a")));
        let restored = Identity::first(&three, "a", three["a"].clone(), Some(Hexadecimal(7)));
        assert_ne!((restored.cluster, restored.member), (identity.cluster, identity.member));
        assert_eq!(restored.check(Path::new("data"), None, Some(&three)), Ok(()));
        let two = names(&[("a", 1), ("b", 2)]);
        assert!(check(Some("a"), Some(&two)).is_err_and(|text| text.contains("another cluster")));
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let directory = std::env::temp_dir().join(format!("habemus-identity-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory can be made");
        let identity =
            Identity::added(u64::MAX, MemberId(7), "ä \"b\"", SocketAddr::from(([127, 0, 0, 1], 1)).into());
        assert_eq!(Identity::read(&directory), Ok(None));
        identity.write(&directory).expect("the disk works");
        assert_eq!(Identity::read(&directory), Ok(Some(identity)));
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
