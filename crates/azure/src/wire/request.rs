//! Network bodies between an answer and a request: an answer has more members than a request
//! may have.

use model::resource::ResourceKind;
use serde_json::Value;

/// What a network body may have in a request, by the API's schema. Answers have more: what is
/// read-only, and what newer versions have added, which this version does not take.
struct Shape {
    top: &'static [&'static str],
    properties: &'static [&'static str],
}

fn shape(kind: ResourceKind) -> Shape {
    let (top, properties): (&[&str], &[&str]) = match kind {
        ResourceKind::VirtualNetwork => (
            &["location", "tags", "extendedLocation", "properties"],
            NETWORK,
        ),
        ResourceKind::NetworkSecurityGroup => (
            &["location", "tags", "properties"],
            &["flushConnection", "securityRules"],
        ),
        ResourceKind::PublicIpAddress => (
            &[
                "location",
                "tags",
                "extendedLocation",
                "sku",
                "zones",
                "properties",
            ],
            ADDRESS,
        ),
        ResourceKind::NatGateway => (
            &["location", "tags", "sku", "zones", "properties"],
            &[
                "idleTimeoutInMinutes",
                "publicIpAddresses",
                "publicIpPrefixes",
            ],
        ),
        ResourceKind::BastionHost => (&["location", "tags", "sku", "zones", "properties"], BASTION),
        ResourceKind::Subnet
        | ResourceKind::ResourceGroup
        | ResourceKind::SshPublicKey
        | ResourceKind::ProximityPlacementGroup
        | ResourceKind::NetworkInterface
        | ResourceKind::Disk
        | ResourceKind::VirtualMachine
        | ResourceKind::VirtualMachineScaleSet
        | ResourceKind::BatchAccount
        | ResourceKind::BatchPool
        | ResourceKind::KubernetesCluster
        | ResourceKind::AgentPool
        | ResourceKind::NodeArray
        | ResourceKind::StorageAccount
        | ResourceKind::BlobContainer
        | ResourceKind::ManagedIdentity
        | ResourceKind::RoleAssignment
        | ResourceKind::MarketplaceTerms => (&["properties"], SUBNET),
    };
    Shape { top, properties }
}

const NETWORK: &[&str] = &[
    "addressSpace",
    "dhcpOptions",
    "flowTimeoutInMinutes",
    "subnets",
    "virtualNetworkPeerings",
    "enableDdosProtection",
    "enableVmProtection",
    "ddosProtectionPlan",
    "bgpCommunities",
    "encryption",
    "ipAllocations",
    "privateEndpointVNetPolicies",
];

const BASTION: &[&str] = &[
    "ipConfigurations",
    "dnsName",
    "virtualNetwork",
    "networkAcls",
    "scaleUnits",
    "disableCopyPaste",
    "enableFileCopy",
    "enableIpConnect",
    "enableShareableLink",
    "enableTunneling",
    "enableKerberos",
    "enableSessionRecording",
];

const ADDRESS: &[&str] = &[
    "publicIPAllocationMethod",
    "publicIPAddressVersion",
    "dnsSettings",
    "ddosSettings",
    "ipTags",
    "ipAddress",
    "publicIPPrefix",
    "idleTimeoutInMinutes",
    "deleteOption",
];

const SUBNET: &[&str] = &[
    "addressPrefix",
    "addressPrefixes",
    "networkSecurityGroup",
    "routeTable",
    "natGateway",
    "serviceEndpoints",
    "serviceEndpointPolicies",
    "ipAllocations",
    "delegations",
    "privateEndpointNetworkPolicies",
    "privateLinkServiceNetworkPolicies",
    "applicationGatewayIPConfigurations",
    "sharingScope",
    "defaultOutboundAccess",
];

const PEERING: &[&str] = &[
    "allowVirtualNetworkAccess",
    "allowForwardedTraffic",
    "allowGatewayTransit",
    "useRemoteGateways",
    "remoteVirtualNetwork",
    "localAddressSpace",
    "localVirtualNetworkAddressSpace",
    "remoteAddressSpace",
    "remoteVirtualNetworkAddressSpace",
    "remoteBgpCommunities",
    "peeringState",
    "peeringSyncLevel",
    "doNotVerifyRemoteGateways",
    "peerCompleteVnets",
    "enableOnlyIPv6Peering",
    "localSubnetNames",
    "remoteSubnetNames",
];

const RULE: &[&str] = &[
    "description",
    "protocol",
    "sourcePortRange",
    "destinationPortRange",
    "sourceAddressPrefix",
    "sourceAddressPrefixes",
    "sourceApplicationSecurityGroups",
    "destinationAddressPrefix",
    "destinationAddressPrefixes",
    "destinationApplicationSecurityGroups",
    "sourcePortRanges",
    "destinationPortRanges",
    "access",
    "priority",
    "direction",
];

/// Lists of children inside a body, each child with a name and properties of its own.
const CHILDREN: [(&str, &[&str]); 3] = [
    ("subnets", SUBNET),
    ("virtualNetworkPeerings", PEERING),
    ("securityRules", RULE),
];

/// The live body of a network kind as a request may have it.
pub(super) fn as_request(kind: ResourceKind, live: &Value) -> Value {
    let Shape { top, properties } = shape(kind);
    let mut body = live.clone();
    keep(&mut body, top);
    if kind == ResourceKind::NatGateway
        && let Some(sku) = body.get_mut("sku")
    {
        keep(sku, &["name"]);
    }
    let Some(members) = body.get_mut("properties") else {
        return body;
    };
    keep(members, properties);
    // Beside the prefixes stand allocations, which belong to a newer version.
    if let Some(space) = members.get_mut("addressSpace") {
        keep(space, &["addressPrefixes"]);
    }
    for (list, properties) in CHILDREN {
        let children = members.get_mut(list).and_then(Value::as_array_mut);
        for child in children.into_iter().flatten() {
            keep(child, &["id", "name", "properties"]);
            if let Some(members) = child.get_mut("properties") {
                keep(members, properties);
                let delegations = members.get_mut("delegations").and_then(Value::as_array_mut);
                delegations.into_iter().flatten().for_each(plain_delegation);
            }
        }
    }
    let delegations = members.get_mut("delegations").and_then(Value::as_array_mut);
    delegations.into_iter().flatten().for_each(plain_delegation);
    body
}

fn plain_delegation(delegation: &mut Value) {
    keep(delegation, &["id", "name", "properties"]);
    if let Some(members) = delegation.get_mut("properties") {
        keep(members, &["serviceName"]);
    }
}

fn keep(value: &mut Value, members: &[&str]) {
    if let Some(map) = value.as_object_mut() {
        map.retain(|name, _| members.contains(&name.as_str()));
    }
}
