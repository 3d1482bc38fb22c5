//! What a member remembers of the others' disks, so that nobody comes back without what it has confirmed.
//!
//! Each member says once a second how far its journal goes, and how far it knows the others' to go; what it
//! hears it writes down. So a directory that was put back is known for what it is by whoever heard of
//! anything that was written after it was copied, even if all of them were restarted in the meantime.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use habemus_journal::{BadDisk, Known, Life};
use habemus_replica::MemberId;

use crate::identity::write_durably;

/// The file in which it is written down.
const FILE: &str = "disks";

/// What is remembered.
pub(crate) struct Others {
    directory: PathBuf,
    me: MemberId,
    known: Mutex<BTreeMap<String, Known>>,
    /// Held by whoever writes the file.
    writing: Mutex<()>,
}

fn name(member: MemberId) -> String {
    format!("{:016x}", member.0)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Others {
    /// What `me` remembers in its directory.
    pub(crate) fn read(directory: &Path, me: MemberId) -> Result<Others, String> {
        let path = directory.join(FILE);
        let known = if path.exists() {
            let tell = |error: &dyn ToString| format!("{}: {}", path.display(), error.to_string());
            let text = std::fs::read_to_string(&path).map_err(|error| tell(&error))?;
            toml::from_str(&text).map_err(|error| tell(&error))?
        } else {
            BTreeMap::new()
        };
        Ok(Others { directory: directory.to_owned(), me, known: Mutex::new(known), writing: Mutex::new(()) })
    }

    /// Whether a member may speak with this disk. If so, that is remembered before anything else happens.
    pub(crate) fn meet(&self, member: MemberId, life: Life) -> Result<(), BadDisk> {
        let mut known = lock(&self.known);
        let before = known.get(&name(member)).copied();
        let after = before.map_or(Ok(Known::first(life)), |before| before.with(life))?;
        known.insert(name(member), after);
        drop(known);
        if before != Some(after) {
            self.write();
        }
        Ok(())
    }

    /// Another member says what it knows.
    pub(crate) fn learn(&self, disks: Vec<(MemberId, Known)>) {
        let mut known = lock(&self.known);
        let before = known.clone();
        for (member, told) in disks.into_iter().filter(|(member, _)| *member != self.me) {
            let entry = known.entry(name(member)).or_insert(told);
            *entry = entry.heard(told);
        }
        let is_new = *known != before;
        drop(known);
        if is_new {
            self.write();
        }
    }

    /// All that is known.
    pub(crate) fn all(&self) -> Vec<(MemberId, Known)> {
        let known = lock(&self.known);
        let id = |name: &String| u64::from_str_radix(name, 16).ok().map(MemberId);
        known.iter().filter_map(|(name, known)| Some((id(name)?, *known))).collect()
    }

    fn write(&self) {
        let _turn = lock(&self.writing);
        let text = toml::to_string(&*lock(&self.known)).map_err(|error| error.to_string());
        if let Err(error) = text.and_then(|text| write_durably(&self.directory, FILE, &text)) {
            // It is a second line of defence: the member itself also checks what it has.
            tracing::warn!(error, "cannot remember the disks of the others");
        }
    }
}

#[cfg(test)]
mod tests {
    use habemus_journal::{Extent, Hexadecimal};

    use super::*;

    const ME: MemberId = MemberId(1);
    const IT: MemberId = MemberId(7);

    fn extent(end: u64) -> Extent {
        Extent { segment: 1, end }
    }

    fn life(disk: u64, starts: u64, life: u64, found: u64) -> Life {
        Life { disk: Hexadecimal(disk), starts, life: Hexadecimal(life), found: extent(found) }
    }

    fn with_a_directory(name: &str, test: impl FnOnce(&Path)) {
        let directory = std::env::temp_dir().join(format!("habemus-others-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory can be made");
        test(&directory);
        std::fs::remove_dir_all(&directory).expect("it is ours");
    }

    #[test]
    fn a_wiped_disk_and_an_earlier_copy_are_known_for_what_they_are() {
        with_a_directory("copies", |directory| {
            let others = Others::read(directory, ME).expect("there is nothing yet");
            assert_eq!(others.meet(IT, life(1, 3, 100, 10)), Ok(()));
            assert_eq!(others.meet(IT, life(1, 3, 100, 10)), Ok(()), "it comes back without a restart");
            assert_eq!(others.meet(IT, life(1, 5, 101, 10)), Ok(()), "it was started twice");
            let others = Others::read(directory, ME).expect("it was written");
            assert_eq!(others.meet(IT, life(1, 5, 102, 20)), Err(BadDisk::Older));
            assert_eq!(others.meet(IT, life(1, 4, 103, 20)), Err(BadDisk::Older));
            assert_eq!(others.meet(IT, life(2, 9, 104, 20)), Err(BadDisk::Other));
            assert_eq!(others.meet(MemberId(8), life(2, 1, 105, 0)), Ok(()));
        });
    }

    #[test]
    fn a_copy_of_the_present_life_is_known_by_what_was_written_since() {
        with_a_directory("extents", |directory| {
            let others = Others::read(directory, ME).expect("there is nothing yet");
            let present = life(1, 3, 100, 10);
            others.meet(IT, present).expect("it is new");
            others.learn(vec![(IT, Known { life: present, written: extent(50) })]);
            // Both are restarted.
            let others = Others::read(directory, ME).expect("it was written");
            assert_eq!(others.meet(IT, life(1, 4, 101, 49)), Err(BadDisk::Older));
            assert_eq!(
                others.meet(IT, life(1, 4, 102, 50)),
                Ok(()),
                "it has all that it is known to have had"
            );
        });
    }

    #[test]
    fn what_another_member_knows_counts_but_lets_nobody_in() {
        with_a_directory("hearsay", |directory| {
            let others = Others::read(directory, ME).expect("there is nothing yet");
            others.learn(vec![
                (IT, Known { life: life(1, 3, 100, 10), written: extent(50) }),
                (ME, Known { life: life(9, 9, 9, 9), written: extent(9) }),
            ]);
            assert_eq!(others.all().len(), 1, "who it is itself it knows best");
            assert_eq!(
                others.meet(IT, life(1, 4, 101, 49)),
                Err(BadDisk::Older),
                "it has met it never before"
            );
            let old = life(1, 4, 101, 49);
            others.learn(vec![(IT, Known { life: old, written: extent(60) })]);
            assert_eq!(others.meet(IT, old), Err(BadDisk::Older), "somebody else has let it in");
        });
    }
}
