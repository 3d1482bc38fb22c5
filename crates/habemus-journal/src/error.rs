//! Why a journal cannot be opened or written.

use std::io;

/// Why a journal cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk fails.
    #[error("{file}: {error}")]
    Disk {
        /// Which file.
        file: String,
        /// What the disk says.
        error: io::Error,
    },
    /// What was durable is not there any more.
    #[error(
        "{file} is damaged at byte {offset}: {what}. What this member has confirmed is lost, so it must not \
            go on. Remove \
         the member from the cluster, empty its directory, and add it as a new one; a copy of the directory \
         from an \
         earlier time will not do"
    )]
    Damaged {
        /// Which file.
        file: String,
        /// Where in it.
        offset: usize,
        /// What is wrong.
        what: String,
    },
    /// A file is missing among others.
    #[error(
        "{file} is missing. What this member has confirmed is lost, so it must not go on. Remove the member \
            from the cluster, \
         empty its directory, and add it as a new one"
    )]
    Missing {
        /// Which file.
        file: String,
    },
    /// One write is longer than a segment.
    #[error("{bytes} bytes were to be written at once, and a segment has {segment}")]
    TooLong {
        /// How long the write is.
        bytes: usize,
        /// How long a segment is.
        segment: u64,
    },
    /// An earlier write failed, so nobody knows what is durable.
    #[error("an earlier write failed, and nobody knows what is durable: start again")]
    Failed,
}

impl JournalError {
    pub(crate) fn disk(file: &str) -> impl FnOnce(io::Error) -> JournalError {
        let file = file.to_owned();
        move |error| JournalError::Disk { file, error }
    }

    pub(crate) fn damaged(file: &str, offset: usize, what: impl Into<String>) -> JournalError {
        JournalError::Damaged { file: file.to_owned(), offset, what: what.into() }
    }
}
