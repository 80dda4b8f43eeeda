//! Azure Batch: the account of a stack, and a pool in it for each pool.

use std::collections::BTreeSet;

use model::{
    address::Address,
    resource::{
        BatchAccount, BatchAutoscale, BatchContainers, BatchNetwork, BatchPool, InstanceOsDisk,
        Properties, Resource, VmPriority,
    },
    spec::{Pool, batch::Batch},
    units::CaseInsensitive,
};

use super::{
    Allowed, Desired, allowed,
    node::{Scope, data_disks, identities, priority},
    tags,
};
use crate::select::{Selection, batch};

const SECONDS_PER_MINUTE: u64 = 60;

/// The account: nodes in Batch's own subscription, and no keys to sign in with.
pub(super) fn account(scope: Scope<'_>) -> Desired {
    let properties = BatchAccount {
        location: scope.context.location.clone(),
        allocation: CaseInsensitive::from("BatchService"),
        sign_in: BTreeSet::from(["AAD".to_owned()]),
        public_access: CaseInsensitive::from("Enabled"),
    };
    Desired {
        address: Address::batch_account(),
        id: scope.names.batch_account(),
        resource: Resource {
            tags: scope.tags.clone(),
            properties: Properties::BatchAccount(properties),
        },
        needs: vec![Address::resource_group()],
        allowed: Allowed::default(),
    }
}

/// The pool of Batch of a pool.
pub(super) fn pool(scope: Scope<'_>, name: &str, pool: &Pool, selection: &Selection) -> Desired {
    let choice = selection.node(0);
    let settings = pool.batch.clone().unwrap_or_default();
    let agent = settings.node_agent.as_deref();
    let agent = agent.or_else(|| batch::agent(&choice.image));
    let priority = priority(&selection.priority);
    let properties = BatchPool {
        location: scope.context.location.clone(),
        size: selection.size.clone(),
        nodes: selection.count,
        autoscale: autoscale(&settings, selection.count, &priority),
        priority,
        // No image is chosen without one.
        node_agent: CaseInsensitive::from(agent.unwrap_or_default()),
        image: choice.image,
        inter_node: selection.inter_node,
        task_slots: settings.task_slots.unwrap_or(1),
        containers: batch::containers(pool).map(|images| BatchContainers {
            kind: CaseInsensitive::from("DockerCompatible"),
            images: images.iter().cloned().collect(),
        }),
        os_disk: InstanceOsDisk {
            size_gb: choice.os_disk_gb,
            disk_type: choice.os_disk_type,
            ephemeral: None,
        },
        data_disks: data_disks(pool),
        network: BatchNetwork {
            subnet: Some(scope.subnet.id.clone()),
            addresses: CaseInsensitive::from("NoPublicIPAddresses"),
            accelerated: selection.accelerated_networking,
        },
        security: choice.security,
        identities: identities(scope, pool),
    };
    let mut needs = vec![Address::batch_account()];
    needs.push(scope.subnet.needs.clone());
    needs.extend(selection.terms.as_ref().map(Address::terms));
    Desired {
        address: Address::batch_pool(name),
        id: scope.names.batch_pool(name),
        resource: Resource {
            tags: tags::of_pool(scope.tags, pool),
            properties: Properties::BatchPool(Box::new(properties)),
        },
        needs,
        allowed: allowed(pool),
    }
}

/// The formula of a pool, kept between its bounds. Nodes that go let their tasks end first.
fn autoscale(settings: &Batch, most: u32, priority: &VmPriority) -> Option<BatchAutoscale> {
    let asked = settings.autoscale.as_ref()?;
    let spot = matches!(priority, VmPriority::Spot { .. });
    let target = if spot {
        "$TargetLowPriorityNodes"
    } else {
        "$TargetDedicatedNodes"
    };
    let slots = settings.task_slots.unwrap_or(1);
    let formula = asked.formula.clone().unwrap_or_else(|| {
        format!(
            "$sampled = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);\n\
             $tasks = $sampled < 70 ? max(0, $PendingTasks.GetSample(1)) : \
             max(0, avg($PendingTasks.GetSample(TimeInterval_Minute * 5)));\n\
             {target} = ($tasks + {}) / {slots};\n\
             $NodeDeallocationOption = taskcompletion;",
            slots.saturating_sub(1)
        )
    });
    let minutes = asked.every.seconds() / SECONDS_PER_MINUTE;
    Some(BatchAutoscale {
        formula: BatchAutoscale::bounded(&formula, (asked.min, most), spot),
        interval_minutes: u32::try_from(minutes).unwrap_or(u32::MAX),
    })
}
