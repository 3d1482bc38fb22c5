//! The lab without its page: experiments that one steps through, breaks, forks, and shares by a link.
//!
//! A [`Lab`] is asked for something as JSON and answers with what the page draws, as JSON. An [`Experiment`] is a scenario and
//! what was done to it by hand, a tree of branches, and a place in one of them. Nothing here knows a browser, a
//! clock or a file: the page draws what it is given and sends what its reader wants.

mod branch;
mod cone;
mod diagram;
mod error;
mod experiment;
mod frame;
mod lab;
mod language;
mod layout;
mod link;
mod meter;
mod panels;
mod texts;
mod variables;
mod why;

pub use branch::Branch;
pub use cone::Cone;
pub use diagram::{Arrow, ArrowEnd, DiagramRow, DiagramWindow, Mark};
pub use error::LabError;
pub use experiment::Experiment;
pub use frame::{BranchView, Frame, LinkView, MessageView, NextView, ProcessView, PropertyView, SlideMark};
pub use lab::{Lab, Start, Wish};
pub use language::Language;
pub use link::{Place, Sharing, read_link, write_link};
pub use meter::Meter;
pub use panels::ProcessPanel;
pub use texts::words;
pub use variables::{Leaf, Variable, read_variables};
pub use why::{Reason, reasons};
