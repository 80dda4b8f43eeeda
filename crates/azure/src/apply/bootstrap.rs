//! What new nodes run when they start first: it goes into the body that makes them, and an
//! extension waits for its end.

use std::{collections::BTreeMap, fmt};

use azure_core::{Method, base64};
use model::{
    resource::{Resource, ResourceKind, tags},
    units::SizeName,
};
use serde_json::{Map, Value};

use super::{
    failure::{self, Stopped},
    step::Performer,
    write::WriteError,
};
use crate::wire::{self, batch, patch::Change, readiness};

/// What a set runs of which the spec asks nothing any more: Azure keeps custom data that a change
/// leaves out.
const NOTHING: &str = "#cloud-config\n{}\n";

/// What new nodes run when they start first, by the digest that they carry as a tag and their
/// size. Nothing prints it.
#[derive(Clone, Default)]
pub struct CustomData(BTreeMap<(String, SizeName), String>);

impl CustomData {
    /// Keeps what nodes of a size run.
    pub fn keep(&mut self, digest: &str, size: &SizeName, text: String) {
        self.0.insert((digest.to_owned(), size.clone()), text);
    }
}

impl fmt::Debug for CustomData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Performer<'_> {
    /// Puts what a new node or a new instance runs into the body that makes it.
    pub(super) fn add_custom_data(
        &self,
        after: &Resource,
        body: &mut Value,
    ) -> Result<(), Stopped> {
        let Some(text) = self.custom_data(after)? else {
            return Ok(());
        };
        if after.kind() == ResourceKind::BatchPool {
            body["properties"]["startTask"] = batch::start_task(&base64::encode(text));
            return Ok(());
        }
        for place in [
            "/properties/osProfile",
            "/properties/virtualMachineProfile/osProfile",
        ] {
            if let Some(profile) = body.pointer_mut(place) {
                profile["customData"] = Value::from(base64::encode(text));
            }
        }
        Ok(())
    }

    /// The same for the change of a set or of a pool, which may run nothing any more.
    pub(super) fn change_custom_data(
        &self,
        after: &Resource,
        changes: &mut [Change],
    ) -> Result<(), Stopped> {
        let text = self.custom_data(after)?;
        let is_pool = after.kind() == ResourceKind::BatchPool;
        for change in changes {
            let Change::Patch(body) = change else {
                continue;
            };
            if is_pool {
                // An empty one takes away what there was.
                let task = text.map(|text| batch::start_task(&base64::encode(text)));
                body["properties"]["startTask"] = task.unwrap_or_else(|| Value::Object(Map::new()));
            } else {
                let data = base64::encode(text.unwrap_or(NOTHING));
                body["properties"]["virtualMachineProfile"]["osProfile"]["customData"] =
                    Value::from(data);
            }
        }
        Ok(())
    }

    fn custom_data(&self, after: &Resource) -> Result<Option<&str>, Stopped> {
        let (Some(digest), Some((size, _))) = (after.tags.get(tags::BOOTSTRAP), after.machines())
        else {
            return Ok(None);
        };
        let key = (digest.to_owned(), size.clone());
        let text = self.run.inputs.custom_data.0.get(&key);
        let text = text.ok_or_else(|| {
            let message = format!("what nodes of {size} run when they start first is not known");
            failure::ours("ValueNotKnown", message)
        })?;
        Ok(Some(text))
    }

    /// Waits until the bootstrap of a VM that was just made has ended. Instances of a set wait by
    /// themselves: their extension is part of the set.
    pub(super) async fn await_readiness(&self) -> Result<(), Stopped> {
        let after = self.after()?;
        if !after
            .virtual_machine()
            .is_some_and(|vm| vm.reports_readiness)
        {
            return Ok(());
        }
        self.waiting("bootstrap");
        self.put_readiness().await.map_err(|error| {
            let mut failure = error.failure(false);
            failure.left_behind = true;
            failure
        })
    }

    /// Makes the extension that waits for the bootstrap of a VM, or makes it run again.
    pub(super) async fn put_readiness(&self) -> Result<(), WriteError> {
        let after = self.after().map_err(WriteError::Step)?;
        let Some(machine) = after.virtual_machine() else {
            return Ok(());
        };
        let id = wire::readiness::id_at(&self.step.id);
        let body = readiness::body(machine.location.as_str(), &self.run.inputs.nonce);
        let call = self.call_on(Method::Put, &id).map_err(WriteError::Step)?;
        self.write(&call.body(body)).await.map(|_| ())
    }
}
