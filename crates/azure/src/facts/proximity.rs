//! A proximity placement group: where it is, what it is meant for, and whether it holds together.

use azure_core::Method;
use model::{ids::ArmId, live::ProximityGroupFact, units::Region};
use serde_json::Value;

use crate::{
    client::{Client, absent_as_none},
    error::RequestError,
    versions,
};

/// Reads a group; `None` where there is none.
pub(super) async fn read(
    client: &Client,
    id: &ArmId,
) -> Result<Option<ProximityGroupFact>, RequestError> {
    let query = [
        ("includeColocationStatus", "true"),
        ("api-version", versions::COMPUTE),
    ];
    let call = client.call_at(Method::Get, id.as_str(), &query)?;
    let group = absent_as_none(client.send(&call).await)?;
    Ok(group.map(|group| fact(&group.body)))
}

fn fact(group: &Value) -> ProximityGroupFact {
    let text = |place: &str| group.pointer(place).and_then(Value::as_str);
    let sizes = group.pointer("/properties/intent/vmSizes");
    let sizes = sizes.and_then(Value::as_array).into_iter().flatten();
    let status = text("/properties/colocationStatus/code");
    ProximityGroupFact {
        location: Region::new(text("/location").unwrap_or_default()),
        zone: text("/zones/0").map(ToOwned::to_owned),
        sizes: sizes
            .filter_map(|size| Some(size.as_str()?.into()))
            .collect(),
        aligned: match status.and_then(|status| status.rsplit('/').next()) {
            Some("Aligned") => Some(true),
            Some("NotAligned") => Some(false),
            Some(_) | None => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_group_tells_its_place_its_purpose_and_whether_it_holds_together() {
        let group = json!({"location": "East US", "zones": ["2"], "properties": {
            "intent": {"vmSizes": ["Standard_D4s_v5"]},
            "colocationStatus": {"code": "ColocationStatus/NotAligned", "level": "Info"},
        }});
        let expected = ProximityGroupFact {
            location: Region::new("eastus"),
            zone: Some("2".to_owned()),
            sizes: ["Standard_D4s_v5".into()].into(),
            aligned: Some(false),
        };
        assert_eq!(fact(&group), expected);
        let bare = json!({"location": "eastus", "properties": {"colocationStatus": {"code": "ColocationStatus/Unknown"}}});
        let expected = ProximityGroupFact {
            location: Region::new("eastus"),
            zone: None,
            sizes: std::collections::BTreeSet::new(),
            aligned: None,
        };
        assert_eq!(fact(&bare), expected);
    }
}
