//! With which disk a member speaks, and whether that is the one that the others know: whoever comes back
//! without what it has confirmed must not be let in.

use serde::{Deserialize, Serialize};

use crate::extent::Extent;

/// A number that is written in hexadecimal digits: TOML has no unsigned ones of sixty-four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hexadecimal(pub u64);

impl From<Hexadecimal> for String {
    fn from(number: Hexadecimal) -> String {
        format!("{:016x}", number.0)
    }
}

impl TryFrom<String> for Hexadecimal {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Hexadecimal, Self::Error> {
        u64::from_str_radix(&text, 16).map(Hexadecimal)
    }
}

/// With which disk a member speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// Drawn when its directory was made.
    pub disk: Hexadecimal,
    /// How often it was started.
    pub starts: u64,
    /// Drawn when it was started.
    pub life: Hexadecimal,
    /// How far its journal went when it was started.
    #[serde(default)]
    pub found: Extent,
}

/// What is known of a member's disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// In its latest life.
    pub life: Life,
    /// Its journal went as far as this, at least.
    pub written: Extent,
}

/// Why a member is not let in as the one that it says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BadDisk {
    /// It is not the one that it had.
    Other,
    /// It is as it was at an earlier time.
    Older,
}

impl Known {
    /// What is known of a member that nobody has heard of before.
    pub fn first(life: Life) -> Known {
        Known { life, written: life.found }
    }

    /// What is known when a member also speaks with this disk.
    ///
    /// # Errors
    /// If it must not be let in.
    pub fn with(self, life: Life) -> Result<Known, BadDisk> {
        if self.life == life {
            return Ok(self);
        }
        if self.life.disk != life.disk {
            return Err(BadDisk::Other);
        }
        if self.life.starts >= life.starts || life.found < self.written {
            return Err(BadDisk::Older);
        }
        Ok(Known::first(life))
    }

    /// What is known when somebody says what it knows. Who was refused here is not let in by another's word.
    #[must_use]
    pub fn heard(self, told: Known) -> Known {
        match self.with(told.life) {
            Ok(known) => Known { written: known.written.max(told.written), ..known },
            Err(_) => self,
        }
    }
}
