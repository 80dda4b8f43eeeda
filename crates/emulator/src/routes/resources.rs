//! Lists of resources of all types, in a subscription or a group.

use serde_json::{Value, json};

use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{same, text},
    odata::Filter,
    routes::common::{not_served, page, skip, tags_of},
    store::{entry::Resource, world::World},
    types,
};

pub(crate) fn answer(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    if call.method() != Method::Get {
        return Err(not_served(call));
    }
    let filter = match call.query().get("$filter") {
        Some(filter) => Some(Filter::parse(filter).map_err(|error| {
            ArmError::gateway(400, "InvalidFilterInQueryString", error.to_string())
        })?),
        None => None,
    };
    let prefix = match &call.path.group {
        Some(group) => format!(
            "/subscriptions/{}/resourcegroups/{group}/",
            call.subscription()
        ),
        None => format!("/subscriptions/{}/", call.subscription()),
    };
    let after = skip(call);
    let items = world
        .below(&prefix)
        .filter(|resource| {
            after
                .as_ref()
                .is_none_or(|after| resource.id.key() > after.as_str())
        })
        .filter(|resource| types::named(&resource.kind).is_some_and(|row| row.tracked))
        .filter(|resource| fits(resource, filter.as_ref()))
        .map(|resource| {
            (
                resource.id.key().to_owned(),
                show(world, call, resource, filter.as_ref()),
            )
        });
    Ok(page(call, items, call.setup.pages.resources))
}

fn fits(resource: &Resource, filter: Option<&Filter>) -> bool {
    let Some(filter) = filter else {
        return true;
    };
    if let Some(name) = filter.demanded("tagName") {
        let tags = tags_of(&resource.body);
        let value = tags.iter().find(|(tag, _)| same(tag, name));
        let wanted = filter.demanded("tagValue");
        return value.is_some_and(|(_, value)| wanted.is_none_or(|wanted| wanted == value));
    }
    filter.fits(&|field| {
        let found = match field.to_lowercase().as_str() {
            "resourcetype" => Some(resource.kind.as_str()),
            "name" => Some(resource.name()),
            "location" => Some(resource.location.as_str()),
            "resourcegroup" => resource.id.group(),
            "plan/publisher" => text(&resource.body, "/plan/publisher"),
            "plan/product" => text(&resource.body, "/plan/product"),
            "plan/name" => text(&resource.body, "/plan/name"),
            "identity/principalid" => text(&resource.body, "/identity/principalId"),
            _ => None,
        };
        found.map(str::to_owned)
    })
}

/// A resource as lists of all types show it: without properties.
fn show(world: &World, call: &Call<'_>, resource: &Resource, filter: Option<&Filter>) -> Value {
    let mut shown = json!({
        "id": super::shown_id(call, resource),
        "name": resource.name(),
        "type": resource.kind,
        "location": resource.location,
    });
    // Documented: a filter by tag name and value leaves the tags out of the answer.
    let by_tag = filter.is_some_and(|filter| filter.demanded("tagName").is_some());
    for member in ["tags", "sku", "identity", "kind", "plan"] {
        if let Some(value) = resource.body.get(member)
            && !(member == "tags" && by_tag)
        {
            crate::json::set(&mut shown, &format!("/{member}"), value.clone());
        }
    }
    if resource.is("Microsoft.Compute/disks")
        && let Some(vm) = super::compute::disk::holder(world, &resource.id)
    {
        crate::json::set(&mut shown, "/managedBy", json!(vm.id.as_str()));
    }
    let expand = call
        .query()
        .get("$expand")
        .unwrap_or_default()
        .to_lowercase();
    if expand.contains("createdtime") {
        crate::json::set(
            &mut shown,
            "/createdTime",
            json!(resource.created.precise()),
        );
    }
    if expand.contains("changedtime") {
        crate::json::set(
            &mut shown,
            "/changedTime",
            json!(resource.changed.precise()),
        );
    }
    if expand.contains("provisioningstate") {
        let state = match resource.state() {
            "" => "Succeeded",
            state => state,
        };
        crate::json::set(&mut shown, "/provisioningState", json!(state));
    }
    shown
}
