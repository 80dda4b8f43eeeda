//! Everything outside of pools.

use std::collections::BTreeMap;

use super::{
    pool,
    reader::{Reader, scalar},
};
use crate::{
    ids::ArmId,
    spec::{
        Pool,
        parts::Cidr,
        schema::{forms::quantities, pool::POOL, words},
        types::{
            Access, BastionSku, Budget, Identity, Network, OnExceed, Outbound, Spec, SshKeys, Via,
        },
    },
    units::{CaseInsensitive, Region},
};

/// A block of addresses that stands where a wrong one was given.
const ANY_BLOCK: Cidr = Cidr {
    first: 0x0a28_0000,
    prefix: 16,
};

pub(super) fn spec(root: Reader<'_>) -> Spec {
    let name = root.text("name").unwrap_or_default();
    let tags = root
        .given("tags")
        .map(crate::spec::yaml::node::Node::entries)
        .unwrap_or_default();
    let pools = root
        .given("pools")
        .map(crate::spec::yaml::node::Node::entries)
        .unwrap_or_default();
    Spec {
        locations: root
            .texts("location")
            .into_iter()
            .map(Region::new)
            .collect(),
        resource_group: root
            .text("resource_group")
            .unwrap_or_else(|| format!("rg-{name}")),
        name,
        subscription: root.text("subscription").map(|id| id.to_lowercase()),
        tags: tags
            .iter()
            .filter_map(|tag| {
                let value = scalar(&tag.value)?.text.clone();
                Some((CaseInsensitive::from(tag.key.as_str()), value))
            })
            .collect(),
        ignore_tags: root
            .texts("ignore_tags")
            .into_iter()
            .map(str::to_owned)
            .collect(),
        budget: budget(root.inner("budget")),
        lifetime: root.read("lifetime", |text| quantities::span(text).ok()),
        network: network(root.inner("network")),
        access: access(root.inner("access")),
        identity: identity(root),
        aks: super::kubernetes::cluster(root.inner("aks")),
        cyclecloud: super::cyclecloud::server(root.inner("cyclecloud")),
        pools: pools
            .iter()
            .map(|entry| {
                let mut pool = pool::pool(Reader::new(Some(&entry.value), &POOL));
                if let Identity::User(id) = identity(root) {
                    give_identity(&mut pool, &id);
                }
                (entry.key.clone(), pool)
            })
            .collect::<BTreeMap<_, _>>(),
    }
}

/// Gives what nodes do by an identity that of the stack.
fn give_identity(pool: &mut Pool, id: &ArmId) {
    if let Some(checkpoint) = &mut pool.checkpoint {
        checkpoint.identity = Some(id.clone());
    }
    if let Some(containers) = &mut pool.containers
        && containers.registry.is_some()
    {
        containers.identity = Some(id.clone());
    }
}

fn budget(block: Reader<'_>) -> Option<Budget> {
    block.is_there().then(|| Budget {
        hourly: block.decimal("hourly"),
        monthly: block.decimal("monthly"),
        currency: block.text("currency").unwrap_or_default(),
        on_exceed: block
            .word("on_exceed", words::ON_EXCEEDS)
            .unwrap_or(OnExceed::Error),
    })
}

fn network(block: Reader<'_>) -> Network {
    match block.read("subnet_id", |text| text.parse().ok()) {
        Some(subnet) => Network::Existing { subnet },
        None => Network::Own {
            address_space: block
                .read("address_space", |text| text.parse().ok())
                .unwrap_or(ANY_BLOCK),
            outbound: block
                .word("outbound", words::OUTBOUNDS)
                .unwrap_or(Outbound::Nat),
        },
    }
}

fn access(block: Reader<'_>) -> Access {
    let keys: Vec<String> = block
        .texts("ssh_keys")
        .into_iter()
        .filter(|key| *key != "generate")
        .map(|key| key.trim().to_owned())
        .collect();
    Access {
        user: block.text("user").unwrap_or_default(),
        ssh_keys: if keys.is_empty() {
            SshKeys::Generate
        } else {
            SshKeys::Given(keys)
        },
        via: block.word("via", words::VIAS).unwrap_or(Via::None),
        ssh_from: block
            .texts("ssh_from")
            .into_iter()
            .filter_map(|text| text.parse().ok())
            .collect(),
        bastion_sku: block
            .word("bastion_sku", words::BASTION_SKUS)
            .unwrap_or(BastionSku::Standard),
    }
}

fn identity(root: Reader<'_>) -> Identity {
    match root.word("identity", words::IDENTITIES) {
        Some(true) => Identity::System,
        Some(false) | None => root
            .scalar("identity")
            .and_then(|scalar| scalar.text.parse().ok())
            .map_or(Identity::None, Identity::User),
    }
}
