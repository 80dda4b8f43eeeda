//! What is looked at of a VM that is an instance of a scale set of ours: sets have thousands, and
//! a body has twenty times more.

use model::{
    ids::ArmId,
    live::{Instance, Power},
};
use serde_json::{Map, Value};

use super::{instance_of_vm, interfaces_of, os_disk_of, parts_of_instance, set_of_vm, state};

/// A VM that is an instance of a Flexible set.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The VM.
    pub(crate) id: ArmId,
    /// Its set.
    pub(crate) set: ArmId,
    /// As its set sees it.
    pub(crate) instance: Instance,
    /// Its interfaces.
    pub(crate) interfaces: Vec<ArmId>,
    /// Its OS disk.
    pub(crate) os_disk: Option<ArmId>,
    /// All disks that came with it.
    pub(crate) disks: Vec<ArmId>,
    /// Its extensions.
    pub(crate) extensions: Vec<ArmId>,
    /// Whether its state was told with it.
    pub(crate) has_view: bool,
    /// Whether it was taken back, once it has no hardware.
    may_be_evicted: bool,
}

impl Member {
    /// What a body says of a VM in a set.
    pub(crate) fn of(body: &Value) -> Option<Self> {
        let id_at = |body: &Value| body.get("id")?.as_str()?.parse().ok();
        let id: ArmId = id_at(body)?;
        let extensions = body.get("resources").and_then(Value::as_array);
        Some(Self {
            set: set_of_vm(body)?,
            instance: instance_of_vm(&id, body, state::of_body(body)),
            interfaces: interfaces_of(body).collect(),
            os_disk: os_disk_of(&id, body),
            disks: parts_of_instance(body),
            extensions: extensions.into_iter().flatten().filter_map(id_at).collect(),
            has_view: body.pointer("/properties/instanceView").is_some(),
            may_be_evicted: state::may_be_evicted(body),
            id,
        })
    }

    /// Adds what an instance view of its own tells.
    pub(crate) fn see(&mut self, view: &Value) {
        let state = &mut self.instance.state;
        state::apply_instance_view(state, view);
        state.evicted = self.may_be_evicted && state.power == Some(Power::Deallocated);
    }
}

/// An instance view, without what nobody looks at.
pub(crate) fn slim_view(mut view: Value) -> Value {
    let mut kept = Map::new();
    for name in ["statuses", "vmAgent", "extensions"] {
        if let Some(value) = view.get_mut(name) {
            kept.insert(name.to_owned(), value.take());
        }
    }
    if let Some(agent) = kept.get_mut("vmAgent").and_then(Value::as_object_mut) {
        agent.retain(|name, _| name == "statuses");
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GROUP: &str = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute";

    fn body(priority: &str) -> Value {
        json!({
            "id": format!("{GROUP}/virtualMachines/vm"),
            "properties": {
                "priority": priority,
                "provisioningState": "Succeeded",
                "osProfile": {"computerName": "host"},
                "virtualMachineScaleSet": {"id": format!("{GROUP}/virtualMachineScaleSets/set")},
                "storageProfile": {"osDisk": {"managedDisk": {"id": format!("{GROUP}/disks/os")}}},
            },
            "resources": [{"id": format!("{GROUP}/virtualMachines/vm/extensions/e")}],
        })
    }

    #[test]
    fn an_instance_is_what_its_body_and_its_view_say() {
        let view = json!({"statuses": [{"code": "PowerState/deallocated"}], "disks": [1],
            "vmAgent": {"statuses": [], "extensionHandlers": [2]}});
        assert_eq!(
            slim_view(view.clone()),
            json!({"statuses": view["statuses"], "vmAgent": {"statuses": []}})
        );
        for (priority, evicted) in [("Spot", true), ("Regular", false)] {
            let mut apart = Member::of(&body(priority)).expect("a member");
            assert!(!apart.has_view && apart.instance.state.power.is_none());
            apart.see(&slim_view(view.clone()));
            let mut whole = body(priority);
            whole["properties"]["instanceView"] = view.clone();
            let whole = Member::of(&whole).expect("a member");
            assert!(whole.has_view);
            assert_eq!(apart.instance, whole.instance);
            assert_eq!(whole.instance.state.evicted, evicted);
            assert_eq!(whole.instance.host_name.as_deref(), Some("host"));
            assert_eq!((whole.disks.len(), whole.extensions.len()), (1, 1));
        }
        assert!(Member::of(&json!({"id": "x"})).is_none());
    }
}
