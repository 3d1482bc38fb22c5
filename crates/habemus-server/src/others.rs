//! What a member remembers of the others' disks, so that nobody comes back without what it has confirmed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use habemus_replica::MemberId;
use serde::{Deserialize, Serialize};

use crate::identity::{Hexadecimal, write_durably};

/// The file in which it is written down.
const FILE: &str = "others";

/// With which disk a member speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Life {
    /// Drawn when its directory was made.
    pub(crate) disk: Hexadecimal,
    /// How often it was started.
    pub(crate) starts: u64,
    /// Drawn when it was started.
    pub(crate) life: Hexadecimal,
}

/// Why a member is not let in as the one that it says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BadDisk {
    /// It is not the one that it had.
    Other,
    /// It is as it was at an earlier time.
    Older,
}

/// What is remembered.
pub(crate) struct Others {
    directory: PathBuf,
    known: BTreeMap<String, Life>,
}

impl Others {
    pub(crate) fn read(directory: &Path) -> Result<Others, String> {
        let path = directory.join(FILE);
        let known = if path.exists() {
            let tell = |error: &dyn ToString| format!("{}: {}", path.display(), error.to_string());
            let text = std::fs::read_to_string(&path).map_err(|error| tell(&error))?;
            toml::from_str(&text).map_err(|error| tell(&error))?
        } else {
            BTreeMap::new()
        };
        Ok(Others { directory: directory.to_owned(), known })
    }

    /// Whether a member may speak with this disk. If so, that is remembered before anything else happens.
    pub(crate) fn meet(&mut self, member: MemberId, life: Life) -> Result<(), BadDisk> {
        let name = format!("{:016x}", member.0);
        match self.known.get(&name) {
            Some(known) if known.disk != life.disk => return Err(BadDisk::Other),
            Some(known) if known == &life => return Ok(()),
            Some(known) if known.starts >= life.starts => return Err(BadDisk::Older),
            _ => {}
        }
        self.known.insert(name, life);
        let written = toml::to_string(&self.known).map_err(|error| error.to_string());
        if let Err(error) = written.and_then(|text| write_durably(&self.directory, FILE, &text)) {
            // It is a second line of defence: the member itself also checks what it has.
            tracing::warn!(error, "cannot remember the disks of the others");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wiped_disk_and_an_earlier_copy_are_known_for_what_they_are() {
        let directory = std::env::temp_dir().join(format!("habemus-others-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory can be made");
        let life = |disk, starts, life| Life { disk: Hexadecimal(disk), starts, life: Hexadecimal(life) };
        let mut others = Others::read(&directory).expect("there is nothing yet");
        assert_eq!(others.meet(MemberId(7), life(1, 3, 100)), Ok(()));
        assert_eq!(others.meet(MemberId(7), life(1, 3, 100)), Ok(()), "it comes back without a restart");
        assert_eq!(others.meet(MemberId(7), life(1, 5, 101)), Ok(()), "it was started twice");
        let mut others = Others::read(&directory).expect("it was written");
        assert_eq!(others.meet(MemberId(7), life(1, 5, 102)), Err(BadDisk::Older));
        assert_eq!(others.meet(MemberId(7), life(1, 4, 103)), Err(BadDisk::Older));
        assert_eq!(others.meet(MemberId(7), life(2, 9, 104)), Err(BadDisk::Other));
        assert_eq!(others.meet(MemberId(8), life(2, 1, 105)), Ok(()));
        std::fs::remove_dir_all(&directory).expect("it is ours");
    }
}
