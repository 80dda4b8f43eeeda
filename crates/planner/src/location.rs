//! The region of a stack, and the choices of every pool there.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::Live,
    plan::PoolRefusal,
    resource::Properties,
    spec::{Budget, OnExceed},
    units::Region,
};

use crate::{
    cost,
    plan::Input,
    select::{self, Context, Findings, Selection, alternates, need::Need},
    target,
};

/// Choices by pool.
pub(crate) type Selections = BTreeMap<String, Selection>;

/// A region, with what was found for every pool there.
pub(crate) struct Located {
    /// The region.
    pub(crate) location: Region,
    /// Choices for pools that fit.
    pub(crate) selections: Selections,
    /// Pools for which nothing fits.
    pub(crate) refused: BTreeMap<String, PoolRefusal>,
    /// Whether the catalogue has the region.
    is_known: bool,
    /// Whether the stack can be planned there.
    pub(crate) fits: bool,
    /// Quota counters that do not hold all pools together.
    short: Vec<String>,
    /// What was found.
    pub(crate) findings: Findings,
}

/// The region: where the stack lives already, else the first of the spec's list in which every
/// pool finds a size.
pub(crate) fn choose(input: Input<'_>) -> Option<Located> {
    let asked = &input.spec.locations;
    let needs = needs(input);
    if let Some(live) = of_live(input.live) {
        let mut located = select_all(input, &live, &needs, true);
        if !asked.contains(&live) {
            let message =
                format!("the stack lives in {live}, which the spec does not list any more");
            let at = At::Value(SpecPath::of(&["location"]));
            let help = "a stack cannot move: list the region again, or destroy the stack first";
            let finding = Diagnostic::new(Code::StackMoved, at, message).with_help(help);
            located.findings.diagnostics.push(finding);
        }
        return Some(located);
    }
    let mut passed_over: Vec<Located> = Vec::new();
    // What would do instead is worked out only where it is shown.
    let is_only = asked.len() == 1;
    for location in asked {
        let mut located = unknown_region(input, location)
            .unwrap_or_else(|| select_all(input, location, &needs, is_only));
        if located.holds() {
            note_passed_over(passed_over, &mut located.findings);
            return Some(located);
        }
        passed_over.push(located);
    }
    // Other pools than those that the plan is about may wait for another spec.
    if !input.options.targets.is_empty()
        && let Some(at) = passed_over.iter().position(|located| suits(input, located))
    {
        return Some(passed_over.swap_remove(at));
    }
    // Nothing fits anywhere. A region that only lacks quota is nearest; else what is wrong in
    // the preferred region helps most.
    let lacks_quota = |located: &Located| !located.findings.diagnostics.has_errors();
    let nearest = passed_over.iter().position(lacks_quota);
    let index = nearest.unwrap_or(0);
    if index >= passed_over.len() {
        return None;
    }
    let mut located = passed_over.remove(index);
    if !is_only && located.findings.diagnostics.has_errors() && located.is_known {
        located = select_all(input, &located.location, &needs, true);
    }
    located.fits = nearest.is_some();
    for other in passed_over {
        let reason = other.reasons().next().map(|(_, reason)| reason);
        let message = format!("in {}: {}", other.location, reason.unwrap_or_default());
        located.findings.diagnostics.push(Diagnostic::new(
            Code::LocationPassedOver,
            At::Value(SpecPath::of(&["location"])),
            message,
        ));
    }
    Some(located)
}

fn suits(input: Input<'_>, located: &Located) -> bool {
    let mut errors = located.findings.diagnostics.iter();
    located.fits
        && !errors.any(|finding| {
            finding.severity == Severity::Error && target::concerns(input, finding.at.pool_name())
        })
}

impl Located {
    /// Whether every pool finds a size, and quota for all its nodes as far as is known.
    fn holds(&self) -> bool {
        !self.findings.diagnostics.has_errors() && self.short.is_empty()
    }

    /// What speaks against the region, each with its place.
    fn reasons(&self) -> impl Iterator<Item = (At, String)> {
        let errors = self.findings.diagnostics.iter();
        let errors = errors.filter(|finding| finding.severity == Severity::Error);
        let errors = errors.map(|finding| (finding.at.clone(), finding.message.clone()));
        let location = At::Value(SpecPath::of(&["location"]));
        let short = self.short.iter().cloned();
        errors.chain(short.map(move |short| (location.clone(), short)))
    }
}

fn unknown_region(input: Input<'_>, location: &Region) -> Option<Located> {
    if input.catalog.region(location).is_some() {
        return None;
    }
    let mut findings = Findings::default();
    let names = input
        .catalog
        .regions()
        .iter()
        .map(|region| region.name.as_str());
    let mut finding = Diagnostic::new(
        Code::LocationUnknown,
        At::Value(SpecPath::of(&["location"])),
        format!("the catalogue has no region `{location}`"),
    );
    if let Some(near) = model::suggest::nearest(location.as_str(), names) {
        finding = finding.with_help(format!("did you mean `{near}`?"));
    }
    findings.diagnostics.push(finding);
    Some(Located {
        location: location.clone(),
        selections: Selections::new(),
        refused: BTreeMap::new(),
        is_known: false,
        fits: false,
        short: Vec::new(),
        findings,
    })
}

fn note_passed_over(passed_over: Vec<Located>, findings: &mut Findings) {
    for other in passed_over {
        for (at, reason) in other.reasons() {
            let message = format!("{} is passed over: {reason}", other.location);
            findings
                .diagnostics
                .push(Diagnostic::new(Code::LocationPassedOver, at, message));
        }
    }
}

/// What each pool's model needs; the same in every region.
type Needs = BTreeMap<String, Result<Option<Need>, Diagnostic>>;

fn needs(input: Input<'_>) -> Needs {
    let pools = input.spec.pools.iter();
    pools
        .map(|(name, pool)| (name.clone(), Need::of(name, pool, input.catalog)))
        .collect()
}

fn select_all(
    input: Input<'_>,
    location: &Region,
    needs: &Needs,
    offers_ways_out: bool,
) -> Located {
    let mut findings = Findings::default();
    let mut selections = Selections::new();
    let mut refused = BTreeMap::new();
    let now = input.options.now.to_string();
    let today = now.split('T').next().unwrap_or_default();
    let budget = strict_budget(input);
    let mut demand = select::Demand::default();
    for (name, pool) in &input.spec.pools {
        let need = match needs.get(name) {
            Some(Ok(need)) => need.as_ref(),
            Some(Err(finding)) => {
                findings.diagnostics.push(finding.clone());
                None
            }
            None => None,
        };
        let context = Context {
            spec: input.spec,
            name,
            pool,
            need,
            catalog: input.catalog,
            live: input.live,
            location,
            mode: input.options.mode,
            today,
            budget,
            book: input.options.price_book.as_ref(),
            offers_ways_out,
            reselect: input.options.reselect,
            grouped: select::grouping::live(input.live, name),
        };
        let pool = alternates::as_live(context);
        let context = Context {
            pool: &pool,
            ..context
        };
        match with_others(context, &mut findings) {
            Ok(selection) => {
                demand.add(context, &selection);
                selections.insert(name.clone(), selection);
            }
            Err(refusal) => {
                refused.insert(name.clone(), refusal);
            }
        }
    }
    Located {
        location: location.clone(),
        is_known: true,
        fits: !refused
            .keys()
            .any(|name| target::concerns(input, Some(name))),
        short: demand.short(input.live, location),
        selections,
        refused,
        findings,
    }
}

/// Chooses for a pool, with the other ways to make it.
fn with_others(context: Context<'_>, findings: &mut Findings) -> Result<Selection, PoolRefusal> {
    let (selection, found) = select::select(context);
    findings.extend(found);
    let mut selection = selection?;
    let (others, found) = alternates::all(context, &selection);
    findings.extend(found);
    selection.others = others;
    Ok(selection)
}

/// The budget, where more is an error.
fn strict_budget(input: Input<'_>) -> Option<&Budget> {
    let budget = input.spec.budget.as_ref()?;
    let is_strict = budget.on_exceed == OnExceed::Error && budget.currency == cost::CURRENCY;
    is_strict.then_some(budget)
}

/// Where the stack's network or nodes are.
pub(crate) fn of_live(live: &Live) -> Option<Region> {
    let ours = live
        .resources
        .iter()
        .filter(|resource| resource.address().is_some());
    ours.filter_map(|resource| match &resource.resource.as_ref()?.properties {
        Properties::VirtualMachine(vm) => Some((0, &vm.location)),
        Properties::VirtualMachineScaleSet(set) => Some((0, &set.location)),
        Properties::BatchPool(pool) => Some((0, &pool.location)),
        Properties::AgentPool(pool) => Some((0, &pool.location)),
        Properties::NodeArray(array) => Some((0, &array.location)),
        Properties::KubernetesCluster(cluster) => Some((1, &cluster.location)),
        Properties::BatchAccount(account) => Some((1, &account.location)),
        Properties::VirtualNetwork(network) => Some((1, &network.location)),
        Properties::Disk(disk) => Some((2, &disk.location)),
        Properties::NetworkSecurityGroup(group) => Some((3, &group.location)),
        Properties::PublicIpAddress(address) => Some((3, &address.location)),
        Properties::NatGateway(gateway) => Some((3, &gateway.location)),
        Properties::BastionHost(host) => Some((3, &host.location)),
        Properties::SshPublicKey(key) => Some((3, &key.location)),
        Properties::StorageAccount(account) => Some((2, &account.location)),
        Properties::ManagedIdentity(identity) => Some((3, &identity.location)),
        Properties::ProximityPlacementGroup(group) => Some((3, &group.location)),
        Properties::NetworkInterface(interface) => Some((3, &interface.location)),
        Properties::ResourceGroup(group) => Some((4, &group.location)),
        Properties::Subnet(_)
        | Properties::BlobContainer(_)
        | Properties::RoleAssignment(_)
        | Properties::MarketplaceTerms(_) => None,
    })
    .min()
    .map(|(_, location)| location.clone())
}
