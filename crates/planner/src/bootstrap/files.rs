//! The files of a bootstrap.

use model::{
    plan::{CheckpointSetup, Setup},
    spec::cyclecloud::ServerSetup,
};

use super::{SCRATCH_PATH, containers, mounts};

/// The folder of the bootstrap on a node.
pub(super) const FOLDER: &str = "/opt/tensorform/bootstrap";
/// The unit that runs it at every start of the system.
pub(super) const UNIT: &str = "tensorform-bootstrap.service";

/// A node that is to be set up.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// What is done.
    pub setup: &'a Setup,
    /// Its local NVMe disks; `None` where their number is not known.
    pub local_disks: Option<u32>,
    /// The user's script.
    pub script: Option<&'a str>,
}

/// A file that a node is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: String,
    /// Its permissions, such as `0755`.
    pub permissions: &'static str,
    /// What it says.
    pub text: String,
}

pub(super) const PROGRAM: &str = "0755";
const PLAIN: &str = "0644";
/// The user's script may say what only the administrator is to read.
const PRIVATE: &str = "0700";

/// The files of a node's bootstrap, those that others need first.
pub fn files(node: Node<'_>) -> Vec<File> {
    let mut settings = Vec::new();
    let steps = steps(node, &mut settings);
    let settings: Vec<String> = settings
        .iter()
        .map(|(name, value)| format!("{name}={}\n", quoted(value)))
        .collect();
    let mut files = vec![
        own("settings", PLAIN, &settings.concat()),
        own("common", PLAIN, include_str!("scripts/common.sh")),
        own("run", PROGRAM, include_str!("scripts/run.sh")),
        own("await", PROGRAM, include_str!("scripts/await.sh")),
    ];
    files.extend(steps);
    files.extend(node.setup.mounts.iter().map(|mount| File {
        path: format!("/etc/systemd/system/{}", mounts::unit_name(mount)),
        permissions: PLAIN,
        text: mounts::unit(mount),
    }));
    files.push(File {
        path: format!("/etc/systemd/system/{UNIT}"),
        permissions: PLAIN,
        text: include_str!("scripts/tensorform-bootstrap.service").to_owned(),
    });
    files
}

/// The steps in their order, with what they are told.
fn steps(node: Node<'_>, settings: &mut Vec<(&'static str, String)>) -> Vec<File> {
    let Node {
        setup,
        local_disks,
        script,
    } = node;
    let Setup {
        start_task: _,
        scratch,
        mounts,
        containers,
        checkpoint,
        server,
    } = setup;
    let mut steps = Vec::new();
    if *scratch {
        let count = local_disks.map(|count| count.to_string());
        settings.push(("SCRATCH_PATH", SCRATCH_PATH.to_owned()));
        settings.push(("SCRATCH_DISKS", count.unwrap_or_default()));
        let text = include_str!("scripts/scratch.sh");
        steps.push(own("steps/10-scratch", PROGRAM, text));
    }
    if !mounts.is_empty() {
        settings.push(("MOUNT_UNITS", mounts::units(mounts)));
        settings.push(("MOUNT_CLIENTS", mounts::clients(mounts)));
        let text = include_str!("scripts/mounts.sh");
        steps.push(own("steps/20-mounts", PROGRAM, text));
    }
    if let Some(setup_of_containers) = containers {
        settings.extend(containers::settings(setup_of_containers));
        let text = include_str!("scripts/containers.sh");
        steps.push(own("steps/30-containers", PROGRAM, text));
        steps.extend(containers::helpers(setup_of_containers));
    }
    if let Some(checkpoint) = checkpoint {
        steps.extend(saving(checkpoint, settings));
    }
    if let Some(server) = server {
        steps.extend(serving(server, settings));
    }
    if let Some(script) = script {
        let text = include_str!("scripts/script.sh");
        steps.push(own("steps/90-script", PROGRAM, text));
        steps.push(own("script", PRIVATE, script));
    }
    steps
}

/// What has a node save its work before Azure takes it back.
fn saving(checkpoint: &CheckpointSetup, settings: &mut Vec<(&'static str, String)>) -> [File; 3] {
    let CheckpointSetup {
        container,
        identity,
        hook,
        every_seconds,
    } = checkpoint;
    let every = every_seconds.map(|seconds| seconds.to_string());
    settings.push(("CHECKPOINT_URL", container.clone()));
    settings.push(("CHECKPOINT_IDENTITY", identity.to_string()));
    settings.push(("CHECKPOINT_HOOK", hook.clone()));
    settings.push(("CHECKPOINT_EVERY", every.unwrap_or_default()));
    let step = include_str!("scripts/checkpoint.sh");
    let listener = include_str!("scripts/listen.sh");
    let service = include_str!("scripts/tensorform-checkpoint.service");
    [
        own("steps/80-checkpoint", PROGRAM, step),
        own("checkpoint", PROGRAM, listener),
        File {
            path: "/etc/systemd/system/tensorform-checkpoint.service".to_owned(),
            permissions: PLAIN,
            text: service.to_owned(),
        },
    ]
}

/// What sets up a server of CycleCloud, and what imports node arrays there.
fn serving(server: &ServerSetup, settings: &mut Vec<(&'static str, String)>) -> [File; 2] {
    let ServerSetup {
        user,
        identity,
        locker,
    } = server;
    settings.push(("CYCLECLOUD_USER", user.clone()));
    settings.push(("CYCLECLOUD_IDENTITY", identity.to_string()));
    settings.push(("CYCLECLOUD_ACCOUNT", locker.account.clone()));
    settings.push(("CYCLECLOUD_CONTAINER", locker.container.clone()));
    let step = include_str!("scripts/cyclecloud.sh");
    let arrays = include_str!("scripts/arrays.sh");
    [
        own("steps/70-cyclecloud", PROGRAM, step),
        own("arrays", PROGRAM, arrays),
    ]
}

/// A file in the folder of the bootstrap.
pub(super) fn own(name: &str, permissions: &'static str, text: &str) -> File {
    File {
        path: format!("{FOLDER}/{name}"),
        permissions,
        text: text.to_owned(),
    }
}

/// A value as one word of a shell, whatever is in it.
pub(super) fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_value_is_one_word_whatever_is_in_it() {
        let check = |value: &str, expected: &str| assert_eq!(quoted(value), expected);
        check("", "''");
        check("/scratch", "'/scratch'");
        check("it's $HOME", r"'it'\''s $HOME'");
    }

    #[test]
    fn what_is_not_asked_for_is_not_there() {
        let names = |setup: &Setup, script| -> Vec<String> {
            let node = Node {
                setup,
                local_disks: Some(8),
                script,
            };
            let files = files(node).into_iter();
            let names = files.map(|file| file.path.rsplit('/').next().unwrap_or("").to_owned());
            names.collect()
        };
        let base = ["settings", "common", "run", "await"];
        let check = |scratch, script, steps: &[&str]| {
            let expected = [&base, steps, &[UNIT]].concat();
            let setup = Setup {
                scratch,
                ..Setup::default()
            };
            assert_eq!(names(&setup, script), expected);
        };
        check(false, None, &[]);
        check(true, None, &["10-scratch"]);
        check(false, Some("#!/bin/sh\n"), &["90-script", "script"]);
    }
}
