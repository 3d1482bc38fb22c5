//! The lab without its page: experiments that one steps through, breaks, forks, and shares by a link.
//!
//! A [`Lab`] is asked for something as JSON and answers with what the page draws, as JSON. An [`Experiment`]
//! is a scenario and what was done to it by hand, a tree of branches, and a place in one of them. Nothing
//! here knows a browser, a clock or a file: the page draws what it is given and sends what its reader wants.

mod branch;
mod check;
mod cone;
mod course;
mod diagram;
mod error;
mod experiment;
mod files;
mod frame;
mod history;
mod lab;
mod language;
mod layout;
mod link;
mod meter;
mod outside;
mod panels;
mod pending;
mod portuguese;
mod processes;
mod properties;
mod recording;
mod sentences;
mod texts;
mod variables;
mod why;
mod wish;

pub use branch::Branch;
pub use check::Checker;
pub use cone::Cone;
pub use course::{CourseView, QuestionView};
pub use diagram::{Arrow, ArrowEnd, Axis, Diagram, DiagramRow, DiagramView, DiagramWindow, Mark};
pub use error::LabError;
pub use experiment::Experiment;
pub use frame::{
    BranchView, Difference, Frame, LinkView, MessageView, NextView, ProcessView, PropertyView, SlideMark,
    TimerView,
};
pub use history::{History, Passage};
pub use lab::Lab;
pub use language::Language;
pub use link::{Place, Sharing, read_link, write_link};
pub use meter::Meter;
pub use panels::ProcessPanel;
pub use recording::Recording;
pub use sentences::sentences_of;
pub use texts::words;
pub use variables::{Leaf, Variable, read_variables};
pub use why::{Reason, reasons};
pub use wish::{Start, Wish};
