//! Checks of the catalogue's algorithms, and of the checker itself.

mod catalogue;
mod faults;
mod guarantees;
mod help;
mod mutants;
mod oracle;
mod reduction;
mod replay;
mod rival;
mod times;
mod toy;
mod turns;
