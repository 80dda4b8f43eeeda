//! From a spec and a world to a plan: reads, asks, decides, and seals.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Instant,
};

use azure::ReadScope;
use model::{
    address::Address,
    catalog::Catalog,
    diag::{At, Code, Diagnostic, Diagnostics},
    ids::ArmId,
    live::{Live, Mode},
    plan::{Explanation, Plan, Run},
    price_book::PriceBook,
    resource::ResourceKind,
    spec::{Spec, Via},
    units::{Region, Timestamp},
};
use planner::{Input, Options, Planned, cost::Limits, diff::Permissions};

use crate::{
    VERSION,
    app::App,
    args::{Planning, Pricing},
    errors, files, keys,
    source::Source,
    stop::Stop,
    world::{self, World},
};

/// Rounds of questions after which something is wrong with the planner, not with the world.
const MOST_ROUNDS: usize = 8;

/// A plan with what it was made from.
pub(crate) struct Made {
    /// The plan; `None` when the spec cannot be planned at all.
    pub(crate) plan: Option<Plan>,
    /// The decision for each pool, also where there is no plan.
    pub(crate) explanation: Explanation,
    /// Findings of the spec and of the plan.
    pub(crate) findings: Diagnostics,
    /// What was live.
    pub(crate) live: Live,
    /// Where.
    pub(crate) world: World,
    /// How it was made.
    pub(crate) options: Options,
}

/// Makes a plan as the options say.
///
/// # Errors
/// The spec is wrong, or the world cannot be read.
pub(crate) fn make(app: &App, planning: &Planning, destroy: bool) -> Result<Made, Stop> {
    let started = Instant::now();
    let source = app.source()?;
    let spec = source.spec()?;
    if planning.renew && spec.lifetime.is_none() {
        let stop = Stop::usage("--renew: the spec has no `lifetime` that could start over");
        return Err(stop.help("add `lifetime: 72h` to the spec, or leave `--renew` out"));
    }
    let options = options(app, planning, spec, source, destroy)?;
    let subscription = world::subscription(app, Some(spec))?;
    let world = World::paced(app, planning.offline, subscription, planning.max_rps)?;
    let mut scope = scope_of_spec(spec, options.now, destroy);
    if planning.neighbours || !planning.adopt.is_empty() {
        scope.pools = None;
    }
    // Also what nobody wants any more: a disk that was released.
    scope.has_data_disks |= planning.neighbours;
    let mut live = read(&world, &scope)?;
    if world.client().is_none() {
        live.subscription.clone_from(&spec.subscription);
    }
    let catalog = app.catalog(planning.offline);
    let spec = Spec {
        budget: spec.budget.clone().filter(|_| !planning.without_budget),
        locations: left(&spec.locations, &planning.passed),
        ..spec.clone()
    };
    let planned = decide(&world, catalog, &spec, &mut live, &options)?;
    let mut findings = source.warnings();
    findings.extend(planned.diagnostics);
    findings.extend(app.cache_findings());
    let plan = planned
        .plan
        .map(|plan| seal(app, plan, &findings, &world, started));
    Ok(Made {
        plan,
        explanation: planned.explanation,
        findings,
        live,
        world,
        options,
    })
}

/// Locations that are still to be tried.
fn left(locations: &[Region], passed: &[Region]) -> Vec<Region> {
    let left = locations.iter().filter(|one| !passed.contains(one));
    left.cloned().collect()
}

/// Where a stack would be made next that found no room in these locations.
///
/// # Errors
/// The spec is wrong.
pub(crate) fn next_location(app: &App, passed: &[Region]) -> Result<Option<Region>, Stop> {
    let spec = app.source()?.spec()?;
    Ok(left(&spec.locations, passed).into_iter().next())
}

fn options(
    app: &App,
    planning: &Planning,
    spec: &Spec,
    source: &Source,
    destroy: bool,
) -> Result<Options, Stop> {
    Ok(Options {
        now: now(),
        mode: world::mode(app, planning.offline),
        cloud: world::cloud(app).name().to_owned(),
        tool_version: VERSION.to_owned(),
        spec: source.reference(),
        ssh_keys: keys::given(app, spec)?,
        destroy,
        orphans: planning.orphans,
        power: planning.power,
        reselect: planning.reselect,
        renew: planning.renew,
        targets: planning.target.iter().cloned().collect(),
        permissions: Permissions {
            allow_stop: planning.allow_stop,
            replace: addresses("--replace", &planning.replace)?,
            release: addresses("--release", &planning.release)?,
            adopt: adopted(&planning.adopt)?,
        },
        limits: limits(&planning.pricing),
        price_book: planning
            .pricing
            .price_book
            .as_deref()
            .map(|path| price_book(path, app.catalog(planning.offline)))
            .transpose()?,
    })
}

/// What the stack may cost.
pub(crate) fn limits(pricing: &Pricing) -> Limits {
    Limits {
        max_hourly: pricing.max_hourly,
        max_monthly: pricing.max_monthly,
        require_complete: pricing.require_complete,
    }
}

fn price_book(path: &Path, catalog: &Catalog) -> Result<PriceBook, Stop> {
    let text = files::text(path)?;
    PriceBook::read(&files::name(path), &text, catalog).map_err(|error| {
        Stop::because(Code::PriceBookUnusable, error.to_string()).help(
            "`applies_to` is `size`, `family`, `meter` or `all`; a line has a `discount` in percent or a `price`",
        )
    })
}

fn addresses(option: &str, texts: &[String]) -> Result<Vec<Address>, Stop> {
    let read = |text: &String| {
        text.parse().map_err(|problem: String| {
            Stop::usage(format!("{option}: {problem}"))
                .help("`plan` shows addresses, such as `pool.train[0].vm`")
        })
    };
    texts.iter().map(read).collect()
}

fn adopted(texts: &[String]) -> Result<BTreeMap<Address, ArmId>, Stop> {
    let read = |text: &String| {
        let (address, id) = text
            .split_once('=')
            .ok_or_else(|| format!("expected ADDRESS=ID, found `{text}`"))?;
        let id = id.parse().map_err(|problem| format!("`{id}`: {problem}"))?;
        Ok((address.parse()?, id))
    };
    let read = |text: &String| {
        read(text).map_err(|problem: String| {
            Stop::usage(format!("--adopt: {problem}"))
                .help("write the address that `plan` shows, `=`, and the resource's whole id")
        })
    };
    texts.iter().map(read).collect()
}

/// The time, to the second.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix(time::OffsetDateTime::now_utc().unix_timestamp())
}

/// Where the stack of a spec is read.
pub(crate) fn scope_of_spec(spec: &Spec, now: Timestamp, whole_group: bool) -> ReadScope {
    ReadScope {
        stack: spec.name.clone(),
        resource_group: spec.resource_group.clone(),
        has_data_disks: spec.pools.values().any(|pool| !pool.disks.data.is_empty()),
        has_batch: spec.pools.values().any(planner::may_be_of_batch),
        has_aks: spec
            .pools
            .values()
            .any(model::spec::kubernetes::may_be_of_aks),
        has_bastion: spec.access.via == Via::Bastion,
        pools: (!whole_group).then(|| spec.pools.keys().cloned().collect()),
        has_checkpoints: spec.pools.values().any(planner::makes_checkpoints),
        whole_group,
        read_at: Some(now),
    }
}

/// Where the stack of a plan is read: a saved plan says it all, so nobody needs its spec.
pub(crate) fn scope_of_plan(plan: &Plan, now: Timestamp) -> ReadScope {
    ReadScope {
        stack: plan.stack.clone(),
        resource_group: plan.scope.resource_group.clone(),
        has_data_disks: plan
            .steps
            .iter()
            .any(|step| step.kind == ResourceKind::Disk),
        has_batch: plan
            .steps
            .iter()
            .any(|step| step.kind == ResourceKind::BatchAccount),
        has_aks: plan
            .steps
            .iter()
            .any(|step| step.kind == ResourceKind::KubernetesCluster),
        has_checkpoints: plan
            .steps
            .iter()
            .any(|step| step.kind == ResourceKind::StorageAccount),
        has_bastion: plan
            .steps
            .iter()
            .any(|step| step.kind == ResourceKind::BastionHost),
        pools: (!plan.destroys()).then(|| pools_of(plan)),
        whole_group: plan.destroys(),
        read_at: Some(now),
    }
}

/// The pools of which a plan has steps.
fn pools_of(plan: &Plan) -> BTreeSet<String> {
    let pools = plan
        .steps
        .iter()
        .filter_map(|step| step.address.pool_name());
    pools.map(ToOwned::to_owned).collect()
}

/// Reads what is live of a stack.
///
/// # Errors
/// Something that a plan cannot do without could not be read.
pub(crate) fn read(world: &World, scope: &ReadScope) -> Result<Live, Stop> {
    let Some(client) = world.client() else {
        return Ok(Live::default());
    };
    world
        .read(azure::read(client, scope))?
        .map_err(|error| errors::read(&error))
}

/// Plans, and answers what the planner asks for until it asks nothing more.
fn decide(
    world: &World,
    catalog: &Catalog,
    spec: &Spec,
    live: &mut Live,
    options: &Options,
) -> Result<Planned, Stop> {
    let mut asked = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let planned = planner::plan(Input {
            spec,
            catalog,
            live,
            options,
        });
        let open: Vec<_> = planned
            .questions
            .iter()
            .filter(|question| !asked.contains(*question))
            .cloned()
            .collect();
        if open.is_empty() {
            return Ok(planned);
        }
        match world.client() {
            Some(client) => {
                world
                    .read(azure::answer(client, &open, &mut live.facts))?
                    .map_err(|error| errors::read(&error))?;
            }
            None => {
                for question in open.iter().cloned() {
                    live.facts.set_unknown(question, "the run is offline");
                }
            }
        }
        asked.extend(open);
    }
    Ok(planner::plan(Input {
        spec,
        catalog,
        live,
        options,
    }))
}

/// Enters what only this side knows, and closes the document.
fn seal(
    app: &App,
    mut plan: Plan,
    findings: &Diagnostics,
    world: &World,
    started: Instant,
) -> Plan {
    plan.diagnostics = app.documents(findings);
    if let Some(client) = world.client() {
        let requests = client.requests();
        plan.run = Run {
            arm_requests: requests.total,
            arm_requests_by_kind: requests.by_kind,
            seconds: 0.0,
        };
    }
    plan.run.seconds = started.elapsed().as_secs_f64();
    plan.digest = plan.computed_digest();
    plan
}

/// What is not as planned after an apply, read anew: nothing may be.
///
/// # Errors
/// The world could not be read.
pub(crate) fn verify(plan: &Plan, world: &World) -> Result<Diagnostics, Stop> {
    let Some(client) = world.client() else {
        return Err(is_offline());
    };
    let scope = scope_of_plan(plan, now());
    let unreached = |live: &Live| planner::unreached(plan, live, Catalog::embedded());
    // What is certainly wrong is told at once; what may only be old news is read again.
    let is_behind = |live: &Live| {
        let unreached = unreached(live);
        !unreached.is_empty() && unreached.iter().all(|resource| resource.may_be_behind)
    };
    let live = world
        .read(azure::read_settled(client, &scope, is_behind))?
        .map_err(|error| errors::read(&error))?;
    let differs: Vec<String> = unreached(&live)
        .iter()
        .map(|resource| resource.address.to_string())
        .collect();
    if differs.is_empty() {
        return Ok(Diagnostics::default());
    }
    let count = render::words::counted(
        differs.len(),
        "resource is not as planned",
        "resources are not as planned",
    );
    let message = format!(
        "after the apply, {count}: {}",
        render::words::listed(&differs, 8)
    );
    let finding = Diagnostic::new(Code::NotAsPlanned, At::Nowhere, message);
    Ok([finding.with_help("`tensorform plan` shows what differs")]
        .into_iter()
        .collect())
}

/// Why an offline plan cannot be applied.
pub(crate) fn is_offline() -> Stop {
    Stop::because(
        Code::PlanForOther,
        "the plan was made offline: it is for no world, and cannot be applied",
    )
    .help("plan without `--offline`")
}

/// Whether a plan may be applied: it has no errors, is complete, and is for a world.
///
/// # Errors
/// Why not.
pub(crate) fn may_apply(plan: &Plan, findings: &Diagnostics) -> Result<(), Stop> {
    if findings.has_errors() {
        return Err(Stop::with(findings.clone()));
    }
    if plan.scope.mode == Mode::Offline {
        return Err(is_offline());
    }
    if !plan.complete {
        return Err(Stop::because(
            Code::PlanIncomplete,
            "the plan is incomplete: it cannot be applied",
        ));
    }
    match plan.breaches().into_iter().next() {
        Some(breach) => Err(Stop::because(
            Code::PlanUnreadable,
            format!("the plan contradicts itself: {breach}"),
        )
        .help("this is a mistake of the tool: please report it with the spec")),
        None => Ok(()),
    }
}
