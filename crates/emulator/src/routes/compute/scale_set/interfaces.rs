//! Lists of the interfaces of a set's instances, and of their public addresses.

use serde_json::json;

use super::{
    instance::{self, Seen},
    serve::{instance_of, missing, set_of},
};
use crate::{
    call::Call,
    error::ArmError,
    http::Answer,
    json::text,
    routes::common::{page, skip},
    store::world::World,
};

/// Interfaces of instances: of one, or of all.
pub(crate) fn interfaces(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = set_of(world, call)?;
    let kind = call.path.kind();
    let of_one = kind.contains("/virtualmachines/");
    let seen: Vec<Seen<'_>> = if of_one {
        vec![instance_of(set_, call.path.name(1))?]
    } else {
        Seen::all(set_).collect()
    };
    if kind.ends_with("/ipconfigurations") || (of_one && !call.path.is_open()) {
        let name = call.path.name(2);
        let shown = seen
            .first()
            .and_then(|seen| instance::interface(*seen, name))
            .ok_or_else(missing)?;
        if !kind.ends_with("/ipconfigurations") {
            return Ok(Answer::json(200, shown));
        }
        let all = crate::json::items(&shown, "/properties/ipConfigurations");
        return Ok(Answer::json(200, json!({"value": all})));
    }
    let mut items = Vec::new();
    let after = skip(call);
    for seen in seen {
        let names = crate::json::items(
            &seen.model.profile,
            "/networkProfile/networkInterfaceConfigurations",
        );
        for name in names.iter().filter_map(|one| text(one, "/name")) {
            let key = format!("{:012} {name}", seen.id);
            if let Some(shown) = instance::interface(seen, name)
                && after.as_ref().is_none_or(|after| key > *after)
            {
                items.push((key, shown));
            }
        }
    }
    Ok(page(call, items.into_iter(), call.setup.pages.others))
}

/// Public addresses of instances: of one IP configuration, or of all instances.
pub(crate) fn public_addresses(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = set_of(world, call)?;
    if call.path.kind().contains("/virtualmachines/") {
        let seen = instance_of(set_, call.path.name(1))?;
        let holder = seen
            .arm_id()
            .child("networkInterfaces", call.path.name(2))
            .child("ipConfigurations", call.path.name(3));
        let mut found = instance::public_addresses(seen);
        found.retain(|address| {
            text(address, "/properties/ipConfiguration/id")
                .is_some_and(|id| id.to_lowercase() == holder.key())
        });
        return Ok(Answer::json(200, json!({"value": found})));
    }
    let after = skip(call);
    let all = Seen::all(set_).flat_map(|seen| {
        let found = instance::public_addresses(seen).into_iter();
        found.map(move |shown| {
            let name = text(&shown, "/name").unwrap_or_default().to_owned();
            (format!("{:012} {name}", seen.id), shown)
        })
    });
    let items = all.filter(|(key, _)| after.as_ref().is_none_or(|after| key > after));
    Ok(page(call, items, call.setup.pages.others))
}
