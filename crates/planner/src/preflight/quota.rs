//! What must hold before anything is written: the quota of all pools together.
//!
//! Restrictions and images are checked where they are chosen. What could not be read is
//! unknown, which is a warning and never a pass.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Catalog,
    diag::{At, Code, Diagnostic, Diagnostics, SpecPath},
    live::{Answer, Live, Mode, Question, UsageFact},
    plan::{Action, Operation, Plan, QuotaLine, Scope, Step},
    resource::{Resource, ResourceKind, VmPriority},
    units::{Region, SizeName},
};

use super::batch;
use crate::select::{Findings, Weights};

/// Azure's counters that a Standard public address counts for. Which of them a region has depends
/// on its age; the second one is in every answer that was recorded.
const ADDRESSES: [&str; 3] = [
    "PublicIPAddresses",
    "StandardSkuPublicIpAddresses",
    "IPv4StandardSkuPublicIpAddresses",
];
/// The one of them that is named where none could be read.
const STANDARD_ADDRESSES: &str = "StandardSkuPublicIpAddresses";
/// Azure's counter of all vCPUs of a region.
const REGIONAL_VCPUS: &str = "cores";
/// Azure's counter of spot vCPUs of a region, for all families together.
const SPOT_VCPUS: &str = "lowPriorityCores";
/// Azure's counter of VMs of a region.
const MACHINES: &str = "virtualMachines";
/// Azure's counter of scale sets of a region.
const SCALE_SETS: &str = "virtualMachineScaleSets";

/// What the steps add to each counter.
#[derive(Default)]
struct Demand {
    compute: BTreeMap<String, (i64, Option<String>)>,
    network: BTreeMap<String, i64>,
    unknown: Vec<String>,
}

/// The quota lines of a plan, with a finding for each counter that does not suffice.
pub(crate) fn quota(
    steps: &[Step],
    catalog: &Catalog,
    live: &Live,
    mode: Mode,
    location: &Region,
) -> (Vec<QuotaLine>, Findings) {
    let weights = Weights::of(catalog, live, location);
    let mut demand = demand(steps, weights);
    demand.compute.retain(|_, (needed, _)| *needed > 0);
    demand.network.retain(|_, needed| *needed > 0);
    let (mut all, mut findings) = lines(demand, live, mode, location);
    let (of_batch, found) = batch::quota(steps, weights, live, mode, location, false);
    all.extend(of_batch);
    findings.extend(found);
    (all, findings)
}

/// The first counter that does not suffice, in words.
pub(crate) fn lacking(lines: &[QuotaLine]) -> Option<String> {
    let line = lines.iter().find(|line| line.ok == Some(false))?;
    let (limit, used) = (line.limit?, line.used?);
    Some(format!(
        "quota `{}` in {}: limit {limit}, used {used}, needed {}, short by {}",
        line.name,
        line.location,
        line.needed,
        used.saturating_add(line.needed).saturating_sub(limit)
    ))
}

/// Quota before and after a plan.
#[derive(Clone, Debug)]
pub struct QuotaReport {
    /// A line for each counter.
    pub lines: Vec<QuotaLine>,
    /// A finding for each that does not suffice or could not be read.
    pub diagnostics: Diagnostics,
    /// What must be known first: answer, and ask again.
    pub questions: BTreeSet<Question>,
}

/// The quota of everything that a plan has or makes, also where it adds nothing.
pub fn report(plan: &Plan, catalog: &Catalog, live: &Live) -> QuotaReport {
    let weights = Weights::of(catalog, live, &plan.scope.location);
    let mut demand = demand(&plan.steps, weights);
    for step in &plan.steps {
        let pool = step.address.pool_name();
        if let Some(after) = &step.after {
            if after.public_addresses() > 0 {
                demand.addresses(0);
            }
            demand.machines(after, weights, 0, pool);
        }
    }
    let Scope { mode, location, .. } = &plan.scope;
    let (mut lines, mut findings) = lines(demand, live, *mode, location);
    let (of_batch, found) = batch::quota(&plan.steps, weights, live, *mode, location, true);
    lines.extend(of_batch);
    findings.extend(found);
    QuotaReport {
        lines,
        diagnostics: findings.diagnostics,
        questions: findings.questions,
    }
}

fn lines(demand: Demand, live: &Live, mode: Mode, location: &Region) -> (Vec<QuotaLine>, Findings) {
    let mut findings = Findings::default();
    let mut lines = Vec::new();
    if !demand.compute.is_empty() {
        let needed: BTreeMap<&str, (i64, Option<&str>)> = demand
            .compute
            .iter()
            .map(|(name, (needed, pool))| (name.as_str(), (*needed, pool.as_deref())))
            .collect();
        let counters = live.facts.compute_quota.get(location);
        check(
            &needed,
            counters,
            &Question::ComputeQuota(location.clone()),
            mode,
            location,
            &mut lines,
            &mut findings,
        );
    }
    if !demand.network.is_empty() {
        let counters = live.facts.network_quota.get(location);
        let known = counters.and_then(Answer::known);
        let has = |name: &str| {
            let mut counters = known.into_iter().flatten();
            counters.any(|counter| counter.name.eq_ignore_ascii_case(name))
        };
        let has_any = ADDRESSES.iter().any(|name| has(name));
        let needed = demand
            .network
            .iter()
            .map(|(name, needed)| (name.as_str(), (*needed, None)))
            .filter(|(name, _)| has(name) || !has_any && *name == STANDARD_ADDRESSES)
            .collect();
        check(
            &needed,
            counters,
            &Question::NetworkQuota(location.clone()),
            mode,
            location,
            &mut lines,
            &mut findings,
        );
    }
    for size in demand.unknown {
        let message = format!("the catalogue does not know `{size}`, so its quota is not checked");
        findings
            .diagnostics
            .push(Diagnostic::new(Code::QuotaUnknown, At::Nowhere, message));
    }
    (lines, findings)
}

fn demand(steps: &[Step], weights: Weights<'_>) -> Demand {
    let mut demand = Demand::default();
    for step in steps {
        let pool = step.address.pool_name();
        demand.for_a_while(step, weights, pool);
        match step.action {
            Action::Create => {
                if let Some(after) = &step.after {
                    demand.more_addresses(i64::from(after.public_addresses()));
                    demand.machines(after, weights, 1, pool);
                }
            }
            // Another size is paid from the quota of its own family, and gives back the old one's.
            Action::Update | Action::RestartUpdate | Action::StopUpdate | Action::Replace => {
                if let (Some(before), Some(after)) = (&step.before, &step.after) {
                    let count = |of: &Resource| i64::from(of.public_addresses());
                    demand.more_addresses(count(after) - count(before));
                }
                if let (Some(before), Some(after)) = (&step.before, &step.after)
                    && (before.machines() != after.machines()
                        || before.capacity_reservation() != after.capacity_reservation())
                    && demand.vcpus(after, weights, 1, pool)
                {
                    demand.vcpus(before, weights, -1, pool);
                    let count = |of: &Resource| of.machines().map_or(0, |(_, count)| count);
                    let more = i64::from(count(after)) - i64::from(count(before));
                    demand.add(MACHINES, more, pool);
                }
            }
            Action::NoOp | Action::Repair | Action::Start | Action::Delete => {}
        }
    }
    demand
}

/// The machines that count for the subscription: those of Batch count for its account.
fn machines(resource: &Resource) -> Option<(&SizeName, u32)> {
    let is_own = resource.kind() != ResourceKind::BatchPool;
    resource.machines().filter(|_| is_own)
}

impl Demand {
    /// Adds the new instances of a set that are there beside those that they replace.
    fn for_a_while(&mut self, step: &Step, weights: Weights<'_>, pool: Option<&str>) {
        for operation in &step.operations {
            let Operation::ReplaceInstances { instances } = operation else {
                continue;
            };
            let count = u32::try_from(instances.len()).unwrap_or(u32::MAX);
            let mut more = step.after.clone();
            if let Some(set) = more.as_mut().and_then(Resource::scale_set_mut) {
                set.capacity = count;
            }
            if let Some(more) = more
                && self.vcpus(&more, weights, 1, pool)
            {
                self.add(MACHINES, i64::from(count), pool);
            }
        }
    }

    /// Adds the machines that a resource is or has; nothing for what has none.
    fn machines(
        &mut self,
        resource: &Resource,
        weights: Weights<'_>,
        sign: i64,
        pool: Option<&str>,
    ) {
        let Some((_, count)) = machines(resource) else {
            return;
        };
        if self.vcpus(resource, weights, sign, pool) || sign == 0 {
            // Nodes of Kubernetes are instances of Uniform sets, which count as no VMs.
            let is_kubernetes = matches!(
                resource.kind(),
                ResourceKind::AgentPool | ResourceKind::KubernetesCluster
            );
            if !is_kubernetes {
                self.add(MACHINES, sign.saturating_mul(i64::from(count)), pool);
            }
            if is_kubernetes || resource.kind() == ResourceKind::VirtualMachineScaleSet {
                self.add(SCALE_SETS, sign, pool);
            }
        }
    }

    /// Adds the vCPUs of machines, or takes them back; answers whether their size is known.
    fn vcpus(
        &mut self,
        resource: &Resource,
        weights: Weights<'_>,
        sign: i64,
        pool: Option<&str>,
    ) -> bool {
        let Some((name, count)) = machines(resource) else {
            return false;
        };
        let Some(vcpus) = weights.vcpus(name) else {
            if sign > 0 {
                self.unknown.push(name.to_string());
            }
            return false;
        };
        // The reservation has drawn the quota for its places.
        if resource.capacity_reservation().is_some() {
            return true;
        }
        let each = sign.saturating_mul(i64::from(vcpus));
        let vcpus = each.saturating_mul(i64::from(count));
        match resource.priority().unwrap_or(&VmPriority::Regular) {
            VmPriority::Spot { .. } => self.add(SPOT_VCPUS, vcpus, pool),
            VmPriority::Regular => {
                self.add(REGIONAL_VCPUS, vcpus, pool);
                if let Some(family) = weights.family(name) {
                    self.add(&family, vcpus, pool);
                }
            }
        }
        true
    }

    fn more_addresses(&mut self, amount: i64) {
        if amount != 0 {
            self.addresses(amount);
        }
    }

    fn addresses(&mut self, amount: i64) {
        for name in ADDRESSES {
            *self.network.entry(name.to_owned()).or_default() += amount;
        }
    }

    fn add(&mut self, counter: &str, amount: i64, pool: Option<&str>) {
        let entry = self
            .compute
            .entry(counter.to_owned())
            .or_insert_with(|| (0, pool.map(ToOwned::to_owned)));
        entry.0 = entry.0.saturating_add(amount);
    }
}

fn check(
    needed: &BTreeMap<&str, (i64, Option<&str>)>,
    counters: Option<&Answer<Vec<UsageFact>>>,
    question: &Question,
    mode: Mode,
    location: &Region,
    lines: &mut Vec<QuotaLine>,
    findings: &mut Findings,
) {
    if counters.is_none() && mode != Mode::Offline {
        findings.questions.insert(question.clone());
    }
    if let Some(Answer::Unknown { reason }) = counters
        && mode != Mode::Offline
    {
        let kind = match question {
            Question::NetworkQuota(_) => "network",
            Question::ComputeQuota(_)
            | Question::Sizes(_)
            | Question::Image(_)
            | Question::OwnImage(_)
            | Question::Terms(_)
            | Question::Namespaces
            | Question::Permissions(_)
            | Question::Policy(_)
            | Question::SpotPlacement(_)
            | Question::BatchSizes(_)
            | Question::BatchQuota(_)
            | Question::Subnet(_)
            | Question::Reservations(_)
            | Question::ProximityGroup(_) => "compute",
        };
        let message = format!("the {kind} quota in {location} could not be read: {reason}");
        let help = "the plan may fail at apply; reading quota needs the Reader role";
        findings
            .diagnostics
            .push(Diagnostic::new(Code::QuotaUnknown, At::Nowhere, message).with_help(help));
    }
    for (name, (needed, pool)) in needed {
        let counter = counters.and_then(Answer::known).and_then(|counters| {
            counters
                .iter()
                .find(|counter| counter.name.eq_ignore_ascii_case(name))
        });
        let line = line(name, *needed, counter, location);
        if line.ok == Some(false) {
            findings.diagnostics.push(short(&line, counter, *pool));
        }
        lines.push(line);
    }
}

pub(super) fn line(
    name: &str,
    needed: i64,
    counter: Option<&UsageFact>,
    location: &Region,
) -> QuotaLine {
    let after = counter.map(|counter| counter.used.saturating_add(needed));
    QuotaLine {
        name: counter.map_or_else(|| name.to_owned(), |counter| counter.name.clone()),
        location: location.clone(),
        limit: counter.map(|counter| counter.limit),
        used: counter.map(|counter| counter.used),
        needed,
        after,
        ok: counter
            .zip(after)
            .map(|(counter, after)| after <= counter.limit),
    }
}

pub(super) fn short(
    line: &QuotaLine,
    counter: Option<&UsageFact>,
    pool: Option<&str>,
) -> Diagnostic {
    let (limit, used) = counter.map_or((0, 0), |counter| (counter.limit, counter.used));
    let words = counter.map_or("", |counter| counter.display_name.as_str());
    let message = format!(
        "quota `{}` ({words}) in {}: limit {limit}, used {used}, needed {}, short by {}",
        line.name,
        line.location,
        line.needed,
        used.saturating_add(line.needed).saturating_sub(limit),
    );
    let at = pool.map_or(At::Nowhere, |pool| {
        At::Value(SpecPath::pool(pool, &["count"]))
    });
    Diagnostic::new(Code::QuotaShort, at, message)
        .with_help(format!(
            "ask for a limit of at least {} in {}",
            used.saturating_add(line.needed),
            line.location
        ))
        .with_help("or use fewer nodes, another size, or another location")
}
