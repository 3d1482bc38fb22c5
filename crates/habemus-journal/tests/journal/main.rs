//! What a journal keeps through crashes, and what it refuses.

mod crashes;
mod ordinary;
mod support;
