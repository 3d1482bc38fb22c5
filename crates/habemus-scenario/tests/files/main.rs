//! Scenario files, read and written.

mod dice;
mod documentation;
mod errors;
mod mutations;
mod reading;
mod rendering;
mod round_trip;
