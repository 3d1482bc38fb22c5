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

/// Whatever is written to a journal begins at a multiple of this; what fills it up is never looked at.
const ALIGNMENT: usize = 8;

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
    /// Where the last write begins that was synced, and how long it is.
    last_synced: Option<(String, usize, usize)>,
    random: Random,
}

/// The files of a disk, as somebody has copied them.
pub(crate) type Copied = BTreeMap<String, Vec<u8>>;

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
            last_synced: None,
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

    /// Flips a bit of the snapshot, or of the journal but for what was written last: nobody could tell that
    /// from what a crash has torn.
    pub(crate) fn rot(&self, place: u64) -> bool {
        let (snapshot, last) = {
            let state = self.0.borrow();
            (state.durable.get("snapshot").map_or(0, Vec::len), state.last_synced.clone())
        };
        let places = (place / 2) as usize;
        match last.filter(|(_, offset, _)| place.is_multiple_of(2) && *offset > 0) {
            Some((name, offset, _)) => self.damage(&name, places % offset / ALIGNMENT * ALIGNMENT),
            None if snapshot > 0 => self.damage("snapshot", places % snapshot),
            None => return false,
        }
        true
    }

    /// Where that begins which was written last and synced: the number of the segment, and where in it.
    pub(crate) fn last_synced(&self) -> Option<(u64, usize)> {
        let state = self.0.borrow();
        let (name, offset, _) = state.last_synced.as_ref()?;
        let number = u64::from_str_radix(name.strip_suffix(".log")?, 16).ok()?;
        Some((number, *offset))
    }

    /// Flips a bit of what was written last.
    pub(crate) fn rot_last(&self, place: u64) {
        let last = self.0.borrow().last_synced.clone();
        if let Some((name, offset, length)) = last {
            self.damage(&name, offset + place as usize % length / ALIGNMENT * ALIGNMENT);
        }
    }

    /// What is there for sure.
    pub(crate) fn copied(&self) -> Copied {
        self.0.borrow().durable.clone()
    }

    /// What was copied is there again, and nothing else.
    pub(crate) fn put_back(&self, files: Copied) {
        self.wipe();
        let mut state = self.0.borrow_mut();
        state.present = files.clone();
        state.durable = files;
    }

    /// Everything on it is lost.
    pub fn wipe(&self) {
        let mut state = self.0.borrow_mut();
        state.present.clear();
        state.durable.clear();
        state.unsynced.clear();
        state.renamed.clear();
        state.last_synced = None;
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
        for (name, offset, bytes) in state.unsynced.extract_if(.., is_here) {
            file[offset..offset + bytes.len()].copy_from_slice(&bytes);
            if name.ends_with(".log") {
                state.last_synced = Some((name, offset, bytes.len()));
            }
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

    #[test]
    fn a_copy_that_is_put_back_has_what_was_durable_then_and_nothing_else() {
        let mut disk = CruelDisk::new(1);
        let name = "0000000000000001.log";
        disk.create(name, 64).expect("it works");
        disk.write(name, 0, &[1; 16]).expect("it works");
        disk.sync(name).expect("it works");
        disk.write(name, 16, &[2; 16]).expect("it works");
        let copy = disk.copied();
        assert_eq!(disk.last_synced(), Some((1, 0)));
        disk.sync(name).expect("it works");
        assert_eq!(disk.last_synced(), Some((1, 16)));
        disk.create("later", 8).expect("it works");
        disk.put_back(copy);
        disk.restart();
        assert_eq!(disk.list().expect("it works"), [name]);
        let read = disk.read(name).expect("it is there");
        assert_eq!((&read[..16], &read[16..32]), (&[1; 16][..], &[0; 16][..]));
    }

    #[test]
    fn a_bit_flips_in_what_was_written_last_or_before_it_as_was_asked_for() {
        let mut disk = CruelDisk::new(1);
        let name = "0000000000000001.log";
        disk.create(name, 64).expect("it works");
        for offset in [0, 16, 32] {
            disk.write(name, offset, &[7; 16]).expect("it works");
            disk.sync(name).expect("it works");
        }
        let before = disk.read(name).expect("it is there");
        let changed = |disk: &CruelDisk| {
            let now = disk.read(name).expect("it is there");
            (0..64).filter(|&at| now[at] != before[at]).collect::<Vec<_>>()
        };
        assert!(disk.rot(2 * 20), "in the journal");
        assert_eq!(changed(&disk), [16]);
        disk.rot_last(9);
        assert_eq!(changed(&disk), [16, 40]);
    }
}
