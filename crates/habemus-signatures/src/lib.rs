//! Ed25519 signatures for the algorithms of habemus that need them.
//!
//! The core knows signatures only as a trait; here is what stands behind it. A simulation takes [`ed25519`],
//! which makes the keys of all processes from their identifiers, so that a run repeats bit for bit. A real
//! node takes an [`Ed25519`] with its own secret key and the others' public ones, from files.

// Who may read a file is said in Unix's words; elsewhere, as in a browser, no key comes from one.
#[cfg(unix)]
mod files;
#[cfg(unix)]
pub use files::{KeysError, is_open_to_others, public_file, secret_file};

use std::collections::BTreeMap;
use std::sync::Arc;

use ed25519_dalek::{Signature as Bytes, Signer, SigningKey, VerifyingKey};
use habemus::Id;
use habemus::signatures::{Signature, Signatures};

/// The keys of a system: some secret, all public.
#[derive(Clone, Debug, Default)]
pub struct Ed25519 {
    secret: BTreeMap<Id, SigningKey>,
    public: BTreeMap<Id, VerifyingKey>,
}

/// The keys of the processes with these identifiers, for a simulation: anybody can derive them.
pub fn ed25519(ids: &[Id]) -> Arc<dyn Signatures> {
    let mut keys = Ed25519::default();
    for id in ids {
        keys.add_secret(*id, demonstration_key(*id));
    }
    Arc::new(keys)
}

impl Ed25519 {
    /// Adds the secret key of a process, with which this one can sign as that.
    pub fn add_secret(&mut self, id: Id, key: SigningKey) {
        self.public.insert(id, key.verifying_key());
        self.secret.insert(id, key);
    }

    /// Adds the public key of a process, by which its signatures are known.
    pub fn add_public(&mut self, id: Id, key: VerifyingKey) {
        self.public.insert(id, key);
    }
}

impl Signatures for Ed25519 {
    fn sign(&self, signer: Id, statement: &[u8]) -> Option<Signature> {
        let key = self.secret.get(&signer)?;
        Some(Signature(key.sign(statement).to_bytes().to_vec()))
    }

    fn verify(&self, signer: Id, statement: &[u8], signature: &Signature) -> bool {
        let (Some(key), Ok(bytes)) = (self.public.get(&signer), Bytes::from_slice(&signature.0)) else {
            return false;
        };
        // Strictly: no two signatures of the same statement by the same key are valid.
        key.verify_strict(statement, &bytes).is_ok()
    }
}

/// A key that anybody can derive from the identifier. The seed of a key is hashed, so any will do that is no
/// other's.
fn demonstration_key(id: Id) -> SigningKey {
    let mut seed = *b"habemus: demonstration! ........";
    seed[24..].copy_from_slice(&id.0.to_be_bytes());
    SigningKey::from_bytes(&seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATEMENT: &[u8] = b"attack at dawn";

    #[test]
    fn what_one_signs_all_can_verify_and_nothing_else() {
        let keys = ed25519(&[Id(1), Id(2)]);
        let signature = keys.sign(Id(1), STATEMENT).expect("its key is there");
        assert!(keys.verify(Id(1), STATEMENT, &signature));
        assert!(!keys.verify(Id(2), STATEMENT, &signature));
        assert!(!keys.verify(Id(3), STATEMENT, &signature));
        assert!(!keys.verify(Id(1), b"attack at noon", &signature));
        for place in [0, 31, 32, 63] {
            let mut altered = signature.clone();
            altered.0[place] ^= 1;
            assert!(!keys.verify(Id(1), STATEMENT, &altered), "byte {place}");
        }
        assert!(!keys.verify(Id(1), STATEMENT, &Signature(Vec::new())));
    }

    #[test]
    fn the_same_run_has_the_same_signatures() {
        let sign = || ed25519(&[Id(7)]).sign(Id(7), STATEMENT);
        assert_eq!(sign(), sign());
    }

    #[test]
    fn a_node_signs_for_itself_alone() {
        let mut mine = Ed25519::default();
        mine.add_secret(Id(1), demonstration_key(Id(1)));
        mine.add_public(Id(2), demonstration_key(Id(2)).verifying_key());
        assert!(mine.sign(Id(1), STATEMENT).is_some());
        assert_eq!(mine.sign(Id(2), STATEMENT), None);
        let signature = ed25519(&[Id(2)]).sign(Id(2), STATEMENT).expect("its key is there");
        assert!(mine.verify(Id(2), STATEMENT, &signature));
    }
}
