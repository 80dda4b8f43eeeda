//! Options of the sandbox that is served by itself.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `sandbox`.
#[derive(Args, Debug)]
pub(crate) struct Sandbox {
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

/// Commands of `sandbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Serve the sandbox until interrupted
    Serve(Serve),
}

/// Arguments of `sandbox serve`.
#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// Listen on this port of 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Keep the world in DIR
    #[arg(long, value_name = "DIR", default_value = ".tensorform/sandbox")]
    pub(crate) state: PathBuf,
    /// Speak https on the same port too, with the certificate in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of that certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Write every exchange to FILE, one JSON document a line, without tokens and passwords
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

/// The folder of a sandbox's world. A word for yes or no, which somebody may write into the
/// variable of the option, is no folder.
pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    const WORDS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "1", "0"];
    if WORDS.contains(&text.to_lowercase().as_str()) {
        return Err(format!(
            "a folder is expected: write `.tensorform/sandbox` for the usual one, or `./{text}` for this one"
        ));
    }
    Ok(PathBuf::from(text))
}
