//! Why a check cannot be made.

use habemus::catalogue::SetupError;
use habemus_report::UnknownProperty;

use crate::protocol::Trouble;

/// Why a check cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The system makes no sense.
    #[error("{0}")]
    Setup(SetupError),
    /// There is no such property.
    #[error(transparent)]
    UnknownProperty(#[from] UnknownProperty),
    /// The algorithm or the circumstances cannot be explored.
    #[error("{0}")]
    Unfit(String),
    /// A handler is not a function of state and event.
    #[error(
        "process {process} gave two different steps for the same event ({event}): a handler must depend on \
         nothing but its state and the event"
    )]
    Nondeterministic {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A process says that only the distances between logical times matter to it, and that is not so.
    #[error(
        "process {process} does something else at {event} if all logical times are later by the same amount: \
            it is not \
         shift-invariant and must not say so"
    )]
    NotShiftInvariant {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A process says that processes are interchangeable, and that is not so.
    #[error(
        "process {process} would do something else at {event} if everybody were one address further on: it \
            is not \
         rotation-symmetric and must not say so"
    )]
    NotRotationSymmetric {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A process says that it does nothing with terms but compare them and take the next one, and that is not
    /// so.
    #[error(
        "process {process} minds at {event} how far apart terms are: it is not term-invariant and must not \
            say \
         so"
    )]
    NotTermInvariant {
        /// The identifier of the process.
        process: u64,
        /// The event.
        event: String,
    },
    /// A process sent where it has no link.
    #[error("process {process} sent to {to} at {event}, but has no link to it")]
    NoLink {
        /// The identifier of the sender.
        process: u64,
        /// The identifier of the receiver.
        to: u64,
        /// The event.
        event: String,
    },
    /// States could not be written to disk, or not be read again.
    #[error("states that memory has no room for cannot be kept on disk: {reason}")]
    Files {
        /// What the system says.
        reason: String,
    },
}

impl From<Trouble> for CheckError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Nondeterministic { process, event } => CheckError::Nondeterministic { process, event },
            Trouble::NotShiftInvariant { process, event } => CheckError::NotShiftInvariant { process, event },
            Trouble::NotRotationSymmetric { process, event } => {
                CheckError::NotRotationSymmetric { process, event }
            }
            Trouble::NotTermInvariant { process, event } => CheckError::NotTermInvariant { process, event },
            Trouble::NoLink { process, to, event } => CheckError::NoLink { process, to, event },
            Trouble::Files { reason } => CheckError::Files { reason },
        }
    }
}
