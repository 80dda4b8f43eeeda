//! The whole decision: from a spec and what is known to a plan.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    catalog::Catalog,
    cost::Amount,
    diag::{At, Code, Diagnostic, Diagnostics},
    ids::ArmId,
    live::{Live, Mode, Power as State, Question},
    plan::{
        Action, Bootstrap, CatalogReference, Cost, Explanation, FORMAT_VERSION, Lifetime,
        Operation, Plan, PoolPlan, Run, Scope, SpecReference, Step,
    },
    price_book::PriceBook,
    resource::Properties,
    spec::Spec,
    units::{Region, Timestamp},
};

use crate::{
    alternates, bootstrap, checkpoint, cost,
    diff::{self, Changes, Permissions, index::Index},
    lifetime::{self, Term},
    location::{self, Selections},
    orchestrator::{self, Decisions},
    order, partial,
    pool_plan::pool_plan,
    power::Power,
    preflight,
    select::Findings,
    server,
    shape::{self, Desired},
    target,
};

/// Stands for the subscription offline, where the spec names none.
pub(crate) const NO_SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000000";

/// Everything a plan is made from.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// What the user wants.
    pub spec: &'a Spec,
    /// What Azure offers.
    pub catalog: &'a Catalog,
    /// What exists and what was answered.
    pub live: &'a Live,
    /// How to plan.
    pub options: &'a Options,
}

/// How to plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// The time of the plan.
    pub now: Timestamp,
    /// The world it is for.
    pub mode: Mode,
    /// `public`, `usgovernment` or `china`.
    pub cloud: String,
    /// The tool's version.
    pub tool_version: String,
    /// The spec's text and place.
    pub spec: SpecReference,
    /// Public keys, where the spec gives them: OpenSSH form without comments.
    pub ssh_keys: Option<Vec<String>>,
    /// Whether everything is to be deleted.
    pub destroy: bool,
    /// Whether nodes of the pools that the plan is about only start or stop.
    pub power: Option<Power>,
    /// Whether only what no spec wants is to be deleted, and nothing else done.
    pub orphans: bool,
    /// Whether live choices are made anew.
    pub reselect: bool,
    /// Whether the stack's lifetime starts over.
    pub renew: bool,
    /// Pools that the plan is about alone; all where there are none.
    pub targets: BTreeSet<String>,
    /// What may happen to nodes.
    pub permissions: Permissions,
    /// What the stack may cost.
    pub limits: cost::Limits,
    /// Prices of an agreement; what is chosen is chosen by list prices all the same, so that
    /// everybody gets the same choice.
    pub price_book: Option<PriceBook>,
}

impl Options {
    /// Whether nothing is made: then no budget, quota or policy matters.
    fn makes_nothing(&self) -> bool {
        self.destroy || self.orphans || self.power.is_some()
    }
}

/// What planning gives.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan; `None` when the spec cannot be planned at all. It may only be applied when
    /// `diagnostics` has no error and `questions` is empty.
    pub plan: Option<Plan>,
    /// The decision for each pool, also where there is no plan; nothing when all is deleted.
    pub explanation: Explanation,
    /// Findings, sorted.
    pub diagnostics: Diagnostics,
    /// What must be known first: answer, and plan again.
    pub questions: BTreeSet<Question>,
}

/// Makes a plan.
pub fn plan(input: Input<'_>) -> Planned {
    let (spec, decisions) = orchestrator::decide(input.spec, input.catalog, input.live);
    let subscription = input.live.subscription.as_deref();
    let spec = checkpoint::placed(spec, subscription, &input.options.cloud);
    let input = Input {
        spec: &spec,
        ..input
    };
    let index = Index::new(input.live);
    let mut findings = Findings::default();
    let (plan, explanation) = if input.options.destroy {
        (
            partial::destroy(input, &index, &mut findings),
            Explanation::default(),
        )
    } else if let Some(wish) = input.options.power {
        (
            partial::power(wish, input, &index, &mut findings),
            Explanation::default(),
        )
    } else if input.options.orphans {
        (
            partial::orphans(input, &index, &mut findings),
            Explanation::default(),
        )
    } else {
        create(input, &decisions, &index, &mut findings)
    };
    let is_matter = |finding: &Diagnostic| target::concerns(input, finding.at.pool_name());
    let findings_of_spec = findings.diagnostics.into_iter().filter_map(server::placed);
    let mut diagnostics: Diagnostics = findings_of_spec.filter(is_matter).collect();
    diagnostics.sort();
    Planned {
        plan,
        explanation,
        diagnostics,
        questions: findings.questions,
    }
}

pub(crate) fn context<'a>(
    input: Input<'a>,
    location: &'a Region,
    ssh_keys: Option<&'a [String]>,
    term: Option<&'a Term>,
) -> shape::Context<'a> {
    let subscription = input.live.subscription.as_deref();
    shape::Context {
        subscription: subscription.unwrap_or(NO_SUBSCRIPTION),
        location,
        ssh_keys,
        principal: principal(input.live),
        term,
    }
}

fn create(
    input: Input<'_>,
    decisions: &Decisions,
    index: &Index<'_>,
    findings: &mut Findings,
) -> (Option<Plan>, Explanation) {
    let checked = target::check(input, index);
    let is_refused = checked.has_errors();
    findings.diagnostics.extend(checked);
    if is_refused {
        return (None, Explanation::default());
    }
    let term = lifetime::of(input, index);
    if let Some(term) = term.as_ref().filter(|term| term.lifetime.over) {
        let plan = partial::expire(input, index, term, findings);
        return (plan, Explanation::default());
    }
    let Some(mut located) = location::choose(input) else {
        return (None, Explanation::default());
    };
    let mut pools = pool_plans(input.spec, decisions, &mut located.selections);
    let explanation = Explanation {
        location: Some(located.location.clone()),
        pools: pools.clone(),
        refused: located.refused,
    };
    findings.extend(located.findings);
    if !located.fits {
        return (None, explanation);
    }
    pools.retain(|name, _| target::concerns(input, Some(name)));
    let (location, selections) = (located.location, located.selections);
    let keys = ssh_keys(input);
    let context = context(input, &location, keys.as_deref(), term.as_ref());
    let desired = shape::run(input.spec, &selections, context);
    let mut changes = diff::run(&desired, index, &input.options.permissions, input.catalog);
    alternates::record(input.spec, &selections, context, &mut changes.steps);
    let bootstraps = bootstrap::record(input.spec, &selections, input.catalog, findings);
    let assembly = Assembly {
        input,
        index,
        location,
        lifetime: term.map(|term| term.lifetime),
        pools,
        bootstraps,
        desired,
    };
    (Some(assembly.assemble(changes, findings)), explanation)
}

/// Who the identity of the stack is in the directory, where there is one.
fn principal(live: &Live) -> Option<&str> {
    let address = Address::checkpoint("identity");
    let mut ours = live.resources.iter();
    let identity = ours.find(|resource| resource.address() == Some(&address))?;
    let Properties::ManagedIdentity(identity) = &identity.resource.as_ref()?.properties else {
        return None;
    };
    identity.principal.as_deref()
}

/// Keys of the spec, else the one that the live key resource has.
pub(crate) fn ssh_keys(input: Input<'_>) -> Option<Vec<String>> {
    if let Some(keys) = &input.options.ssh_keys {
        return Some(keys.clone());
    }
    let mut ours = input
        .live
        .resources
        .iter()
        .filter(|resource| resource.address() == Some(&Address::ssh_key()));
    ours.find_map(|resource| {
        Some(vec![
            resource
                .resource
                .as_ref()?
                .ssh_public_key()?
                .public_key
                .value()?
                .clone(),
        ])
    })
}

/// What a plan says of each pool.
fn pool_plans(
    spec: &Spec,
    decisions: &Decisions,
    selections: &mut Selections,
) -> BTreeMap<String, PoolPlan> {
    let plans = selections.iter_mut().filter_map(|(name, chosen)| {
        let pool = spec.pools.get(name)?;
        let mut plan = pool_plan(pool, chosen);
        if let Some(decision) = decisions.get(name) {
            let choice = decision.explained(pool, plan.count);
            plan.why.push(format!(
                "A32: `orchestrator: auto` is {}: {}",
                choice.value, choice.why
            ));
            plan.rules.push("A32".to_owned());
            plan.choices.insert(0, choice);
        }
        Some((name.clone(), plan))
    });
    plans.collect()
}

/// A plan before it is one.
pub(crate) struct Assembly<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) index: &'a Index<'a>,
    pub(crate) location: Region,
    pub(crate) lifetime: Option<Lifetime>,
    pub(crate) pools: BTreeMap<String, PoolPlan>,
    pub(crate) bootstraps: BTreeMap<String, Bootstrap>,
    pub(crate) desired: Vec<Desired>,
}

impl Assembly<'_> {
    pub(crate) fn assemble(self, changes: Changes, findings: &mut Findings) -> Plan {
        let Input {
            spec,
            catalog,
            live,
            options,
        } = self.input;
        findings.diagnostics.extend(changes.diagnostics);
        let steps = target::only(changes.steps, &options.targets);
        let mut steps = order::run(steps, self.index);
        let (quota, found) = preflight::quota(&steps, catalog, live, options.mode, &self.location);
        findings.extend(found);
        alternates::keep_within_quota(&mut steps, findings, |steps| self.lacking(steps));
        self.look_ahead(&steps, findings);
        self.note_unknown_facts(findings);
        let prices = cost::Prices {
            catalog,
            book: options.price_book.as_ref(),
        };
        let (cost, regular) = self.cost(&steps, prices);
        if !options.makes_nothing() {
            let limits = (spec.budget.as_ref(), &options.limits);
            cost::check(&cost, regular, limits.0, limits.1, findings);
            cost::check_pools(&self.pools, &self.location, prices, findings);
            let cost_of = |steps: &[Step]| self.cost(steps, prices).0;
            alternates::keep_affordable(&mut steps, limits, findings, cost_of);
        }
        Plan {
            format_version: FORMAT_VERSION.to_owned(),
            tensorform_version: options.tool_version.clone(),
            digest: String::new(),
            stack: spec.name.clone(),
            created_at: options.now,
            spec: options.spec.clone(),
            catalog: CatalogReference {
                digest: catalog.digest().to_owned(),
                prices_as_of: catalog.prices_as_of().to_owned(),
                skus_as_of: catalog.skus_as_of().to_owned(),
            },
            scope: Scope {
                cloud: options.cloud.clone(),
                mode: options.mode,
                subscription: live.subscription.clone(),
                location: self.location.clone(),
                resource_group: spec.resource_group.clone(),
            },
            lifetime: self.lifetime,
            targets: options.targets.iter().cloned().collect(),
            orphans: options.orphans,
            has_changes: steps.iter().any(|step| step.action.writes()),
            complete: live.unread.is_empty(),
            counts: Plan::count(&steps),
            pools: self.pools,
            bootstraps: self.bootstraps,
            steps,
            quota,
            cost,
            run: Run::default(),
            diagnostics: Vec::new(),
        }
    }

    /// The quota that lacks for steps, in words.
    fn lacking(&self, steps: &[Step]) -> Option<String> {
        let Input {
            catalog,
            live,
            options,
            ..
        } = self.input;
        let (lines, _) = preflight::quota(steps, catalog, live, options.mode, &self.location);
        preflight::lacking(&lines)
    }

    /// What Azure lets be done, as far as it tells before anybody tries. What is to be deleted
    /// is deleted or not.
    fn look_ahead(&self, steps: &[Step], findings: &mut Findings) {
        let Input {
            spec,
            live,
            options,
            ..
        } = self.input;
        if options.makes_nothing() {
            return;
        }
        let subscription = live.subscription.as_deref().unwrap_or(NO_SUBSCRIPTION);
        let group = ArmId::resource_group(subscription, &spec.resource_group);
        findings.extend(preflight::reservations(steps, live, options.mode));
        findings.extend(preflight::proximity(steps, live, options.mode));
        findings.extend(preflight::rights(steps, live, options.mode, &group));
        findings.extend(preflight::policies(steps, live, options.mode, &group));
        findings.extend(preflight::placement(steps, live, options.mode));
        let network = preflight::network(spec, steps, live, options.mode, &self.location);
        findings.extend(network);
    }

    /// What it costs, and what it costs after with spot nodes paid for on demand.
    fn cost(&self, steps: &[Step], prices: cost::Prices<'_>) -> (Cost, Option<Amount>) {
        let Input { live, options, .. } = self.input;
        let before = cost::live_items(live);
        let planned: BTreeMap<&Address, &Step> =
            steps.iter().map(|step| (&step.address, step)).collect();
        let desired = self.desired.iter();
        let desired = desired.filter_map(|desired| {
            let step = planned.get(&desired.address)?;
            Some((desired, *step))
        });
        let after = desired.map(|(desired, step)| cost::Item {
            address: &desired.address,
            resource: step.after.as_ref().unwrap_or(&desired.resource),
            has_hardware: self.runs_after(step),
            without_hardware: self.stays_away(step),
        });
        // What a destroy, an end or a plan about other pools keeps goes on costing.
        let is_whole = !options.makes_nothing()
            && options.targets.is_empty()
            && !self.lifetime.is_some_and(|lifetime| lifetime.over);
        let going: BTreeSet<&Address> = steps
            .iter()
            .filter(|step| step.action == Action::Delete)
            .map(|step| &step.address)
            .collect();
        let kept = before
            .clone()
            .filter(|item| !is_whole && !going.contains(item.address))
            .filter(|item| !self.is_desired(item.address) || !planned.contains_key(item.address));
        let after: Vec<cost::Item<'_>> = after.chain(kept).collect();
        let regular = cost::at_regular_prices(after.iter().copied(), prices);
        (cost::compare(before, after, prices), regular)
    }

    /// Whether a machine has hardware once a step is done: what the step does about it decides, and
    /// else what it is now. That somebody marked it as stopped gives no hardware back.
    fn runs_after(&self, step: &Step) -> bool {
        if let Some(wish) = self.input.options.power {
            return wish == Power::Start;
        }
        let is_made = matches!(
            step.action,
            Action::Create | Action::Replace | Action::Repair | Action::Start
        );
        let live = self.index.at_id(&step.id);
        is_made || live.is_none_or(|live| live.state.power != Some(State::Deallocated))
    }

    /// How many instances of a scale set have no hardware and get none.
    fn stays_away(&self, step: &Step) -> u32 {
        if self.input.options.power.is_some() {
            return 0;
        }
        let leaves = |id: &String| {
            step.operations.iter().any(|operation| {
                matches!(
                    operation,
                    Operation::DeleteInstances { instances }
                        | Operation::ReplaceInstances { instances }
                        | Operation::StartInstances { instances } if instances.contains(id)
                )
            })
        };
        let instances = self.index.instances(&step.id).iter();
        let away = instances.filter(|one| one.is_away() && !leaves(&one.id));
        u32::try_from(away.count()).unwrap_or(u32::MAX)
    }

    fn is_desired(&self, address: &Address) -> bool {
        let mut desired = self.desired.iter();
        desired.any(|desired| desired.address == *address)
    }

    /// Offline, what belongs to one subscription is unknown: said once.
    fn note_unknown_facts(&self, findings: &mut Findings) {
        if self.input.options.mode == Mode::Offline && !self.input.options.makes_nothing() {
            let message =
                "offline: quota, restrictions and image versions of the subscription are unknown";
            let finding = Diagnostic::new(Code::OfflineUnknowns, At::Nowhere, message);
            findings
                .diagnostics
                .push(finding.with_help("plan without `--offline` to check them"));
            return;
        }
        for (region, answer) in &self.input.live.facts.sizes {
            if let model::live::Answer::Unknown { reason } = answer {
                let message = format!(
                    "which sizes the subscription may use in {region} could not be read: {reason}"
                );
                let finding = Diagnostic::new(Code::SizesUnknown, At::Nowhere, message);
                let help = "a size that the subscription may not use would fail at apply; reading them needs the Reader role";
                findings.diagnostics.push(finding.with_help(help));
            }
        }
        for unread in &self.input.live.unread {
            let message = format!(
                "the plan is incomplete: {} could not be read: {}",
                unread.what, unread.reason
            );
            let finding = Diagnostic::new(Code::PlanIncomplete, At::Nowhere, message);
            findings
                .diagnostics
                .push(finding.with_help("an incomplete plan cannot be applied"));
        }
    }
}
