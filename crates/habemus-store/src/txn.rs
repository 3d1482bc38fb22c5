//! Transactions: compare, and do one thing or another, all at once.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::answer::{OperationAnswer, Outcome, TxnAnswer};
use crate::command::{Delete, Put};
use crate::error::StoreError;
use crate::event::{KeyValue, Revision};
use crate::key_range::KeyRange;
use crate::keyspace::{Keyspace, Writing};
use crate::range::Range;
use crate::session::{SessionId, Sessions};

/// How many comparisons, and how many operations each way, a transaction may have; what stands inside shares
/// them.
pub const MAX_OPERATIONS: usize = 128;

/// Compare, and do one thing or another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Txn {
    /// What must hold.
    pub compare: Vec<Compare>,
    /// What is done if all of it holds.
    pub then: Vec<Operation>,
    /// What is done if not.
    pub otherwise: Vec<Operation>,
}

/// One comparison. Of several keys, it must hold for each; where there is none, for a key that was never
/// written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compare {
    /// Of which keys.
    pub keys: KeyRange,
    /// How what is there must stand to the operand.
    pub relation: Relation,
    /// What it is compared with.
    pub operand: Operand,
}

/// How what is there must stand to the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// The same.
    Equal,
    /// Something else.
    NotEqual,
    /// More.
    Greater,
    /// Less.
    Less,
}

/// What of a key is compared, and with what. A key that is not there has zeros, and no value that could be
/// compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    /// How often it was written.
    Version(u64),
    /// When it was created.
    Created(Revision),
    /// When it was last written.
    Modified(Revision),
    /// Its value.
    Value(Bytes),
    /// Its session; zero for none.
    Session(SessionId),
}

/// One operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Read keys, with what was written before in the same transaction.
    Range(Range),
    /// Write a key.
    Put(Put),
    /// Delete keys.
    Delete(Delete),
    /// A transaction in the transaction. It compares with what was there before the outermost one.
    Txn(Txn),
}

impl Compare {
    fn holds(&self, keyspace: &Keyspace) -> bool {
        let mut keys = keyspace.range(&self.keys, keyspace.revision()).peekable();
        if keys.peek().is_none() {
            return self.holds_for(None);
        }
        keys.all(|key| self.holds_for(Some(key)))
    }

    fn holds_for(&self, key: Option<&KeyValue>) -> bool {
        let zero = Revision(0);
        let ordering = match (&self.operand, key) {
            (Operand::Version(version), key) => key.map_or(0, |key| key.version).cmp(version),
            (Operand::Created(revision), key) => key.map_or(zero, |key| key.created).cmp(revision),
            (Operand::Modified(revision), key) => key.map_or(zero, |key| key.modified).cmp(revision),
            (Operand::Session(session), key) => {
                key.and_then(|key| key.session).unwrap_or(SessionId(0)).cmp(session)
            }
            (Operand::Value(value), Some(key)) => key.value.cmp(value),
            (Operand::Value(_), None) => return false,
        };
        match self.relation {
            Relation::Equal => ordering.is_eq(),
            Relation::NotEqual => ordering.is_ne(),
            Relation::Greater => ordering.is_gt(),
            Relation::Less => ordering.is_lt(),
        }
    }
}

impl Txn {
    pub(crate) fn bytes(&self) -> usize {
        let compared = self.compare.iter().map(|compare| {
            let operand = match &compare.operand {
                Operand::Value(value) => value.len(),
                Operand::Version(_) | Operand::Created(_) | Operand::Modified(_) | Operand::Session(_) => 8,
            };
            compare.keys.bytes() + operand
        });
        let operations = self.then.iter().chain(&self.otherwise).map(|operation| match operation {
            Operation::Range(range) => range.keys.bytes() + 32,
            Operation::Put(put) => put.bytes(),
            Operation::Delete(delete) => delete.keys.bytes(),
            Operation::Txn(inner) => inner.bytes(),
        });
        compared.chain(operations).map(|bytes| bytes + 8).sum()
    }

    /// Whether it makes sense by itself, whatever is in the store.
    pub(crate) fn check_shape(&self) -> Result<(), StoreError> {
        self.check_size(MAX_OPERATIONS)?;
        Touched::by(&self.then)?;
        Touched::by(&self.otherwise)?;
        Ok(())
    }

    fn check_size(&self, left: usize) -> Result<(), StoreError> {
        let size = self.compare.len().max(self.then.len()).max(self.otherwise.len());
        let Some(left) = left.checked_sub(size) else { return Err(StoreError::TooManyOperations) };
        if self.compare.iter().any(|compare| compare.keys.first().is_empty()) {
            return Err(StoreError::EmptyKey);
        }
        self.then.iter().chain(&self.otherwise).try_for_each(|operation| operation.check_size(left))
    }

    /// Which way it goes, and every transaction in it: decided before anything is written.
    pub(crate) fn decide(&self, keyspace: &Keyspace) -> Decided<'_> {
        let succeeded = self.compare.iter().all(|compare| compare.holds(keyspace));
        let way = if succeeded { &self.then } else { &self.otherwise };
        let operations = way.iter().map(|operation| operation.decide(keyspace)).collect();
        Decided { succeeded, operations }
    }
}

impl Operation {
    fn check_size(&self, left: usize) -> Result<(), StoreError> {
        let first = match self {
            Operation::Range(range) => range.keys.first(),
            Operation::Put(put) => &put.key,
            Operation::Delete(delete) => delete.keys.first(),
            Operation::Txn(inner) => return inner.check_size(left),
        };
        if first.is_empty() { Err(StoreError::EmptyKey) } else { Ok(()) }
    }

    fn decide(&self, keyspace: &Keyspace) -> DecidedOperation<'_> {
        match self {
            Operation::Range(range) => DecidedOperation::Range(range),
            Operation::Put(put) => DecidedOperation::Put(put),
            Operation::Delete(delete) => DecidedOperation::Delete(delete),
            Operation::Txn(inner) => DecidedOperation::Txn(inner.decide(keyspace)),
        }
    }
}

/// A transaction of which it is known which way it goes.
pub(crate) struct Decided<'a> {
    succeeded: bool,
    operations: Vec<DecidedOperation<'a>>,
}

enum DecidedOperation<'a> {
    Range(&'a Range),
    Put(&'a Put),
    Delete(&'a Delete),
    Txn(Decided<'a>),
}

impl Decided<'_> {
    /// Whether everything on its way can be done; after that nothing is refused any more.
    pub(crate) fn check(&self, keyspace: &Keyspace, sessions: &Sessions) -> Result<(), StoreError> {
        self.check_puts(keyspace, sessions)?;
        self.check_ranges(keyspace)
    }

    fn check_puts(&self, keyspace: &Keyspace, sessions: &Sessions) -> Result<(), StoreError> {
        self.operations.iter().try_for_each(|operation| match operation {
            DecidedOperation::Put(put) => put.check(keyspace, sessions),
            DecidedOperation::Range(_) | DecidedOperation::Delete(_) => Ok(()),
            DecidedOperation::Txn(inner) => inner.check_puts(keyspace, sessions),
        })
    }

    fn check_ranges(&self, keyspace: &Keyspace) -> Result<(), StoreError> {
        self.operations.iter().try_for_each(|operation| match operation {
            DecidedOperation::Range(range) => range.check(keyspace),
            DecidedOperation::Put(_) | DecidedOperation::Delete(_) => Ok(()),
            DecidedOperation::Txn(inner) => inner.check_ranges(keyspace),
        })
    }

    pub(crate) fn execute(&self, writing: &mut Writing<'_>) -> TxnAnswer {
        let mut answers = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let outcome = match operation {
                DecidedOperation::Range(range) => {
                    Outcome::Found(range.find(writing.keyspace(), writing.visible()))
                }
                DecidedOperation::Put(put) => Outcome::Put { before: put.execute(writing) },
                DecidedOperation::Delete(delete) => Outcome::Deleted(delete.execute(writing)),
                DecidedOperation::Txn(inner) => Outcome::Txn(inner.execute(writing)),
            };
            answers.push(OperationAnswer { revision: writing.visible(), outcome });
        }
        TxnAnswer { succeeded: self.succeeded, answers }
    }
}

/// What operations that may all happen would write.
#[derive(Default)]
struct Touched {
    puts: BTreeSet<Bytes>,
    deletes: Vec<KeyRange>,
}

impl Touched {
    /// What these operations would write, if they write no key twice.
    fn by(operations: &[Operation]) -> Result<Touched, StoreError> {
        let mut touched = Touched::default();
        let deletes = operations.iter().filter_map(|operation| match operation {
            // A range without an end may be deleted before one of its keys is written: etcd lets that pass.
            Operation::Delete(Delete { keys: KeyRange::From(_) }) => None,
            Operation::Delete(delete) => Some(delete.keys.clone()),
            _ => None,
        });
        touched.deletes.extend(deletes);
        for operation in operations {
            if let Operation::Txn(inner) = operation {
                touched.either(Touched::by(&inner.then)?, Touched::by(&inner.otherwise)?)?;
            }
        }
        for operation in operations {
            if let Operation::Put(put) = operation {
                touched.put(put.key.clone())?;
            }
        }
        Ok(touched)
    }

    /// One of the two will happen, so both may write the same key.
    fn either(&mut self, one: Touched, other: Touched) -> Result<(), StoreError> {
        for key in one.puts.union(&other.puts) {
            self.put(key.clone())?;
        }
        self.deletes.extend(one.deletes);
        self.deletes.extend(other.deletes);
        Ok(())
    }

    fn put(&mut self, key: Bytes) -> Result<(), StoreError> {
        if self.deletes.iter().any(|range| range.contains(&key)) || !self.puts.insert(key) {
            return Err(StoreError::DuplicateKey);
        }
        Ok(())
    }
}
