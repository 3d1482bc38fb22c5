//! A disk that fails at a moment of one's choice, and then has lost, torn or kept what was not synced, as it
//! likes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use habemus_journal::Disk;

use crate::random::Random;

/// A disk pulls whole sectors through, or not.
const SECTOR: usize = 512;

/// A disk that outlives the process that writes to it. Clones are the same disk.
#[derive(Clone)]
pub struct CruelDisk(Rc<RefCell<State>>);

struct State {
    /// What is there as long as nothing fails.
    present: BTreeMap<String, Vec<u8>>,
    /// What is there for sure.
    durable: BTreeMap<String, Vec<u8>>,
    /// What was written since its file was synced: name, offset, bytes.
    unsynced: Vec<(String, usize, Vec<u8>)>,
    /// Which names were changed since they were synced.
    renamed: Vec<Name>,
    /// How many more operations work.
    left: Option<usize>,
    /// No file can be made.
    full: bool,
    /// What was not synced may be anything after the next restart.
    garbles: bool,
    random: Random,
}

#[derive(Clone)]
enum Name {
    Created(String, usize),
    Renamed(String, String),
    Removed(String),
}

impl CruelDisk {
    /// An empty disk.
    pub fn new(seed: u64) -> CruelDisk {
        CruelDisk(Rc::new(RefCell::new(State {
            present: BTreeMap::new(),
            durable: BTreeMap::new(),
            unsynced: Vec::new(),
            renamed: Vec::new(),
            left: None,
            full: false,
            garbles: false,
            random: Random::new(seed, 1),
        })))
    }

    /// Lets the disk fail after so many operations.
    pub fn fail_after(&self, operations: usize) {
        self.0.borrow_mut().left = Some(operations);
    }

    /// Whether there is no space for another file.
    pub fn fill(&self, full: bool) {
        self.0.borrow_mut().full = full;
    }

    /// What is not synced may be anything after the next restart.
    pub fn garble(&self) {
        self.0.borrow_mut().garbles = true;
    }

    /// It works again.
    pub fn mend(&self) {
        self.0.borrow_mut().left = None;
    }

    /// Flips a bit of the snapshot, if there is one: in what was written last, nobody could tell it from what
    /// a crash has torn.
    pub fn rot(&self, place: u64) -> bool {
        let length = self.0.borrow().durable.get("snapshot").map_or(0, Vec::len);
        if length > 0 {
            self.damage("snapshot", place as usize % length);
        }
        length > 0
    }

    /// Everything on it is lost.
    pub fn wipe(&self) {
        let mut state = self.0.borrow_mut();
        state.present.clear();
        state.durable.clear();
        state.unsynced.clear();
        state.renamed.clear();
    }

    /// Whether there is no space for another file.
    pub fn is_full(&self) -> bool {
        self.0.borrow().full
    }

    /// How many bytes all files have.
    pub fn bytes(&self) -> usize {
        self.0.borrow().present.values().map(Vec::len).sum()
    }

    /// The machine starts again. Of what was not synced any part may have come through.
    pub fn restart(&self) {
        let mut guard = self.0.borrow_mut();
        let state = &mut *guard;
        let renamed = std::mem::take(&mut state.renamed);
        let kept = state.random.below(renamed.len() as u64 + 1) as usize;
        // Names come through in order, as a journalling file system has it.
        for name in &renamed[..kept] {
            apply_name(&mut state.durable, name);
        }
        for (name, offset, bytes) in std::mem::take(&mut state.unsynced) {
            let Some(file) = state.durable.get_mut(&name) else { continue };
            for (at, sector) in sectors(offset, &bytes) {
                if at + sector.len() > file.len() {
                    continue;
                }
                if state.garbles && state.random.happens(500) {
                    file[at..at + sector.len()].fill_with(|| state.random.number() as u8);
                } else if state.random.happens(500) {
                    file[at..at + sector.len()].copy_from_slice(sector);
                }
            }
        }
        state.present = state.durable.clone();
        state.left = None;
        state.garbles = false;
    }

    /// Flips one bit of a file.
    pub fn damage(&self, name: &str, offset: usize) {
        let mut state = self.0.borrow_mut();
        for files in [0, 1] {
            let files = if files == 0 { &mut state.present } else { &mut state.durable };
            files.get_mut(name).expect("there is such a file")[offset] ^= 0x10;
        }
    }

    /// Loses a file.
    pub fn forget(&self, name: &str) {
        let mut state = self.0.borrow_mut();
        state.present.remove(name);
        state.durable.remove(name);
    }

    fn operate(&self) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        match &mut state.left {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the disk is gone")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }
}

/// What is written at an offset, sector by sector: only the first part and the last may be less than a whole
/// one.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let head = (SECTOR - offset % SECTOR).min(bytes.len());
    let (head, tail) = bytes.split_at(head);
    let after = offset + head.len();
    let rest = tail.chunks(SECTOR).enumerate().map(move |(index, sector)| (after + index * SECTOR, sector));
    std::iter::once((offset, head)).chain(rest)
}

fn apply_name(files: &mut BTreeMap<String, Vec<u8>>, name: &Name) {
    match name {
        Name::Created(name, length) => drop(files.insert(name.clone(), vec![0; *length])),
        Name::Renamed(from, to) => {
            if let Some(file) = files.remove(from) {
                files.insert(to.clone(), file);
            }
        }
        Name::Removed(name) => drop(files.remove(name)),
    }
}

impl Disk for CruelDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().present.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.0.borrow().present.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create(&mut self, name: &str, length: u64) -> io::Result<()> {
        self.operate()?;
        let created = Name::Created(name.to_owned(), usize::try_from(length).expect("tests are small"));
        let mut state = self.0.borrow_mut();
        if state.full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        apply_name(&mut state.present, &created);
        state.unsynced.retain(|(written, ..)| written != name);
        state.renamed.push(created);
        Ok(())
    }

    fn write(&mut self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // A write that fails may have come through in part.
        let works = self.operate();
        let mut state = self.0.borrow_mut();
        let offset = usize::try_from(offset).expect("tests are small");
        state.unsynced.push((name.to_owned(), offset, bytes.to_vec()));
        works?;
        let file = state.present.get_mut(name).expect("it was created");
        file[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self, name: &str) -> io::Result<()> {
        self.operate()?;
        let mut guard = self.0.borrow_mut();
        let state = &mut *guard;
        // A file that was synced has a name: file systems see to that as they write its length.
        let created =
            state.renamed.iter().position(|it| matches!(it, Name::Created(created, _) if created == name));
        if let Some(created) = created {
            for earlier in state.renamed.drain(..=created).collect::<Vec<_>>() {
                apply_name(&mut state.durable, &earlier);
            }
        }
        if !state.durable.contains_key(name) {
            // It was renamed, which is made durable with it.
            state.durable.insert(name.to_owned(), state.present[name].clone());
        }
        let file = state.durable.get_mut(name).expect("it was just seen to");
        let is_here = |(written, ..): &mut (String, usize, Vec<u8>)| written == name;
        for (_, offset, bytes) in state.unsynced.extract_if(.., is_here) {
            file[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.operate()?;
        let renamed = Name::Renamed(from.to_owned(), to.to_owned());
        let mut state = self.0.borrow_mut();
        apply_name(&mut state.present, &renamed);
        state.renamed.push(renamed);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.operate()?;
        let removed = Name::Removed(name.to_owned());
        let mut state = self.0.borrow_mut();
        apply_name(&mut state.present, &removed);
        state.renamed.push(removed);
        Ok(())
    }

    fn sync_names(&mut self) -> io::Result<()> {
        self.operate()?;
        let mut guard = self.0.borrow_mut();
        let state = &mut *guard;
        for name in std::mem::take(&mut state.renamed) {
            apply_name(&mut state.durable, &name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crosses_a_sector_comes_through_in_parts() {
        let bytes = [7; 1100];
        let parts: Vec<(usize, usize)> = sectors(500, &bytes).map(|(at, part)| (at, part.len())).collect();
        assert_eq!(parts, [(500, 12), (512, 512), (1024, 512), (1536, 64)]);
        let parts: Vec<(usize, usize)> =
            sectors(8, &bytes[..16]).map(|(at, part)| (at, part.len())).collect();
        assert_eq!(parts, [(8, 16)]);
    }
}
