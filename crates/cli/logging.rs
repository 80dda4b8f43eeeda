//! Logs on stderr. Never a token or a request's body, whatever the verbosity.

use tracing::Level;
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, filter_fn},
    layer::SubscriberExt,
    registry,
    util::SubscriberInitExt,
};

use crate::args::{Global, LogFormat};

/// Starts logging as the options say.
pub(crate) fn start(global: &Global, color: bool) {
    let level = match global.verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::from_level(Level::INFO),
        2 => LevelFilter::from_level(Level::DEBUG),
        _ => LevelFilter::from_level(Level::TRACE),
    };
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(color)
        .with_target(global.verbose > 1);
    // Only our own crates speak below WARN: what others print at DEBUG is theirs to answer for.
    let ours = filter_fn(|metadata| {
        azure::may_log(metadata)
            && (*metadata.level() <= Level::WARN || metadata.target().starts_with("tensorform"))
    });
    let started = match global.log_format {
        LogFormat::Text => registry()
            .with(layer.without_time().with_filter(ours).with_filter(level))
            .try_init(),
        LogFormat::Json => registry()
            .with(layer.json().with_filter(ours).with_filter(level))
            .try_init(),
    };
    // Somebody else's subscriber is as good as ours.
    let _ = started;
}
