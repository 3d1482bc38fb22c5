//! Stable storage: what a process has promised must survive whatever kills it.
//!
//! A value is written to a new file, which is synced and then renamed over the old one, and the directory is synced:
//! at every moment one complete value is there. A checksum tells a damaged file from a sound one. Damage is refused,
//! never repaired: a node that forgets a vote may vote twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a data directory belongs to. A directory of another node, cluster or algorithm is refused.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// The cluster's name.
    pub cluster: String,
    /// The algorithm's name.
    pub algorithm: String,
    /// The node's identifier.
    pub id: u64,
}

/// Why the data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refuses.
    #[error("cannot {what} {}: {why}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// Another process uses it.
    #[error("another node is using {}; stop it, or give this one a data directory of its own", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error(
        "{} is damaged ({how}). Restore it from a copy of this node's data directory. Without a copy, do not simply \
         delete it: the node would forget what it has promised. Remove the node from the cluster, or stop the whole \
         cluster before you start it with an empty directory",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// In which way.
        how: &'static str,
    },
    /// The directory is somebody else's.
    #[error(
        "{} belongs to node {} of cluster '{}', which runs {}; give node {} a data directory of its own",
        path.display(), found.id, found.cluster, found.algorithm, wanted.id
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: Box<Identity>,
        /// Whose it should be.
        wanted: Box<Identity>,
    },
}

/// A node's data directory, locked against other processes.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    identity: Identity,
    /// Open as long as the node lives; the system unlocks it when the process ends, however it ends.
    _lock: File,
}

impl Directory {
    /// Opens the directory, which is made if need be, and locks it.
    ///
    /// # Errors
    /// If that is impossible, or if another process has locked it.
    pub fn open(path: &Path, identity: Identity) -> Result<Self, StoreError> {
        fs::create_dir_all(path).map_err(failed("create", path))?;
        let lock_path = path.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(failed("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::InUse { path: path.to_owned() }),
            Err(fs::TryLockError::Error(why)) => return Err(failed("lock", &lock_path)(why)),
        }
        Ok(Directory { path: path.to_owned(), identity, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stable storage of one process of the node, by name.
    pub fn store(&self, name: &str) -> Store {
        Store {
            directory: self.path.clone(),
            file: self.path.join(file_name(name)),
            identity: self.identity.clone(),
            sequence: 0,
        }
    }

    /// The names of the processes that have stable storage here.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed("read", &self.path))? {
            let entry = entry.map_err(failed("read", &self.path))?;
            if let Some(name) = entry.file_name().to_str().and_then(|name| name.strip_suffix(".stable")) {
                names.push(if name == MAIN { String::new() } else { name.to_owned() });
            }
        }
        names.sort();
        Ok(names)
    }
}

/// The file name of the process without a name. No process can be called so: see [`crate::is_name`].
const MAIN: &str = "@main";

fn file_name(name: &str) -> String {
    format!("{}.stable", if name.is_empty() { MAIN } else { name })
}

/// One value on stable storage.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    file: PathBuf,
    identity: Identity,
    /// How often it was written.
    sequence: u64,
}

/// "habemus", and the version of the layout.
const MAGIC: &[u8; 8] = b"habemus\x01";

/// What a file holds behind magic and checksum.
#[derive(serde::Serialize, serde::Deserialize)]
struct Content {
    identity: Identity,
    sequence: u64,
    value: Vec<u8>,
}

impl Store {
    /// What is stored, or `None` if nothing ever was.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is somebody else's.
    pub fn load(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(failed("read", &self.file)(why)),
        };
        let corrupt = |how| StoreError::Corrupt { path: self.file.clone(), how };
        let (head, body) = bytes.split_at_checked(12).ok_or_else(|| corrupt("it is too short"))?;
        if &head[..8] != MAGIC {
            return Err(corrupt("it does not begin as it should"));
        }
        if head[8..] != crc32fast::hash(body).to_le_bytes() {
            return Err(corrupt("its checksum is wrong"));
        }
        let content: Content =
            postcard::from_bytes(body).map_err(|_| corrupt("its content makes no sense"))?;
        if content.identity != self.identity {
            let (found, wanted) = (Box::new(content.identity), Box::new(self.identity.clone()));
            return Err(StoreError::Foreign { path: self.file.clone(), found, wanted });
        }
        self.sequence = content.sequence;
        Ok(Some(content.value))
    }

    /// Stores `value`. When this returns, it survives a crash of the process and of the machine.
    ///
    /// # Errors
    /// If the system refuses. Then nothing may leave the node that relies on it.
    pub fn save(&mut self, value: &[u8]) -> Result<(), StoreError> {
        self.sequence += 1;
        let content =
            Content { identity: self.identity.clone(), sequence: self.sequence, value: value.to_vec() };
        let body = postcard::to_allocvec(&content).expect("a plain value can always be serialised");
        let new = self.file.with_extension("new");
        let write = || -> io::Result<()> {
            let mut file = File::create(&new)?;
            file.write_all(MAGIC)?;
            file.write_all(&crc32fast::hash(&body).to_le_bytes())?;
            file.write_all(&body)?;
            file.sync_all()
        };
        write().map_err(failed("write", &new))?;
        fs::rename(&new, &self.file).map_err(failed("rename", &new))?;
        // The rename itself is durable only when the directory is.
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(failed("sync", &self.directory))
    }

    /// How often the value was written.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |why| StoreError::Io { what, path, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn identity(id: u64) -> Identity {
        Identity { cluster: "test".to_owned(), algorithm: "bully".to_owned(), id }
    }

    #[test]
    fn what_was_stored_is_there_after_reopening() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        let mut store = directory.store("");
        assert_eq!(store.load().unwrap(), None);
        store.save(b"one").unwrap();
        store.save(b"two").unwrap();
        let mut again = directory.store("");
        assert_eq!(again.load().unwrap().as_deref(), Some(b"two".as_slice()));
        assert_eq!(again.sequence(), 2);
        assert_eq!(directory.names().unwrap(), [""]);
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        let mut store = directory.store("");
        store.save(b"precious").unwrap();
        let sound = fs::read(&store.file).unwrap();
        for index in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[index] ^= 0x10;
            fs::write(&store.file, &damaged).unwrap();
            assert!(matches!(store.load(), Err(StoreError::Corrupt { .. })), "byte {index}");
            fs::write(&store.file, &sound[..index]).unwrap();
            assert!(matches!(store.load(), Err(StoreError::Corrupt { .. })), "cut at {index}");
        }
        fs::write(&store.file, &sound).unwrap();
        assert_eq!(store.load().unwrap().as_deref(), Some(b"precious".as_slice()));
    }

    #[test]
    fn a_torn_write_leaves_the_old_value() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        let mut store = directory.store("");
        store.save(b"old").unwrap();
        fs::write(store.file.with_extension("new"), b"habem").unwrap();
        assert_eq!(directory.store("").load().unwrap().as_deref(), Some(b"old".as_slice()));
    }

    #[test]
    fn the_directory_of_another_node_is_refused() {
        let scratch = Scratch::new();
        Directory::open(scratch.path(), identity(1)).unwrap().store("").save(b"mine").unwrap();
        let error = Directory::open(scratch.path(), identity(2)).unwrap().store("").load().unwrap_err();
        assert!(error.to_string().contains("belongs to node 1"), "{error}");
    }

    #[test]
    fn two_nodes_cannot_share_a_directory() {
        let scratch = Scratch::new();
        let first = Directory::open(scratch.path(), identity(1)).unwrap();
        assert!(matches!(Directory::open(scratch.path(), identity(1)), Err(StoreError::InUse { .. })));
        drop(first);
        assert!(Directory::open(scratch.path(), identity(1)).is_ok());
    }
}
