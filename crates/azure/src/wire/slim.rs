//! What of a scale set's instance is looked at: sets have thousands, and a body has ten times more.

use serde_json::{Map, Value};

/// Members of an instance of a Flexible set that are looked at.
const OF_INSTANCE: [&[&str]; 16] = [
    &["id"],
    &["type"],
    &["location"],
    &["zones"],
    &["tags"],
    &["resources"],
    &["properties", "provisioningState"],
    &["properties", "timeCreated"],
    &["properties", "priority"],
    &["properties", "virtualMachineScaleSet"],
    &["properties", "osProfile", "computerName"],
    &["properties", "networkProfile", "networkInterfaces"],
    &["properties", "storageProfile", "osDisk", "name"],
    &["properties", "storageProfile", "osDisk", "managedDisk"],
    &["properties", "storageProfile", "dataDisks"],
    &["properties", "instanceView"],
];

/// Members of an instance view that are looked at.
const OF_VIEW: [&[&str]; 3] = [&["statuses"], &["vmAgent", "statuses"], &["extensions"]];

/// An instance of a Flexible set, without what nobody looks at.
pub(crate) fn instance(body: Value) -> Value {
    let mut kept = only(body, &OF_INSTANCE);
    if let Some(found) = kept.pointer_mut("/properties/instanceView") {
        *found = view(found.take());
    }
    kept
}

/// An instance view, without what nobody looks at.
pub(crate) fn view(body: Value) -> Value {
    only(body, &OF_VIEW)
}

fn only(mut body: Value, places: &[&[&str]]) -> Value {
    let mut kept = Value::Object(Map::new());
    for place in places {
        let mut found = Some(&mut body);
        for name in *place {
            found = found.and_then(|value| value.get_mut(name));
        }
        if let Some(value) = found.map(Value::take) {
            put(&mut kept, place, value);
        }
    }
    kept
}

fn put(kept: &mut Value, place: &[&str], value: Value) {
    let Some((name, inside)) = place.split_first() else {
        *kept = value;
        return;
    };
    if let Value::Object(members) = kept {
        let next = members
            .entry((*name).to_owned())
            .or_insert_with(|| Value::Object(Map::new()));
        put(next, inside, value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_looked_at_stays_where_it_is() {
        let body = json!({
            "id": "a", "etag": "1",
            "properties": {
                "vmId": "b", "hardwareProfile": {"vmSize": "s"},
                "storageProfile": {"osDisk": {"name": "d", "caching": "None"}, "imageReference": {}},
                "instanceView": {
                    "statuses": [{"code": "PowerState/running"}], "disks": [1],
                    "vmAgent": {"statuses": [1], "extensionHandlers": [2]},
                },
            },
        });
        let kept = json!({
            "id": "a",
            "properties": {
                "storageProfile": {"osDisk": {"name": "d"}},
                "instanceView": {
                    "statuses": [{"code": "PowerState/running"}], "vmAgent": {"statuses": [1]},
                },
            },
        });
        assert_eq!(instance(body), kept);
        assert_eq!(instance(json!({})), json!({}));
        assert_eq!(view(json!(1)), json!({}));
    }
}
