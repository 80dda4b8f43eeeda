//! What ARM itself does before a provider sees a request: token, API version, subscription,
//! buckets, type, group, and whether the resource is there at all.

use serde_json::Value;

use crate::{
    call::{Call, Setup},
    catalogue,
    clock::Instant,
    error::ArmError,
    faults::Faults,
    http::{Answer, Incoming, Method, Path},
    json::text,
    presence,
    routes::compute::guest::Ailment,
    store::{entry::Failure, world::World},
    text::base64_decode,
    throttle::{Caller, Limits, rules},
    types::{self, Type},
};

/// Headers of the answer, whatever it is.
pub(crate) type Headers = Vec<(String, String)>;

/// What ARM looks at beside the request.
pub(crate) struct Desk<'world, 'setup> {
    pub(crate) world: &'world World,
    pub(crate) limits: &'world mut Limits,
    pub(crate) faults: &'world Faults,
    pub(crate) setup: &'setup Setup,
    pub(crate) now: Instant,
}

/// A request that may go on to its provider.
pub(crate) struct Admitted<'a> {
    pub(crate) call: Call<'a>,
    /// The type, for paths that name one.
    pub(crate) row: Option<&'static Type>,
}

/// Lets a request through or answers in a provider's place; headers are for both.
pub(crate) fn admit<'a>(
    desk: &mut Desk<'_, 'a>,
    incoming: &'a Incoming,
    (failure, ailment): (Option<Failure>, Option<Ailment>),
    polls: u32,
    headers: &mut Headers,
) -> Result<Admitted<'a>, ArmError> {
    let path = Path::parse(&incoming.path);
    let token = token(incoming)?;
    if desk.faults.is_expired(token) {
        return Err(expired(desk.now));
    }
    let version = incoming
        .query
        .get("api-version")
        .filter(|version| !version.is_empty())
        .ok_or_else(|| {
            ArmError::gateway(
                400,
                "MissingApiVersionParameter",
                "The api-version query parameter (?api-version=) is required for all requests.",
            )
        })?
        .to_owned();
    let call = Call {
        incoming,
        setup: desk.setup,
        path,
        version,
        now: desk.now,
        failure,
        ailment,
        polls,
    };
    subscription(desk.world, &call)?;
    let principal = principal(token);
    let region = region(desk.world, &call);
    let caller = Caller {
        subscription: call.subscription(),
        principal: &principal,
        region: &region,
        resource: &incoming.path,
        now: desk.now,
        speed: desk.setup.speed,
    };
    headers.extend(
        desk.limits
            .arm(call.method(), &operation_name(&call), &caller)?,
    );
    let row = examine(desk.world, &call)?;
    if let Some(row) = row {
        count(desk.limits, &call, row, &caller, headers)?;
        presence::buried(desk.world, &call, row)?;
    }
    Ok(Admitted { call, row })
}

/// Checks what ARM checks for every request, its own to providers among them: type, version,
/// group, registration, and whether the resource is there.
pub(crate) fn examine(world: &World, call: &Call<'_>) -> Result<Option<&'static Type>, ArmError> {
    let row = row(call)?;
    match row {
        Some(row) => check_version(call, row)?,
        None => check_own_version(call)?,
    }
    if call.path.group.is_some() && (call.path.namespace.is_some() || !call.path.kinds.is_empty()) {
        orphan(world, call, row)?;
        group(world, call)?;
    }
    if let Some(row) = row {
        registered(world, call, row)?;
        presence::present(world, call, row)?;
    }
    Ok(row)
}

/// The bearer token of a request.
pub(crate) fn token(incoming: &Incoming) -> Result<&str, ArmError> {
    let given = incoming.header("authorization").unwrap_or_default();
    let (scheme, token) = given.split_once(' ').unwrap_or((given, ""));
    if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() {
        return Ok(token.trim());
    }
    Err(unauthenticated(
        "AuthenticationFailed",
        "Authentication failed. The 'Authorization' header is missing.",
        "The authentication failed because of missing 'Authorization' header.",
    ))
}

fn unauthenticated(code: &str, message: &str, description: &str) -> ArmError {
    ArmError::gateway(401, code, message).with_header(
        "WWW-Authenticate",
        format!(
            "Bearer authorization_uri=\"https://login.windows.net/\", error=\"invalid_token\", \
             error_description=\"{description}\""
        ),
    )
}

/// The refusal of a token whose time is over.
pub(crate) fn expired(now: Instant) -> ArmError {
    unauthenticated(
        "ExpiredAuthenticationToken",
        &format!(
            "The access token expiry UTC time is earlier than current UTC time '{}'.",
            now.plain()
        ),
        "The access token has expired.",
    )
}

/// Whose bucket a token is counted in: its object id, or the token itself where it has none.
fn principal(token: &str) -> String {
    token
        .split('.')
        .nth(1)
        .and_then(base64_decode)
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .and_then(|claims| text(&claims, "/oid").map(str::to_owned))
        .unwrap_or_else(|| token.to_owned())
}

fn subscription(world: &World, call: &Call<'_>) -> Result<(), ArmError> {
    let Some(id) = &call.path.subscription else {
        return Ok(());
    };
    if uuid::Uuid::parse_str(id).is_err() {
        return Err(ArmError::gateway(
            400,
            "InvalidSubscriptionId",
            format!("The provided subscription identifier '{id}' is malformed or invalid."),
        ));
    }
    if world.subscription(id).is_none() {
        return Err(ArmError::gateway(
            404,
            "SubscriptionNotFound",
            format!("The subscription '{id}' could not be found."),
        ));
    }
    Ok(())
}

/// `PUT/SUBSCRIPTIONS/RESOURCEGROUPS/PROVIDERS/MICROSOFT.MEDIA/MEDIASERVICES/`, as texts name it.
fn operation_name(call: &Call<'_>) -> String {
    let mut name = format!("{}/SUBSCRIPTIONS/", call.method());
    if call.path.group.is_some() {
        name.push_str("RESOURCEGROUPS/");
    }
    if let Some(namespace) = &call.path.namespace {
        name.push_str("PROVIDERS/");
        name.push_str(namespace);
        name.push('/');
    }
    for kind in &call.path.kinds {
        name.push_str(kind);
        name.push('/');
    }
    name.to_uppercase()
}

/// The region a request is counted in, as far as it can be told.
fn region(world: &World, call: &Call<'_>) -> String {
    if call
        .path
        .kinds
        .first()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("locations"))
    {
        return call.path.name(0).to_lowercase();
    }
    let existing = crate::routes::common::id(world, call)
        .and_then(|id| world.resource(&id))
        .map(|resource| resource.location.clone());
    existing
        .or_else(|| {
            let body: Value = serde_json::from_slice(&call.incoming.body).ok()?;
            text(&body, "/location").map(|location| location.replace(' ', "").to_lowercase())
        })
        .unwrap_or_default()
}

/// The type that a path names. Paths without a namespace are ARM's own and need none.
fn row(call: &Call<'_>) -> Result<Option<&'static Type>, ArmError> {
    let Some(namespace) = &call.path.namespace else {
        return Ok(None);
    };
    // `/subscriptions/{s}/providers/{namespace}` and its actions.
    let own = ["register", "unregister"];
    if call.path.kinds.is_empty() || own.contains(&call.path.kind().as_str()) {
        return Ok(None);
    }
    if let Some(row) = types::find(namespace, &call.path.kinds) {
        return Ok(Some(row));
    }
    let known = types::namespaces()
        .iter()
        .any(|known| known.eq_ignore_ascii_case(namespace));
    let error = if known {
        ArmError::gateway(
            404,
            "InvalidResourceType",
            format!(
                "The resource type could not be found in the namespace '{namespace}' for api \
                 version '{}'.",
                call.version
            ),
        )
    } else {
        ArmError::gateway(
            404,
            "InvalidResourceNamespace",
            format!("The resource namespace '{namespace}' is invalid."),
        )
    };
    Err(error.with_header("x-tensorform-sandbox", "type not served"))
}

fn check_version(call: &Call<'_>, row: &Type) -> Result<(), ArmError> {
    // Operation URLs carry the version of the request that began them.
    let polls = row.path.to_lowercase().contains("operation");
    if polls || row.has_version(&call.version) {
        return Ok(());
    }
    let location = match call.path.kinds.first() {
        Some(first) if first.eq_ignore_ascii_case("locations") => call.path.name(0).to_owned(),
        Some(_) | None => String::new(),
    };
    Err(ArmError::gateway(
        400,
        "NoRegisteredProviderFound",
        format!(
            "No registered resource provider found for location '{location}' and API version \
             '{}' for type '{}'. The supported api-versions are '{}'. The supported locations \
             are '{}'.",
            call.version,
            row.path,
            row.versions().join(", "),
            catalogue::region_list().replace(',', ", ")
        ),
    ))
}

/// ARM's own paths take any version of the resources or the subscriptions API.
fn check_own_version(call: &Call<'_>) -> Result<(), ArmError> {
    let lists = [
        "Microsoft.Resources/resourceGroups",
        "Microsoft.Resources/subscriptions",
    ];
    let mut rows = lists.into_iter().filter_map(types::named);
    if rows.clone().any(|row| row.has_version(&call.version)) {
        return Ok(());
    }
    let versions = rows
        .next()
        .map(|row| row.versions().join(","))
        .unwrap_or_default();
    Err(ArmError::gateway(
        400,
        "InvalidApiVersionParameter",
        format!(
            "The api-version '{}' is invalid. The supported versions are '{versions}'.",
            call.version
        ),
    ))
}

/// Recorded: deleting a child whose group is gone names the parent, not the group.
fn orphan(world: &World, call: &Call<'_>, row: Option<&Type>) -> Result<(), ArmError> {
    let parent = row
        .filter(|_| call.method() == Method::Delete)
        .and_then(|_| crate::routes::common::id(world, call)?.parent());
    match parent {
        Some(parent) if world.group(call.subscription(), call.group()).is_none() => Err(not_found(
            &parent.resource_type(),
            parent.name(),
            call.group(),
        )),
        Some(_) | None => Ok(()),
    }
}

fn group(world: &World, call: &Call<'_>) -> Result<(), ArmError> {
    let name = call.group();
    let Some(group) = world.group(call.subscription(), name) else {
        return Err(group_not_found(name));
    };
    let writes = matches!(call.method(), Method::Put | Method::Patch | Method::Post);
    if writes && group.state == "Deleting" {
        return Err(ArmError::gateway(
            409,
            "ResourceGroupBeingDeleted",
            format!(
                "The resource group '{name}' is in deprovisioning state and cannot perform this \
                 operation."
            ),
        ));
    }
    Ok(())
}

/// The refusal for a group that is not there.
pub(crate) fn group_not_found(name: &str) -> ArmError {
    ArmError::gateway(
        404,
        "ResourceGroupNotFound",
        format!("Resource group '{name}' could not be found."),
    )
}

fn registered(world: &World, call: &Call<'_>, row: &Type) -> Result<(), ArmError> {
    let namespace = row.namespace;
    let state = crate::routes::providers::state(world, call.subscription(), namespace);
    let writes = matches!(call.method(), Method::Put | Method::Patch | Method::Post);
    if !writes || call.path.subscription.is_none() || state == "Registered" {
        return Ok(());
    }
    let message = format!(
        "The subscription is not registered to use namespace '{namespace}'. See \
         https://aka.ms/rps-not-found for how to register subscriptions."
    );
    Err(
        ArmError::gateway(409, "MissingSubscriptionRegistration", message.clone()).with_details(
            vec![serde_json::json!({
                "code": "MissingSubscriptionRegistration",
                "target": namespace,
                "message": message,
            })],
        ),
    )
}

/// The refusal of ARM for a resource that is not there.
pub(crate) fn not_found(kind: &str, name: &str, group: &str) -> ArmError {
    ArmError::gateway(
        404,
        "ResourceNotFound",
        format!(
            "The Resource '{kind}/{name}' under resource group '{group}' was not found. For more \
             details please go to https://aka.ms/ARMResourceNotFoundFix"
        ),
    )
}

fn count(
    limits: &mut Limits,
    call: &Call<'_>,
    row: &Type,
    caller: &Caller<'_>,
    headers: &mut Headers,
) -> Result<(), ArmError> {
    let reads = matches!(call.method(), Method::Get | Method::Head);
    match row.namespace {
        "Microsoft.Compute" => {
            let mut kind = call.path.kind();
            let action = [
                "instanceview",
                "vmsizes",
                "/skus",
                "osupgradehistory",
                "networkinterfaces",
                "publicipaddresses",
            ]
            .iter()
            .any(|view| kind.ends_with(view));
            if call.path.is_open() && reads && (!action || row.path.starts_with("locations")) {
                kind.push_str(" list");
            }
            // Recorded: lists of a whole subscription count nothing for some types.
            let uncounted = ["virtualmachinescalesets list", "availabilitysets list"]
                .contains(&kind.as_str())
                && call.path.group.is_none();
            if uncounted {
                return Ok(());
            }
            if let Some(group) = rules::compute_group(&kind, call.method()) {
                headers.extend(limits.compute(group, caller)?);
            }
            Ok(())
        }
        "Microsoft.Network" => {
            let verb = if reads { "read" } else { "write" };
            limits.network(call.method(), &format!("{}/{verb}", row.name()), caller)
        }
        _ => Ok(()),
    }
}

/// Turns a refusal by a rule into an answer; a 503 comes without a body, as recorded.
pub(crate) fn refusal(error: ArmError) -> Answer {
    if error.status == 503 && error.message.is_empty() {
        let mut answer = Answer::empty(503);
        answer.headers.clone_from(&error.headers);
        return answer;
    }
    error.into()
}
