//! Requests that a deployment makes, through the same routes as a client's.

use std::{cell::RefCell, collections::BTreeMap};

use model::ids::ArmId;
use serde_json::Value;

use crate::{
    call::{Call, Setup},
    error::ArmError,
    faults::{Decision, Fate, Faults, Request, Subject, allocation, tags},
    gateway::{Admitted, examine},
    http::{Answer, Body, Incoming, Method, Path, Query},
    json::same,
    record::{Description, describe},
    routes,
    store::{deployment::Step, world::World},
    template::evaluate::{EvaluateError, Runtime},
};

/// The answer to a PUT of a deployment.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) status: u16,
    /// The operation that goes on, if there is one.
    pub(super) operation: Option<String>,
}

fn incoming(method: Method, id: &ArmId, version: &str, body: Option<&Value>) -> Incoming {
    Incoming {
        method,
        path: id.to_string(),
        query: Query::parse(&format!("api-version={version}")),
        headers: BTreeMap::new(),
        body: body
            .map(|body| body.to_string().into_bytes())
            .unwrap_or_default(),
        base: String::new(),
    }
}

/// Sends a request to its provider; rules of a faults file act on it where there are some.
fn send(
    world: &mut World,
    setup: &Setup,
    incoming: &Incoming,
    faults: Option<&mut Faults>,
) -> Result<Answer, ArmError> {
    let description = describe(incoming);
    let mut faults = faults;
    let mut decision = Decision::default();
    if let Some(faults) = faults.as_deref_mut() {
        decision = decide(world, faults, setup, incoming, &description)?;
    }
    let failure = match &decision.fate {
        Some(Fate::FailInOperation(failure)) => Some(failure.clone()),
        Some(_) | None => None,
    };
    let rewritten = tags::rewritten(world, incoming, &description.resource_type, &decision.tags);
    let incoming = rewritten.as_ref().unwrap_or(incoming);
    let version = incoming
        .query
        .get("api-version")
        .unwrap_or_default()
        .to_owned();
    let call = Call {
        incoming,
        setup,
        path: Path::parse(&incoming.path),
        version,
        now: world.now(),
        failure,
        ailment: None,
        polls: 0,
    };
    let row = examine(world, &call)?;
    let mut acting = Vec::new();
    let now = world.now();
    world.attempt(|world| {
        let mark = world.mark();
        let answer = routes::answer(world, &Admitted { call, row })?;
        if let Some(faults) = faults {
            let subject = Subject::of(incoming, &description);
            allocation::check(world, faults, subject, mark, &mut acting)?;
            tags::schedule(faults, setup, incoming, &description, &decision.tags, now);
        }
        Ok(answer)
    })
}

/// Writes the resource of a step.
pub(super) fn put(
    world: &mut World,
    setup: &Setup,
    faults: Option<&mut Faults>,
    step: &Step,
    body: &Value,
) -> Result<Written, ArmError> {
    let incoming = incoming(Method::Put, &step.id, &step.version, Some(body));
    let answer = send(world, setup, &incoming, faults)?;
    // Some children stand in the body of their parent, which is what is written then.
    let parent = step.id.parent();
    let operation = world
        .resource(&step.id)
        .or_else(|| world.resource(parent.as_ref()?))
        .and_then(|resource| resource.operation.clone());
    Ok(Written {
        status: answer.status,
        operation,
    })
}

/// What rules do to a request that no client sends: nothing closes a connection here, and no
/// answer is late or behind.
fn decide(
    world: &World,
    faults: &mut Faults,
    setup: &Setup,
    incoming: &Incoming,
    description: &Description,
) -> Result<Decision, ArmError> {
    let subject = Subject::of(incoming, description);
    let decision = faults.decide(&Request {
        subject,
        tagged: subject,
        writes: true,
        now: world.now(),
        speed: setup.speed,
        changed: &|_| None,
    });
    match &decision.fate {
        Some(Fate::FailAtBegin {
            status,
            code,
            message,
            ..
        }) => Err(ArmError::new(*status, code, message.clone())),
        Some(Fate::Throttle { retry_after }) => {
            let seconds = setup.speed.retry_after(*retry_after);
            Err(ArmError::new(
                429,
                "SubscriptionRequestsThrottled",
                "Number of requests exceeded the limit. Please try again later.",
            )
            .with_header("Retry-After", seconds.to_string()))
        }
        Some(_) | None => Ok(decision),
    }
}

/// Resources as `reference()` sees them.
pub(super) struct Sight<'a> {
    pub(super) world: RefCell<&'a mut World>,
    pub(super) setup: &'a Setup,
    /// The resources of the deployment, which can be named without their whole id.
    pub(super) steps: &'a [Step],
}

impl Runtime for Sight<'_> {
    fn reference(
        &self,
        resource: &str,
        version: Option<&str>,
        full: bool,
    ) -> Result<Value, EvaluateError> {
        let step = self
            .steps
            .iter()
            .find(|step| same(step.id.as_str(), resource) || same(&step.name, resource));
        let id = step
            .map_or_else(|| resource.parse(), |step| Ok(step.id.clone()))
            .map_err(|_| {
                EvaluateError::invalid(format!(
                    "The resource referenced '{resource}' is not defined in the template."
                ))
            })?;
        let version = version
            .or_else(|| step.map(|step| step.version.as_str()))
            .ok_or_else(|| {
                EvaluateError::invalid(format!(
                    "The template function 'reference' needs an api-version for '{resource}', \
                     which is not defined in the template."
                ))
            })?;
        let incoming = incoming(Method::Get, &id, version, None);
        let mut world = self.world.borrow_mut();
        let answer = send(&mut world, self.setup, &incoming, None)
            .map_err(|error| EvaluateError::invalid(error.message.clone()))?;
        let Body::Json(shown) = answer.body else {
            return Ok(Value::Null);
        };
        Ok(if full {
            shown
        } else {
            shown.get("properties").cloned().unwrap_or_default()
        })
    }
}
