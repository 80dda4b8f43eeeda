//! Ctrl-C and SIGTERM.

use azure::Interrupt;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Waits for one interrupt.
pub(crate) async fn interrupted() {
    Signals::new().next().await;
}

/// Signals that no longer end the process: whoever made these must go on asking for the next one,
/// as long as the process lives.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: Option<Signal>,
    #[cfg(unix)]
    terminate: Option<Signal>,
}

impl Signals {
    /// Listens from now on, not only once somebody waits. Needs a runtime around it.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt()).ok(),
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// The first interrupt lets finish what is under way, the second leaves at once.
    pub(crate) async fn tell(&mut self, sender: watch::Sender<Interrupt>) {
        self.next().await;
        sender.send_replace(Interrupt::Graceful);
        self.next().await;
        sender.send_replace(Interrupt::Now);
    }

    /// Waits for the next interrupt; one that came since the last is told at once.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.interrupt) => {}
            () = received(&mut self.terminate) => {}
        }
    }

    /// Waits for the next interrupt.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        // Where signals cannot be listened to, the process ends by them.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// One that cannot be listened to ends the process by itself.
#[cfg(unix)]
async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
