//! Keys in files: a secret one for its node, and public ones for all.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ed25519_dalek::{SigningKey, VerifyingKey};
use habemus::Id;

use crate::Ed25519;

/// Why keys cannot be had from files.
#[derive(Debug)]
pub enum KeysError {
    /// A file cannot be read or written.
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// A file is no key.
    NoKey {
        /// Which.
        path: PathBuf,
    },
    /// A secret key that others can read.
    Open {
        /// Which.
        path: PathBuf,
    },
    /// The secret key of a node is not that of its public key.
    Different {
        /// The node.
        id: u64,
        /// The secret key's file.
        path: PathBuf,
    },
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeysError::Io { path, why } => write!(f, "{}: {why}", path.display()),
            KeysError::NoKey { path } => {
                write!(f, "{} is no Ed25519 key: expected 64 hexadecimal digits", path.display())
            }
            KeysError::Open { path } => {
                let path = path.display();
                write!(f, "{path} is no secret: it can be read or changed by others; chmod 600 mends that")
            }
            KeysError::Different { id, path } => {
                write!(f, "{} does not belong to the public key of node {id}", path.display())
            }
        }
    }
}

impl std::error::Error for KeysError {}

/// The file of a node's secret key, which nobody else may have.
pub fn secret_file(directory: &Path, id: u64) -> PathBuf {
    directory.join(format!("node-{id}.sign"))
}

/// The file of a node's public key, which all nodes need.
pub fn public_file(directory: &Path, id: u64) -> PathBuf {
    directory.join(format!("node-{id}.public"))
}

impl Ed25519 {
    /// Makes keys for these nodes and writes them into a directory that is there.
    ///
    /// # Errors
    /// If the system gives no randomness, or the files cannot be written.
    pub fn make_files(directory: &Path, ids: &[u64]) -> Result<(), KeysError> {
        let source = Path::new("/dev/urandom");
        let mut random = File::open(source).map_err(at(source))?;
        for id in ids {
            let mut seed = [0; 32];
            random.read_exact(&mut seed).map_err(at(source))?;
            let key = SigningKey::from_bytes(&seed);
            write(&public_file(directory, *id), &key.verifying_key().to_bytes(), 0o644)?;
            write(&secret_file(directory, *id), &seed, 0o600)?;
        }
        Ok(())
    }

    /// The keys that node `id` needs: its own secret one, and the public ones of all.
    ///
    /// # Errors
    /// If a file is missing or no key, or if the secret key is another's.
    pub fn read_files(directory: &Path, id: u64, ids: &[Id]) -> Result<Self, KeysError> {
        let mut keys = Ed25519::default();
        for other in ids {
            let path = public_file(directory, other.0);
            let key = VerifyingKey::from_bytes(&read(&path)?).map_err(|_| KeysError::NoKey { path })?;
            keys.add_public(*other, key);
        }
        let path = secret_file(directory, id);
        if is_open_to_others(&path) {
            return Err(KeysError::Open { path });
        }
        let secret = SigningKey::from_bytes(&read(&path)?);
        if keys.public.get(&Id(id)).is_some_and(|public| *public != secret.verifying_key()) {
            return Err(KeysError::Different { id, path });
        }
        keys.add_secret(Id(id), secret);
        Ok(keys)
    }
}

/// Whether others than the owner and its group can read a file, or others than the owner can change it.
pub fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o027 != 0)
}

fn write(path: &Path, key: &[u8; 32], mode: u32) -> Result<(), KeysError> {
    let mut text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    text.push('\n');
    // A key must never be readable by others, not even for a moment: the old file goes first.
    let _ = fs::remove_file(path);
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(at(path))
}

fn read(path: &Path) -> Result<[u8; 32], KeysError> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    let digits = text.trim().as_bytes();
    let mut key = [0; 32];
    let sound = digits.len() == 64
        && digits.chunks(2).zip(&mut key).all(|(pair, byte)| {
            let digit = |place: usize| char::from(pair[place]).to_digit(16);
            let (Some(high), Some(low)) = (digit(0), digit(1)) else { return false };
            *byte = (high * 16 + low) as u8;
            true
        });
    if sound { Ok(key) } else { Err(KeysError::NoKey { path: path.to_owned() }) }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> KeysError {
    let path = path.to_owned();
    move |why| KeysError::Io { path, why }
}

#[cfg(test)]
mod tests {
    use habemus::signatures::Signatures;

    use super::*;

    #[test]
    fn keys_come_from_files_and_only_the_own_one_signs() {
        let directory = std::env::temp_dir().join(format!("habemus-keys-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory can be made");
        Ed25519::make_files(&directory, &[1, 2]).expect("keys can be made");
        let mode = fs::metadata(secret_file(&directory, 1)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "a secret is nobody else's business");
        let ids = [Id(1), Id(2)];
        let one = Ed25519::read_files(&directory, 1, &ids).expect("the keys are sound");
        let two = Ed25519::read_files(&directory, 2, &ids).expect("the keys are sound");
        let signature = one.sign(Id(1), b"attack").expect("it is its own key");
        assert!(two.verify(Id(1), b"attack", &signature) && !two.verify(Id(2), b"attack", &signature));
        assert_eq!(one.sign(Id(2), b"attack"), None);

        fs::set_permissions(secret_file(&directory, 1), fs::Permissions::from_mode(0o644))
            .expect("it is ours");
        let shown = Ed25519::read_files(&directory, 1, &ids).expect_err("everybody can read it").to_string();
        assert!(shown.contains("chmod 600"), "{shown}");
        fs::set_permissions(secret_file(&directory, 1), fs::Permissions::from_mode(0o600))
            .expect("it is ours");
        fs::copy(secret_file(&directory, 2), secret_file(&directory, 1)).expect("files can be copied");
        let swapped = Ed25519::read_files(&directory, 1, &ids);
        assert!(matches!(swapped, Err(KeysError::Different { id: 1, .. })));
        fs::write(public_file(&directory, 2), "attack at dawn").expect("files can be written");
        assert!(matches!(Ed25519::read_files(&directory, 2, &ids), Err(KeysError::NoKey { .. })));
        assert!(matches!(Ed25519::read_files(&directory, 3, &[]), Err(KeysError::Io { .. })));
        let _ = fs::remove_dir_all(&directory);
    }
}
