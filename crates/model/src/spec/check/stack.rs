//! Budget, network, access, and how many nodes there are in all.

use super::Check;
use crate::{
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    spec::{
        parts::Cidr,
        pool::{Grouping, OperatingSystem, Orchestrator, Pool},
        schema::pool::MOST_NODES,
        types::{BASTION_PREFIX, BastionSku, Network, Spec, Via},
        yaml::node::Node,
    },
};

/// The block that InfiniBand uses inside of nodes.
const RDMA_BLOCK: Cidr = Cidr {
    first: 172 << 24 | 16 << 16,
    prefix: 16,
};

/// Characters of a user's name that Windows takes.
const LONGEST_WINDOWS_USER: usize = 20;

/// Addresses that Azure keeps in each subnet.
const KEPT_ADDRESSES: u64 = 5;

pub(super) fn check(check: &mut Check<'_>, spec: &Spec) {
    budget(check);
    network(check);
    ways_in(check, spec);
    if let Network::Own { address_space, .. } = &spec.network {
        addresses(check, spec, *address_space);
        bastion(check, spec, *address_space);
    }
    access(check, spec);
    windows_user(check, spec);
    nodes(check, spec);
}

/// Windows takes shorter names of users than Linux.
fn windows_user(check: &mut Check<'_>, spec: &Spec) {
    let path = SpecPath::of(&["access", "user"]);
    let windows = |pool: &Pool| matches!(pool.os, OperatingSystem::Windows { .. });
    let Some((name, _)) = spec.pools.iter().find(|(_, pool)| windows(pool)) else {
        return;
    };
    if spec.access.user.len() > LONGEST_WINDOWS_USER && check.is_sound(&path) {
        let message = format!(
            "Windows takes {LONGEST_WINDOWS_USER} characters for a user's name, `{}` has {}",
            spec.access.user,
            spec.access.user.len()
        );
        check.conflict(
            path,
            SpecPath::pool(name, &["os"]),
            message,
            "use a shorter name",
        );
    }
}

fn budget(check: &mut Check<'_>) {
    let path = SpecPath::of(&["budget"]);
    let amounts = [path.key("hourly"), path.key("monthly")];
    let given = amounts.iter().any(|amount| check.given(amount).is_some());
    if check.is_block(&path) && !given {
        check.report(
            Code::SpecMissingKey,
            At::Key(path),
            "`budget` needs `hourly` or `monthly`".to_owned(),
            "add `hourly: 100`, or remove `budget`",
        );
    }
}

fn network(check: &mut Check<'_>) {
    let path = |key: &str| SpecPath::of(&["network", key]);
    let outbound = check
        .given(&path("outbound"))
        .and_then(|node| node.scalar())
        .map(|scalar| scalar.text.clone());
    let has_subnet = check.given(&path("subnet_id")).is_some();
    if has_subnet && check.given(&path("address_space")).is_some() {
        check.conflict(
            path("address_space"),
            path("subnet_id"),
            "`address_space` makes a network, and `subnet_id` names an existing one".to_owned(),
            "keep one of them",
        );
    }
    match outbound.as_deref() {
        Some("existing") if !has_subnet => check.report(
            Code::SpecConflict,
            At::Value(path("outbound")),
            "`outbound: existing` needs `subnet_id`: a new network has no way out yet".to_owned(),
            "use `outbound: nat` or `outbound: none`",
        ),
        Some(word @ ("nat" | "none")) if has_subnet => check.conflict(
            path("outbound"),
            path("subnet_id"),
            format!("`outbound: {word}` changes the network, and the subnet of `subnet_id` is not the stack's"),
            "use `outbound: existing`",
        ),
        _ => {}
    }
    let via = SpecPath::of(&["access", "via"]);
    let existing = check
        .given(&via)
        .and_then(Node::scalar)
        .is_some_and(|scalar| scalar.text == "existing");
    if existing && !has_subnet {
        check.report(
            Code::SpecConflict,
            At::Value(via),
            "`via: existing` needs `network.subnet_id`: a new network has no way in yet".to_owned(),
            "use `via: none`",
        );
    }
}

/// The ways in that the tool makes change the network, which must then be the stack's own.
fn ways_in(check: &mut Check<'_>, spec: &Spec) {
    let via = SpecPath::of(&["access", "via"]);
    let subnet = SpecPath::of(&["network", "subnet_id"]);
    let word = match spec.access.via {
        Via::Bastion => "bastion",
        Via::PublicIp => "public_ip",
        Via::None | Via::Existing => return,
    };
    if check.given(&subnet).is_some() && check.is_sound(&via) {
        let message = format!(
            "`via: {word}` changes the network, and the subnet of `subnet_id` is not the stack's"
        );
        check.conflict(via, subnet, message, "use `via: existing`");
        return;
    }
    // Services whose nodes nobody signs in to.
    let service = |pool: &Pool| match pool.orchestrator {
        Orchestrator::Batch => Some(("batch", "Batch")),
        Orchestrator::Aks => Some(("aks", "AKS")),
        Orchestrator::Auto | Orchestrator::Manual | Orchestrator::CycleCloud => None,
    };
    let mut pools = spec.pools.iter();
    let first = pools.find_map(|(name, pool)| Some((name, service(pool)?)));
    if let Some((name, (key, its_name))) = first
        && spec.pools.values().all(|pool| service(pool).is_some())
        && check.is_sound(&via)
    {
        let message = format!(
            "`via: {word}` has no effect with `orchestrator: {key}`: nodes of {its_name} have no public address and no user who could sign in"
        );
        let orchestrator = SpecPath::pool(name, &["orchestrator"]);
        let help = "use `via: none`, or make a pool with another orchestrator";
        check.conflict(via, orchestrator, message, help);
    }
}

/// A Bastion host has a subnet of its own in the half that nodes leave free.
fn bastion(check: &mut Check<'_>, spec: &Spec, space: Cidr) {
    let path = SpecPath::of(&["network", "address_space"]);
    let via = SpecPath::of(&["access", "via"]);
    let is_wanted = spec.access.via == Via::Bastion && check.is_sound(&via);
    if is_wanted && space.prefix >= BASTION_PREFIX && check.may_be_used(&path) {
        let message = format!(
            "`address_space: {space}` has no room for a Bastion host beside the nodes: its subnet is a /{BASTION_PREFIX}"
        );
        let help = "use a block of /25 or larger";
        check.conflict(path, via, message, help);
    }
}

fn addresses(check: &mut Check<'_>, spec: &Spec, space: Cidr) {
    let path = SpecPath::of(&["network", "address_space"]);
    if !check.may_be_used(&path) {
        return;
    }
    if space.overlaps(RDMA_BLOCK) {
        let message = format!(
            "`address_space: {space}` overlaps {RDMA_BLOCK}, which InfiniBand uses inside of nodes"
        );
        check.findings.push(
            Diagnostic::new(Code::SpecRisky, At::Value(path.clone()), message)
                .with_severity(Severity::Warning)
                .with_help("use another block, such as `10.40.0.0/16`"),
        );
    }
    let room = space
        .lower_half()
        .addresses()
        .saturating_sub(KEPT_ADDRESSES);
    let wanted = wanted_nodes(check, spec);
    if wanted > room {
        check.report(
            Code::SpecConflict,
            At::Value(path),
            format!("`address_space: {space}` has room for {room} nodes, the pools have {wanted}"),
            "use a larger block: nodes get the lower half of it, less the 5 addresses that Azure keeps",
        );
    }
}

fn access(check: &mut Check<'_>, spec: &Spec) {
    let from = SpecPath::of(&["access", "ssh_from"]);
    let via = SpecPath::of(&["access", "via"]);
    let has_blocks = check
        .given(&from)
        .is_some_and(|node| !node.items().is_empty());
    if has_blocks && spec.access.via != Via::PublicIp && check.may_be_used(&via) {
        check.conflict(
            from,
            via,
            "`ssh_from` needs `via: public_ip`: otherwise there is no address to reach".to_owned(),
            "use `via: public_ip`, or remove `ssh_from`",
        );
    } else if !has_blocks && spec.access.via == Via::PublicIp && check.is_sound(&via) {
        check.report(
            Code::SpecMissingKey,
            At::Value(via),
            "`via: public_ip` needs `ssh_from`: nobody gets in from anywhere else".to_owned(),
            "add the blocks that you come from, such as `ssh_from: [203.0.113.0/24]`",
        );
    }
    let via = SpecPath::of(&["access", "via"]);
    let sku = SpecPath::of(&["access", "bastion_sku"]);
    let is_other = spec.access.bastion_sku != BastionSku::Standard;
    if is_other && spec.access.via != Via::Bastion && check.may_be_used(&via) {
        check.conflict(
            sku,
            via,
            "`bastion_sku` needs `via: bastion`: otherwise there is no Bastion host".to_owned(),
            "use `via: bastion`, or remove `bastion_sku`",
        );
    }
}

fn nodes(check: &mut Check<'_>, spec: &Spec) {
    let total = single_nodes(check, spec);
    if total > u64::from(MOST_NODES) {
        check.report(
            Code::SpecConflict,
            At::Key(SpecPath::of(&["pools"])),
            format!("the pools have {total} nodes, a stack can have {MOST_NODES} single VMs"),
            "use `grouping: scale_set`, or split the stack",
        );
    }
}

/// How many nodes the pools have that are to be single VMs.
fn single_nodes(check: &Check<'_>, spec: &Spec) -> u64 {
    let single = spec.pools.iter().filter(|(name, pool)| {
        let path = SpecPath::pool(name, &["grouping"]);
        pool.grouping == Grouping::Vms || !check.is_sound(&path)
    });
    single.map(|(name, pool)| nodes_of(check, name, pool)).sum()
}

/// How many nodes a pool has at least.
fn nodes_of(check: &Check<'_>, name: &str, pool: &Pool) -> u64 {
    let path = SpecPath::pool(name, &["count"]);
    let count = pool.count.filter(|_| check.is_sound(&path));
    u64::from(count.unwrap_or(1))
}

/// How many nodes the pools have at least; a pool whose count is open or wrong has one.
fn wanted_nodes(check: &Check<'_>, spec: &Spec) -> u64 {
    let pools = spec.pools.iter();
    pools.map(|(name, pool)| nodes_of(check, name, pool)).sum()
}
