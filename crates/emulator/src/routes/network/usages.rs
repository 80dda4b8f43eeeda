//! What is used of the network's limits.

use serde_json::{Value, json};

use crate::{call::Call, error::ArmError, http::Answer, json::remove, store::world::World};

/// Counters of a region with their titles and limits, in the order and the words recorded. Those
/// of types that the sandbox does not serve stay at nought.
const COUNTERS: &str = "\
VirtualNetworks|Virtual Networks|1000
CustomIpPrefixes|Custom Ip Prefixes|5
PublicIpPrefixes|Public Ip Prefixes|2147483647
PublicIPAddresses|Public IP Addresses|1000
StaticPublicIPAddresses|Static Public IP Addresses|1000
StandardSkuPublicIpAddresses|Public IP Addresses - Standard|1000
NetworkSecurityGroups|Network Security Groups|5000
NatGateways|Nat Gateways|1000
NetworkInterfaces|Network Interfaces|65536
PrivateEndpoints|Private Endpoints|65536
PrivateEndpointRedirectMaps|Private Endpoint Redirect Maps|2147483647
LoadBalancers|Load Balancers|1000
PrivateLinkServices|Private Link Services|1800
ApplicationGateways|Application Gateways|1000
RouteTables|Route Tables|200
RouteFilters|Route Filters|1000
NetworkWatchers|Network Watchers|1
PacketCaptures|Packet Captures|10000
ApplicationSecurityGroups|Application Security Groups.|3000
DdosProtectionPlans|DDoS Protection Plans.|1
DdosCustomPolicies|DDoS customized policies|200
ServiceEndpointPolicies|Service Endpoint Policies|500
NetworkIntentPolicies|Network Intent Policies|200
StandardSkuLoadBalancers|Standard Sku Load Balancers|1000
AuxiliaryModeEnabledNetworkInterfaces|Auxiliary Mode Enabled Network Interfaces|10
DnsServersPerVirtualNetwork|DNS servers per Virtual Network|20
CustomDnsServersPerP2SVpnGateway|Custom DNS servers per P2SVpnGateway|5
SubnetsPerVirtualNetwork|Subnets per Virtual Network|3000
IPConfigurationsPerVirtualNetwork|IP Configurations per Virtual Network|65536
PeeringsPerVirtualNetwork|Peerings per Virtual Network|500
PrefixesPerSubnet|Prefixes per Subnet|500
SecurityRulesPerNetworkSecurityGroup|Security rules per Network Security Group|1000
SecurityRulesPerNetworkIntentPolicy|Security rules per Network Intent Policy|100
RoutesPerNetworkIntentPolicy|Routes per Network Intent Policy|200
SecurityRuleAddressesOrPortsPerNetworkSecurityGroup|Security rules addresses or ports per Network Security Group|4000
InboundRulesPerLoadBalancer|Inbound Rules per Load Balancer|250
FrontendIPConfigurationPerLoadBalancer|Frontend IP Configurations per Load Balancer|200
OutboundRulesPerLoadBalancer|Outbound Rules per Load Balancer|5
RoutesPerRouteTable|Routes per Route Table|400
RoutesWithServiceTagPerRouteTable|Routes with service tag per Route Table|25
SecondaryIPConfigurationsPerNetworkInterface|Secondary IP Configurations per Network Interface|256
SecondaryIPConfigurationsPerPrivateEndpointNetworkInterface|Secondary IP Configurations per PrivateEndpoint Network Interface|500
InboundNatOrLbRulesPerNetworkInterface|Inbound rules per Network Interface|300
RouteFilterRulesPerRouteFilter|Route filter rules per Route Filter|1
RouteFiltersPerExpressRouteBgpPeering|Route filters per Express route BGP Peering|1
MinPublicIpInterNetworkPrefixLength|Public IPv4 Prefix Length|28";

/// A counter: its name, its title, its limit.
fn counters() -> impl Iterator<Item = (&'static str, &'static str, u64)> {
    COUNTERS.lines().filter_map(|line| {
        let mut parts = line.split('|');
        Some((parts.next()?, parts.next()?, parts.next()?.parse().ok()?))
    })
}

/// The names of all counters.
pub(crate) fn names() -> impl Iterator<Item = String> {
    counters().map(|(name, _, _)| name.to_owned())
}

/// The usual limit of a counter of the network.
pub(crate) fn usual(name: &str) -> Option<u64> {
    let found = counters().find(|(known, _, _)| *known == name);
    found.map(|(_, _, limit)| limit)
}

/// The limit of a counter: the world's, or the usual one.
pub(crate) fn limit(world: &World, subscription: &str, location: &str, name: &str) -> u64 {
    world
        .quota(subscription, location, name)
        .map_or_else(|| usual(name).unwrap_or(u64::MAX), |quota| quota.limit)
}

/// Whether there is room for one more; the limit where there is not.
pub(crate) fn check(
    world: &World,
    subscription: &str,
    location: &str,
    name: &str,
) -> Result<(), u64> {
    let limit = limit(world, subscription, location, name);
    if world.usage(subscription, location, name) < limit {
        Ok(())
    } else {
        Err(limit)
    }
}

pub(crate) fn list(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let subscription = call.subscription();
    let location = crate::routes::compute::region_of(call)?;
    let mut value = of(world, subscription, location);
    // Not in the schema; recorded at versions before this one.
    if call.since("2024-03-01") {
        for usage in &mut value {
            remove(usage, "/isAdjustable");
        }
    }
    Ok(Answer::json(200, json!({"value": value})))
}

/// All counters of a region.
pub(crate) fn of(world: &World, subscription: &str, location: &str) -> Vec<Value> {
    counters()
        .map(|(name, title, _)| {
            json!({
                "currentValue": world.usage(subscription, location, name),
                "id": format!(
                    "/subscriptions/{subscription}/providers/Microsoft.Network/locations/{location}/usages/{name}"
                ),
                "limit": limit(world, subscription, location, name),
                "name": {"localizedValue": title, "value": name},
                "unit": "Count",
                "isAdjustable": name != "NetworkWatchers",
            })
        })
        .collect()
}
