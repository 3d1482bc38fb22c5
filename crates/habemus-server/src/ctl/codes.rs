//! How habemusctl ends where the program that it runs has no say.

use habemus_client::ClientError;

/// The lock or the leadership was lost while the program ran, which was ended because of that.
pub(crate) const LOST: u8 = 123;
/// Somebody else held it for as long as this one would wait.
pub(crate) const NOT_HAD: u8 = 124;
/// The service could not be reached, or refused.
pub(crate) const UNREACHABLE: u8 = 125;
/// The program is there, and cannot be run.
pub(crate) const NOT_RUN: u8 = 126;
/// There is no such program.
pub(crate) const NOT_FOUND: u8 = 127;

/// Why it cannot go on, and with which code it ends.
pub(crate) struct Failed {
    pub(crate) code: u8,
    pub(crate) why: String,
}

impl From<ClientError> for Failed {
    fn from(error: ClientError) -> Failed {
        let code = match error {
            ClientError::Busy => NOT_HAD,
            ClientError::SessionLost | ClientError::Evicted => LOST,
            _ => UNREACHABLE,
        };
        Failed { code, why: error.to_string() }
    }
}

/// The service refused a call.
pub(crate) fn refused(status: tonic::Status) -> Failed {
    ClientError::from(status).into()
}

/// What the help says of all this.
pub(crate) const HELP: &str = "Exit codes: the program's own; 128 and the signal if a signal ended it;
    2  bad input
  123  lost while the program ran, which was ended because of that
  124  somebody else held it for as long as --try or --wait allow
  125  the service could not be reached, or refused
  126  the program cannot be run
  127  there is no such program";
