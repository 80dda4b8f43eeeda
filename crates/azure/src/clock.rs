//! Time as an argument: what waits here waits on a [`Clock`], so that tests need not sleep.

use std::{
    fmt,
    time::{Duration, Instant},
};

use async_trait::async_trait;

/// Tells the time and waits.
#[async_trait]
pub trait Clock: Send + Sync + fmt::Debug {
    /// The time since some fixed moment.
    fn now(&self) -> Duration;

    /// Waits.
    async fn sleep(&self, span: Duration);
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Mutex;

    use super::{Clock, Duration, async_trait};

    /// A clock that moves only when somebody waits on it, and remembers each wait.
    #[derive(Debug, Default)]
    pub(crate) struct TestClock {
        state: Mutex<(Duration, Vec<Duration>)>,
    }

    impl TestClock {
        /// Every wait so far.
        pub(crate) fn waits(&self) -> Vec<Duration> {
            self.state.lock().expect("no thread panics").1.clone()
        }

        /// The waits in whole seconds.
        pub(crate) fn seconds(&self) -> Vec<u64> {
            self.waits().iter().map(Duration::as_secs).collect()
        }
    }

    #[async_trait]
    impl Clock for TestClock {
        fn now(&self) -> Duration {
            self.state.lock().expect("no thread panics").0
        }

        async fn sleep(&self, span: Duration) {
            {
                let mut state = self.state.lock().expect("no thread panics");
                state.0 += span;
                state.1.push(span);
            }
            tokio::task::yield_now().await;
        }
    }
}
