//! Tests of the pictures, of the trace format and of the page that documents it.

mod exhibits;
mod golden;
mod odd;
mod page;
mod recorder;
mod robust;
