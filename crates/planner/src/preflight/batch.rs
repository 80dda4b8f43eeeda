//! The quota of accounts of Batch: nodes of pools are in a subscription of Batch's own, and an
//! account says how many vCPUs it may use. What it uses is not told, but is what its pools have.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic},
    ids::ArmId,
    live::{Answer, Live, Mode, Question, UsageFact},
    plan::{Action, QuotaLine, Step},
    resource::{BatchPool, Resource, ResourceKind, VmPriority},
    units::Region,
};

use super::quota::{line, short};
use crate::select::{Findings, Weights};

/// What an account may use of dedicated nodes, all families together.
const DEDICATED: &str = "dedicatedCores";
/// What it may use of spot nodes.
const SPOT: &str = "lowPriorityCores";
/// How many pools it may have.
const POOLS: &str = "pools";

/// Amounts by counter, with the pool that comes first.
type Amounts = BTreeMap<String, (i64, Option<String>)>;

/// The lines of the accounts that steps are about; also of what adds nothing where `all` says so.
pub(super) fn quota(
    steps: &[Step],
    weights: Weights<'_>,
    live: &Live,
    mode: Mode,
    location: &Region,
    all: bool,
) -> (Vec<QuotaLine>, Findings) {
    let mut findings = Findings::default();
    let mut lines = Vec::new();
    for (account, mut needed) in demand(steps, weights) {
        needed.retain(|_, (amount, _)| all || *amount > 0);
        if needed.is_empty() {
            continue;
        }
        let limits = limits(&account, live, mode, &mut findings);
        let used = used(&account, live, weights);
        for (name, (amount, pool)) in needed {
            let counter = limits.and_then(|limits| {
                let limit = limits
                    .iter()
                    .find(|fact| fact.name.eq_ignore_ascii_case(&name))?;
                Some(UsageFact {
                    name: format!("batch/{}", limit.name),
                    used: used.get(&name).map_or(0, |(used, _)| *used),
                    ..limit.clone()
                })
            });
            let line = line(&format!("batch/{name}"), amount, counter.as_ref(), location);
            if line.ok == Some(false) {
                findings
                    .diagnostics
                    .push(short(&line, counter.as_ref(), pool.as_deref()));
            }
            lines.push(line);
        }
    }
    (lines, findings)
}

/// The limits of an account, where they are known. They are not before it exists.
fn limits<'a>(
    account: &ArmId,
    live: &'a Live,
    mode: Mode,
    findings: &mut Findings,
) -> Option<&'a [UsageFact]> {
    let unknown = |why: &str| {
        let message = format!(
            "the quota of the Batch account `{}` is not known: {why}",
            account.name()
        );
        Diagnostic::new(Code::QuotaUnknown, At::Nowhere, message)
            .with_help("nodes that it does not suffice for do not come, which apply tells")
    };
    if mode == Mode::Offline {
        return None;
    }
    if !live
        .resources
        .iter()
        .any(|resource| resource.id == *account)
    {
        let why = "Azure gives it one when it is made";
        findings.diagnostics.push(unknown(why));
        return None;
    }
    match live.facts.batch_quota.get(account) {
        None => {
            findings
                .questions
                .insert(Question::BatchQuota(account.clone()));
            None
        }
        Some(Answer::Unknown { reason }) => {
            findings.diagnostics.push(unknown(reason));
            None
        }
        Some(Answer::Known(limits)) => Some(limits),
    }
}

/// What the steps add, by account.
fn demand(steps: &[Step], weights: Weights<'_>) -> BTreeMap<ArmId, Amounts> {
    let mut demand: BTreeMap<ArmId, Amounts> = BTreeMap::new();
    for step in steps
        .iter()
        .filter(|step| step.kind == ResourceKind::BatchPool)
    {
        let (Some(account), Some(after)) = (step.id.parent(), pool(step.after.as_ref())) else {
            continue;
        };
        let amounts = demand.entry(account).or_default();
        let name = step.address.pool_name();
        let before = match step.action {
            Action::Create => None,
            Action::NoOp | Action::Repair => Some(after),
            Action::Update
            | Action::RestartUpdate
            | Action::StopUpdate
            | Action::Replace
            | Action::Start
            | Action::Delete => pool(step.before.as_ref()),
        };
        add(
            amounts,
            POOLS,
            i64::from(step.action == Action::Create),
            name,
        );
        count(amounts, after, weights, 1, name);
        if let Some(before) = before {
            count(amounts, before, weights, -1, name);
        }
    }
    demand
}

/// What the pools of an account have.
fn used(account: &ArmId, live: &Live, weights: Weights<'_>) -> Amounts {
    let mut used = Amounts::new();
    let inside = |id: &ArmId| id.parent().as_ref() == Some(account);
    for resource in live
        .resources
        .iter()
        .filter(|resource| inside(&resource.id))
    {
        if let Some(pool) = pool(resource.resource.as_ref()) {
            add(&mut used, POOLS, 1, None);
            count(&mut used, pool, weights, 1, None);
        }
    }
    used
}

fn pool(resource: Option<&Resource>) -> Option<&BatchPool> {
    resource.and_then(Resource::batch_pool)
}

fn count(
    amounts: &mut Amounts,
    pool: &BatchPool,
    weights: Weights<'_>,
    sign: i64,
    name: Option<&str>,
) {
    let each = i64::from(weights.vcpus(&pool.size).unwrap_or(0));
    let vcpus = sign
        .saturating_mul(each)
        .saturating_mul(i64::from(pool.nodes));
    match pool.priority {
        VmPriority::Spot { .. } => add(amounts, SPOT, vcpus, name),
        VmPriority::Regular => {
            add(amounts, DEDICATED, vcpus, name);
            if let Some(family) = weights.family(&pool.size) {
                add(amounts, &family, vcpus, name);
            }
        }
    }
}

fn add(amounts: &mut Amounts, counter: &str, amount: i64, pool: Option<&str>) {
    let entry = amounts
        .entry(counter.to_owned())
        .or_insert_with(|| (0, pool.map(ToOwned::to_owned)));
    entry.0 = entry.0.saturating_add(amount);
}
