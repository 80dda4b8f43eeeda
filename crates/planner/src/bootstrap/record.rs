//! What a plan records of bootstraps, and what comes of that once the scripts are at hand.

use std::collections::BTreeMap;

use model::{
    catalog::{Catalog, Size},
    digest,
    plan::{
        Bootstrap, BootstrapOnSize, CheckpointSetup, ContainerSetup, RegistrySetup,
        ScriptReference, Setup,
    },
    spec::{Checkpoint, CheckpointTarget, ContainerRuntime, Containers, Orchestrator, Pool, Spec},
    units::{SizeName, Span},
};

use super::{Node, check, cloud_config, shell};
use crate::{location::Selections, select::Findings};

/// What the bootstrap of a pool does, and its script; `None` where nodes run nothing.
pub fn of_pool(pool: &Pool) -> Option<(Setup, Option<ScriptReference>)> {
    // Nodes of Kubernetes run no script, those of CycleCloud what its projects say.
    if matches!(
        pool.orchestrator,
        Orchestrator::Aks | Orchestrator::CycleCloud
    ) {
        return None;
    }
    let start_task = pool.orchestrator == Orchestrator::Batch;
    let setup = Setup {
        start_task,
        scratch: pool.disks.scratch_nvme,
        mounts: pool.mounts.clone(),
        // Batch runs containers itself.
        containers: containers(pool).filter(|_| !start_task),
        checkpoint: checkpoint(pool),
        server: pool.server.clone(),
    };
    let script = pool.bootstrap.as_ref().map(|bootstrap| ScriptReference {
        path: bootstrap.script.clone(),
        digest: digest::of_text(script_text(pool).unwrap_or_default()),
    });
    (!setup.is_empty() || script.is_some()).then_some((setup, script))
}

/// What runs containers on the nodes of a pool; `None` where nothing does.
fn containers(pool: &Pool) -> Option<ContainerSetup> {
    let containers = pool.containers.as_ref()?;
    let setup = ContainerSetup {
        runtime: containers.runtime,
        images: containers.images.clone(),
        registry: registry(containers),
    };
    (setup.runtime != ContainerRuntime::None).then_some(setup)
}

/// The registry that nodes sign in to, and by what.
fn registry(containers: &Containers) -> Option<RegistrySetup> {
    Some(RegistrySetup {
        host: containers.registry.clone()?,
        identity: containers.identity.clone()?,
    })
}

/// What writes checkpoints on the nodes of a pool, and where.
fn checkpoint(pool: &Pool) -> Option<CheckpointSetup> {
    let Checkpoint {
        to,
        every,
        hook,
        identity,
        protect: _,
    } = pool.checkpoint.as_ref()?;
    let (CheckpointTarget::Url(container) | CheckpointTarget::Made(container)) = to else {
        return None;
    };
    Some(CheckpointSetup {
        container: container.clone(),
        identity: identity.clone()?,
        hook: hook.clone(),
        every_seconds: every.map(Span::seconds),
    })
}

/// The digest that nodes of a pool carry as a tag; `None` where they run nothing.
pub(crate) fn tag_of_pool(pool: &Pool) -> Option<String> {
    let (setup, script) = of_pool(pool)?;
    Some(Bootstrap::tag(&setup, script.as_ref()))
}

fn script_text(pool: &Pool) -> Option<&str> {
    let bootstrap = pool.bootstrap.as_ref()?;
    bootstrap.text.as_ref().map(|text| text.0.as_str())
}

/// The bootstraps of all pools, on every size that they may be made with. Says what is wrong.
pub fn record(
    spec: &Spec,
    selections: &Selections,
    catalog: &Catalog,
    findings: &mut Findings,
) -> BTreeMap<String, Bootstrap> {
    let mut bootstraps: BTreeMap<String, Bootstrap> = BTreeMap::new();
    for (name, selection) in selections {
        let Some(pool) = spec.pools.get(name) else {
            continue;
        };
        let Some((setup, script)) = of_pool(pool) else {
            continue;
        };
        let others = selection.others.iter().map(|other| &other.selection.size);
        let sizes: Vec<&SizeName> = std::iter::once(&selection.size).chain(others).collect();
        check::scratch(name, &setup, &sizes, catalog, findings);
        let tag = Bootstrap::tag(&setup, script.as_ref());
        let recorded = bootstraps.entry(tag).or_insert_with(|| Bootstrap {
            setup,
            script,
            sizes: BTreeMap::new(),
        });
        for size in sizes {
            let node = Node {
                setup: &recorded.setup,
                local_disks: local_disks(catalog.size(size)),
                script: script_text(pool),
            };
            let text = given(node);
            check::length(name, pool, &text, findings);
            let on_size = BootstrapOnSize {
                local_disks: node.local_disks,
                digest: digest::of_text(&text),
            };
            recorded.sizes.insert(size.clone(), on_size);
        }
    }
    bootstraps
}

/// The number of local NVMe disks, where the catalogue states one.
fn local_disks(size: Option<&Size>) -> Option<u32> {
    let stated = size?.local_nvme.as_deref()?;
    let (count, rest) = stated.split_once(' ')?;
    rest.starts_with("disk").then(|| count.parse().ok())?
}

/// What a node is given, in the form that whoever makes it takes.
pub fn given(node: Node<'_>) -> String {
    if node.setup.start_task {
        shell(node)
    } else {
        cloud_config(node)
    }
}

/// What new nodes of a size are given, from what a plan records and the text of the script;
/// `None` where this version of the tool makes something else of it than the plan says.
pub fn custom_data(bootstrap: &Bootstrap, size: &SizeName, script: Option<&str>) -> Option<String> {
    let on_size = bootstrap.sizes.get(size)?;
    let text = given(Node {
        setup: &bootstrap.setup,
        local_disks: on_size.local_disks,
        script,
    });
    (digest::of_text(&text) == on_size.digest).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_local_disks_is_read_where_it_is_stated() {
        let check = |size: &str, expected: Option<u32>| {
            let size = Catalog::embedded().size(&SizeName::from(size));
            assert!(size.is_some());
            assert_eq!(local_disks(size), expected);
        };
        check("Standard_ND96isr_H100_v5", Some(8));
        check("Standard_NG16ads_V620_v1", Some(2));
        check("Standard_NC24ads_A100_v4", None);
        check("Standard_NC40ads_H100_v5", None);
    }
}
