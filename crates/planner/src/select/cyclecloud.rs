//! Node arrays of Azure CycleCloud: what they take.

use model::{
    catalog::{Architecture, Size},
    diag::{At, Code, Diagnostic, SpecPath},
    resource::{
        ImageReference, InstanceInterface, Known, NodeArray, Orchestration, ScaleSet, System,
    },
    spec::{Orchestrator, Pool, Priority, Scheduler, Zones},
};

use super::{Context, Findings, Trial, grouping};

/// Whether a pool is to be a node array.
pub(crate) fn is_wanted(context: Context<'_>) -> bool {
    context.pool.orchestrator == Orchestrator::CycleCloud
}

/// What gives jobs to the nodes of a pool.
pub(crate) fn scheduler(pool: &Pool) -> Scheduler {
    pool.scheduler.unwrap_or(Scheduler::Slurm)
}

/// A node array as the scale set that it is like, so that live ones keep what they are in the same
/// way.
pub(super) fn as_set(array: &NodeArray) -> ScaleSet {
    ScaleSet {
        location: array.location.clone(),
        zones: array.zones.clone(),
        size: array.size.clone(),
        capacity: array.nodes,
        orchestration: orchestration(array.coupled),
        single_placement_group: array.coupled,
        overprovision: false,
        upgrade_policy: None,
        fault_domains: 1,
        os: System::Linux,
        image: array.image.clone(),
        plan: None,
        priority: array.priority.clone(),
        capacity_reservation: None,
        proximity_placement_group: None,
        identities: array.identities.clone(),
        disk_controller: None,
        computer_name_prefix: String::new(),
        admin_user: String::new(),
        ssh_keys: Known::AfterApply,
        reports_readiness: false,
        os_disk: array.os_disk.clone(),
        data_disks: array.data_disks.clone(),
        network: InstanceInterface {
            name: String::new(),
            subnet: array.subnet.clone(),
            accelerated: true,
            public_address: array.public_address,
        },
        security: array.security.clone(),
    }
}

/// Nodes in placement groups are like instances of Uniform sets, others like those of Flexible
/// ones.
pub(super) fn orchestration(coupled: bool) -> Orchestration {
    if coupled {
        Orchestration::Uniform
    } else {
        Orchestration::Flexible
    }
}

/// Why CycleCloud does not take a size.
pub(super) fn size_misfit(trial: &Trial<'_>) -> Option<String> {
    let context = trial.context;
    let is_other = is_wanted(context) && scheduler(context.pool) != Scheduler::Slurm;
    (is_other && trial.size.architecture == Some(Architecture::Arm64))
        .then(|| "has an Arm processor, for which CycleCloud installs Slurm alone".to_owned())
}

/// What a node array cannot be.
pub(super) fn check(context: Context<'_>, size: &Size, findings: &mut Findings) {
    if !grouping::needs_fabric(context, size) {
        return;
    }
    let mut refuse = |key: &str, message: String, help: &str| {
        let at = At::Value(SpecPath::pool(context.name, &[key]));
        let finding = Diagnostic::new(Code::CycleCloudRefused, at, message);
        findings.diagnostics.push(finding.with_help(help));
    };
    if matches!(context.pool.priority, Priority::Spot(_)) {
        let message = format!(
            "`priority: spot` cannot be used with the InfiniBand size `{}`: the eviction of one node ends the job on all",
            size.name
        );
        let help = "use `priority: regular`, or a size without InfiniBand";
        refuse("priority", message, help);
    }
    if let Zones::Listed(zones) = &context.pool.zones
        && zones.len() > 1
    {
        let message = format!(
            "`zones` lists {} zones, and `{}` shares a fabric within one zone alone",
            zones.len(),
            size.name
        );
        refuse("zones", message, "list one zone, or write `zones: auto`");
    }
}

/// Refuses images on which the project of a scheduler is not installed.
pub(super) fn check_image(context: Context<'_>, image: &ImageReference, findings: &mut Findings) {
    if !is_wanted(context) || scheduler(context.pool) == Scheduler::Slurm {
        return;
    }
    let word = match scheduler(context.pool) {
        Scheduler::Slurm => "slurm",
        Scheduler::GridEngine => "gridengine",
        Scheduler::Pbs => "pbs",
    };
    if crate::cyclecloud::is_enterprise_linux(image) {
        return;
    }
    let message = format!(
        "`scheduler: {word}` cannot be used with the image `{image}`: CycleCloud's project of the scheduler installs on Enterprise Linux 8 alone"
    );
    let at = At::Value(SpecPath::pool(context.name, &["scheduler"]));
    findings.diagnostics.push(
        Diagnostic::new(Code::CycleCloudRefused, at, message).with_help(
            "use `scheduler: slurm`, or name an image of Enterprise Linux 8 as in `image: {urn: \"almalinux:almalinux-hpc:8_10-hpc-gen2:latest\"}`",
        ),
    );
}
