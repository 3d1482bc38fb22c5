//! What a journal needs of a disk.

use std::io;

/// One directory with files. Nothing is durable before it was synced; what is written may be torn until then,
/// but what was synced stays.
pub trait Disk {
    /// The names of all files.
    ///
    /// # Errors
    /// If the disk fails.
    fn list(&self) -> io::Result<Vec<String>>;

    /// All of a file.
    ///
    /// # Errors
    /// If there is none, or the disk fails.
    fn read(&self, name: &str) -> io::Result<Vec<u8>>;

    /// Makes a file of `length` zero bytes, in place of one that may be there.
    ///
    /// # Errors
    /// If the disk is full or fails.
    fn create(&mut self, name: &str, length: u64) -> io::Result<()>;

    /// Writes into a file that is long enough.
    ///
    /// # Errors
    /// If there is none, or the disk fails.
    fn write(&mut self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// What was written into a file is durable after this.
    ///
    /// # Errors
    /// If the disk fails. Then nobody knows what is durable, and nothing more may be confirmed.
    fn sync(&mut self, name: &str) -> io::Result<()>;

    /// Gives a file another name, in place of one that may have it.
    ///
    /// # Errors
    /// If there is none, or the disk fails.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// If there is none, or the disk fails.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// Which files there are, and what they are called, is durable after this.
    ///
    /// # Errors
    /// If the disk fails.
    fn sync_names(&mut self) -> io::Result<()>;
}
