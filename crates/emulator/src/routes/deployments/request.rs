//! The body of a deployment.

use serde_json::{Map, Value};

use crate::{
    call::Call,
    error::ArmError,
    json::{same, text},
    routes::common::not_served,
    template::{evaluate::find, lenient},
};

/// What a client wants to be deployed.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) template: Map<String, Value>,
    pub(crate) parameters: Map<String, Value>,
}

/// A refusal of the template itself.
pub(crate) fn invalid(message: &str) -> ArmError {
    ArmError::gateway(
        400,
        "InvalidTemplate",
        format!("Deployment template validation failed: '{message}'."),
    )
}

/// A refusal of what Azure has and the sandbox has not.
pub(crate) fn beyond(call: &Call<'_>, what: &str) -> ArmError {
    let mut error = not_served(call);
    error = ArmError::gateway(
        error.status,
        &error.code,
        format!("The sandbox does not serve {what} in deployments."),
    );
    error.with_header("x-tensorform-sandbox", "operation not served")
}

/// Reads the body of a PUT or of validate.
pub(crate) fn read(call: &Call<'_>) -> Result<Request, ArmError> {
    let body = lenient::read(&call.incoming.text())
        .map_err(|error| ArmError::unreadable(error.to_string()))?;
    let properties = member(&body, "properties");
    let mode = member(&properties, "mode");
    match mode.as_str() {
        Some(mode) if same(mode, "Incremental") => {}
        Some(mode) if same(mode, "Complete") => return Err(beyond(call, "the mode 'Complete'")),
        _ => {
            return Err(ArmError::gateway(
                400,
                "InvalidDeploymentMode",
                "The deployment mode is missing or not one of 'Incremental' and 'Complete'.",
            ));
        }
    }
    for link in ["templateLink", "parametersLink", "onErrorDeployment"] {
        if !member(&properties, link).is_null() {
            return Err(beyond(call, &format!("'{link}'")));
        }
    }
    let Value::Object(template) = member(&properties, "template") else {
        return Err(ArmError::gateway(
            400,
            "InvalidRequestContent",
            "The request content was invalid: the deployment has no template.",
        ));
    };
    check_template(call, &template)?;
    let parameters = match member(&properties, "parameters") {
        Value::Object(parameters) => parameters,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    if parameters
        .values()
        .any(|parameter| text(parameter, "/reference/secretName").is_some())
    {
        return Err(beyond(call, "parameters from a key vault"));
    }
    Ok(Request {
        template,
        parameters,
    })
}

/// A member by its name, null where there is none.
fn member(value: &Value, name: &str) -> Value {
    value
        .as_object()
        .and_then(|members| find(members, name))
        .cloned()
        .unwrap_or_default()
}

/// Refuses templates of other scopes, and what the sandbox does not read.
fn check_template(call: &Call<'_>, template: &Map<String, Value>) -> Result<(), ArmError> {
    let schema = template
        .get("$schema")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !schema.to_lowercase().contains("deploymenttemplate.json") {
        return Err(invalid(&format!(
            "The template schema '{schema}' is not supported. Supported is \
             'deploymentTemplate.json' for resource groups"
        )));
    }
    if find(template, "functions")
        .and_then(Value::as_array)
        .is_some_and(|own| !own.is_empty())
    {
        return Err(beyond(call, "functions that a template defines"));
    }
    Ok(())
}
