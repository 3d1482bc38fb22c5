//! Where a process stands, in the three words of S1.

/// S1: "Variável de estado de cada processo: RELEASED, WANTED, HELD".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum State {
    /// Outside the critical section.
    #[default]
    Released,
    /// It has asked to enter.
    Wanted,
    /// Inside.
    Held,
}
