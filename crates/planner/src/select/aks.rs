//! Agent pools of Azure Kubernetes Service: what AKS takes, and the pool that runs the cluster's
//! own work.

use model::{
    catalog::Size,
    diag::{At, Code, Diagnostic, SpecPath},
    live::{Owner, Provisioning},
    resource::{
        AgentPool, ImageReference, InstanceInterface, InstanceOsDisk, Known, KubernetesCluster,
        Orchestration, OwnImage, ScaleSet, Security, System,
    },
    spec::{
        DiskType, EphemeralPlacement, Orchestrator, Priority, Zones,
        kubernetes::{AgentPoolSettings, GpuDriver},
    },
    units::SizeName,
};

use super::{Context, Findings, Trial, grouping, role::Role, rules};
use crate::sizing::estimate::MOST_WITH_INFINIBAND;

/// The image that nodes boot: AKS decides its version, and renews it.
pub(crate) const NODE_IMAGE: &str = "AKSUbuntu";

/// The most nodes of an agent pool.
const MOST_NODES: u32 = 1_000;

/// Fewest vCPUs of a node.
const FEWEST_VCPUS: u32 = 2;

/// The nodes of a system pool, unless the spec says otherwise.
const SYSTEM_NODES: u32 = 2;

/// Sizes of a system pool, the best first: general ones of four vCPUs.
const SYSTEM_SIZES: [&str; 6] = [
    "Standard_D4s_v5",
    "Standard_D4ds_v5",
    "Standard_D4as_v5",
    "Standard_D4s_v6",
    "Standard_D4s_v4",
    "Standard_D4s_v3",
];

/// GPUs that can be cut into instances.
const CUT: [&str; 5] = ["A100-40", "A100-80", "H100", "H100-NVL", "H200"];

/// The only AMD GPU that AKS knows.
const AMD: &str = "MI300X";

/// What is decided for an agent pool, besides what every pool has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AksChoice {
    /// The pool that runs the cluster's own work.
    pub system: SystemNodes,
    /// `Install` where AKS installs the driver of GPUs, `None` where it does not.
    pub gpu_driver: &'static str,
    /// Whether the nodes have GPUs.
    pub has_gpus: bool,
}

/// The pool that runs the cluster's own work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemNodes {
    /// The size of its nodes.
    pub size: SizeName,
    /// Number of its nodes.
    pub count: u32,
    /// Zones of its nodes.
    pub zones: Vec<String>,
}

/// Whether a pool is to be an agent pool.
pub(crate) fn is_wanted(context: Context<'_>) -> bool {
    context.pool.orchestrator == Orchestrator::Aks
}

/// The settings of a pool, or those of one that says nothing.
fn settings(context: Context<'_>) -> AgentPoolSettings {
    context.pool.aks.clone().unwrap_or_default()
}

/// An agent pool as the scale set that it is like, so that live ones keep what they are in the
/// same way.
pub(super) fn as_set(pool: &AgentPool) -> ScaleSet {
    ScaleSet {
        location: pool.location.clone(),
        zones: pool.zones.clone(),
        size: pool.size.clone(),
        capacity: pool.nodes,
        orchestration: Orchestration::Uniform,
        single_placement_group: false,
        overprovision: false,
        upgrade_policy: None,
        fault_domains: 1,
        os: System::Linux,
        image: ImageReference::Own(OwnImage {
            id: NODE_IMAGE.into(),
        }),
        plan: None,
        priority: pool.priority.clone(),
        capacity_reservation: None,
        proximity_placement_group: None,
        identities: std::collections::BTreeSet::new(),
        disk_controller: None,
        computer_name_prefix: String::new(),
        admin_user: String::new(),
        ssh_keys: Known::AfterApply,
        reports_readiness: false,
        os_disk: InstanceOsDisk {
            size_gb: pool.os_disk_gb,
            disk_type: DiskType::Premium,
            ephemeral: pool
                .os_disk_ephemeral
                .then_some(EphemeralPlacement::CacheDisk),
        },
        data_disks: std::collections::BTreeMap::new(),
        network: InstanceInterface {
            name: String::new(),
            subnet: pool.subnet.clone().unwrap_or_else(|| {
                // Only the pool itself is compared, never this view of it.
                model::ids::ArmId::subscription_scope("none")
            }),
            accelerated: true,
            public_address: false,
        },
        security: Security::Standard,
    }
}

/// What an agent pool of a size gets; nothing where the pool is none, or no cluster can be.
pub(super) fn choose(
    context: Context<'_>,
    size: &Size,
    findings: &mut Findings,
) -> Option<AksChoice> {
    if !is_wanted(context) {
        return None;
    }
    Some(AksChoice {
        system: system(context, findings)?,
        gpu_driver: driver(context, size),
        has_gpus: size.gpu.is_some(),
    })
}

/// Who installs the driver of GPUs, in AKS's word. Where there are no GPUs nobody has to.
fn driver(context: Context<'_>, size: &Size) -> &'static str {
    let is_amd = size.gpu.as_ref().is_some_and(|gpu| gpu.model == AMD);
    match settings(context).gpu_driver {
        GpuDriver::None => "None",
        GpuDriver::Auto if is_amd => "None",
        GpuDriver::Auto | GpuDriver::Install | GpuDriver::Managed => "Install",
    }
}

/// Why AKS does not take a size.
pub(super) fn size_misfit(trial: &Trial<'_>) -> Option<String> {
    if !is_wanted(trial.context) {
        return None;
    }
    let size = trial.size;
    let gpu = size
        .gpu
        .as_ref()
        .and_then(|gpu| trial.context.catalog.gpu(&gpu.model));
    if let Some(gpu) = gpu.filter(|gpu| gpu.vendor == "AMD" && gpu.name != AMD) {
        return Some(format!("has {} GPUs, which AKS does not support", gpu.name));
    }
    (size.vcpus < FEWEST_VCPUS).then(|| {
        format!(
            "has {} vCPU, and AKS takes {FEWEST_VCPUS} or more",
            size.vcpus
        )
    })
}

/// What an agent pool cannot be.
pub(super) fn check(context: Context<'_>, size: &Size, count: u32, findings: &mut Findings) {
    let fabric = grouping::needs_fabric(context, size);
    let mut refuse = |key: &[&str], message: String, help: &str| {
        let at = At::Value(SpecPath::pool(context.name, key));
        findings
            .diagnostics
            .push(Diagnostic::new(Code::AksRefused, at, message).with_help(help));
    };
    if count > MOST_NODES {
        let message =
            format!("an agent pool has at most {MOST_NODES} nodes, the spec asks for {count}");
        refuse(&["count"], message, "use several pools");
    } else if fabric && count > MOST_WITH_INFINIBAND {
        let message = format!(
            "{count} InfiniBand nodes do not fit into one placement group, which holds {MOST_WITH_INFINIBAND} at most"
        );
        let help = "use several pools, each with a fabric of its own";
        refuse(&["count"], message, help);
    }
    if fabric && matches!(context.pool.priority, Priority::Spot(_)) {
        let message = format!(
            "`priority: spot` cannot be used with the InfiniBand size `{}`: the eviction of one node ends the job on all",
            size.name
        );
        let help = "use `priority: regular`, or a size without InfiniBand";
        refuse(&["priority"], message, help);
    }
    if let Zones::Listed(zones) = &context.pool.zones
        && fabric
        && zones.len() > 1
    {
        let message = format!(
            "`zones` lists {} zones, and `{}` shares a fabric within one zone alone",
            zones.len(),
            size.name
        );
        refuse(&["zones"], message, "list one zone, or write `zones: auto`");
    }
    let settings = settings(context);
    let gpu = size.gpu.as_ref().map_or("none", |gpu| gpu.model.as_str());
    if let Some(mig) = settings.mig.filter(|_| !CUT.contains(&gpu)) {
        let message = format!(
            "`mig: {}` cannot be used with `{}`: its GPUs ({gpu}) are never cut into instances",
            mig.word(),
            size.name
        );
        let help = "remove `mig`, or use a size with A100, H100 or H200";
        refuse(&["aks", "mig"], message, help);
    }
    if gpu == AMD && settings.gpu_driver == GpuDriver::Install {
        let message = format!(
            "`gpu_driver: install` cannot be used with `{}`: AKS installs no driver for {AMD}",
            size.name
        );
        let help = "use `gpu_driver: none` with AMD's GPU operator";
        refuse(&["aks", "gpu_driver"], message, help);
    }
}

/// Says, before a pool is made, what its fabric depends on.
pub(super) fn warn_of_feature(
    context: Context<'_>,
    size: &Size,
    new_nodes: u32,
    findings: &mut Findings,
) {
    let is_new = is_wanted(context) && context.grouped.is_none() && new_nodes > 0;
    if !is_new || !grouping::needs_fabric(context, size) {
        return;
    }
    let message = "nodes share a fabric only if `AKSInfinibandSupport` was registered before the pool is made, which was not checked";
    let at = At::Value(SpecPath::pool(context.name, &[]));
    findings.diagnostics.push(
        Diagnostic::new(Code::AksFeatureUnchecked, at, message.to_owned()).with_help(
            "`az feature show --namespace Microsoft.ContainerService --name AKSInfinibandSupport` shows it, `az feature register` registers it",
        ),
    );
}

/// The system pool of the stack's cluster: what is live stays, then the spec, then the first
/// size that the region offers, over all its zones.
fn system(context: Context<'_>, findings: &mut Findings) -> Option<SystemNodes> {
    let asked = context.spec.aks.clone().unwrap_or_default();
    let count = asked.system_count.unwrap_or(SYSTEM_NODES);
    if let Some(cluster) = live_cluster(context) {
        let system = &cluster.system;
        return Some(SystemNodes {
            size: asked.system_size.unwrap_or_else(|| system.size.clone()),
            count,
            zones: system.zones.clone(),
        });
    }
    let offered = |name: &SizeName| {
        let catalog = context.catalog;
        catalog
            .size(name)
            .filter(|size| open_zones(context, size).is_some())
    };
    let named = asked.system_size.as_ref();
    let size = match named {
        Some(name) => offered(name),
        None => SYSTEM_SIZES
            .iter()
            .find_map(|name| offered(&SizeName::from(*name))),
    };
    let Some(size) = size else {
        let (at, message) = match named {
            Some(name) => (
                At::Value(SpecPath::of(&["aks", "system", "size"])),
                format!("`{name}` is not offered in {}", context.location),
            ),
            None => (
                At::Value(SpecPath::pool(context.name, &["orchestrator"])),
                format!(
                    "none of the usual sizes of a system pool is offered in {}",
                    context.location
                ),
            ),
        };
        let help = "name a size with `aks: {system: {size: …}}`; `tensorform sizes --location` shows what a region offers";
        findings
            .diagnostics
            .push(Diagnostic::new(Code::AksRefused, at, message).with_help(help));
        return None;
    };
    Some(SystemNodes {
        size: size.name.clone(),
        count,
        zones: open_zones(context, size).unwrap_or_default(),
    })
}

/// The zones in which a size can be had; nothing where the region does not offer it.
fn open_zones(context: Context<'_>, size: &Size) -> Option<Vec<String>> {
    let trial = Trial {
        context,
        role: Role::InferenceCpu,
        size,
        count: Some(SYSTEM_NODES),
        new_nodes: SYSTEM_NODES,
    };
    let is_closed = |rule: &rules::Rule| (rule.rejects)(&trial).is_some();
    if rules::OFFER.iter().any(is_closed) {
        return None;
    }
    Some(rules::open_zones(&trial).into_iter().flatten().collect())
}

/// The live cluster of the stack.
fn live_cluster(context: Context<'_>) -> Option<&KubernetesCluster> {
    let mut ours = context.live.resources.iter().filter(|resource| {
        matches!(resource.owner, Owner::Stack(_))
            && resource.state.provisioning != Provisioning::Deleting
    });
    ours.find_map(|resource| resource.resource.as_ref()?.kubernetes_cluster())
}
