//! The functions of templates: which there are, and those that look at the deployment.

use serde_json::{Value, json};

use super::{
    evaluate::{EvaluateError, Scope, find},
    numbers, texts, values,
};
use crate::{
    catalogue,
    json::{same, text},
    types,
};

type Evaluated = Result<Value, EvaluateError>;

/// Functions of Azure that the sandbox does not have.
const NOT_SERVED: [&str; 16] = [
    "datetimeadd",
    "datetimefromepoch",
    "datetimetoepoch",
    "datauri",
    "datauritostring",
    "deployer",
    "filter",
    "groupby",
    "lambda",
    "lambdavariables",
    "listaccountsas",
    "listkeys",
    "managementgroup",
    "map",
    "pickzones",
    "reduce",
];

/// Whether a function asks a resource, which can only answer once it is there.
pub(crate) fn needs_the_resource(name: &str) -> bool {
    same(name, "reference")
}

/// `value.name`.
pub(crate) fn member(value: &Value, name: &str) -> Evaluated {
    value
        .as_object()
        .and_then(|members| find(members, name))
        .cloned()
        .ok_or_else(|| {
            let there: Vec<&str> = value
                .as_object()
                .map(|members| members.keys().map(String::as_str).collect())
                .unwrap_or_default();
            EvaluateError::invalid(format!(
                "The language expression property '{name}' doesn't exist, available properties \
                 are '{}'.",
                there.join(", ")
            ))
        })
}

/// `value[index]`.
pub(crate) fn index(value: &Value, index: &Value) -> Evaluated {
    match (value, index) {
        (_, Value::String(name)) => member(value, name),
        (Value::Array(items), Value::Number(place)) => place
            .as_u64()
            .and_then(|place| items.get(usize::try_from(place).ok()?))
            .cloned()
            .ok_or_else(|| {
                EvaluateError::invalid(format!(
                    "The language expression property array index '{place}' is out of bounds."
                ))
            }),
        _ => Err(EvaluateError::invalid(
            "The language expression property can't be evaluated: it is not an array or an object.",
        )),
    }
}

/// Calls a function.
pub(crate) fn call(scope: &Scope<'_>, name: &str, given: &[Value]) -> Evaluated {
    let lower = name.to_lowercase();
    let known = of_the_deployment(scope, &lower, given)
        .or_else(|| texts::call(&lower, given))
        .or_else(|| numbers::call(&lower, given))
        .or_else(|| values::call(&lower, given));
    match known {
        Some(Ok(value)) => Ok(value),
        Some(Err(EvaluateError::Invalid(message))) if message.is_empty() => Err(unfit(name)),
        Some(Err(error)) => Err(error),
        None if NOT_SERVED.contains(&lower.as_str()) || lower.starts_with("list") => {
            Err(EvaluateError::NotServed(name.to_owned()))
        }
        None => Err(EvaluateError::invalid(format!(
            "The template function '{name}' is not valid. Please see \
             https://aka.ms/arm-functions for usage details."
        ))),
    }
}

fn unfit(name: &str) -> EvaluateError {
    EvaluateError::invalid(format!(
        "Unable to evaluate the template function '{name}': the type or number of its parameters \
         does not match. Please see https://aka.ms/arm-functions for usage details."
    ))
}

/// For functions that do not fit what they are given; the caller adds the name.
pub(super) fn misfit<T>() -> Result<T, EvaluateError> {
    Err(EvaluateError::Invalid(String::new()))
}

fn of_the_deployment(scope: &Scope<'_>, name: &str, given: &[Value]) -> Option<Evaluated> {
    let around = scope.surroundings;
    Some(match (name, given) {
        ("parameters", [Value::String(name)]) => scope.parameter(name),
        ("variables", [Value::String(name)]) => scope.variable(name),
        ("resourcegroup", []) => Ok(around.group.clone()),
        ("subscription", []) => Ok(around.subscription.clone()),
        ("deployment", []) => Ok(around.deployment.clone()),
        ("tenant", []) => Ok(json!({"tenantId": around.tenant})),
        ("environment", []) => Ok(environment()),
        ("utcnow", []) => Ok(json!(around.now)),
        ("copyindex", given) => copy_index(scope, given),
        ("providers", [Value::String(namespace)]) => providers(namespace, None),
        ("providers", [Value::String(namespace), Value::String(kind)]) => {
            providers(namespace, Some(kind))
        }
        ("resourceid" | "subscriptionresourceid" | "tenantresourceid", given) => {
            resource_id(scope, name, given)
        }
        ("extensionresourceid", [Value::String(base), rest @ ..]) => {
            let Some(rest) = strings(rest) else {
                return Some(misfit());
            };
            path(&rest).map(|path| json!(format!("{base}/providers/{path}")))
        }
        ("reference", [Value::String(resource), rest @ ..]) => reference(scope, resource, rest),
        (
            "parameters"
            | "variables"
            | "resourcegroup"
            | "subscription"
            | "deployment"
            | "tenant"
            | "environment"
            | "utcnow"
            | "providers"
            | "extensionresourceid"
            | "reference",
            _,
        ) => misfit(),
        _ => return None,
    })
}

fn environment() -> Value {
    json!({
        "name": "AzureCloud",
        "resourceManager": "https://management.azure.com/",
        "portal": "https://portal.azure.com/",
        "gallery": "https://gallery.azure.com/",
        "authentication": {
            "loginEndpoint": "https://login.microsoftonline.com/",
            "audiences": ["https://management.core.windows.net/", "https://management.azure.com/"],
            "tenant": "common",
            "identityProvider": "AAD",
        },
        "suffixes": {
            "storage": "core.windows.net",
            "keyvaultDns": ".vault.azure.net",
            "acrLoginServer": ".azurecr.io",
        },
    })
}

fn copy_index(scope: &Scope<'_>, given: &[Value]) -> Evaluated {
    let (name, offset) = match given {
        [] => ("", 0),
        [Value::String(name)] => (name.as_str(), 0),
        [Value::Number(offset)] => ("", offset.as_i64().unwrap_or(0)),
        [Value::String(name), Value::Number(offset)] => {
            (name.as_str(), offset.as_i64().unwrap_or(0))
        }
        _ => return misfit(),
    };
    scope
        .loops
        .get(&name.to_lowercase())
        .and_then(|index| i64::try_from(*index).ok())
        .map(|index| json!(index.saturating_add(offset)))
        .ok_or_else(|| {
            EvaluateError::invalid(
                "The template function 'copyIndex' is not expected at this location. The function \
                 can only be used in a resource with copy specified.",
            )
        })
}

fn providers(namespace: &str, kind: Option<&str>) -> Evaluated {
    let show = |row: &types::Type| {
        let mut versions = row.versions().to_vec();
        versions.reverse();
        let places: Vec<&str> = catalogue::regions()
            .iter()
            .map(|region| region.display_name.as_str())
            .collect();
        json!({
            "resourceType": row.path,
            "locations": if row.tracked { places } else { Vec::new() },
            "apiVersions": versions,
        })
    };
    let mut rows = types::all()
        .filter(|row| same(row.namespace, namespace))
        .filter(|row| kind.is_none_or(|kind| same(row.path, kind)))
        .map(show)
        .peekable();
    if rows.peek().is_none() {
        return Err(EvaluateError::invalid(format!(
            "The resource provider '{namespace}' or its type '{}' is not known.",
            kind.unwrap_or_default()
        )));
    }
    Ok(match kind {
        Some(_) => rows.next().unwrap_or_default(),
        None => json!({"namespace": namespace, "resourceTypes": rows.collect::<Vec<_>>()}),
    })
}

fn strings(given: &[Value]) -> Option<Vec<&str>> {
    given.iter().map(Value::as_str).collect()
}

/// `Microsoft.Network/virtualNetworks/net/subnets/default` from the type and the names.
fn path(given: &[&str]) -> Result<String, EvaluateError> {
    let (kind, names) = given.split_first().ok_or_else(|| unfit("resourceId"))?;
    let mut segments = kind.split('/');
    let mut path = segments.next().unwrap_or_default().to_owned();
    let kinds: Vec<&str> = segments.collect();
    // A name can hold those of its parents: `net/default`.
    let names: Vec<&str> = names.iter().flat_map(|name| name.split('/')).collect();
    if kinds.is_empty() || kinds.len() != names.len() {
        return Err(EvaluateError::invalid(format!(
            "Unable to evaluate template language function 'resourceId': the type '{kind}' \
             requires '{}' resource name argument(s). Please see \
             https://aka.ms/arm-functions-resourceid for usage details.",
            kinds.len()
        )));
    }
    for (kind, name) in kinds.iter().zip(names) {
        path.push('/');
        path.push_str(kind);
        path.push('/');
        path.push_str(name);
    }
    Ok(path)
}

fn resource_id(scope: &Scope<'_>, function: &str, given: &[Value]) -> Evaluated {
    let Some(given) = strings(given) else {
        return misfit();
    };
    // What stands before the type: a group, or a subscription, or both.
    let at = given
        .iter()
        .position(|part| part.contains('/') && part.contains('.'))
        .ok_or_else(|| {
            EvaluateError::invalid(
                "Unable to evaluate template language function 'resourceId': function requires \
                 fully qualified resource type 'Microsoft.Namespace/type'.",
            )
        })?;
    let (before, rest) = given.split_at(at);
    let path = path(rest)?;
    let around = scope.surroundings;
    Ok(json!(match (function, before) {
        ("tenantresourceid", []) => format!("/providers/{path}"),
        ("subscriptionresourceid", []) => format!(
            "/subscriptions/{}/providers/{path}",
            around.subscription_id()
        ),
        ("subscriptionresourceid", [subscription]) => {
            format!("/subscriptions/{subscription}/providers/{path}")
        }
        ("resourceid", []) => format!(
            "/subscriptions/{}/resourceGroups/{}/providers/{path}",
            around.subscription_id(),
            around.group_name()
        ),
        ("resourceid", [group]) => format!(
            "/subscriptions/{}/resourceGroups/{group}/providers/{path}",
            around.subscription_id()
        ),
        ("resourceid", [subscription, group]) =>
            format!("/subscriptions/{subscription}/resourceGroups/{group}/providers/{path}"),
        _ => return misfit(),
    }))
}

fn reference(scope: &Scope<'_>, resource: &str, rest: &[Value]) -> Evaluated {
    let (version, full) = match rest {
        [] => (None, false),
        [Value::String(version)] => (Some(version.as_str()), false),
        [Value::String(version), Value::String(full)] if same(full, "Full") => {
            (Some(version.as_str()), true)
        }
        _ => return misfit(),
    };
    match scope.runtime {
        Some(runtime) => runtime.reference(resource, version, full),
        None => misfit(),
    }
}

/// How a value is called in the type of a parameter: `String`.
pub(crate) fn type_name(given: &str) -> String {
    match given.to_lowercase().as_str() {
        "string" => "String",
        "securestring" => "SecureString",
        "int" => "Int",
        "bool" => "Bool",
        "object" => "Object",
        "secureobject" => "SecureObject",
        "array" => "Array",
        _ => given,
    }
    .to_owned()
}

/// Whether a value is of the type that a template asks for.
pub(crate) fn fits_type(value: &Value, kind: &str) -> bool {
    match kind.to_lowercase().as_str() {
        "string" | "securestring" => value.is_string(),
        "int" => value.is_i64() || value.is_u64(),
        "bool" => value.is_boolean(),
        "object" | "secureobject" => value.is_object(),
        "array" => value.is_array(),
        _ => false,
    }
}

/// Whether a type of parameters or outputs is secret.
pub(crate) fn is_secure(definition: &Value) -> bool {
    text(definition, "/type").is_some_and(|kind| kind.to_lowercase().starts_with("secure"))
}
