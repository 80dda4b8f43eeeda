//! Lists with something wrong in what they list: nobody else's resource becomes ours.

use model::resource::tags;
use proptest::prelude::*;

use super::*;
use crate::{
    read::{assemble::assemble, lists::Lists},
    testing::odd,
};

/// A kind, and a body as lists of that kind hold it, with something wrong in it.
fn listed() -> impl Strategy<Value = (ResourceKind, Value)> {
    let network = format!("{GROUP}/providers/Microsoft.Network/virtualNetworks/demo-vnet");
    let network = json!({"id": network, "location": "eastus", "tags": tags("network.vnet"),
        "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": [
            {"id": format!("{network}/subnets/nodes"), "properties": {"addressPrefix": "10.0.0.0/24"}}]}});
    let disk = json!({"id": format!("{GROUP}/providers/Microsoft.Compute/disks/demo-p-0-os"),
        "location": "eastus", "tags": tags("pool.p[0].vm"), "managedBy": null,
        "sku": {"name": "Premium_LRS"}, "properties": {"diskSizeGB": 30}});
    let ours = machine("rg", "demo-p-0", &tags("pool.p[0].vm"));
    let theirs = machine("rg", "theirs", &json!({"team": "other"}));
    let kinds = proptest::sample::select(ResourceKind::ALL.to_vec());
    (kinds, odd::harmed(vec![network, disk, ours, theirs]))
}

proptest! {
    #[test]
    fn what_does_not_carry_our_tag_is_never_ours(
        listed in proptest::collection::vec(listed(), 0..5),
        view in odd::json(),
    ) {
        let mut lists = Lists::default();
        let id = machine("rg", "demo-p-0", &Value::Null)["id"].as_str().map(str::parse);
        lists.views.insert(id.expect("text").expect("an id"), view);
        for (kind, body) in &listed {
            lists.by_kind.entry(*kind).or_default().push(body.clone());
            lists.whole_group.push(body.clone());
        }
        lists.group = listed.first().map(|(_, body)| body.clone());
        let live = assemble("s", &scope(), &lists);
        for resource in &live.resources {
            if matches!(resource.owner, Owner::Stack(_)) {
                prop_assert_eq!(resource.tags.get(tags::STACK), Some("demo"));
            }
        }
        prop_assert!(live.resources.is_sorted_by(|one, other| one.id < other.id));
        for unread in &live.unread {
            prop_assert!(!unread.reason.is_empty() && !unread.what.is_empty());
        }
    }
}
