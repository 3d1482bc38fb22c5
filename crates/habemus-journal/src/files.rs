//! A directory on a real disk.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use crate::disk::Disk;

/// So many zeros are written ahead of what is appended. Space that was promised but never written must be
/// entered in the file system's own journal when it is written first, and a sync waits for that, too; so it
/// is done once for many syncs.
const AHEAD: u64 = 1 << 20;

/// A directory on a real disk.
pub struct Files {
    directory: PathBuf,
    /// Files that are being written.
    open: BTreeMap<String, Open>,
}

struct Open {
    file: File,
    length: u64,
    /// Up to where something was written; what was written in an earlier life is not known.
    written: u64,
}

impl Open {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset + bytes.len() as u64;
        if end > self.written && self.length > AHEAD {
            let until = (end + AHEAD).min(self.length);
            let zeros = vec![0; usize::try_from(until.saturating_sub(end)).map_err(io::Error::other)?];
            self.file.write_all_at(&zeros, end)?;
            self.written = until;
        }
        self.file.write_all_at(bytes, offset)
    }
}

impl Files {
    /// The files in `directory`, which is made if there is none.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(directory: &Path) -> io::Result<Files> {
        fs::create_dir_all(directory)?;
        Ok(Files { directory: directory.to_owned(), open: BTreeMap::new() })
    }

    fn file(&mut self, name: &str) -> io::Result<&mut Open> {
        match self.open.entry(name.to_owned()) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(place) => {
                let file = OpenOptions::new().write(true).open(self.directory.join(name))?;
                let length = file.metadata()?.len();
                Ok(place.insert(Open { file, length, written: 0 }))
            }
        }
    }
}

impl Disk for Files {
    fn list(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.directory)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        fs::read(self.directory.join(name))
    }

    fn create(&mut self, name: &str, length: u64) -> io::Result<()> {
        let path = self.directory.join(name);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
        // Space that was promised cannot run out, and a sync need not write down a new length.
        match fallocate(&file, FallocateFlags::empty(), 0, length.max(1)) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(length)?,
            Err(error) => return Err(error.into()),
        }
        file.sync_all()?;
        self.open.insert(name.to_owned(), Open { file, length, written: 0 });
        Ok(())
    }

    fn write(&mut self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file(name)?.write(offset, bytes)
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        self.file(name)?.file.sync_data()
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.directory.join(from), self.directory.join(to))?;
        self.open.remove(from);
        self.open.remove(to);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.open.remove(name);
        fs::remove_file(self.directory.join(name))
    }

    fn sync_names(&mut self) -> io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }
}
