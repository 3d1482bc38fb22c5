//! Stable storage: what a process has promised must survive whatever kills it.
//!
//! A value is written over the last but one, in a file that has room for two, and synced: at every moment one
//! complete value is there, and storing costs the disk no more than it must. A checksum tells a damaged slot
//! from a sound one, and a mark a slot that was damaged from one that was never finished. Damage is refused,
//! never repaired: a node that forgets a vote may vote twice.

mod slots;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    #[error(
        "another node is using {}; stop it, or give this one a data directory of its own",
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error(
        "{} is damaged ({how}). Neither delete it nor put an older copy in its place: either way the node \
         would forget what it has promised, and the others would refuse it. Take the node out of \
         the cluster, as docs/nodes.md \
         says under \"Changing a cluster\"; then it can come back with an empty directory",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// In which way.
        how: &'static str,
    },
    /// There is nothing, and nobody said that this is right.
    #[error(
        "{} holds nothing of node {id}. If this is the node's first start, say so with --new. If it has run \
         before, its disk was wiped or is not mounted: do not say --new, for it has forgotten what \
         it promised; take the node \
         out of the cluster first, as docs/nodes.md says under \"Changing a cluster\"",
        path.display()
    )]
    FirstStart {
        /// The directory.
        path: PathBuf,
        /// The node.
        id: u64,
    },
    /// It is no first start.
    #[error("{} holds what node {id} has promised in earlier lives: start it without --new", path.display())]
    NotFirst {
        /// The directory.
        path: PathBuf,
        /// The node.
        id: u64,
    },
    /// What the process stored is gone.
    #[error(
        "{}/@main.stable is missing, though node {id} has run here before: without it the node has \
         forgotten what it promised. If the file was moved, bring it back. Otherwise take the node \
         out of the cluster, as docs/nodes.md \
         says under \"Changing a cluster\"",
        path.display()
    )]
    Missing {
        /// The directory.
        path: PathBuf,
        /// The node.
        id: u64,
    },
    /// The record of the node is gone.
    #[error(
        "{0}/@node.stable is missing, though a process has stored something in {0}: nobody can tell what it \
         has promised to whom. If the file was moved, bring it back. Otherwise take the node out of \
         the cluster, as docs/nodes.md \
         says under \"Changing a cluster\"",
        path.display()
    )]
    NoRecord {
        /// The directory.
        path: PathBuf,
    },
    /// The node is told to be something else than what its data has promised.
    #[error(
        "the data in {} was made under other settings, and what node {id} has promised under them still \
         counts: {why}.\n  epoch {epoch} was: {stored}\n  now asked for: {wanted}",
        path.display()
    )]
    Changed {
        /// The directory.
        path: PathBuf,
        /// The node.
        id: u64,
        /// The epoch of the data.
        epoch: u64,
        /// What the nodes agreed on in it.
        stored: String,
        /// What they are to agree on now.
        wanted: String,
        /// What to do.
        why: String,
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

/// What makes written bytes durable: the disk, or in tests one that takes its time.
pub(crate) trait Disk: std::fmt::Debug + Send + Sync {
    /// Returns when what was written to the file survives a power cut.
    fn sync(&self, file: &File) -> io::Result<()>;
}

/// The disk that is there.
#[derive(Debug)]
struct RealDisk;

impl Disk for RealDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }
}

/// A node's data directory, locked against other processes.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    identity: Identity,
    disk: Arc<dyn Disk>,
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
        // Whoever can open the file can lock it, and so keep the node from starting: nobody else can.
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock_path);
        let lock = lock.map_err(failed("open", &lock_path))?;
        lock.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed("protect", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::InUse { path: path.to_owned() }),
            Err(fs::TryLockError::Error(why)) => return Err(failed("lock", &lock_path)(why)),
        }
        Ok(Directory { path: path.to_owned(), identity, disk: Arc::new(RealDisk), _lock: lock })
    }

    /// The same on another disk.
    #[cfg(test)]
    pub(crate) fn on(self, disk: Arc<dyn Disk>) -> Self {
        Directory { disk, ..self }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stable storage of one process of the node, by name.
    pub fn store(&self, name: &str) -> Store {
        Store {
            directory: self.path.clone(),
            path: self.path.join(file_name(name)),
            identity: self.identity.clone(),
            disk: Arc::clone(&self.disk),
            sequence: 0,
            open: None,
        }
    }

    /// Whether the process of this name has stable storage here.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.path.join(file_name(name)).exists()
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
                // What else begins like this is the node's own.
                if name == MAIN || !name.starts_with('@') {
                    names.push(if name == MAIN { String::new() } else { name.to_owned() });
                }
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
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    path: PathBuf,
    identity: Identity,
    disk: Arc<dyn Disk>,
    /// How often it was written.
    sequence: u64,
    /// The open file and how long its slots are; `None` before the first use.
    open: Option<(File, usize)>,
}

impl Store {
    /// What is stored, or `None` if nothing ever was.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is somebody else's.
    pub fn load(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(failed("read", &self.path)(why)),
        };
        let corrupt = |how| StoreError::Corrupt { path: self.path.clone(), how };
        let (capacity, newest) = slots::read(&bytes).map_err(corrupt)?;
        let content: Content =
            postcard::from_bytes(newest.body).map_err(|_| corrupt("its content makes no sense"))?;
        if content.identity != self.identity {
            let (found, wanted) = (Box::new(content.identity), Box::new(self.identity.clone()));
            return Err(StoreError::Foreign { path: self.path.clone(), found, wanted });
        }
        let file = OpenOptions::new().write(true).open(&self.path).map_err(failed("open", &self.path))?;
        (self.sequence, self.open) = (newest.sequence, Some((file, capacity)));
        Ok(content.value)
    }

    /// Makes room on the disk if there is none yet, so that the first [`save`](Store::save) is as fast as the
    /// others.
    ///
    /// # Errors
    /// As [`load`](Store::load), and if the system refuses.
    pub fn prepare(&mut self) -> Result<(), StoreError> {
        if self.open.is_none() {
            self.load()?;
        }
        if self.open.is_none() {
            self.rewrite(None)?;
        }
        Ok(())
    }

    /// Stores `value`. When this returns, it survives a crash of the process and of the machine.
    ///
    /// # Errors
    /// If the system refuses. Then nothing may leave the node that relies on it.
    pub fn save(&mut self, value: &[u8]) -> Result<(), StoreError> {
        self.prepare()?;
        self.sequence += 1;
        let content = self.content(Some(value));
        let Some((file, capacity)) = &self.open else { return Ok(()) };
        if slots::fits(content.len(), *capacity) {
            let write = || -> io::Result<()> {
                // The next life would not find what is written to a file without a name.
                if file.metadata()?.nlink() == 0 {
                    let why = "it was deleted or replaced while the node runs";
                    return Err(io::Error::new(io::ErrorKind::NotFound, why));
                }
                let slot = slots::slot(self.sequence, &content);
                file.write_all_at(&slot, slots::place(self.sequence, *capacity))?;
                self.disk.sync(file)?;
                // This need not be durable: it says that the slot is, for the case that it is damaged later.
                file.write_all_at(&slots::mark(self.sequence), 0)
            };
            return write().map_err(failed("write", &self.path));
        }
        self.rewrite(Some(value))
    }

    /// Writes a new file with the value in both slots, and puts it in the place of the old one.
    fn rewrite(&mut self, value: Option<&[u8]>) -> Result<(), StoreError> {
        let content = self.content(value);
        let capacity = slots::capacity_for(content.len());
        let new = self.path.with_extension("new");
        let write = || -> io::Result<File> {
            let file = File::create(&new)?;
            file.write_all_at(&slots::whole(self.sequence, &content, capacity), 0)?;
            self.disk.sync(&file)?;
            Ok(file)
        };
        let file = write().map_err(failed("write", &new))?;
        fs::rename(&new, &self.path).map_err(failed("rename", &new))?;
        // The rename itself is durable only when the directory is.
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(failed("sync", &self.directory))?;
        self.open = Some((file, capacity));
        Ok(())
    }

    fn content(&self, value: Option<&[u8]>) -> Vec<u8> {
        let content = Content { identity: self.identity.clone(), value: value.map(<[u8]>::to_vec) };
        postcard::to_allocvec(&content).expect("a plain value can always be serialised")
    }

    /// How often the value was written.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

/// What a slot holds.
#[derive(serde::Serialize, serde::Deserialize)]
struct Content {
    identity: Identity,
    /// `None` as long as nothing was stored.
    value: Option<Vec<u8>>,
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
    fn nobody_else_can_lock_the_directory() {
        let scratch = Scratch::new();
        let path = scratch.path().join("lock");
        fs::write(&path, []).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let _directory = Directory::open(scratch.path(), identity(1)).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
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
    fn no_damaged_byte_brings_an_older_value_back() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        let mut store = directory.store("");
        store.save(b"old").unwrap();
        store.save(b"precious").unwrap();
        let sound = fs::read(&store.path).unwrap();
        let mut refused = 0;
        for index in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[index] ^= 0x10;
            fs::write(&store.path, &damaged).unwrap();
            match directory.store("").load() {
                // The damage is where nothing is, or where it does not matter any more.
                Ok(value) => assert_eq!(value.as_deref(), Some(b"precious".as_slice()), "byte {index}"),
                Err(StoreError::Corrupt { .. }) => refused += 1,
                Err(why) => panic!("byte {index}: {why}"),
            }
        }
        assert!(refused > b"precious".len(), "every byte of the value counts: {refused}");
        for length in [0, 1, 100, 4096, sound.len() - 4096, sound.len() - 1] {
            fs::write(&store.path, &sound[..length]).unwrap();
            assert!(matches!(directory.store("").load(), Err(StoreError::Corrupt { .. })), "cut at {length}");
        }
    }

    #[test]
    fn a_torn_write_leaves_the_old_value() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        let mut store = directory.store("");
        store.save(b"old").unwrap();
        let before = fs::read(&store.path).unwrap();
        store.save(b"new").unwrap();
        let after = fs::read(&store.path).unwrap();
        let slot = slots::place(2, slots::capacity_for(1)) as usize;
        let mut outcomes = std::collections::BTreeSet::new();
        for torn in 0..200 {
            // So many bytes of the slot have reached the disk when the power fails; the mark comes later.
            let mut bytes = before.clone();
            bytes[slot..slot + torn].copy_from_slice(&after[slot..slot + torn]);
            fs::write(&store.path, &bytes).unwrap();
            outcomes.insert(directory.store("").load().unwrap().unwrap());
        }
        assert_eq!(outcomes, [b"old".to_vec(), b"new".to_vec()].into());
        fs::write(store.path.with_extension("new"), b"habem").unwrap();
        assert!(directory.store("").load().is_ok(), "a new file that was never finished is nobody's");
    }

    #[test]
    fn a_value_that_outgrows_its_slot_gets_a_longer_one() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        let mut store = directory.store("");
        for length in [10, 5000, 20, 50_000] {
            store.save(&vec![7; length]).unwrap();
            assert_eq!(directory.store("").load().unwrap().map(|value| value.len()), Some(length));
        }
        assert_eq!(store.sequence(), 4);
    }

    #[test]
    fn nothing_is_promised_on_a_file_that_was_deleted_or_replaced() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        for is_replaced in [false, true] {
            let mut store = directory.store("");
            store.save(b"mine").unwrap();
            if is_replaced {
                let copy = scratch.path().join("copy");
                fs::copy(&store.path, &copy).unwrap();
                fs::rename(&copy, &store.path).unwrap();
            } else {
                fs::remove_file(&store.path).unwrap();
            }
            let refused = store.save(b"more").unwrap_err().to_string();
            assert!(refused.contains("deleted or replaced"), "{refused}");
        }
    }

    #[test]
    fn a_place_that_was_prepared_holds_nothing_yet() {
        let scratch = Scratch::new();
        let directory = Directory::open(scratch.path(), identity(1)).unwrap();
        directory.store("").prepare().unwrap();
        assert_eq!(directory.store("").load().unwrap(), None);
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
