//! Microsoft.Quota, read only: limits and usages of Compute and Network in a region.

use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Method, Path},
    json::{number, same, set, text},
    routes::{common::not_served, compute, network::usages},
    store::world::World,
};

/// Answers `quotas` and `usages` of a scope, all or one.
pub(super) fn answer(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    if call.method() != Method::Get {
        return Err(not_served(call));
    }
    let scope = Path::parse(&call.path.scope);
    let region = catalogue::region(scope.name(0)).filter(|_| scope.kind() == "locations");
    let region = region
        .map(|region| region.name.as_str())
        .ok_or_else(|| invalid(call))?;
    let counters = match scope.namespace.as_deref() {
        Some(namespace) if same(namespace, "Microsoft.Compute") => {
            compute::quota::list(world, call.subscription(), region)
        }
        Some(namespace) if same(namespace, "Microsoft.Network") => {
            usages::of(world, call.subscription(), region)
        }
        Some(_) | None => return Err(invalid(call)),
    };
    let shown = |counter: &Value| show(call, counter);
    if call.path.is_open() {
        let value: Vec<Value> = counters.iter().map(shown).collect();
        return Ok(Answer::json(200, json!({"value": value})));
    }
    let name = call.path.name(0);
    counters
        .iter()
        .find(|counter| text(counter, "/name/value").is_some_and(|value| same(value, name)))
        .map(|counter| Answer::json(200, shown(counter)))
        .ok_or_else(|| {
            ArmError::new(
                404,
                "ResourceNotFound",
                format!("The quota '{name}' is not known at this scope."),
            )
        })
}

fn invalid(call: &Call<'_>) -> ArmError {
    ArmError::new(
        400,
        "InvalidResourceProvider",
        format!(
            "The scope '{}' is none of a region of Microsoft.Compute or Microsoft.Network.",
            call.path.scope
        ),
    )
}

/// A counter of a usages API in the form of this one.
fn show(call: &Call<'_>, counter: &Value) -> Value {
    let limits = same(&call.path.kind(), "quotas");
    let kind = if limits { "Quotas" } else { "Usages" };
    let name = text(counter, "/name/value").unwrap_or_default();
    let mut shown = json!({
        "id": format!("{}/providers/Microsoft.Quota/{kind}/{name}", call.path.scope),
        "type": format!("Microsoft.Quota/{kind}"),
        "name": name,
        "properties": {
            "unit": "Count",
            "isQuotaApplicable": true,
            "name": counter.get("name"),
            "properties": {},
        },
    });
    if limits {
        let limit = json!({
            "limitObjectType": "LimitValue",
            "limitType": "Independent",
            "value": number(counter, "/limit"),
        });
        set(&mut shown, "/properties/limit", limit);
    } else {
        let used = json!({"value": number(counter, "/currentValue")});
        set(&mut shown, "/properties/usages", used);
    }
    shown
}
