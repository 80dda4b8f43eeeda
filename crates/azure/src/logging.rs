//! What may be logged.

use tracing::{Level, Metadata};

/// Whether an event or span may be logged, whatever the user's filter says.
///
/// The frozen `azure_core` prints bearer tokens and request bodies at DEBUG: nothing of it below
/// WARN may ever be printed. Give this to `filter_fn` as the filter of every layer that writes:
///
/// ```text
/// registry().with(fmt::layer().with_filter(filter_fn(azure::may_log))).with(env_filter)
/// ```
pub fn may_log(metadata: &Metadata<'_>) -> bool {
    let from_sdk = ["azure_core", "azure_identity", "typespec"]
        .iter()
        .any(|target| metadata.target().starts_with(target));
    !from_sdk || *metadata.level() <= Level::WARN
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{
        Event, Subscriber,
        span::{Attributes, Id, Record},
    };

    use super::*;

    /// Remembers for each event whether it may be logged.
    #[derive(Clone, Default)]
    struct Judge(Arc<Mutex<Vec<bool>>>);

    impl Subscriber for Judge {
        fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _attributes: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _id: &Id, _values: &Record<'_>) {}
        fn record_follows_from(&self, _id: &Id, _follows: &Id) {}
        fn event(&self, event: &Event<'_>) {
            self.0
                .lock()
                .expect("no thread panics")
                .push(may_log(event.metadata()));
        }
        fn enter(&self, _id: &Id) {}
        fn exit(&self, _id: &Id) {}
    }

    #[test]
    fn the_sdk_may_only_warn() {
        let judge = Judge::default();
        tracing::subscriber::with_default(judge.clone(), || {
            tracing::debug!(target: "azure_core::policies::transport", "a token");
            tracing::info!(target: "azure_core", "a body");
            tracing::warn!(target: "azure_core", "a warning");
            tracing::debug!("ours");
        });
        assert_eq!(
            *judge.0.lock().expect("no thread panics"),
            [false, false, true, true]
        );
    }
}
