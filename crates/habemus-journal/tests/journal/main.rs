//! What a journal keeps through crashes, and what it refuses.

mod crashes;
mod cruel;
mod ordinary;
mod support;
