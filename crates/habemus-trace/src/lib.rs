//! One trace for everything that runs: simulator, model checker and real nodes all write it, and every
//! picture and every check reads it.

mod delays;
pub mod draw;
mod label;
mod origin;
mod trace;
mod value;
mod variables;
mod writer;

pub use delays::MessageDelays;
pub use label::Label;
pub use origin::Origin;
pub use trace::{Dropped, FORMAT, Happening, Header, MessageId, ReadError, Record, Trace};
pub use variables::changes;
pub use writer::TraceWriter;
