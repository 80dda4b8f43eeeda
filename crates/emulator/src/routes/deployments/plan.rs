//! From a template to the list of resources that it means.

use std::cell::RefCell;

use model::ids::ArmId;
use serde_json::{Map, Value};

use super::{
    order,
    parameters::Parameters,
    request::{Request, beyond, invalid},
};
use crate::{
    call::Call,
    error::ArmError,
    json::{same, text},
    store::deployment::{Step, StepState},
    template::{
        evaluate::{EvaluateError, Scope, Surroundings, awaited, escaped, find},
        functions,
    },
    types,
};

/// What a template comes to.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) steps: Vec<Step>,
    /// Bodies of all steps, secrets included.
    pub(crate) bodies: Vec<Value>,
    /// Outputs, worked out as far as is known.
    pub(crate) outputs: Value,
}

/// A resource of the template with its expressions worked out.
pub(super) struct Drafted {
    pub(super) step: Step,
    pub(super) body: Value,
    /// What it comes after, as the template says it.
    pub(super) after: Vec<String>,
    /// Resources whose state its body asks for.
    pub(super) asks: Vec<String>,
    /// The name of its loop; empty without one.
    pub(super) in_loop: String,
    /// Whether its condition holds.
    pub(super) wanted: bool,
}

/// Members of a resource in a template that are no part of the body.
const OUTER: [&str; 12] = [
    "type",
    "name",
    "apiVersion",
    "dependsOn",
    "condition",
    "copy",
    "comments",
    "resources",
    "scope",
    "resourceGroup",
    "subscriptionId",
    "metadata",
];

/// Where a resource stands: its parents' type and name, both empty at the top.
struct Parent {
    kind: String,
    name: String,
}

/// Plans a template.
pub(crate) fn plan(
    call: &Call<'_>,
    request: &Request,
    parameters: &Parameters,
    surroundings: &Surroundings,
) -> Result<Planned, ArmError> {
    let none = Map::new();
    let known = RefCell::default();
    let variables = find(&request.template, "variables")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    // Loops of variables make variables.
    let probe = Scope::new(
        surroundings,
        &parameters.values,
        &parameters.secure,
        variables,
        &known,
    );
    let variables = unrolled(call, variables, &probe)?;
    let scope = Scope::new(
        surroundings,
        &parameters.values,
        &parameters.secure,
        &variables,
        &known,
    );
    let resources = match find(&request.template, "resources") {
        Some(Value::Array(resources)) => resources.as_slice(),
        Some(Value::Object(_)) => return Err(beyond(call, "symbolic names of resources")),
        _ => return Err(invalid("The template resources are missing")),
    };
    let top = Parent {
        kind: String::new(),
        name: String::new(),
    };
    let mut drafted = Vec::new();
    for resource in resources {
        draft(call, &scope, resource, &top, true, &mut drafted)?;
    }
    let (steps, bodies) = order::arrange(drafted)?;
    let outputs = match find(&request.template, "outputs") {
        Some(outputs) => without_secrets(outputs, &scope)
            .map_err(|error| refusal(call, &error, "the outputs"))?,
        None => Value::Object(Map::new()),
    };
    Ok(Planned {
        steps,
        bodies,
        outputs,
    })
}

/// Outputs worked out; the values of secret ones are never kept.
fn without_secrets(outputs: &Value, scope: &Scope<'_>) -> Result<Value, EvaluateError> {
    let mut outputs = outputs.clone();
    for output in outputs.as_object_mut().into_iter().flatten() {
        if functions::is_secure(output.1) {
            crate::json::remove(output.1, "/value");
        }
    }
    scope.draft(&outputs)
}

fn unrolled(
    call: &Call<'_>,
    variables: &Map<String, Value>,
    scope: &Scope<'_>,
) -> Result<Map<String, Value>, ArmError> {
    let mut variables = variables.clone();
    if let Some(Value::Array(loops)) = variables.remove("copy") {
        for definition in &loops {
            let (name, items) = scope
                .repeated(definition)
                .map_err(|error| refusal(call, &error, "the variables"))?;
            variables.insert(name, Value::Array(items));
        }
    }
    Ok(variables)
}

/// The refusal for expressions that come to nothing.
pub(super) fn refusal(call: &Call<'_>, error: &EvaluateError, whose: &str) -> ArmError {
    match error {
        EvaluateError::NotServed(name) => beyond(call, &format!("the function '{name}'")),
        EvaluateError::Invalid(message) => ArmError::gateway(
            400,
            "InvalidTemplate",
            format!("Unable to process template language expressions for {whose}. '{message}'"),
        ),
    }
}

/// Drafts a resource, once for each turn of its loop, and the children that stand in it.
fn draft(
    call: &Call<'_>,
    scope: &Scope<'_>,
    resource: &Value,
    parent: &Parent,
    wanted: bool,
    drafted: &mut Vec<Drafted>,
) -> Result<(), ArmError> {
    let whose = format!(
        "resource '{}'",
        text(resource, "/name").unwrap_or("without a name")
    );
    let Some(copy) = resource.get("copy").filter(|copy| copy.is_object()) else {
        return draft_one(call, scope, resource, parent, ("", wanted), drafted);
    };
    let name = text(copy, "/name").unwrap_or_default();
    let count = scope
        .count(copy)
        .map_err(|error| refusal(call, &error, &whose))?;
    let serial = text(copy, "/mode").is_some_and(|mode| same(mode, "serial"));
    for turn in 0..count {
        let inside = scope.in_loop(name, turn);
        let from = drafted.len();
        let previous = from
            .checked_sub(1)
            .filter(|_| serial && turn > 0)
            .and_then(|at| drafted.get(at))
            .map(|previous| previous.step.id.to_string());
        draft_one(call, &inside, resource, parent, (name, wanted), drafted)?;
        if let (Some(previous), Some(first)) = (previous, drafted.get_mut(from)) {
            first.after.push(previous);
        }
    }
    Ok(())
}

/// A resource of the template, and the scope that its expressions are worked out in.
struct Given<'a> {
    call: &'a Call<'a>,
    scope: &'a Scope<'a>,
    resource: &'a Value,
    whose: String,
}

impl Given<'_> {
    fn work_out(&self, value: &Value) -> Result<Value, ArmError> {
        self.scope
            .value(value)
            .map_err(|error| refusal(self.call, &error, &self.whose))
    }

    /// A member that is a text; empty where there is none.
    fn word(&self, member: &str) -> Result<String, ArmError> {
        let Some(value) = self.resource.get(member) else {
            return Ok(String::new());
        };
        let value = self.work_out(value)?;
        match value {
            Value::String(word) => Ok(word),
            Value::Null => Ok(String::new()),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err(invalid(&format!(
                    "The member '{member}' of the {} is '{value}', expected a text",
                    self.whose
                )))
            }
        }
    }

    /// Whether its condition holds.
    fn is_wanted(&self) -> Result<bool, ArmError> {
        match self.resource.get("condition") {
            None => Ok(true),
            Some(condition) => self.work_out(condition)?.as_bool().ok_or_else(|| {
                invalid(&format!(
                    "The condition of the {} is no boolean",
                    self.whose
                ))
            }),
        }
    }

    /// What of it is sent to its provider.
    fn body(&self, kind: &str) -> Result<Value, ArmError> {
        let mut body = Map::new();
        for (member, value) in self.resource.as_object().into_iter().flatten() {
            if !OUTER.iter().any(|outer| same(outer, member)) {
                body.insert(member.clone(), value.clone());
            }
        }
        nested_template(body, kind, &|value: &Value| {
            self.scope
                .draft(value)
                .map_err(|error| refusal(self.call, &error, &self.whose))
        })
    }

    /// What it says that it comes after.
    fn after(&self) -> Result<Vec<String>, ArmError> {
        let mut after = Vec::new();
        for entry in crate::json::items(self.resource, "/dependsOn") {
            if let Value::String(entry) = self.work_out(entry)? {
                after.push(entry);
            }
        }
        Ok(after)
    }
}

fn draft_one(
    call: &Call<'_>,
    scope: &Scope<'_>,
    resource: &Value,
    parent: &Parent,
    (in_loop, wanted): (&str, bool),
    drafted: &mut Vec<Drafted>,
) -> Result<(), ArmError> {
    let given = Given {
        call,
        scope,
        resource,
        whose: format!(
            "resource '{}'",
            text(resource, "/name").unwrap_or("without a name")
        ),
    };
    let wanted = wanted && given.is_wanted()?;
    let own = Parent {
        kind: joined(&parent.kind, &given.word("type")?),
        name: joined(&parent.name, &given.word("name")?),
    };
    let body = given.body(&own.kind)?;
    let location = text(&body, "/location")
        .map(|place| place.replace(' ', "").to_lowercase())
        .unwrap_or_default();
    let holds_secret = scope.secret.replace(false) || order::holds_secret(&body);
    drafted.push(Drafted {
        step: Step {
            id: locate(&given, &own)?,
            kind: row(call, &own.kind)?.name(),
            name: own.name.clone(),
            location,
            version: given.word("apiVersion")?,
            body: (!holds_secret).then(|| body.clone()),
            needs: Vec::new(),
            state: StepState::Waiting,
            status: 0,
            attempts: 0,
            again: None,
            operation: None,
            begun: None,
            ended: None,
        },
        asks: awaited(&body),
        body,
        after: given.after()?,
        in_loop: in_loop.to_lowercase(),
        wanted,
    });
    for child in crate::json::items(resource, "/resources") {
        draft(call, scope, child, &own, wanted, drafted)?;
    }
    Ok(())
}

/// Types and names of children go on from those of their parents, unless they are whole.
fn joined(parent: &str, own: &str) -> String {
    if parent.is_empty() || own.to_lowercase().starts_with(&parent.to_lowercase()) {
        own.to_owned()
    } else {
        format!("{parent}/{own}")
    }
}

/// A template in a template keeps its own expressions if they are evaluated inside of it.
fn nested_template(
    body: Map<String, Value>,
    kind: &str,
    draft: &dyn Fn(&Value) -> Result<Value, ArmError>,
) -> Result<Value, ArmError> {
    let mut body = Value::Object(body);
    let inner = same(kind, "Microsoft.Resources/deployments")
        && text(&body, "/properties/expressionEvaluationOptions/scope")
            .is_some_and(|scope| same(scope, "inner"));
    let template = inner
        .then(|| crate::json::remove(&mut body, "/properties/template"))
        .flatten();
    let mut body = draft(&body)?;
    if let Some(template) = template {
        crate::json::set(&mut body, "/properties/template", escaped(template));
    }
    Ok(body)
}

/// The id of a resource, which may lie in another group or hang at a scope.
fn locate(given: &Given<'_>, own: &Parent) -> Result<ArmId, ArmError> {
    let call = given.call;
    let mut segments = own.kind.split('/');
    let namespace = segments.next().unwrap_or_default();
    let kinds: Vec<&str> = segments.collect();
    let names: Vec<&str> = own.name.split('/').collect();
    if kinds.is_empty() || kinds.len() != names.len() || names.contains(&"") {
        return Err(invalid(&format!(
            "The template resource '{}' for type '{}' has incorrect segment lengths. A nested \
             resource type must have identical number of segments as its resource name. A root \
             resource type must have segment length one greater than its resource name. Please \
             see https://aka.ms/arm-syntax-resources for usage details.",
            own.name, own.kind
        )));
    }
    let or = |given: String, usual: &str| {
        if given.is_empty() {
            usual.to_owned()
        } else {
            given
        }
    };
    let group = format!(
        "/subscriptions/{}/resourceGroups/{}",
        or(given.word("subscriptionId")?, call.subscription()),
        or(given.word("resourceGroup")?, call.group())
    );
    let scope = given.word("scope")?;
    let base = if scope.is_empty() {
        group
    } else if scope.starts_with('/') {
        scope
    } else {
        format!("{group}/providers/{scope}")
    };
    let mut id = format!("{base}/providers/{namespace}");
    for (kind, name) in kinds.iter().zip(names) {
        id.push('/');
        id.push_str(kind);
        id.push('/');
        id.push_str(name);
    }
    id.parse()
        .map_err(|_| invalid(&format!("The template resource id '{id}' is not valid")))
}

/// The type of a resource, or the refusal of one that the sandbox does not serve.
fn row(call: &Call<'_>, kind: &str) -> Result<&'static types::Type, ArmError> {
    types::named(kind).ok_or_else(|| {
        let namespace = kind.split('/').next().unwrap_or_default();
        let details = vec![serde_json::json!({
            "code": "InvalidResourceType",
            "message": format!(
                "The resource type '{kind}' could not be found in the namespace '{namespace}'."
            ),
        })];
        super::preflight::refusal(call, "", details)
            .with_header("x-tensorform-sandbox", "type not served")
    })
}
