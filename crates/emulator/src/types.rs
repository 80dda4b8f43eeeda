//! The types that the sandbox serves, and the API versions that each has had.

mod services;

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::{
    json::same,
    names::{Letters, NameRule},
};

/// A type.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) namespace: &'static str,
    /// `virtualNetworks/subnets`.
    pub(crate) path: &'static str,
    /// Which list of `api-versions.json` it has.
    versions: &'static str,
    /// The rule for names; `None` for what nobody names.
    pub(crate) names: Option<NameRule>,
    /// Whether it has a location and tags, and stands in lists of resources.
    pub(crate) tracked: bool,
    /// Whether it hangs at any scope: a subscription, a group or another resource.
    pub(crate) scoped: bool,
}

const fn rule(shortest: usize, longest: usize, letters: Letters) -> NameRule {
    NameRule {
        shortest,
        longest,
        letters,
    }
}

const fn tracked(
    namespace: &'static str,
    path: &'static str,
    versions: &'static str,
    names: NameRule,
) -> Type {
    Type {
        namespace,
        path,
        versions,
        names: Some(names),
        tracked: true,
        scoped: false,
    }
}

const fn other(
    namespace: &'static str,
    path: &'static str,
    versions: &'static str,
    names: Option<NameRule>,
) -> Type {
    Type {
        namespace,
        path,
        versions,
        names,
        tracked: false,
        scoped: false,
    }
}

const fn scoped(
    namespace: &'static str,
    path: &'static str,
    versions: &'static str,
    names: Option<NameRule>,
) -> Type {
    Type {
        namespace,
        path,
        versions,
        names,
        tracked: false,
        scoped: true,
    }
}

const COMPUTE: &str = "Microsoft.Compute";
const NETWORK: &str = "Microsoft.Network";
const RESOURCES: &str = "Microsoft.Resources";

/// The types of ARM, Compute and Network, in the order in which providers list them. Names follow
/// Microsoft's table of naming rules; a NAT gateway is not in it and is taken to follow its neighbours.
static CORE: &[Type] = &[
    tracked(
        COMPUTE,
        "virtualMachines",
        "compute",
        rule(1, 64, Letters::Machine),
    ),
    tracked(
        COMPUTE,
        "virtualMachines/extensions",
        "compute",
        rule(1, 80, Letters::Machine),
    ),
    tracked(
        COMPUTE,
        "virtualMachines/runCommands",
        "run-commands",
        rule(1, 80, Letters::Machine),
    ),
    tracked(
        COMPUTE,
        "virtualMachineScaleSets",
        "compute",
        rule(1, 64, Letters::Machine),
    ),
    other(
        COMPUTE,
        "virtualMachineScaleSets/extensions",
        "compute",
        Some(rule(1, 80, Letters::Machine)),
    ),
    other(
        COMPUTE,
        "virtualMachineScaleSets/virtualMachines",
        "compute",
        None,
    ),
    tracked(
        COMPUTE,
        "availabilitySets",
        "compute",
        rule(1, 80, Letters::Machine),
    ),
    tracked(
        COMPUTE,
        "proximityPlacementGroups",
        "compute",
        rule(1, 80, Letters::Machine),
    ),
    tracked(
        COMPUTE,
        "capacityReservationGroups",
        "capacity-reservations",
        rule(1, 80, Letters::Machine),
    ),
    tracked(
        COMPUTE,
        "capacityReservationGroups/capacityReservations",
        "capacity-reservations",
        rule(1, 80, Letters::Machine),
    ),
    tracked(COMPUTE, "images", "compute", rule(1, 80, Letters::Machine)),
    tracked(COMPUTE, "disks", "disks", rule(1, 80, Letters::Disk)),
    tracked(COMPUTE, "snapshots", "disks", rule(1, 80, Letters::Disk)),
    tracked(
        COMPUTE,
        "galleries",
        "galleries",
        rule(1, 80, Letters::Gallery),
    ),
    tracked(
        COMPUTE,
        "galleries/images",
        "galleries",
        rule(1, 80, Letters::GalleryImage),
    ),
    tracked(
        COMPUTE,
        "galleries/images/versions",
        "galleries",
        rule(5, 32, Letters::Version),
    ),
    tracked(
        COMPUTE,
        "sshPublicKeys",
        "ssh-keys",
        rule(1, 80, Letters::Machine),
    ),
    other(COMPUTE, "skus", "skus", None),
    other(COMPUTE, "locations", "compute", None),
    other(COMPUTE, "locations/operations", "compute", None),
    other(COMPUTE, "locations/diskOperations", "disks", None),
    other(COMPUTE, "locations/capsOperations", "galleries", None),
    other(
        COMPUTE,
        "locations/placementScores",
        "placement-scores",
        None,
    ),
    other(COMPUTE, "locations/usages", "compute", None),
    other(COMPUTE, "locations/vmSizes", "compute", None),
    other(COMPUTE, "locations/publishers", "compute", None),
    tracked(
        NETWORK,
        "virtualNetworks",
        "network",
        rule(2, 64, Letters::Network),
    ),
    other(
        NETWORK,
        "virtualNetworks/subnets",
        "network",
        Some(rule(1, 80, Letters::Network)),
    ),
    tracked(
        NETWORK,
        "networkSecurityGroups",
        "network",
        rule(1, 80, Letters::Network),
    ),
    other(
        NETWORK,
        "networkSecurityGroups/securityRules",
        "network",
        Some(rule(1, 80, Letters::Network)),
    ),
    other(
        NETWORK,
        "networkSecurityGroups/defaultSecurityRules",
        "network",
        None,
    ),
    tracked(
        NETWORK,
        "publicIPAddresses",
        "network",
        rule(1, 80, Letters::Network),
    ),
    tracked(
        NETWORK,
        "natGateways",
        "nat-gateways",
        rule(1, 80, Letters::Network),
    ),
    tracked(
        NETWORK,
        "networkInterfaces",
        "network",
        rule(1, 80, Letters::Network),
    ),
    tracked(
        NETWORK,
        "loadBalancers",
        "network",
        rule(1, 80, Letters::Network),
    ),
    other(
        NETWORK,
        "loadBalancers/backendAddressPools",
        "network",
        Some(rule(1, 80, Letters::Network)),
    ),
    other(
        NETWORK,
        "loadBalancers/inboundNatRules",
        "network",
        Some(rule(1, 80, Letters::Network)),
    ),
    tracked(
        NETWORK,
        "bastionHosts",
        "bastion-hosts",
        rule(1, 80, Letters::Network),
    ),
    other(NETWORK, "locations", "network", None),
    other(NETWORK, "locations/operations", "network", None),
    other(NETWORK, "locations/operationResults", "network", None),
    other(NETWORK, "locations/usages", "network", None),
    other(
        RESOURCES,
        "resourceGroups",
        "resources",
        Some(rule(1, 90, Letters::Group)),
    ),
    other(RESOURCES, "resources", "resources", None),
    other(
        RESOURCES,
        "deployments",
        "deployments",
        Some(rule(1, 64, Letters::Group)),
    ),
    other(RESOURCES, "deployments/operations", "deployments", None),
    other(
        RESOURCES,
        "deployments/operationStatuses",
        "deployments",
        None,
    ),
    other(RESOURCES, "providers", "resources", None),
    other(RESOURCES, "tags", "resources", None),
    other(RESOURCES, "operationResults", "resources", None),
    other(RESOURCES, "subscriptions", "subscriptions", None),
    other(RESOURCES, "subscriptions/locations", "subscriptions", None),
    other(RESOURCES, "tenants", "subscriptions", None),
];

#[derive(Deserialize)]
struct VersionFile {
    lists: BTreeMap<String, Vec<String>>,
}

static VERSIONS: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let file: VersionFile = serde_json::from_str(include_str!("../data/api-versions.json"))
        .expect("the embedded list of API versions reads, as a test checks");
    file.lists
});

impl Type {
    /// `Microsoft.Network/virtualNetworks/subnets`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.namespace, self.path)
    }

    /// Every API version it has had, oldest first.
    pub(crate) fn versions(&self) -> &'static [String] {
        VERSIONS.get(self.versions).map_or(&[], Vec::as_slice)
    }

    /// Whether it has had this API version.
    pub(crate) fn has_version(&self, version: &str) -> bool {
        self.versions().iter().any(|known| same(known, version))
    }
}

/// The type of this namespace whose path starts the kinds, the longest that does.
pub(crate) fn find(namespace: &str, kinds: &[String]) -> Option<&'static Type> {
    (1..=kinds.len()).rev().find_map(|count| {
        let path = kinds.get(..count)?.join("/");
        all().find(|row| same(row.namespace, namespace) && same(row.path, &path))
    })
}

/// The type of this full name.
pub(crate) fn named(name: &str) -> Option<&'static Type> {
    all().find(|row| same(&row.name(), name))
}

/// Every type that the sandbox serves.
pub(crate) fn all() -> impl Iterator<Item = &'static Type> {
    CORE.iter().chain(services::TYPES)
}

/// The namespaces that the sandbox serves.
pub(crate) fn namespaces() -> [&'static str; 12] {
    [
        COMPUTE,
        NETWORK,
        RESOURCES,
        services::AUTHORIZATION,
        services::BATCH,
        services::CLUSTERS,
        services::IDENTITY,
        services::MARKETPLACE,
        services::POLICY,
        services::QUOTA,
        services::SCHEDULES,
        services::STORAGE,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_versions_in_order() {
        for row in all() {
            let versions = row.versions();
            assert!(!versions.is_empty(), "{}", row.name());
            assert!(versions.is_sorted(), "{}", row.name());
        }
    }

    #[test]
    fn types_are_found_by_their_longest_path() {
        let kinds = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        let path = |text: &str| find("microsoft.network", &kinds(text)).map(|row| row.path);
        assert_eq!(
            path("VirtualNetworks/Subnets"),
            Some("virtualNetworks/subnets")
        );
        assert_eq!(path("virtualNetworks/peerings"), Some("virtualNetworks"));
        assert_eq!(path("azureFirewalls"), None);
    }
}
