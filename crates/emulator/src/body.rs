//! Request bodies: which members they may have, in the case the service uses.
//!
//! The table is made from Microsoft's OpenAPI files by `data/generate_bodies.py`. Members
//! compare without case, read-only ones are dropped as the service drops them, and what the
//! schema does not know is refused where services are known to refuse it, and dropped elsewhere.
//! For API versions newer than the schema nobody here knows what they know, so their unknown
//! members are dropped as well.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::ArmError,
    json::same,
    position::{self, Step},
};

#[derive(Deserialize)]
struct SchemaFile {
    bodies: BTreeMap<String, Bodies>,
    objects: BTreeMap<String, BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct Bodies {
    version: String,
    put: Option<String>,
    patch: Option<String>,
}

struct Schema {
    bodies: BTreeMap<String, Bodies>,
    /// Object → lower-case member → the member.
    objects: BTreeMap<String, BTreeMap<String, Member>>,
}

struct Member {
    name: String,
    required: bool,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    ReadOnly,
    Text,
    Whole,
    Number,
    Flag,
    List(Box<Kind>),
    Map(Box<Kind>),
    Object(String),
}

impl Kind {
    fn parse(text: &str) -> Self {
        if let Some(item) = text.strip_prefix("array of ") {
            return Self::List(Box::new(Self::parse(item)));
        }
        if let Some(item) = text.strip_prefix("map of ") {
            return Self::Map(Box::new(Self::parse(item)));
        }
        match text {
            "any" => Self::Any,
            "read-only any" => Self::ReadOnly,
            "string" => Self::Text,
            "integer" => Self::Whole,
            "number" => Self::Number,
            "boolean" => Self::Flag,
            object => Self::Object(object.to_owned()),
        }
    }
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let file: SchemaFile = serde_json::from_str(include_str!("../data/bodies.json"))
        .expect("the embedded schema reads, as a test checks");
    let objects = file
        .objects
        .into_iter()
        .map(|(object, members)| {
            let members = members
                .into_iter()
                .map(|(name, kind)| {
                    let (required, kind) = match kind.strip_prefix("required ") {
                        Some(kind) => (true, Kind::parse(kind)),
                        None => (false, Kind::parse(&kind)),
                    };
                    let member = Member {
                        name: name.clone(),
                        required,
                        kind,
                    };
                    (name.to_lowercase(), member)
                })
                .collect();
            (object, members)
        })
        .collect();
    Schema {
        bodies: file.bodies,
        objects,
    }
});

/// What a body is checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check<'a> {
    /// `Microsoft.Compute/virtualMachines`.
    pub(crate) kind: &'a str,
    pub(crate) patch: bool,
    /// The API version of the request.
    pub(crate) version: &'a str,
    /// The body as it was sent, for positions.
    pub(crate) text: &'a str,
}

/// Reads a body as an object, whatever its members.
pub(crate) fn read(text: &str) -> Result<Value, ArmError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ArmError::unreadable(error.to_string().trim_end_matches('.')))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(ArmError::unreadable("expected an object"))
    }
}

/// Reads a body and checks it against its schema; the members come out in the service's case.
pub(crate) fn checked(check: Check<'_>) -> Result<Value, ArmError> {
    let value = read(check.text)?;
    let Some(bodies) = SCHEMA.bodies.get(check.kind) else {
        return Ok(value);
    };
    let object = if check.patch {
        &bodies.patch
    } else {
        &bodies.put
    };
    let Some(object) = object else {
        return Err(ArmError::gateway(
            405,
            "MethodNotAllowed",
            format!("The resource type '{}' does not support PATCH.", check.kind),
        ));
    };
    let day = check.version.get(..10).unwrap_or(check.version);
    let mut walk = Walk {
        check,
        strict: day <= bodies.version.as_str() && refuses(check.kind, day),
        path: Vec::new(),
    };
    let mut normal = walk.value(&value, &Kind::Object(object.clone()))?;
    if !check.patch {
        crate::json::strip_nulls(&mut normal);
    }
    Ok(normal)
}

/// Members that recorded answers show and the schema does not have, by their objects. A client
/// that sends back what it read sends them too. The Azure CLI sends a location with a NAT rule.
const SHOWN_BEYOND: [(&str, &str); 7] = [
    ("AddressSpace", "ipamPoolPrefixAllocations"),
    ("InboundNatRule", "location"),
    ("NatGatewaySku", "tier"),
    ("NetworkInterface", "kind"),
    ("NetworkInterfacePropertiesFormat", "allowPort25Out"),
    ("SubnetPropertiesFormat", "ipamPoolPrefixAllocations"),
    (
        "VirtualMachineScaleSetVMProperties",
        "resilientVMDeletionStatus",
    ),
];

fn shown_beyond(object: &str, member: &str) -> bool {
    let object = object.split('@').next().unwrap_or_default();
    SHOWN_BEYOND
        .iter()
        .any(|(of, shown)| *of == object && same(shown, member))
}

/// Whether a type refuses members that it does not know. AKS announced that it does from this
/// version on and not before; role assignments and accounts of Batch took a `name` in recordings.
fn refuses(kind: &str, day: &str) -> bool {
    match kind.split('/').next().unwrap_or_default() {
        "Microsoft.Compute" | "Microsoft.Network" | "Microsoft.Resources" => true,
        "Microsoft.ContainerService" => day >= "2024-01-01",
        _ => false,
    }
}

/// Members that newer versions than the schema's have, by their objects, with the first version
/// that is known to have them.
const ADDED: [(&str, &str, &str); 1] = [(
    "ManagedClusterAgentPoolProfileProperties",
    "gpuProfile",
    "2026-05-01",
)];

struct Walk<'a> {
    check: Check<'a>,
    /// Whether unknown members are refused.
    strict: bool,
    path: Vec<Step>,
}

impl Walk<'_> {
    fn is_added(&self, object: &str, member: &str) -> bool {
        let object = object.split('@').next().unwrap_or_default();
        ADDED.iter().any(|(of, added, since)| {
            *of == object && same(added, member) && self.check.version >= *since
        })
    }

    fn value(&mut self, value: &Value, kind: &Kind) -> Result<Value, ArmError> {
        if value.is_null() {
            return Ok(Value::Null);
        }
        match (kind, value) {
            (Kind::Object(name), Value::Object(members)) => self.object(members, name),
            (Kind::List(item), Value::Array(items)) => {
                let mut normal = Vec::with_capacity(items.len());
                for (at, value) in items.iter().enumerate() {
                    self.path.push(Step::Item(at));
                    normal.push(self.value(value, item)?);
                    self.path.pop();
                }
                Ok(Value::Array(normal))
            }
            (Kind::Map(item), Value::Object(members)) => {
                let mut normal = Map::new();
                for (name, value) in members {
                    self.path.push(Step::Member(name.clone()));
                    normal.insert(name.clone(), self.value(value, item)?);
                    self.path.pop();
                }
                Ok(Value::Object(normal))
            }
            (Kind::Any | Kind::ReadOnly, value) => Ok(value.clone()),
            (kind, value) => scalar(value, kind).ok_or_else(|| self.wrong_type(value, kind)),
        }
    }

    fn object(&mut self, members: &Map<String, Value>, object: &str) -> Result<Value, ArmError> {
        let none = BTreeMap::new();
        let known = SCHEMA.objects.get(object).unwrap_or(&none);
        let mut normal = Map::new();
        for (name, value) in members {
            self.path.push(Step::Member(name.clone()));
            match known.get(&name.to_lowercase()) {
                Some(member) if member.kind == Kind::ReadOnly => {}
                Some(member) => {
                    normal.insert(member.name.clone(), self.value(value, &member.kind)?);
                }
                None if shown_beyond(object, name) => {}
                None if self.is_added(object, name) => {
                    normal.insert(name.clone(), value.clone());
                }
                None if self.strict => return Err(self.unknown(name, object)),
                None => {}
            }
            self.path.pop();
        }
        for member in known.values() {
            // ARM itself asks for the location, with an answer of its own.
            let given = normal
                .get(&member.name)
                .is_some_and(|value| !value.is_null());
            if member.required && !given && !self.check.patch && member.name != "location" {
                self.path.push(Step::Member(member.name.clone()));
                return Err(self.missing());
            }
        }
        Ok(Value::Object(normal))
    }

    fn refuse(&self, message: &str) -> ArmError {
        let path = position::print(&self.path);
        let (line, column) = position::locate(self.check.text, &self.path);
        let message = format!("{message}. Path '{path}', line {line}, position {column}.");
        let (namespace, kind) = self.check.kind.split_once('/').unwrap_or_default();
        match namespace {
            "Microsoft.Compute" => ArmError::new(400, "BadRequest", message)
                .with_target(format!("{}.{path}", parameter(kind))),
            "Microsoft.ContainerService" => unmarshal(&format!("{message} ")),
            "Microsoft.Network" => {
                ArmError::new(400, "InvalidRequestFormat", "Cannot parse the request.")
                    .with_details(vec![json!({"code": "InvalidJson", "message": message})])
            }
            _ => ArmError::unreadable(message.trim_end_matches('.')),
        }
    }

    fn unknown(&self, name: &str, object: &str) -> ArmError {
        let object = object.split('@').next().unwrap_or_default();
        if self.check.kind.starts_with("Microsoft.ContainerService/") {
            return unmarshal(&format!("json: unknown field \"{name}\" "));
        }
        self.refuse(&format!(
            "Could not find member '{name}' on object of type '{object}'"
        ))
    }

    fn wrong_type(&self, value: &Value, kind: &Kind) -> ArmError {
        let expected = match kind {
            Kind::Object(name) => name.split('@').next().unwrap_or_default(),
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Whole => "an integer",
            Kind::Number => "a number",
            Kind::Flag => "a boolean",
            Kind::Text | Kind::Any | Kind::ReadOnly => "a string",
        };
        self.refuse(&format!(
            "Error converting value {value} to type '{expected}'"
        ))
    }

    fn missing(&self) -> ArmError {
        let path = position::print(&self.path);
        if self.check.kind.starts_with("Microsoft.Compute/") {
            return ArmError::missing_parameter(path.trim_start_matches("properties."));
        }
        if !self.check.kind.starts_with("Microsoft.Network/") {
            let message = format!("Required property '{path}' not found in JSON");
            return self.refuse(&message);
        }
        ArmError::new(400, "InvalidRequestFormat", "Cannot parse the request.").with_details(vec![
            json!({
                "code": "MissingJsonProperty",
                "message": format!("Required property '{path}' is missing."),
            }),
        ])
    }
}

/// The refusal of a body by AKS, as quoted in public issues.
fn unmarshal(what: &str) -> ArmError {
    ArmError::new(
        400,
        "UnmarshalError",
        format!(
            "UnmarshalEntity encountered error: {what}Check that the field is in the right \
             location, is spelled correctly, and is supported in the API version. Visit \
             aka.ms/aks/apiversions for more API version information.."
        ),
    )
    .with_member("details", Value::Null)
    .with_member("subcode", json!(""))
    .bare()
}

/// What Compute calls the body in targets: seen is `vmss` for a scale set.
fn parameter(kind: &str) -> &str {
    match kind {
        "virtualMachines" => "vm",
        "virtualMachineScaleSets" => "vmScaleSet",
        "virtualMachineScaleSets/virtualMachines" => "parameters",
        "disks" => "disk",
        "snapshots" => "snapshot",
        other => other,
    }
}

/// A scalar in the type of the schema; text that spells one is taken for it, as the service does.
fn scalar(value: &Value, kind: &Kind) -> Option<Value> {
    match (kind, value) {
        (Kind::Text, Value::String(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::Flag, Value::Bool(_))
        | (Kind::Any | Kind::ReadOnly, _) => Some(value.clone()),
        (Kind::Text, Value::Number(number)) => Some(Value::from(number.to_string())),
        (Kind::Text, Value::Bool(flag)) => Some(Value::from(flag.to_string())),
        (Kind::Whole, Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Some(value.clone())
        }
        (Kind::Whole, Value::String(text)) => text.parse::<i64>().ok().map(Value::from),
        (Kind::Number, Value::String(text)) => text.parse::<f64>().ok().map(Value::from),
        (Kind::Flag, Value::String(text)) => ["true", "false"]
            .into_iter()
            .find(|word| same(word, text))
            .map(|word| Value::from(word == "true")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, version: &str, text: &str) -> Result<Value, ArmError> {
        checked(Check {
            kind,
            patch: false,
            version,
            text,
        })
    }

    #[test]
    fn members_come_out_in_the_case_of_the_service_and_read_only_ones_do_not() {
        let text = r#"{"Location":"westus","name":"vm","properties":{"HARDWAREPROFILE":{"vmsize":"A"},"vmId":"x","priority":null}}"#;
        assert_eq!(
            check("Microsoft.Compute/virtualMachines", "2024-07-01", text),
            Ok(json!({"location": "westus", "properties": {"hardwareProfile": {"vmSize": "A"}}}))
        );
    }

    #[test]
    fn unknown_members_are_refused_where_the_schema_knows_the_version() {
        let text = r#"{"location":"westus","properties":{"speed":1}}"#;
        let error = check("Microsoft.Compute/virtualMachines", "2024-07-01", text)
            .expect_err("an unknown member");
        assert_eq!(
            (error.status, error.code.as_str(), error.target.as_deref()),
            (400, "BadRequest", Some("vm.properties.speed"))
        );
        assert_eq!(
            error.message,
            "Could not find member 'speed' on object of type 'VirtualMachineProperties'. \
             Path 'properties.speed', line 1, position 43."
        );
        assert!(check("Microsoft.Compute/virtualMachines", "2026-04-01", text).is_ok());
    }

    #[test]
    fn texts_that_spell_a_scalar_are_taken_and_wrong_types_refused() {
        let text =
            r#"{"location":"w","properties":{"osProfile":{"allowExtensionOperations":"False"}}}"#;
        let value = check("Microsoft.Compute/virtualMachines", "2024-07-01", text).expect("a body");
        assert_eq!(
            value.pointer("/properties/osProfile/allowExtensionOperations"),
            Some(&json!(false))
        );
        let text = r#"{"location":"w","properties":{"osProfile":"x"}}"#;
        let error = check("Microsoft.Compute/virtualMachines", "2024-07-01", text)
            .expect_err("a wrong type");
        assert!(
            error
                .message
                .starts_with("Error converting value \"x\" to type 'OSProfile'")
        );
        let text = r#"{"location":"w","properties":{"subnets":{}}}"#;
        let error =
            check("Microsoft.Network/virtualNetworks", "2024-03-01", text).expect_err("no list");
        assert_eq!(error.code, "InvalidRequestFormat");
    }

    #[test]
    fn required_members_are_asked_for() {
        let error = check(
            "Microsoft.Compute/disks",
            "2024-03-02",
            r#"{"location":"w","properties":{"diskSizeGB":1}}"#,
        )
        .expect_err("no creation data");
        assert_eq!(error.target.as_deref(), Some("creationData"));
        assert_eq!(
            error.message,
            "Required parameter 'creationData' is missing (null)."
        );
    }
}
