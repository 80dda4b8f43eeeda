//! Accounts and pools of Azure Batch.
//!
//! A pool tells no place of its own: whoever reads it puts that of its account in. How far it is
//! with its nodes stands beside its provisioning state, which is about the pool alone.

use std::collections::BTreeMap;

use model::{
    live::UsageFact,
    plan::BOOTSTRAP,
    resource::{
        BatchAccount, BatchAutoscale, BatchContainers, BatchNetwork, BatchPool, InstanceDataDisk,
        InstanceOsDisk, Security, VmPriority,
    },
    spec::{EphemeralPlacement, Eviction},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    DecodeError, EncodeError,
    fields::{
        disk_type, disk_type_name, id, items, location, member, number, required, required_number,
        text, texts, unsupported,
    },
    identity,
    patch::Change,
    virtual_machine::profile,
};

const MACHINE: &str = "/properties/deploymentConfiguration/virtualMachineConfiguration";
const FIXED: &str = "/properties/scaleSettings/fixedScale";
const AUTO: &str = "/properties/scaleSettings/autoScale";
const MINUTES_PER_HOUR: u32 = 60;
const HOURS_PER_DAY: u32 = 24;

pub(super) fn encode_account(account: &BatchAccount) -> Value {
    let BatchAccount {
        location,
        allocation,
        sign_in,
        public_access,
    } = account;
    json!({
        "location": location,
        "properties": {
            "poolAllocationMode": allocation,
            "allowedAuthenticationModes": sign_in,
            "publicNetworkAccess": public_access,
        },
    })
}

pub(super) fn decode_account(body: &Value) -> Result<BatchAccount, DecodeError> {
    let sign_in = texts(body, "/properties/allowedAuthenticationModes");
    Ok(BatchAccount {
        location: location(body)?,
        allocation: text(body, "/properties/poolAllocationMode")
            .unwrap_or("BatchService")
            .into(),
        sign_in,
        public_access: text(body, "/properties/publicNetworkAccess")
            .unwrap_or("Enabled")
            .into(),
    })
}

pub(super) fn encode_pool(pool: &BatchPool) -> Result<Value, EncodeError> {
    let mut body = json!({
        "properties": {
            "vmSize": pool.size,
            "deploymentConfiguration": { "virtualMachineConfiguration": machine(pool)? },
            "interNodeCommunication": if pool.inter_node { "Enabled" } else { "Disabled" },
            "taskSlotsPerNode": pool.task_slots,
            "networkConfiguration": encode_network(&pool.network),
            "scaleSettings": scale(pool),
            "targetNodeCommunicationMode": "Simplified",
        },
    });
    if let Some(identity) = identity::encode(&pool.identities) {
        body["identity"] = identity;
    }
    Ok(body)
}

/// What each node is.
fn machine(pool: &BatchPool) -> Result<Value, EncodeError> {
    let BatchPool {
        location: _,
        size: _,
        nodes: _,
        autoscale: _,
        priority: _,
        image,
        node_agent,
        inter_node: _,
        task_slots: _,
        containers,
        os_disk:
            InstanceOsDisk {
                size_gb,
                disk_type,
                ephemeral,
            },
        data_disks,
        network: _,
        security,
        identities: _,
    } = pool;
    let image = serde_json::to_value(profile::image_reference(image));
    let image = image.map_err(|_| EncodeError::Unknown("image"))?;
    let mut machine = json!({
        "imageReference": image,
        "nodeAgentSkuId": node_agent,
        "osDisk": {
            "diskSizeGB": size_gb,
            "managedDisk": { "storageAccountType": disk_type_name(*disk_type) },
        },
    });
    if let Some(placement) = ephemeral {
        machine["osDisk"]["ephemeralOSDiskSettings"] = json!({"placement": placement.word()});
    }
    if !data_disks.is_empty() {
        let disks: Vec<Value> = data_disks.iter().map(encode_disk).collect();
        machine["dataDisks"] = json!(disks);
    }
    if let Some(BatchContainers { kind, images }) = containers {
        machine["containerConfiguration"] = json!({"type": kind, "containerImageNames": images});
    }
    if let Security::TrustedLaunch { secure_boot, vtpm } = security {
        machine["securityProfile"] = json!({
            "securityType": "trustedLaunch",
            "uefiSettings": {"secureBootEnabled": secure_boot, "vTpmEnabled": vtpm},
        });
    }
    Ok(machine)
}

fn encode_disk((lun, disk): (&u32, &InstanceDataDisk)) -> Value {
    let InstanceDataDisk {
        size_gb,
        disk_type,
        caching,
    } = disk;
    json!({
        "lun": lun, "diskSizeGB": size_gb, "caching": caching,
        "storageAccountType": disk_type_name(*disk_type),
    })
}

fn encode_network(network: &BatchNetwork) -> Value {
    let BatchNetwork {
        subnet,
        addresses,
        accelerated,
    } = network;
    let mut body = json!({
        "publicIPAddressConfiguration": { "provision": addresses },
        "enableAcceleratedNetworking": accelerated,
    });
    if let Some(subnet) = subnet {
        body["subnetId"] = json!(subnet);
    }
    body
}

/// What decides the number of nodes.
fn scale(pool: &BatchPool) -> Value {
    if let Some(BatchAutoscale {
        formula,
        interval_minutes,
    }) = &pool.autoscale
    {
        return json!({"autoScale": {
            "formula": formula, "evaluationInterval": format!("PT{interval_minutes}M"),
        }});
    }
    let (dedicated, spot) = match pool.priority {
        VmPriority::Regular => (pool.nodes, 0),
        VmPriority::Spot { .. } => (0, pool.nodes),
    };
    json!({"fixedScale": {
        "targetDedicatedNodes": dedicated, "targetLowPriorityNodes": spot,
    }})
}

/// Variable of the start task that has what nodes run, in base 64.
const START_SCRIPT: &str = "NODE_BOOTSTRAP";
/// What the start task does: no quote stands in it but those around it, because Batch takes the
/// line apart itself.
const START_COMMAND: &str = "/bin/bash -c 'set -eu; umask 077; \
    echo $NODE_BOOTSTRAP | base64 -d >bootstrap; unset NODE_BOOTSTRAP; \
    if [ $(id -u) -eq 0 ]; then exec /bin/bash bootstrap; fi; exec sudo -n /bin/bash bootstrap'";
/// How often Batch tries a start task again before it gives up on a node.
const START_TRIES: u32 = 2;

/// The start task of a pool: as the administrator, once on each node, and again at each start of
/// its system. Tasks wait for it.
pub(crate) fn start_task(script: &str) -> Value {
    json!({
        "commandLine": START_COMMAND,
        "environmentSettings": [{"name": START_SCRIPT, "value": script}],
        "userIdentity": {"autoUser": {"scope": "Pool", "elevationLevel": "Admin"}},
        "maxTaskRetryCount": START_TRIES,
        "waitForSuccess": true,
    })
}

/// The write that changes these attributes of a live pool: only its number of nodes changes, and
/// what they run when they start, which whoever knows it puts in.
pub(super) fn changes(pool: &BatchPool, attributes: &[String]) -> Result<Vec<Change>, EncodeError> {
    let fixed = attributes
        .iter()
        .find(|path| !is_of_scale(path) && *path != BOOTSTRAP);
    let scales = attributes.iter().any(|path| is_of_scale(path));
    match fixed {
        Some(path) => Err(EncodeError::Unchangeable(path.clone())),
        // The same number of nodes once more has Batch try again for those that are missing.
        None if scales => Ok(vec![Change::Patch(
            json!({"properties": {"scaleSettings": scale(pool)}}),
        )]),
        None => Ok(vec![Change::Patch(json!({"properties": {}}))]),
    }
}

fn is_of_scale(path: &str) -> bool {
    path == "nodes" || path.starts_with("autoscale.")
}

pub(super) fn decode_pool(body: &Value) -> Result<BatchPool, DecodeError> {
    let Some(machine) = member(body, MACHINE) else {
        return Err(DecodeError::Missing(
            "properties.deploymentConfiguration.virtualMachineConfiguration".to_owned(),
        ));
    };
    // What pools have in common with VMs, at the places where those have it.
    let like = json!({"properties": {
        "storageProfile": {"imageReference": machine.get("imageReference")},
        "securityProfile": machine.get("securityProfile"),
    }});
    let autoscale = autoscale(body)?;
    let (nodes, is_spot) = match &autoscale {
        // A formula without bounds is not ours: what it gives now is all that is known.
        Some(autoscale) => autoscale.bounds().unwrap_or_else(|| present(body)),
        None => targets(body),
    };
    let flag = |place: &str| member(body, place).and_then(Value::as_bool) == Some(true);
    Ok(BatchPool {
        location: location(body)?,
        size: required(body, "/properties/vmSize")?.into(),
        nodes,
        autoscale,
        priority: if is_spot {
            VmPriority::Spot {
                eviction: Eviction::Delete,
                max_price: Decimal::NEGATIVE_ONE,
            }
        } else {
            VmPriority::Regular
        },
        image: profile::image(&like)?,
        node_agent: required(machine, "/nodeAgentSkuId")?.into(),
        inter_node: text(body, "/properties/interNodeCommunication")
            .is_some_and(|word| word.eq_ignore_ascii_case("Enabled")),
        task_slots: number(body, "/properties/taskSlotsPerNode").unwrap_or(1),
        containers: containers(machine),
        os_disk: os_disk(machine)?,
        data_disks: data_disks(machine)?,
        network: BatchNetwork {
            subnet: id(body, "/properties/networkConfiguration/subnetId")?,
            addresses: text(
                body,
                "/properties/networkConfiguration/publicIPAddressConfiguration/provision",
            )
            .unwrap_or("BatchManaged")
            .into(),
            accelerated: flag("/properties/networkConfiguration/enableAcceleratedNetworking"),
        },
        security: profile::security(&like)?,
        identities: identity::decode(body)?,
    })
}

fn autoscale(body: &Value) -> Result<Option<BatchAutoscale>, DecodeError> {
    let Some(formula) = text(body, &format!("{AUTO}/formula")) else {
        return Ok(None);
    };
    let place = format!("{AUTO}/evaluationInterval");
    let interval = text(body, &place).unwrap_or("PT15M");
    Ok(Some(BatchAutoscale {
        formula: formula.to_owned(),
        interval_minutes: minutes(interval).ok_or_else(|| unsupported(&place, interval))?,
    }))
}

/// The whole minutes of a span such as `PT15M`, `PT1H30M` or `P1DT2H`.
fn minutes(span: &str) -> Option<u32> {
    let mut sum = 0_u32;
    let mut digits = String::new();
    for letter in span.strip_prefix('P')?.chars() {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        let amount: u32 = match letter {
            'T' if digits.is_empty() => continue,
            _ => digits.parse().ok()?,
        };
        let factor = match letter {
            'D' => HOURS_PER_DAY * MINUTES_PER_HOUR,
            'H' => MINUTES_PER_HOUR,
            'M' => 1,
            'S' if amount == 0 => 0,
            _ => return None,
        };
        sum = sum.checked_add(amount.checked_mul(factor)?)?;
        digits.clear();
    }
    digits.is_empty().then_some(sum)
}

/// The number of nodes that a pool is to have, and whether they are spot nodes.
fn targets(body: &Value) -> (u32, bool) {
    let target = |name: &str| number(body, &format!("{FIXED}/{name}")).unwrap_or(0);
    of_kinds(
        target("targetDedicatedNodes"),
        target("targetLowPriorityNodes"),
    )
}

/// The number of nodes that a pool has, and whether they are spot nodes.
fn present(body: &Value) -> (u32, bool) {
    let current = |name: &str| number(body, &format!("/properties/{name}")).unwrap_or(0);
    of_kinds(
        current("currentDedicatedNodes"),
        current("currentLowPriorityNodes"),
    )
}

fn of_kinds(dedicated: u32, spot: u32) -> (u32, bool) {
    (dedicated.saturating_add(spot), spot > 0 && dedicated == 0)
}

fn containers(machine: &Value) -> Option<BatchContainers> {
    Some(BatchContainers {
        kind: text(machine, "/containerConfiguration/type")?.into(),
        images: texts(machine, "/containerConfiguration/containerImageNames"),
    })
}

fn os_disk(machine: &Value) -> Result<InstanceOsDisk, DecodeError> {
    const TYPE: &str = "/osDisk/managedDisk/storageAccountType";
    Ok(InstanceOsDisk {
        size_gb: required_number(machine, "/osDisk/diskSizeGB")?,
        disk_type: disk_type(required(machine, TYPE)?, TYPE)?,
        ephemeral: text(machine, "/osDisk/ephemeralOSDiskSettings/placement")
            .and_then(EphemeralPlacement::named),
    })
}

fn data_disks(machine: &Value) -> Result<BTreeMap<u32, InstanceDataDisk>, DecodeError> {
    const TYPE: &str = "/storageAccountType";
    let disks = items(machine, "/dataDisks").map(|disk| {
        let each = InstanceDataDisk {
            size_gb: required_number(disk, "/diskSizeGB")?,
            disk_type: disk_type(text(disk, TYPE).unwrap_or("Standard_LRS"), TYPE)?,
            caching: text(disk, "/caching").unwrap_or("None").into(),
        };
        Ok((required_number(disk, "/lun")?, each))
    });
    disks.collect()
}

/// How far a pool is with the number of nodes that it is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resize {
    /// Nodes come or go.
    Running,
    /// Batch has given up on some.
    Short {
        /// Its first reason.
        code: String,
        /// In words.
        message: String,
    },
    /// Nothing is under way.
    Settled,
}

/// How far a pool is; nothing for what is no pool. Where a formula decides, nodes come and go all
/// the time: nobody waits for that. Reasons of an earlier try say nothing about a pool that has
/// all its nodes.
pub(crate) fn resize(body: &Value) -> Option<Resize> {
    let state = text(body, "/properties/allocationState")?;
    if member(body, FIXED).is_none() {
        return Some(Resize::Settled);
    }
    if !state.eq_ignore_ascii_case("Steady") {
        return Some(Resize::Running);
    }
    let error = items(body, "/properties/resizeOperationStatus/errors").next();
    Some(match error {
        Some(error) if present(body).0 < targets(body).0 => {
            let said = text(error, "/message").unwrap_or_default();
            let message = format!(
                "{} of {} nodes came: {said}",
                present(body).0,
                targets(body).0
            );
            Resize::Short {
                code: text(error, "/code").unwrap_or("ResizeFailed").to_owned(),
                message,
            }
        }
        _ => Resize::Settled,
    })
}

/// The nodes that a pool has; nothing for what is no pool.
pub(crate) fn nodes(body: &Value) -> Option<u32> {
    text(body, "/properties/allocationState")?;
    Some(present(body).0)
}

/// The limits that an account tells; one that it does not tell is unknown, not zero. What is used
/// is not told.
pub(crate) fn limits(account: &Value) -> Vec<UsageFact> {
    let fact = |name: &str, words: &str, limit: i64| UsageFact {
        name: name.to_owned(),
        display_name: words.to_owned(),
        limit,
        used: 0,
    };
    let number = |name: &str| member(account, &format!("/properties/{name}"))?.as_i64();
    let enforced = member(account, "/properties/dedicatedCoreQuotaPerVMFamilyEnforced");
    let mut limits: Vec<UsageFact> = [
        (
            "dedicatedCores",
            "dedicatedCoreQuota",
            "dedicated vCPUs of the Batch account",
        ),
        (
            "lowPriorityCores",
            "lowPriorityCoreQuota",
            "spot vCPUs of the Batch account",
        ),
        ("pools", "poolQuota", "pools of the Batch account"),
    ]
    .into_iter()
    .filter_map(|(name, place, words)| Some(fact(name, words, number(place)?)))
    .collect();
    if enforced.and_then(Value::as_bool) == Some(true) {
        let families = items(account, "/properties/dedicatedCoreQuotaPerVMFamily");
        limits.extend(families.filter_map(|family| {
            let words = "dedicated vCPUs of the family in the Batch account";
            let limit = member(family, "/coreQuota")?.as_i64()?;
            Some(fact(text(family, "/name")?, words, limit))
        }));
    }
    limits
}

#[cfg(test)]
mod tests;
