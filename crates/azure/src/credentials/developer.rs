//! Runs the command-line tools of a developer's machine, in the environment we were given.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io,
    process::{Output, Stdio},
    time::Duration,
};

use async_trait::async_trait;
use azure_identity::Executor;

/// The longest wait for a tool. The Azure CLI takes seconds on a cold disk.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Runs programs in a given environment and no other.
#[derive(Clone)]
pub(crate) struct Tools {
    environment: BTreeMap<String, String>,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tools")
    }
}

impl Tools {
    /// Tools in this environment.
    pub(crate) fn new(environment: &BTreeMap<String, String>) -> Self {
        Self {
            environment: environment.clone(),
        }
    }
}

#[async_trait]
impl Executor for Tools {
    async fn run(&self, program: &OsStr, args: &[&OsStr]) -> io::Result<Output> {
        let mut command = tokio::process::Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        tokio::time::timeout(TIMEOUT, command.output())
            .await
            .unwrap_or_else(|_| {
                let message = format!("no answer within {} s", TIMEOUT.as_secs());
                Err(io::Error::new(io::ErrorKind::TimedOut, message))
            })
    }
}
