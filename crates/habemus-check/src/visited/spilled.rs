//! States for which memory has no room, in files.
//!
//! A shard that is spilled appends its rows to one file, each with its parent, and merges its hashes in order
//! into another. A state is looked for by one binary search in memory, over the first hash of every block,
//! and by reading that one block; its row is read only where the hash is the same. Nothing is compared by its
//! hash alone: on disk, too, no state is ever taken for another.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// So many hashes make a block, which is read at once.
const BLOCK: usize = 512;
const HASH: usize = size_of::<u64>();
const WORD: usize = size_of::<u32>();

/// The states of a shard that are on disk: the first ones, in the order in which they were reached.
#[derive(Debug)]
pub(super) struct Spilled {
    directory: PathBuf,
    width: usize,
    len: usize,
    rows: Scratch,
    /// The high half of each state's hash with its index, in order.
    hashes: Scratch,
    /// The high half of the first hash of each block.
    fences: Vec<u32>,
    /// The block that was read last.
    block: Vec<u64>,
    block_at: usize,
}

impl Spilled {
    pub(super) fn new(directory: &Path, width: usize) -> io::Result<Self> {
        Ok(Spilled {
            directory: directory.to_owned(),
            width,
            len: 0,
            rows: Scratch::new(directory)?,
            hashes: Scratch::new(directory)?,
            fences: Vec::new(),
            block: Vec::new(),
            block_at: usize::MAX,
        })
    }

    /// How many bytes of memory are needed to find them.
    pub(super) fn bytes(&self) -> usize {
        self.fences.capacity() * WORD + self.block.capacity() * HASH
    }

    /// Takes states: their rows, each with its parent at its end, and their hashes in order.
    pub(super) fn take(
        &mut self,
        rows: impl Iterator<Item = (Vec<u32>, u32)>,
        hashes: &[u64],
    ) -> io::Result<()> {
        let mut file = &self.rows.file;
        file.seek(SeekFrom::End(0))?;
        let mut file = BufWriter::new(file);
        for (row, parent) in rows {
            for word in row.iter().chain([&parent]) {
                file.write_all(&word.to_le_bytes())?;
            }
        }
        file.flush()?;
        drop(file);
        self.merge(hashes)?;
        self.len += hashes.len();
        Ok(())
    }

    fn merge(&mut self, young: &[u64]) -> io::Result<()> {
        let merged = Scratch::new(&self.directory)?;
        let mut to = BufWriter::new(&merged.file);
        let mut old = &self.hashes.file;
        old.seek(SeekFrom::Start(0))?;
        let mut old = BufReader::new(old);
        let mut bytes = [0; HASH];
        let mut read = |count: usize| -> io::Result<Option<u64>> {
            if count == self.len {
                return Ok(None);
            }
            old.read_exact(&mut bytes)?;
            Ok(Some(u64::from_le_bytes(bytes)))
        };
        let mut fences = Vec::with_capacity((self.len + young.len()).div_ceil(BLOCK));
        let mut young = young.iter().copied().peekable();
        let mut count = 0;
        let mut head = read(count)?;
        for position in 0.. {
            let next = match (head, young.peek()) {
                (None, None) => break,
                (Some(old), Some(young)) if old < *young => head,
                (Some(_), None) => head,
                (_, Some(_)) => young.next(),
            };
            if next == head {
                count += 1;
                head = read(count)?;
            }
            let next = next.unwrap_or_default();
            if position % BLOCK == 0 {
                fences.push((next >> 32) as u32);
            }
            to.write_all(&next.to_le_bytes())?;
        }
        to.flush()?;
        drop(to);
        (self.hashes, self.fences, self.block_at) = (merged, fences, usize::MAX);
        Ok(())
    }

    /// The index of a state, by its hash and its row.
    pub(super) fn find(&mut self, hash: u64, state: &[u32]) -> io::Result<Option<usize>> {
        let high = (hash >> 32) as u32;
        let first = self.fences.partition_point(|&fence| fence < high).saturating_sub(1);
        for block in first..self.fences.len() {
            if self.fences[block] > high {
                break;
            }
            self.read_block(block)?;
            let start = self.block.partition_point(|&slot| ((slot >> 32) as u32) < high);
            let same = self.block[start..].iter().take_while(|&&slot| (slot >> 32) as u32 == high);
            let same: Vec<usize> = same.map(|&slot| slot as u32 as usize).collect();
            for index in same {
                if self.row(index)?[..self.width] == *state {
                    return Ok(Some(index));
                }
            }
        }
        Ok(None)
    }

    fn read_block(&mut self, block: usize) -> io::Result<()> {
        if self.block_at == block {
            return Ok(());
        }
        let first = block * BLOCK;
        let mut bytes = vec![0; (self.len - first).min(BLOCK) * HASH];
        self.hashes.read((first * HASH) as u64, &mut bytes)?;
        self.block.clear();
        let whole = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        self.block.extend(bytes.chunks_exact(HASH).map(whole));
        self.block_at = block;
        Ok(())
    }

    /// A state and its parent, which is the last number.
    pub(super) fn row(&self, index: usize) -> io::Result<Vec<u32>> {
        let mut row = Vec::with_capacity(self.width + 1);
        self.records(index..index + 1, |record| row.extend_from_slice(record))?;
        Ok(row)
    }

    /// Copies states, without their parents, to the end of others.
    pub(super) fn copy(&self, range: Range<usize>, to: &mut Vec<u32>) -> io::Result<()> {
        self.records(range, |record| to.extend_from_slice(&record[..self.width]))
    }

    fn records(&self, range: Range<usize>, mut each: impl FnMut(&[u32])) -> io::Result<()> {
        let size = (self.width + 1) * WORD;
        let mut bytes = vec![0; range.len() * size];
        self.rows.read((range.start * size) as u64, &mut bytes)?;
        let mut record = Vec::with_capacity(self.width + 1);
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
        for bytes in bytes.chunks_exact(size) {
            record.clear();
            record.extend(bytes.chunks_exact(WORD).map(word));
            each(&record);
        }
        Ok(())
    }
}

/// A file that nobody else needs. It is gone when the program is, however that ends.
#[derive(Debug)]
struct Scratch {
    file: File,
    path: PathBuf,
}

impl Scratch {
    fn new(directory: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("habemus-states-{}-{number}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        // Where an open file can be without a name, nothing is left behind even by a kill.
        let _ = std::fs::remove_file(&path);
        Ok(Scratch { file, path })
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
