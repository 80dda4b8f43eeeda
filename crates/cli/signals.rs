//! Ctrl-C and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};

use azure::Interrupt;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Whether signals go to us: from then on, for as long as it lives, none ends the process.
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt must be listened to, because it does not end the process by itself.
pub(crate) fn taken_over() -> bool {
    TAKEN_OVER.load(Ordering::Relaxed)
}

/// The first interrupt lets finish what is under way, the second leaves at once. Listens from this
/// call on, not only once somebody waits: the first write may be sent before that.
pub(crate) fn interrupts(sender: watch::Sender<Interrupt>) -> impl Future<Output = ()> {
    let mut signals = Signals::new();
    async move {
        signals.next().await;
        sender.send_replace(Interrupt::Graceful);
        signals.next().await;
        sender.send_replace(Interrupt::Now);
    }
}

/// Waits for one interrupt.
pub(crate) async fn interrupted() {
    Signals::new().next().await;
}

struct Signals {
    #[cfg(unix)]
    interrupt: Option<Signal>,
    #[cfg(unix)]
    terminate: Option<Signal>,
}

impl Signals {
    fn new() -> Self {
        TAKEN_OVER.store(true, Ordering::Relaxed);
        Self {
            #[cfg(unix)]
            interrupt: signal(SignalKind::interrupt()).ok(),
            #[cfg(unix)]
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.interrupt) => {}
            () = received(&mut self.terminate) => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
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
