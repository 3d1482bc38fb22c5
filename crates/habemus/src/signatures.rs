//! Signatures, as algorithms see them: who signed a statement can be told, and nobody can sign for another.
//!
//! The core knows no cryptography. Whoever builds a system hands in a [`Scheme`], and an algorithm that needs
//! signatures finds the keys in its constants.

use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::Id;

/// A signature of a statement.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Signature(pub Vec<u8>);

/// The first bytes are enough to tell one from another.
impl Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The keys of a system.
///
/// A simulation holds the keys of all processes, for it runs them all; there it is the algorithms that sign
/// for nobody but the process that they are. On a real node only its own key is there.
pub trait Signatures: Debug + Send + Sync {
    /// The signature of `signer`; `None` if its key is not here.
    fn sign(&self, signer: Id, statement: &[u8]) -> Option<Signature>;

    /// Whether `signer`, and nobody else, can have signed this.
    fn verify(&self, signer: Id, statement: &[u8], signature: &Signature) -> bool;
}

/// Where the keys of a system come from.
#[derive(Clone, Debug)]
pub enum Scheme {
    /// They are made for the processes with these identifiers, if they are needed at all.
    Made(fn(ids: &[Id]) -> Arc<dyn Signatures>),
    /// These are they.
    Given(Arc<dyn Signatures>),
}

impl Scheme {
    /// The keys of the processes with these identifiers.
    pub fn keys(&self, ids: &[Id]) -> Arc<dyn Signatures> {
        match self {
            Scheme::Made(make) => make(ids),
            Scheme::Given(keys) => Arc::clone(keys),
        }
    }
}

/// A scheme in which nobody can sign: for those that only look at a system and never run it.
pub(crate) fn unsigned(_: &[Id]) -> Arc<dyn Signatures> {
    #[derive(Debug)]
    struct Unsigned;
    impl Signatures for Unsigned {
        fn sign(&self, _: Id, _: &[u8]) -> Option<Signature> {
            None
        }

        fn verify(&self, _: Id, _: &[u8], _: &Signature) -> bool {
            false
        }
    }
    Arc::new(Unsigned)
}
