//! Network security groups with their rules, which go and come inline.

use std::collections::BTreeSet;

use model::resource::{NetworkSecurityGroup, SecurityRule};
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{items, location, required, required_number, text, texts},
};

pub(super) fn encode(group: &NetworkSecurityGroup) -> Value {
    let NetworkSecurityGroup { location, rules } = group;
    let rules: Vec<Value> = rules
        .iter()
        .map(|(name, rule)| json!({ "name": name, "properties": encode_rule(rule) }))
        .collect();
    json!({ "location": location, "properties": { "securityRules": rules } })
}

fn encode_rule(rule: &SecurityRule) -> Value {
    let SecurityRule {
        priority,
        direction,
        access,
        protocol,
        sources,
        ports,
    } = rule;
    let mut properties = json!({
        "priority": priority,
        "direction": direction,
        "access": access,
        "protocol": protocol,
        "sourcePortRange": "*",
        "destinationAddressPrefix": "*",
    });
    // One value has a member of its own: service tags and `*` are not allowed in the list.
    let mut put = |one: &str, many: &str, values: &BTreeSet<String>| match values.first() {
        Some(value) if values.len() == 1 => properties[one] = json!(value),
        _ => properties[many] = json!(values),
    };
    put("sourceAddressPrefix", "sourceAddressPrefixes", sources);
    put("destinationPortRange", "destinationPortRanges", ports);
    properties
}

pub(super) fn decode(body: &Value) -> Result<NetworkSecurityGroup, DecodeError> {
    let rules = items(body, "/properties/securityRules")
        .map(|rule| Ok((required(rule, "/name")?.to_owned(), decode_rule(rule)?)))
        .collect::<Result<_, DecodeError>>()?;
    Ok(NetworkSecurityGroup {
        location: location(body)?,
        rules,
    })
}

/// A rule can say more than ours do: a destination, source ports, application groups. That must
/// show as a difference, so it stands in words among the sources and ports.
fn decode_rule(rule: &Value) -> Result<SecurityRule, DecodeError> {
    let either = |one: &str, many: &str| {
        let mut values = texts(rule, &format!("/properties/{many}"));
        values.extend(text(rule, &format!("/properties/{one}")).map(ToOwned::to_owned));
        values.retain(|value| !value.is_empty());
        values
    };
    let mut sources = either("sourceAddressPrefix", "sourceAddressPrefixes");
    let mut ports = either("destinationPortRange", "destinationPortRanges");
    for (extra, word, into) in [
        (
            either("sourcePortRange", "sourcePortRanges"),
            "from port",
            &mut sources,
        ),
        (
            either("destinationAddressPrefix", "destinationAddressPrefixes"),
            "to",
            &mut ports,
        ),
    ] {
        let beyond = extra.into_iter().filter(|value| value != "*");
        into.extend(beyond.map(|value| format!("{word} {value}")));
    }
    for (member, into) in [
        ("sourceApplicationSecurityGroups", &mut sources),
        ("destinationApplicationSecurityGroups", &mut ports),
    ] {
        let groups =
            items(rule, &format!("/properties/{member}")).filter_map(|group| text(group, "/id"));
        into.extend(groups.map(|id| format!("group {id}")));
    }
    Ok(SecurityRule {
        priority: required_number(rule, "/properties/priority")?,
        direction: required(rule, "/properties/direction")?.into(),
        access: required(rule, "/properties/access")?.into(),
        protocol: required(rule, "/properties/protocol")?.into(),
        sources,
        ports,
    })
}
