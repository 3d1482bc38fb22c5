//! Ctrl-C ends a run early, and what was found is still said; a second one ends the program.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;

/// A flag that Ctrl-C sets. There is one for the whole program: what comes after something that was
/// interrupted is not begun.
pub(crate) fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        // If there is no signal to be had, Ctrl-C ends the program as it always does. What ends it is asked
        // first, and so finds the flag set only by an earlier signal.
        let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, 3, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&flag)));
        flag
    });
    Arc::clone(flag)
}
