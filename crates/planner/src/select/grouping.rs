//! Single VMs or one scale set, and what a scale set cannot be.
//!
//! InfiniBand connects the nodes of one placement group, which is a Uniform set; other sets are
//! Flexible. A live pool keeps its grouping: machines cannot move into a set or out of one.

use std::borrow::Cow;

use model::{
    catalog::Size,
    diag::{At, Code, Diagnostic, SpecPath},
    live::{Live, LiveResource, Owner, Provisioning},
    resource::{NetworkInterface, Orchestration, OsDisk, Resource, ScaleSet, VirtualMachine},
    spec::{Grouping, Identity, OperatingSystem, Priority, SizeChoice, Stage, Zones},
};

use super::{Context, Findings, aks, batch};
use crate::sizing::estimate::MOST_WITH_INFINIBAND;

/// More nodes than this at first creation are better one scale set: one write instead of many.
const MOST_SINGLE_VMS_BY_DEFAULT: u32 = 10;

/// The most instances of a set that spans placement groups.
pub(crate) const MOST_OF_A_SET: u32 = 1_000;

/// What the nodes of a pool are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// VMs of their own.
    SingleVms,
    /// Instances of one scale set.
    ScaleSet(Orchestration),
    /// Nodes of a pool of Azure Batch.
    BatchPool,
    /// Nodes of an agent pool of Azure Kubernetes Service.
    AgentPool,
}

impl Placement {
    /// The word in plans.
    pub(crate) fn grouping(self) -> &'static str {
        match self {
            Self::SingleVms => "vms",
            Self::ScaleSet(_) => "scale_set",
            Self::BatchPool => "batch_pool",
            Self::AgentPool => "agent_pool",
        }
    }

    /// The word in plans for what keeps nodes together.
    pub(crate) fn placement(self) -> &'static str {
        match self {
            Self::ScaleSet(Orchestration::Uniform) => "single_placement_group",
            Self::ScaleSet(Orchestration::Flexible)
            | Self::SingleVms
            | Self::BatchPool
            | Self::AgentPool => "none",
        }
    }
}

/// What is live of a pool: a set, or single VMs; nothing where neither is.
pub(crate) fn live(live: &Live, pool: &str) -> Option<Placement> {
    let mut ours = ours(live, pool).peekable();
    let (_, first) = ours.peek()?;
    if first.batch_pool().is_some() {
        return Some(Placement::BatchPool);
    }
    if first.agent_pool().is_some() {
        return Some(Placement::AgentPool);
    }
    let set = ours.find_map(|(_, resource)| Some(resource.scale_set()?.orchestration));
    Some(set.map_or(Placement::SingleVms, Placement::ScaleSet))
}

pub(super) fn ours<'a>(
    live: &'a Live,
    pool: &str,
) -> impl Iterator<Item = (&'a LiveResource, &'a Resource)> {
    let there = live
        .resources
        .iter()
        .filter(|resource| resource.state.provisioning != Provisioning::Deleting);
    there.filter_map(move |resource| {
        let Owner::Stack(address) = &resource.owner else {
            return None;
        };
        if address.pool_name() != Some(pool) {
            return None;
        }
        let properties = resource.resource.as_ref()?;
        properties.machines()?;
        Some((resource, properties))
    })
}

/// The live set of a pool, and a machine as its profile makes them. A pool of Batch counts as the
/// set that it is like.
pub(super) fn live_set<'a>(
    live: &'a Live,
    pool: &str,
) -> Option<(&'a LiveResource, Cow<'a, ScaleSet>, Vec<VirtualMachine>)> {
    let of = |resource: &'a Resource| {
        let set = resource.scale_set().map(Cow::Borrowed);
        set.or_else(|| {
            resource
                .batch_pool()
                .map(|pool| Cow::Owned(batch::as_set(pool)))
        })
        .or_else(|| {
            resource
                .agent_pool()
                .map(|pool| Cow::Owned(aks::as_set(pool)))
        })
    };
    let (resource, set) =
        ours(live, pool).find_map(|(live, resource)| Some((live, of(resource)?)))?;
    let machines: Vec<VirtualMachine> = (0..set.zones.len().max(1))
        .map(|at| machine(&set, at))
        .collect();
    Some((resource, set, machines))
}

/// A machine of a set, as if it were a VM of its own.
fn machine(set: &ScaleSet, at: usize) -> VirtualMachine {
    VirtualMachine {
        location: set.location.clone(),
        zones: set.zones.get(at).cloned().into_iter().collect(),
        size: set.size.clone(),
        os: set.os,
        image: set.image.clone(),
        plan: set.plan.clone(),
        priority: set.priority.clone(),
        capacity_reservation: set.capacity_reservation.clone(),
        proximity_placement_group: set.proximity_placement_group.clone(),
        computer_name: set.computer_name_prefix.clone(),
        admin_user: set.admin_user.clone(),
        ssh_keys: set.ssh_keys.clone(),
        password: None,
        os_disk: OsDisk {
            name: String::new(),
            size_gb: set.os_disk.size_gb,
            disk_type: set.os_disk.disk_type,
            delete_with_vm: true,
            ephemeral: set.os_disk.ephemeral,
        },
        disk_controller: set.disk_controller,
        data_disks: std::collections::BTreeMap::new(),
        network: NetworkInterface {
            name: set.network.name.clone(),
            subnet: Some(set.network.subnet.clone()),
            accelerated: Some(set.network.accelerated),
            delete_with_vm: true,
            public_address: set.network.public_address,
        },
        security: set.security.clone(),
        identities: set.identities.clone(),
        reports_readiness: set.reports_readiness,
    }
}

/// Whether nodes of a size talk to each other over InfiniBand.
pub(super) fn needs_fabric(context: Context<'_>, size: &Size) -> bool {
    let asked =
        matches!(&context.pool.size, SizeChoice::Constrained(asked) if asked.rdma == Some(true));
    size.rdma && (context.pool.stage == Stage::Training || asked)
}

/// What so many nodes of a size are.
pub(super) fn of(context: Context<'_>, size: &Size, count: u32) -> Placement {
    if let Some(live) = context.grouped {
        return live;
    }
    if batch::is_wanted(context) {
        return Placement::BatchPool;
    }
    if aks::is_wanted(context) {
        return Placement::AgentPool;
    }
    let fabric = needs_fabric(context, size);
    let set = if fabric {
        Placement::ScaleSet(Orchestration::Uniform)
    } else {
        Placement::ScaleSet(Orchestration::Flexible)
    };
    let is_large = fabric && count > 1 || count > MOST_SINGLE_VMS_BY_DEFAULT;
    let is_set = match context.pool.grouping {
        Grouping::Vms => false,
        Grouping::ScaleSet => true,
        Grouping::Auto => is_large,
    };
    // Nothing is made of a pool of no nodes.
    if is_set && count > 0 {
        set
    } else {
        Placement::SingleVms
    }
}

/// Whether nodes of a size would be loose and could not reach each other.
pub(super) fn is_torn(context: Context<'_>, size: &Size, count: u32) -> bool {
    count > 1 && needs_fabric(context, size) && of(context, size, count) == Placement::SingleVms
}

/// Checks the grouping of a pool; `false` where Azure would refuse it.
pub(super) fn check(
    context: Context<'_>,
    size: &Size,
    count: u32,
    findings: &mut Findings,
) -> bool {
    let before = findings.diagnostics.iter().count();
    check_kept(context, findings);
    let placement = of(context, size, count);
    if placement == Placement::BatchPool {
        batch::check(context, size, count, findings);
    }
    if placement == Placement::AgentPool {
        aks::check(context, size, count, findings);
    }
    check_rollout(context, placement, findings);
    if let Placement::ScaleSet(orchestration) = placement {
        let set = Set {
            context,
            size,
            count,
            infiniband: orchestration == Orchestration::Uniform && needs_fabric(context, size),
        };
        set.check_system(findings);
        match orchestration {
            Orchestration::Uniform => set.check_uniform(findings),
            Orchestration::Flexible => set.check_flexible(findings),
        }
    }
    findings.diagnostics.iter().count() == before
}

/// Only instances of Uniform sets are brought up to date where they are.
fn check_rollout(context: Context<'_>, placement: Placement, findings: &mut Findings) {
    let is = match placement {
        Placement::ScaleSet(Orchestration::Uniform) => return,
        Placement::ScaleSet(Orchestration::Flexible) => "a Flexible scale set",
        Placement::SingleVms => "single VMs",
        Placement::BatchPool => "a pool of Batch",
        Placement::AgentPool => "an agent pool",
    };
    if context.pool.rollout.is_none() {
        return;
    }
    let message = format!("`rollout` is for InfiniBand scale sets, and the pool is {is}");
    let finding = Diagnostic::new(Code::ScaleSetRefused, at(context, "rollout"), message);
    findings
        .diagnostics
        .push(finding.with_help("remove `rollout`: `--replace` with an address makes a node anew"));
}

fn check_kept(context: Context<'_>, findings: &mut Findings) {
    let of_live = |placement: Placement| match placement {
        Placement::BatchPool => Some("batch"),
        Placement::AgentPool => Some("aks"),
        Placement::ScaleSet(_) | Placement::SingleVms => None,
    };
    let asked = if batch::is_wanted(context) {
        Some("batch")
    } else {
        aks::is_wanted(context).then_some("aks")
    };
    if let Some(live) = context.grouped
        && of_live(live) != asked
    {
        let is = match live {
            Placement::BatchPool => "a pool of Batch",
            Placement::AgentPool => "an agent pool",
            Placement::ScaleSet(_) => "a scale set",
            Placement::SingleVms => "single VMs",
        };
        let asked = asked.filter(|_| of_live(live).is_none()).map_or_else(
            || "has another `orchestrator`".to_owned(),
            |asked| format!("has `orchestrator: {asked}`"),
        );
        let message = format!("the pool is live as {is}, the spec {asked}");
        let finding = Diagnostic::new(Code::GroupingFixed, at(context, "orchestrator"), message);
        findings.diagnostics.push(finding.with_help(
            "put `orchestrator` back, or make a new pool beside the old one and remove the old one",
        ));
        return;
    }
    let (is, asked) = match (context.grouped, context.pool.grouping) {
        (Some(Placement::ScaleSet(_)), Grouping::Vms) => ("a scale set", "vms"),
        (Some(Placement::SingleVms), Grouping::ScaleSet) => ("single VMs", "scale_set"),
        _ => return,
    };
    let message = format!("the pool is live as {is}, the spec has `grouping: {asked}`");
    let finding = Diagnostic::new(Code::GroupingFixed, at(context, "grouping"), message);
    findings.diagnostics.push(finding.with_help(
        "use `grouping: auto`, or make a new pool beside the old one and remove the old one",
    ));
}

fn at(context: Context<'_>, key: &str) -> At {
    At::Value(SpecPath::pool(context.name, &[key]))
}

/// A set that is to be.
struct Set<'a> {
    context: Context<'a>,
    size: &'a Size,
    count: u32,
    infiniband: bool,
}

impl Set<'_> {
    fn refuse(&self, key: &str, message: String, help: &str, findings: &mut Findings) {
        let finding = Diagnostic::new(Code::ScaleSetRefused, at(self.context, key), message);
        findings.diagnostics.push(finding.with_help(help));
    }

    /// What makes the set one placement group, as the spec says it.
    fn because(&self) -> String {
        match self.context.pool.grouping {
            Grouping::ScaleSet => format!(
                "`grouping: scale_set` with the InfiniBand size `{}`",
                self.size.name
            ),
            Grouping::Auto | Grouping::Vms => {
                format!(
                    "`count: {}` of the InfiniBand size `{}`",
                    self.count, self.size.name
                )
            }
        }
    }

    fn check_system(&self, findings: &mut Findings) {
        if self.context.pool.os == OperatingSystem::Linux {
            return;
        }
        let nodes = self.count;
        let message = format!(
            "`os: windows` is not supported yet in scale sets, which {nodes} nodes are to be"
        );
        let help = if nodes > 1 && needs_fabric(self.context, self.size) {
            "use `os: linux`, or a size without InfiniBand"
        } else {
            "use `os: linux`, or `grouping: vms`"
        };
        self.refuse("os", message, help, findings);
    }

    fn check_uniform(&self, findings: &mut Findings) {
        let pool = self.context.pool;
        if self.count > MOST_WITH_INFINIBAND {
            let nodes = if self.infiniband {
                "InfiniBand nodes"
            } else {
                "nodes"
            };
            let message = format!(
                "{} {nodes} do not fit into one placement group, which holds {MOST_WITH_INFINIBAND} at most",
                self.count
            );
            let help = format!(
                "use `count: {MOST_WITH_INFINIBAND}`, or several pools of at most {MOST_WITH_INFINIBAND} nodes, each with a fabric of its own"
            );
            self.refuse("count", message, &help, findings);
        }
        if matches!(pool.priority, Priority::Spot(_)) {
            let message = format!(
                "`priority: spot` cannot be used with {}: the eviction of one node ends the job on all",
                self.because()
            );
            self.refuse(
                "priority",
                message,
                "use `priority: regular`, or a size without InfiniBand",
                findings,
            );
        }
        if pool.capacity_reservation.is_some() {
            let message = format!(
                "`capacity_reservation` cannot be used with {}: reservations exclude a single placement group",
                self.because()
            );
            self.refuse(
                "capacity_reservation",
                message,
                "remove `capacity_reservation`, or use a size without InfiniBand",
                findings,
            );
        }
        if let Zones::Listed(zones) = &pool.zones
            && zones.len() > 1
            && pool.grouping == Grouping::ScaleSet
        {
            let message = format!(
                "`zones` lists {} zones, and {} is in one: a fabric does not span zones",
                zones.len(),
                self.because()
            );
            self.refuse(
                "zones",
                message,
                "list one zone, or write `zones: auto`",
                findings,
            );
        }
    }

    fn check_flexible(&self, findings: &mut Findings) {
        if self.count > MOST_OF_A_SET {
            let message = format!(
                "{} nodes do not fit into one scale set, which holds {MOST_OF_A_SET} at most",
                self.count
            );
            self.refuse("count", message, "use several pools", findings);
        }
        if self.context.spec.identity == Identity::System {
            let why = match self.context.pool.grouping {
                Grouping::ScaleSet => "`grouping: scale_set`".to_owned(),
                Grouping::Auto | Grouping::Vms => format!("`count: {}`", self.count),
            };
            let message = format!(
                "`identity: system` cannot be used with {why}: Flexible scale sets give their nodes no identity of their own"
            );
            let finding = Diagnostic::new(
                Code::ScaleSetRefused,
                At::Value(SpecPath::of(&["identity"])),
                message,
            );
            findings.diagnostics.push(
                finding.with_help(
                    "use a user-assigned identity or `identity: none`, or `grouping: vms`",
                ),
            );
        }
    }
}
