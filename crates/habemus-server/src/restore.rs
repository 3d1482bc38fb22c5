//! A member of a new cluster, made from a backup of another one.

use std::net::SocketAddr;
use std::path::Path;

use habemus_journal::{Files, Journal, Limits};
use habemus_replica::Recovered;
use habemus_store::Store;
use sha2::{Digest, Sha256};

use crate::config::{Config, Origin, Restore};
use crate::identity::{self, Hexadecimal, Identity, Names};

/// A backup ends with a checksum of this length.
const CHECKSUM: usize = 32;

/// Makes the directory of a member, and says what it has made.
pub(crate) fn restore(config: &Config, from: &Restore) -> Result<String, String> {
    let data = &config.data;
    let tell = |error: &dyn std::fmt::Display| format!("{}: {error}", data.display());
    let name = config.name.as_deref().unwrap_or("default");
    let names: Names = match &config.origin {
        Origin::First(names) => names.clone(),
        Origin::Alone => [(name.to_owned(), SocketAddr::from(([127, 0, 0, 1], 2380)).into())].into(),
        Origin::Added { .. } => {
            return Err("a new cluster has nobody to join: say with --cluster who belongs to it".to_owned());
        }
    };
    if data.exists() && std::fs::read_dir(data).map_err(|error| tell(&error))?.next().is_some() {
        return Err(tell(
            &"it is not empty, and nothing is overwritten: choose another directory with --data",
        ));
    }
    let (store, sum) = read(&from.file)?;
    let (before, store) = (store.revision(), store.restored(from.skip));
    let restored = Some(Hexadecimal(sum ^ from.skip));
    let mut identity = Identity::first(&names, name, names[name].clone(), restored);
    let files = Files::new(data).map_err(|error| tell(&error))?;
    let _lock = identity::lock(data)?;
    let revision = store.revision();
    let first = Recovered::first_with(identity::members(&names, restored), store);
    // Without its identity, a directory is refused; so that is written last.
    Journal::create(files, Limits::default(), &first).map_err(|error| tell(&error))?;
    identity.has_journal = true;
    identity.write(data)?;
    Ok(format!(
        "{} is that of the member `{name}` of the new cluster {:016x}: it goes on after revision {revision}, \
            the \
         backup has {before}",
        data.display(),
        identity.cluster.0
    ))
}

/// The store in a backup, and a number that no other backup has.
fn read(file: &Path) -> Result<(Store, u64), String> {
    let tell = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let bytes = std::fs::read(file).map_err(|error| tell(&error))?;
    let damaged = "it is no complete backup of habemus: `habemus backup` writes one";
    let (bytes, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(|| tell(&damaged))?;
    if Sha256::digest(bytes).as_slice() != sum {
        return Err(tell(&damaged));
    }
    let store = Store::from_bytes(bytes).map_err(|error| tell(&error))?;
    let number = sum.first_chunk().map_or(1, |number| u64::from_le_bytes(*number));
    Ok((store, number))
}
