//! Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};

use azure::Interrupt;
use tokio::sync::watch;

/// Whether signals go to us: from then on, for as long as it lives, none ends the process.
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt must be listened to, because it does not end the process by itself.
pub(crate) fn taken_over() -> bool {
    TAKEN_OVER.load(Ordering::Relaxed)
}

/// The first interrupt lets finish what is under way, the second leaves at once.
pub(crate) async fn interrupts(sender: watch::Sender<Interrupt>) {
    let mut signals = Signals::new();
    signals.next().await;
    sender.send_replace(Interrupt::Graceful);
    signals.next().await;
    sender.send_replace(Interrupt::Now);
}

/// Waits for one interrupt.
pub(crate) async fn interrupted() {
    Signals::new().next().await;
}

struct Signals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        TAKEN_OVER.store(true, Ordering::Relaxed);
        Self {
            #[cfg(unix)]
            terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
                .ok(),
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(terminate) = &mut self.terminate {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        // Where signals cannot be listened to, the process ends by them.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
