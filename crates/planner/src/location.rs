//! The region of a stack, and the choices of every pool there.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::Live,
    resource::Properties,
    units::Region,
};

use crate::{
    plan::Input,
    select::{self, Context, Findings, Selection},
};

/// Choices by pool.
pub(crate) type Selections = BTreeMap<String, Selection>;

/// The region: where the stack lives already, else the first of the spec's list in which every
/// pool finds a size.
pub(crate) fn choose(input: Input<'_>) -> Option<(Region, Selections, Findings)> {
    let asked = &input.spec.locations;
    if let Some(live) = of_live(input.live) {
        let (selections, mut findings) = select_all(input, &live);
        if !asked.contains(&live) {
            let message =
                format!("the stack lives in {live}, which the spec does not list any more");
            let at = At::Value(SpecPath::of(&["location"]));
            let help = "a stack cannot move: list the region again, or destroy the stack first";
            findings
                .diagnostics
                .push(Diagnostic::new(Code::StackMoved, at, message).with_help(help));
        }
        return Some((live, selections, findings));
    }
    let mut passed_over: Vec<(Region, Findings)> = Vec::new();
    for location in asked {
        let (selections, mut findings) = match unknown_region(input, location) {
            Some(finding) => (Selections::new(), finding),
            None => select_all(input, location),
        };
        if !findings.diagnostics.has_errors() {
            note_passed_over(passed_over, &mut findings);
            return Some((location.clone(), selections, findings));
        }
        passed_over.push((location.clone(), findings));
    }
    // Nothing fits anywhere: what is wrong in the preferred region helps most.
    let mut all = passed_over.into_iter();
    let (location, mut findings) = all.next()?;
    for (other, why) in all {
        let reason = why
            .diagnostics
            .iter()
            .find(|finding| finding.severity == Severity::Error);
        let message = reason.map_or_else(String::new, |finding| {
            format!("in {other}: {}", finding.message)
        });
        findings.diagnostics.push(Diagnostic::new(
            Code::LocationPassedOver,
            At::Value(SpecPath::of(&["location"])),
            message,
        ));
    }
    Some((location, Selections::new(), findings))
}

fn unknown_region(input: Input<'_>, location: &Region) -> Option<Findings> {
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
    Some(findings)
}

fn note_passed_over(passed_over: Vec<(Region, Findings)>, findings: &mut Findings) {
    for (location, why) in passed_over {
        for finding in why
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
        {
            let message = format!("{location} is passed over: {}", finding.message);
            findings.diagnostics.push(Diagnostic::new(
                Code::LocationPassedOver,
                finding.at.clone(),
                message,
            ));
        }
    }
}

fn select_all(input: Input<'_>, location: &Region) -> (Selections, Findings) {
    let mut findings = Findings::default();
    let mut selections = Selections::new();
    for (name, pool) in &input.spec.pools {
        let context = Context {
            spec: input.spec,
            name,
            pool,
            catalog: input.catalog,
            live: input.live,
            location,
            mode: input.options.mode,
            reselect: input.options.reselect,
        };
        let (selection, found) = select::select(context);
        findings.extend(found);
        selections.extend(selection.map(|selection| (name.clone(), selection)));
    }
    (selections, findings)
}

/// Where the stack's network or nodes are.
pub(crate) fn of_live(live: &Live) -> Option<Region> {
    let ours = live
        .resources
        .iter()
        .filter(|resource| resource.address().is_some());
    ours.filter_map(|resource| match &resource.resource.as_ref()?.properties {
        Properties::VirtualMachine(vm) => Some((0, &vm.location)),
        Properties::VirtualNetwork(network) => Some((1, &network.location)),
        Properties::Disk(disk) => Some((2, &disk.location)),
        Properties::NetworkSecurityGroup(group) => Some((3, &group.location)),
        Properties::PublicIpAddress(address) => Some((3, &address.location)),
        Properties::NatGateway(gateway) => Some((3, &gateway.location)),
        Properties::SshPublicKey(key) => Some((3, &key.location)),
        Properties::ResourceGroup(group) => Some((4, &group.location)),
        Properties::Subnet(_) => None,
    })
    .min()
    .map(|(_, location)| location.clone())
}
