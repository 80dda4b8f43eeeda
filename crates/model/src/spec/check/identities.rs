//! What nodes reach by an identity: the container of their checkpoints, and a registry.

use super::Check;
use crate::{
    diag::SpecPath,
    spec::{CheckpointTarget, ContainerRuntime, OperatingSystem, Pool},
};

pub(super) fn check(check: &mut Check<'_>, name: &str, pool: &Pool) {
    let scope = Scope { name, pool };
    scope.checkpoint(check);
    scope.registry(check);
}

struct Scope<'a> {
    name: &'a str,
    pool: &'a Pool,
}

impl Scope<'_> {
    fn path(&self, keys: &[&str]) -> SpecPath {
        SpecPath::pool(self.name, keys)
    }

    fn checkpoint(&self, check: &mut Check<'_>) {
        let path = self.path(&["checkpoint"]);
        let Some(checkpoint) = &self.pool.checkpoint else {
            return;
        };
        let os = self.path(&["os"]);
        if self.pool.os != OperatingSystem::Linux && check.may_be_used(&os) {
            let message = "`checkpoint` is for Linux nodes: what listens on them is a shell script";
            check.conflict(path.clone(), os, message.to_owned(), "use `os: linux`");
        }
        let CheckpointTarget::Url(_) = checkpoint.to else {
            return;
        };
        let protect = self.path(&["checkpoint", "protect"]);
        if check.given(&protect).is_some() {
            check.conflict(
                protect,
                self.path(&["checkpoint", "to"]),
                "`protect` has no effect on a container that exists: the tool never deletes it"
                    .to_owned(),
                "remove `protect`, or use `to: blob`",
            );
        }
        let identity = SpecPath::of(&["identity"]);
        if checkpoint.identity.is_none() && check.may_be_used(&identity) {
            check.conflict(
                path,
                identity,
                "`checkpoint` needs `identity`: nodes write to the container by it".to_owned(),
                "give the id of a user-assigned identity that may write in the container, or use `to: blob`",
            );
        }
    }

    fn registry(&self, check: &mut Check<'_>) {
        let containers = self.pool.containers.as_ref();
        let Some(containers) = containers.filter(|all| all.registry.is_some()) else {
            return;
        };
        let path = self.path(&["containers", "registry"]);
        if !check.is_sound(&path) {
            return;
        }
        if containers.runtime == ContainerRuntime::None {
            check.conflict(
                path.clone(),
                self.path(&["containers", "runtime"]),
                "`registry` has no effect with `runtime: none`: nodes pull nothing".to_owned(),
                "use `runtime: docker` or `runtime: containerd`, or remove `registry`",
            );
        }
        let identity = SpecPath::of(&["identity"]);
        if containers.identity.is_none() && check.may_be_used(&identity) {
            check.conflict(
                path,
                identity,
                "`registry` needs `identity`: the registry knows nodes by it".to_owned(),
                "give the id of a user-assigned identity with the role `AcrPull` on the registry",
            );
        }
    }
}
