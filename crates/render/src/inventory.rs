//! Inventories in the forms that other tools read. What is left out stands there as a comment.

use std::fmt::Write as _;

use model::{
    diag::DiagnosticDocument,
    ids::ArmId,
    inventory::{Inventory, InventoryNode, LeftOut, Way},
};
use serde_json::json;

use crate::{
    failure,
    slurm::{self, Hardware},
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The first local port of tunnels through a Bastion host: one for each node, so that several
/// are open at once.
const FIRST_PORT: usize = 50_000;

/// Local ports that tunnels share where there are more nodes.
const PORTS: usize = 15_000;

/// As one JSON document.
pub fn json(inventory: &Inventory, diagnostics: &[DiagnosticDocument]) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "inventory": inventory,
        "diagnostics": diagnostics,
    }))
}

/// As a configuration of OpenSSH.
pub fn ssh(inventory: &Inventory) -> String {
    let mut text = head(inventory);
    for (at, node) in inventory.nodes.iter().enumerate() {
        let names = if node.name == node.host_name {
            node.name.clone()
        } else {
            format!("{} {}", node.name, node.host_name)
        };
        let _ = write!(text, "\nHost {names}\n  User {}\n", inventory.user);
        if let Some(file) = &inventory.key_file {
            let _ = write!(text, "  IdentityFile \"{file}\"\n  IdentitiesOnly yes\n");
        }
        if let Some(address) = reached_at(inventory, node) {
            let _ = writeln!(text, "  HostName {address}");
        }
        if let Some(command) = proxy(inventory, node, at) {
            let _ = writeln!(text, "  ProxyCommand {command}");
        }
    }
    text.push_str(&tail(inventory));
    text
}

/// As an inventory of Ansible, in YAML: a group for each pool.
pub fn ansible(inventory: &Inventory) -> String {
    let mut text = head(inventory);
    let _ = write!(
        text,
        "all:\n  vars:\n    ansible_user: {}\n",
        quoted(&inventory.user)
    );
    if let Some(file) = &inventory.key_file {
        let _ = writeln!(text, "    ansible_ssh_private_key_file: {}", quoted(file));
    }
    text.push_str(if inventory.nodes.is_empty() {
        "  children: {}\n"
    } else {
        "  children:\n"
    });
    let mut pool = None;
    for (at, node) in inventory.nodes.iter().enumerate() {
        if pool != Some(&node.pool) {
            pool = Some(&node.pool);
            // Names of groups are names of variables too.
            let group = node.pool.replace('-', "_");
            let _ = write!(text, "    {group}:\n      hosts:\n");
        }
        let _ = writeln!(text, "        {}:", node.name);
        if let Some(address) = reached_at(inventory, node) {
            let _ = writeln!(text, "          ansible_host: {}", quoted(&address));
        }
        if let Some(command) = proxy(inventory, node, at) {
            let arguments = format!("-o ProxyCommand=\"{command}\"");
            let _ = writeln!(
                text,
                "          ansible_ssh_common_args: {}",
                quoted(&arguments)
            );
        }
        let size = quoted(node.size.as_str());
        let _ = writeln!(text, "          tensorform_size: {size}");
        if let Some(gpus) = node.gpus {
            let _ = writeln!(text, "          tensorform_gpus: {gpus}");
        }
    }
    text.push_str(&tail(inventory));
    text
}

/// As a hostfile of MPI: a slot for each GPU, or for each virtual CPU where there is none. The
/// nodes talk to each other inside the network, whichever way people get in.
pub fn hostfile(inventory: &Inventory) -> String {
    let mut text = head(inventory);
    for node in &inventory.nodes {
        let Some(address) = node.private_ip else {
            continue;
        };
        let slots = node.gpus.filter(|gpus| *gpus > 0).or(match node.gpus {
            Some(0) => node.vcpus,
            Some(_) | None => None,
        });
        let slots = slots.map_or_else(String::new, |slots| format!(" slots={slots}"));
        let _ = writeln!(text, "{address}{slots}");
    }
    text.push_str(&tail(inventory));
    text
}

/// As lines for `slurm.conf`: a node a line, and a partition for each pool.
pub fn slurm(inventory: &Inventory) -> String {
    let mut text = head(inventory);
    if inventory.nodes.iter().any(|node| hardware(node).has_gpus()) {
        text.push_str(
            "# gres.conf takes one line: AutoDetect=nvml, or AutoDetect=rsmi on AMD\nGresTypes=gpu\n",
        );
    }
    for node in &inventory.nodes {
        let address = node.private_ip;
        let address = address.map_or_else(String::new, |address| format!(" NodeAddr={address}"));
        text.push_str(&slurm::node(
            &node.host_name,
            &address,
            hardware(node),
            "UNKNOWN",
        ));
    }
    let mut pools: Vec<&str> = inventory
        .nodes
        .iter()
        .map(|node| node.pool.as_str())
        .collect();
    pools.dedup();
    for (at, pool) in pools.into_iter().enumerate() {
        let of_pool = inventory.nodes.iter().filter(|node| node.pool == pool);
        let names: Vec<&str> = of_pool.map(|node| node.host_name.as_str()).collect();
        text.push_str(&slurm::partition(pool, &names.join(","), at == 0));
    }
    text.push_str(&tail(inventory));
    text
}

fn hardware(node: &InventoryNode) -> Hardware {
    Hardware {
        vcpus: node.vcpus,
        memory_mib: node.memory_mib,
        gpus: node.gpus,
    }
}

fn head(inventory: &Inventory) -> String {
    let count = inventory.nodes.len();
    let way = match &inventory.way {
        Way::Private => "from inside the network".to_owned(),
        Way::PublicIp => "at public addresses".to_owned(),
        Way::Bastion { host } => format!("through the Bastion host {}", host.name()),
    };
    let nodes = crate::words::counted(count, "node", "nodes");
    format!("# {}: {nodes}, reached {way}\n", inventory.stack)
}

fn tail(inventory: &Inventory) -> String {
    let line = |LeftOut { name, pool, reason }: &LeftOut| {
        format!("# left out: {name} of {pool}: {reason}\n")
    };
    inventory.left_out.iter().map(line).collect()
}

/// The address that a client connects to. Through a Bastion host it is the name alone that counts.
fn reached_at(inventory: &Inventory, node: &InventoryNode) -> Option<String> {
    let address = match inventory.way {
        Way::PublicIp => node.public_ip,
        Way::Private | Way::Bastion { .. } => node.private_ip,
    };
    address.map(|address| address.to_string())
}

/// The command that connects to a node through a Bastion host: the Azure CLI opens a tunnel at a
/// local port, which takes a moment.
fn proxy(inventory: &Inventory, node: &InventoryNode, at: usize) -> Option<String> {
    let Way::Bastion { host } = &inventory.way else {
        return None;
    };
    let port = FIRST_PORT + at % PORTS;
    let subscription = subscription(host);
    let group = host.group().unwrap_or_default();
    let tunnel = format!(
        "az network bastion tunnel{subscription} --resource-group {group} --name {} --target-resource-id {} --resource-port 22 --port {port}",
        host.name(),
        node.id,
    );
    Some(format!(
        "sh -c '{tunnel} >/dev/null & t=$!; trap kill\\ $t EXIT; until nc -z 127.0.0.1 {port} 2>/dev/null; do kill -0 $t || exit 1; sleep 1; done; nc 127.0.0.1 {port}'"
    ))
}

fn subscription(host: &ArmId) -> String {
    let named = host.subscription();
    named.map_or_else(String::new, |id| format!(" --subscription {id}"))
}

/// A text as YAML, which takes every string of JSON.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}
