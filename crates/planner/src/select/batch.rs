//! Pools of Azure Batch: which images it can run, and what a pool cannot be.
//!
//! A node of a pool runs a program of Batch, the node agent, which must fit the image. Batch
//! tells which pairs there are at an address of the account's own, which plans do not ask: the
//! table below has those that its maintainers have written down.

use model::{
    catalog::{Architecture, ImageRow, Size},
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::{Answer, Question},
    resource::{
        BatchPool, ImageReference, InstanceInterface, Known, Orchestration, ScaleSet, System,
    },
    spec::{ContainerRuntime, Orchestrator, Pool, Priority},
};

use super::{Context, Findings, Trial, grouping};
use crate::sizing::estimate::MOST_WITH_INFINIBAND;

/// Tasks that a node runs at once: so many for each vCPU, and so many at most.
const SLOTS_PER_VCPU: u32 = 4;
const MOST_SLOTS: u32 = 256;

/// What is known of an image and a node agent.
struct Pair {
    publisher: &'static str,
    offer: &'static str,
    /// What the SKU begins with.
    sku: &'static str,
    agent: &'static str,
    /// Whether Batch offers the image for RDMA sizes alone.
    rdma_only: bool,
    /// Whether the pair is written down, and not taken from the image's system.
    confirmed: bool,
    /// Whether the image brings what runs containers.
    containers: bool,
}

const UBUNTU_22: &str = "batch.node.ubuntu 22.04";
const UBUNTU_24: &str = "batch.node.ubuntu 24.04";

/// Pairs as of `Azure/Batch@b4ca532b`. Ubuntu 20.04 and older, `CentOS` and all of Arm are gone or
/// were never there.
const PAIRS: &[Pair] = &[
    pair("microsoft-dsvm", "ubuntu-hpc", "2204", UBUNTU_22)
        .on_rdma()
        .with_containers(),
    pair("microsoft-dsvm", "ubuntu-hpc", "2404", UBUNTU_24)
        .on_rdma()
        .with_containers()
        .likely(),
    pair("microsoft-dsvm", "ubuntu-2204", "2204", UBUNTU_22)
        .with_containers()
        .likely(),
    pair("canonical", "ubuntu-24_04-lts", "server", UBUNTU_24),
    pair(
        "canonical",
        "0001-com-ubuntu-server-jammy",
        "22_04-lts",
        UBUNTU_22,
    ),
    pair("almalinux", "almalinux-x86_64", "9", "batch.node.el 9"),
];

const fn pair(
    publisher: &'static str,
    offer: &'static str,
    sku: &'static str,
    agent: &'static str,
) -> Pair {
    Pair {
        publisher,
        offer,
        sku,
        agent,
        rdma_only: false,
        confirmed: true,
        containers: false,
    }
}

impl Pair {
    const fn on_rdma(mut self) -> Self {
        self.rdma_only = true;
        self
    }

    const fn with_containers(mut self) -> Self {
        self.containers = true;
        self
    }

    const fn likely(mut self) -> Self {
        self.confirmed = false;
        self
    }
}

/// The images of containers that nodes pull; nothing where no containers run.
pub(crate) fn containers(pool: &Pool) -> Option<&[String]> {
    let containers = pool.containers.as_ref()?;
    (containers.runtime == ContainerRuntime::Docker).then_some(containers.images.as_slice())
}

/// Whether a pool is to be one of Batch.
pub(crate) fn is_wanted(context: Context<'_>) -> bool {
    context.pool.orchestrator == Orchestrator::Batch
}

fn find(publisher: &str, offer: &str, sku: &str) -> Option<&'static Pair> {
    PAIRS.iter().find(|pair| {
        let begins = sku
            .get(..pair.sku.len())
            .is_some_and(|beginning| beginning.eq_ignore_ascii_case(pair.sku));
        pair.publisher.eq_ignore_ascii_case(publisher)
            && pair.offer.eq_ignore_ascii_case(offer)
            && begins
    })
}

/// The node agent of an image, where it is known.
pub(crate) fn agent(image: &ImageReference) -> Option<&'static str> {
    let image = image.marketplace()?;
    let pair = find(
        image.publisher.as_str(),
        image.offer.as_str(),
        image.sku.as_str(),
    )?;
    Some(pair.agent)
}

/// The node agent that the spec names.
fn given(context: Context<'_>) -> Option<&str> {
    context.pool.batch.as_ref()?.node_agent.as_deref()
}

/// Why Batch does not run an image of the catalogue on a size; nothing where it does, or where
/// the pool is none of Batch.
pub(super) fn misfit(context: Context<'_>, row: &ImageRow, size: &Size) -> Option<String> {
    if !is_wanted(context) {
        return None;
    }
    if row.architecture == Architecture::Arm64 {
        return Some(format!("Batch runs no Arm image, which `{}` is", row.sku));
    }
    misfit_of(context, (&row.publisher, &row.offer, &row.sku), size)
}

/// The same for any image of the marketplace.
pub(super) fn misfit_of(
    context: Context<'_>,
    (publisher, offer, sku): (&str, &str, &str),
    size: &Size,
) -> Option<String> {
    if !is_wanted(context) || given(context).is_some() {
        return None;
    }
    let name = format!("{publisher}:{offer}:{sku}");
    match find(publisher, offer, sku) {
        None => Some(format!(
            "no node agent of Batch is known for {name}: `batch.node_agent` names it"
        )),
        Some(pair) if pair.rdma_only && !size.rdma => {
            Some(format!("Batch takes {name} on RDMA sizes alone"))
        }
        Some(pair) if !pair.containers && containers(context.pool).is_some() => Some(format!(
            "{name} brings nothing that runs containers, and Batch installs nothing"
        )),
        Some(_) => None,
    }
}

/// Why Batch does not run an image by its id: nobody but its maker knows what it runs.
pub(super) fn own_image(context: Context<'_>, id: &str) -> Option<String> {
    let lacks = is_wanted(context) && given(context).is_none();
    lacks.then(|| {
        format!("the node agent of Batch for `{id}` is not known: `batch.node_agent` names it")
    })
}

/// Whether the pair of an image is written down; images outside of Batch need none.
pub(super) fn is_confirmed(context: Context<'_>, row: &ImageRow) -> bool {
    let pair = || find(&row.publisher, &row.offer, &row.sku);
    !is_wanted(context) || given(context).is_some() || pair().is_some_and(|pair| pair.confirmed)
}

/// A pool as the scale set that it is like, so that live ones keep what they are in the same way.
pub(super) fn as_set(pool: &BatchPool) -> ScaleSet {
    ScaleSet {
        location: pool.location.clone(),
        zones: Vec::new(),
        size: pool.size.clone(),
        capacity: pool.nodes,
        orchestration: Orchestration::Flexible,
        single_placement_group: false,
        overprovision: false,
        upgrade_policy: None,
        fault_domains: 1,
        os: System::Linux,
        image: pool.image.clone(),
        plan: None,
        priority: pool.priority.clone(),
        capacity_reservation: None,
        proximity_placement_group: None,
        disk_controller: None,
        computer_name_prefix: String::new(),
        admin_user: String::new(),
        ssh_keys: Known::AfterApply,
        identities: pool.identities.clone(),
        reports_readiness: false,
        os_disk: pool.os_disk.clone(),
        data_disks: pool.data_disks.clone(),
        network: InstanceInterface {
            name: String::new(),
            subnet: pool.network.subnet.clone().unwrap_or_else(|| {
                // Only the pool itself is compared, never this view of it.
                model::ids::ArmId::subscription_scope("none")
            }),
            accelerated: pool.network.accelerated,
            public_address: false,
        },
        security: pool.security.clone(),
    }
}

/// Whether nodes of a pool reach each other: what the spec says, and else where several nodes
/// train together over InfiniBand. A live pool whose nodes do is not made anew because one is left.
pub(crate) fn inter_node(context: Context<'_>, size: &Size, count: u32) -> bool {
    let settings = context.pool.batch.as_ref();
    let is_fixed = settings.is_none_or(|batch| batch.autoscale.is_none());
    let is_steady = context.pool.priority == Priority::Regular;
    let may_be = is_fixed && is_steady;
    let is_kept = !context.reselect && may_be && reaches_live(context);
    let by_itself = is_kept || (may_be && count > 1 && grouping::needs_fabric(context, size));
    settings
        .and_then(|batch| batch.inter_node)
        .unwrap_or(by_itself)
}

/// Whether the nodes of the live pool reach each other.
fn reaches_live(context: Context<'_>) -> bool {
    let mut pools = grouping::ours(context.live, context.name);
    pools.any(|(_, resource)| resource.batch_pool().is_some_and(|pool| pool.inter_node))
}

/// What a pool of Batch cannot be.
pub(super) fn check(context: Context<'_>, size: &Size, count: u32, findings: &mut Findings) {
    let at = |key: &[&str]| At::Value(SpecPath::pool(context.name, key));
    if inter_node(context, size, count) && count > MOST_WITH_INFINIBAND {
        let message = format!(
            "{count} nodes that reach each other do not fit into one pool of Batch, which holds {MOST_WITH_INFINIBAND} of them at most"
        );
        let help =
            format!("use `count: {MOST_WITH_INFINIBAND}`, several pools, or `inter_node: false`");
        findings
            .diagnostics
            .push(Diagnostic::new(Code::BatchRefused, at(&["count"]), message).with_help(help));
    }
    let settings = context.pool.batch.as_ref();
    let most = size.vcpus.saturating_mul(SLOTS_PER_VCPU).min(MOST_SLOTS);
    if let Some(slots) = settings
        .and_then(|batch| batch.task_slots)
        .filter(|slots| *slots > most)
    {
        let message = format!(
            "`task_slots: {slots}` is more than `{}` has, which takes {most} tasks at once",
            size.name
        );
        findings.diagnostics.push(
            Diagnostic::new(Code::BatchRefused, at(&["batch", "task_slots"]), message)
                .with_help(format!("use at most {most}")),
        );
    }
}

/// Warns of an image whose pair nobody has written down, before a pool is made from it.
pub(super) fn warn_of_pair(context: Context<'_>, image: &ImageReference, findings: &mut Findings) {
    if !is_wanted(context) || given(context).is_some() || context.grouped.is_some() {
        return;
    }
    let Some(image) = image.marketplace() else {
        return;
    };
    let (publisher, offer, sku) = (&image.publisher, &image.offer, &image.sku);
    let pair = find(publisher.as_str(), offer.as_str(), sku.as_str());
    let Some(pair) = pair.filter(|pair| !pair.confirmed) else {
        return;
    };
    let message = format!(
        "that Batch takes {publisher}:{offer}:{sku} with `{}` is likely and not confirmed: nodes may turn out unusable",
        pair.agent
    );
    findings.diagnostics.push(
        Diagnostic::new(
            Code::BatchUnverified,
            At::Value(SpecPath::pool(context.name, &["image"])),
            message,
        )
        .with_severity(Severity::Warning)
        .with_help("`az batch pool supported-images list` shows what the account takes")
        .with_help("name the pair with `image: {urn: …}` and `batch.node_agent` once you know it"),
    );
}

/// Why Batch does not offer a size.
pub(super) fn size_misfit(trial: &Trial<'_>) -> Option<String> {
    let context = trial.context;
    if !is_wanted(context) {
        return None;
    }
    if trial.size.architecture == Some(Architecture::Arm64) {
        return Some("is an Arm size, and Batch runs no Arm image".to_owned());
    }
    let answer = context.live.facts.batch_sizes.get(context.location);
    let sizes = answer.and_then(Answer::known)?;
    let lacks = trial.grows() && !sizes.contains(&trial.size.name);
    lacks.then(|| format!("is none of the sizes of Batch in {}", context.location))
}

/// What new nodes of Batch depend on.
pub(super) fn questions(context: Context<'_>) -> Option<Question> {
    is_wanted(context).then(|| Question::BatchSizes(context.location.clone()))
}
