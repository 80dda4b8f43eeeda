//! The sandbox's own paths, under `/sandbox`: what it did, and what a rehearsal sets.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use crate::{
    body, catalogue,
    error::ArmError,
    faults::Faults,
    http::{Answer, Incoming, Method},
    json::{items, number, same, text},
    service::{Service, State, advance},
    store::entry::{Entry, Provider, Quota, Restriction, Subscription, restriction_key},
    types,
};

/// Answers a request to the sandbox itself.
pub(crate) fn answer(service: &Service, incoming: &Incoming) -> Answer {
    routed(service, incoming).unwrap_or_else(Answer::from)
}

fn routed(service: &Service, incoming: &Incoming) -> Result<Answer, ArmError> {
    let path = crate::text::decode(incoming.path.trim_start_matches("/sandbox"), false);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut state = service.state();
    match (incoming.method, parts.as_slice()) {
        (Method::Get, []) => Ok(about(service, &state)),
        (Method::Get, ["log"]) => {
            let since = incoming
                .query
                .get("since")
                .and_then(|since| since.parse().ok());
            Ok(Answer::json(200, state.log.show(since.unwrap_or(0))))
        }
        (Method::Delete, ["log"]) => {
            state.log.clear();
            Ok(Answer::empty(204))
        }
        (Method::Get, ["counters"]) => Ok(Answer::json(200, state.log.counters().show())),
        (Method::Get, ["faults"]) => {
            let fired: Vec<Value> = state
                .faults
                .fired()
                .map(|(name, fired)| json!({"name": name, "fired": fired}))
                .collect();
            Ok(Answer::json(200, json!({"value": fired})))
        }
        (Method::Put | Method::Post, ["faults"]) => {
            let faults = Faults::parse(&incoming.text(), "faults")
                .map_err(|error| ArmError::new(400, "InvalidFaults", error.to_string()))?;
            service.give(&mut state, faults, incoming.method == Method::Post);
            Ok(Answer::empty(204))
        }
        (Method::Delete, ["faults"]) => {
            service.give(&mut state, Faults::none(), false);
            Ok(Answer::empty(204))
        }
        (Method::Post, ["clock", "advance"]) => move_on(service, &mut state, incoming),
        (Method::Put, ["quota", subscription, location]) => {
            quota(service, &mut state, incoming, subscription, location)
        }
        (Method::Put, ["restrictions", subscription, location]) => {
            restrict(service, &mut state, incoming, subscription, location)
        }
        (Method::Put, ["subscriptions", id]) => subscription(service, &mut state, incoming, id),
        (Method::Put, ["providers", subscription, namespace]) => {
            provider(service, &mut state, incoming, subscription, namespace)
        }
        _ => Err(ArmError::new(
            404,
            "NotFound",
            format!(
                "The sandbox has no path '{}' for {}.",
                incoming.path, incoming.method
            ),
        )),
    }
}

fn about(service: &Service, state: &State) -> Answer {
    Answer::json(
        200,
        json!({
            "name": "tensorform sandbox",
            "version": env!("CARGO_PKG_VERSION"),
            "now": service.clock.now().precise(),
            "speed": service.setup.speed.times(),
            "tenant": service.setup.tenant,
            "subscriptions": state.world.subscriptions().map(|subscription| subscription.id.as_str()).collect::<Vec<_>>(),
            "folder": state.world.folder().map(|folder| folder.path().display().to_string()),
            "entries": state.world.counts(),
            "faults": state.faults.len(),
        }),
    )
}

fn move_on(service: &Service, state: &mut State, incoming: &Incoming) -> Result<Answer, ArmError> {
    let body = body::read(&incoming.text())?;
    let seconds = number(&body, "/seconds")
        .ok_or_else(|| ArmError::new(400, "BadRequest", "expected `seconds`, a whole number"))?;
    if !service.clock.advance(Duration::from_secs(seconds)) {
        return Err(ArmError::new(
            409,
            "ClockRuns",
            "The clock of this sandbox runs by itself.",
        ));
    }
    let now = service.clock.now();
    let State { world, faults, .. } = &mut *state;
    advance(world, faults, &service.setup, now).map_err(|error| unwritten(&error))?;
    Ok(Answer::json(
        200,
        json!({"now": service.clock.now().precise()}),
    ))
}

fn unwritten(error: &std::io::Error) -> ArmError {
    ArmError::new(500, "SandboxNotWritten", error.to_string())
}

/// Puts entries into the world, in one record.
fn put(service: &Service, state: &mut State, entries: Vec<Entry>) -> Result<Answer, ArmError> {
    state
        .world
        .transact(service.clock.now(), |world| -> Result<(), ArmError> {
            for entry in entries {
                world.put(entry);
            }
            Ok(())
        })
        .map_err(|error| unwritten(&error))??;
    Ok(Answer::empty(204))
}

fn known_region(location: &str) -> Result<String, ArmError> {
    catalogue::region(location)
        .map(|region| region.name.as_str().to_owned())
        .ok_or_else(|| {
            ArmError::new(
                400,
                "BadRequest",
                format!("no region is named `{location}`"),
            )
        })
}

/// `{"cores": 10, "standardNCADSH100v5Family": 0}`.
fn quota(
    service: &Service,
    state: &mut State,
    incoming: &Incoming,
    subscription: &str,
    location: &str,
) -> Result<Answer, ArmError> {
    let location = known_region(location)?;
    let body = body::read(&incoming.text())?;
    let mut entries = Vec::new();
    for (name, limit) in body.as_object().into_iter().flatten() {
        let limit = limit.as_u64().ok_or_else(|| {
            ArmError::new(
                400,
                "BadRequest",
                format!("expected a whole number for `{name}`"),
            )
        })?;
        entries.push(Entry::Quota(Quota {
            subscription: subscription.to_owned(),
            location: location.clone(),
            name: name.clone(),
            limit,
        }));
    }
    put(service, state, entries)
}

/// `[{"size": "Standard_…", "zones": ["1"], "reason": "NotAvailableForSubscription"}]`; replaces
/// the restrictions of the region.
fn restrict(
    service: &Service,
    state: &mut State,
    incoming: &Incoming,
    subscription: &str,
    location: &str,
) -> Result<Answer, ArmError> {
    let location = known_region(location)?;
    let list: Value = serde_json::from_str(&incoming.text())
        .map_err(|error| ArmError::new(400, "BadRequest", error.to_string()))?;
    let mut entries = Vec::new();
    for item in list.as_array().into_iter().flatten() {
        let size = text(item, "/size")
            .and_then(catalogue::size)
            .ok_or_else(|| ArmError::new(400, "BadRequest", "expected `size`, a known size"))?;
        let zones: BTreeSet<String> = items(item, "/zones")
            .iter()
            .filter_map(|zone| zone.as_str().map(str::to_owned))
            .collect();
        entries.push(Entry::Restriction(Restriction {
            subscription: subscription.to_owned(),
            location: location.clone(),
            size: size.name.as_str().to_owned(),
            zones,
            reason: text(item, "/reason")
                .unwrap_or("NotAvailableForSubscription")
                .to_owned(),
        }));
    }
    let gone: Vec<String> = state
        .world
        .restrictions()
        .filter(|old| same(&old.subscription, subscription) && same(&old.location, &location))
        .map(|old| restriction_key(&old.subscription, &old.location, &old.size))
        .collect();
    state
        .world
        .transact(service.clock.now(), |world| -> Result<(), ArmError> {
            for key in &gone {
                world.remove(key);
            }
            for entry in entries {
                world.put(entry);
            }
            Ok(())
        })
        .map_err(|error| unwritten(&error))??;
    Ok(Answer::empty(204))
}

fn subscription(
    service: &Service,
    state: &mut State,
    incoming: &Incoming,
    id: &str,
) -> Result<Answer, ArmError> {
    if uuid::Uuid::parse_str(id).is_err() {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!("expected a GUID, found `{id}`"),
        ));
    }
    let name = match incoming.text().trim() {
        "" => "Sandbox".to_owned(),
        given => text(&body::read(given)?, "/displayName")
            .unwrap_or("Sandbox")
            .to_owned(),
    };
    put(
        service,
        state,
        vec![Entry::Subscription(Subscription {
            id: id.to_owned(),
            name,
        })],
    )
}

/// `{"registrationState": "NotRegistered"}`.
fn provider(
    service: &Service,
    state: &mut State,
    incoming: &Incoming,
    subscription: &str,
    namespace: &str,
) -> Result<Answer, ArmError> {
    let known = types::namespaces()
        .into_iter()
        .find(|known| same(known, namespace));
    let body = body::read(&incoming.text())?;
    let (Some(namespace), Some(to)) = (known, text(&body, "/registrationState")) else {
        return Err(ArmError::new(
            400,
            "BadRequest",
            "expected a served namespace and its `registrationState`",
        ));
    };
    put(
        service,
        state,
        vec![Entry::Provider(Provider {
            subscription: subscription.to_owned(),
            namespace: namespace.to_owned(),
            state: to.to_owned(),
        })],
    )
}
