//! Those who have connected to the members' port, and have not said yet who they are.

use std::collections::VecDeque;

use tokio::task::AbortHandle;

/// So many may stand there: else strangers could take all the files that a process may open.
const MAX_STRANGERS: usize = 256;

/// Whoever comes when it is crowded takes the place of the one that has stood there longest, for a member
/// says at once who it is: a crowd that is silent keeps nobody out.
#[derive(Default)]
pub(crate) struct Strangers {
    standing: VecDeque<AbortHandle>,
}

impl Strangers {
    /// Somebody has come, who is greeted by this task.
    pub(crate) fn come(&mut self, greeting: AbortHandle) {
        self.standing.retain(|greeting| !greeting.is_finished());
        if self.standing.len() == MAX_STRANGERS
            && let Some(longest) = self.standing.pop_front()
        {
            longest.abort();
        }
        self.standing.push_back(greeting);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn whoever_has_stood_there_longest_makes_room() {
        let mut strangers = Strangers::default();
        let mut crowd = Vec::new();
        for _ in 0..MAX_STRANGERS + 2 {
            let silent = tokio::spawn(pending::<()>());
            strangers.come(silent.abort_handle());
            crowd.push(silent);
        }
        for gone in crowd.drain(..2) {
            let ended = timeout(Duration::from_secs(10), gone).await.expect("it makes room");
            assert!(ended.expect_err("it never ends by itself").is_cancelled());
        }
        assert!(crowd.iter().all(|standing| !standing.is_finished()));
    }

    #[tokio::test]
    async fn whoever_was_let_in_takes_no_place() {
        let mut strangers = Strangers::default();
        let first = tokio::spawn(pending::<()>());
        strangers.come(first.abort_handle());
        for _ in 0..MAX_STRANGERS * 2 {
            let greeted = tokio::spawn(async {});
            strangers.come(greeted.abort_handle());
            greeted.await.expect("it ends");
        }
        assert!(!first.is_finished());
    }
}
