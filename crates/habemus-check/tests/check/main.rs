//! Checks of the catalogue's algorithms, and of the checker itself.

mod any_entries;
mod catalogue;
mod certificate;
mod clock_shift;
mod counts;
mod faults;
mod guarantees;
mod help;
mod leases;
mod mutants;
mod oracle;
mod promises;
mod pulses;
mod recheck;
mod reduction;
mod replay;
mod rival;
mod rotation;
mod spill;
mod starts;
mod terms;
mod timed;
mod toy;
mod verdicts;
mod wild;
