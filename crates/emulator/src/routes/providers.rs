//! Namespaces: what they offer, and registering a subscription for them.

use std::time::Duration;

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue,
    durations::{REGISTRATION, Timing},
    error::ArmError,
    http::{Answer, Method},
    lro::{self, Plan},
    routes::common::not_served,
    store::{
        entry::{Entry, Provider, Style, Work},
        world::World,
    },
    types,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(given) = call.path.namespace.clone() else {
        if call.method() != Method::Get {
            return Err(not_served(call));
        }
        let value: Vec<Value> = types::namespaces()
            .iter()
            .map(|namespace| show(world, call, namespace))
            .collect();
        return Ok(Answer::json(200, json!({"value": value})));
    };
    let namespace = types::namespaces()
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(&given))
        .ok_or_else(|| {
            ArmError::gateway(
                404,
                "InvalidResourceNamespace",
                format!("The resource namespace '{given}' is invalid."),
            )
        })?;
    match (call.method(), call.path.kind().as_str()) {
        (Method::Get, "") => {}
        (Method::Post, "register") => change(world, call, namespace, "Registering"),
        (Method::Post, "unregister") => change(world, call, namespace, "Unregistering"),
        _ => return Err(not_served(call)),
    }
    Ok(Answer::json(200, show(world, call, namespace)))
}

/// The state of a namespace; in a new world all are registered.
pub(crate) fn state(world: &World, subscription: &str, namespace: &str) -> String {
    world
        .provider(subscription, namespace)
        .map_or_else(|| "Registered".to_owned(), |found| found.state.clone())
}

fn change(world: &mut World, call: &Call<'_>, namespace: &str, to: &str) {
    let subscription = call.subscription().to_owned();
    let now = state(world, &subscription, namespace);
    let (work, there) = if to == "Registering" {
        (Work::Register, "Registered")
    } else {
        (Work::Unregister, "NotRegistered")
    };
    if now == there || now == to {
        return;
    }
    world.put(Entry::Provider(Provider {
        subscription: subscription.clone(),
        namespace: namespace.to_owned(),
        state: to.to_owned(),
    }));
    lro::begin(
        world,
        call,
        &Plan {
            target: &ArmId::subscription_scope(&subscription),
            location: "",
            style: Style::Hidden,
            work,
            title: namespace,
            timing: Timing {
                takes: if work == Work::Register {
                    REGISTRATION
                } else {
                    Duration::from_secs(10)
                },
                retry_after: None,
            },
        },
    );
}

fn show(world: &World, call: &Call<'_>, namespace: &str) -> Value {
    let locations: Vec<&str> = catalogue::regions()
        .iter()
        .map(|region| region.display_name.as_str())
        .collect();
    let resource_types: Vec<Value> = types::all()
        .filter(|row| row.namespace == namespace)
        .map(|row| {
            let mut versions = row.versions().to_vec();
            versions.reverse();
            json!({
                "resourceType": row.path,
                "locations": if row.tracked { locations.clone() } else { Vec::new() },
                "apiVersions": versions,
                "capabilities": if row.tracked { "SupportsTags, SupportsLocation" } else { "None" },
            })
        })
        .collect();
    let free = namespace == "Microsoft.Resources";
    json!({
        "id": format!("/subscriptions/{}/providers/{namespace}", call.subscription()),
        "namespace": namespace,
        "resourceTypes": resource_types,
        "registrationState": state(world, call.subscription(), namespace),
        "registrationPolicy": if free { "RegistrationFree" } else { "RegistrationRequired" },
    })
}
