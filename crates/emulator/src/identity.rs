//! Tokens: the authority's endpoint, the instance metadata service, App Service's identity
//! endpoint, and what clients read before they ask for one.

use serde_json::{Value, json};

use crate::{
    call::Setup,
    clock::Instant,
    http::{Answer, Incoming, Method, Query},
    text::{Seeded, base64_url},
};

/// How long a token says that it lives, in seconds.
const LIFE: i64 = 3_599;

/// Answers a request that is neither ARM's nor the sandbox's own.
pub(crate) fn answer(incoming: &Incoming, setup: &Setup, now: Instant) -> Answer {
    let path = incoming.path.to_lowercase();
    let reads = incoming.method == Method::Get;
    if path.ends_with("/.well-known/openid-configuration") && reads {
        return configuration(incoming, setup);
    }
    if path.contains("/discovery/instance") && reads {
        return discovery(incoming);
    }
    if path == "/metadata/endpoints" && reads {
        return Answer::json(200, endpoints(incoming));
    }
    if path == "/metadata/identity/oauth2/token" && reads {
        return metadata(incoming, setup, now);
    }
    if (path == "/msi/token" || path == "/msi/token/") && reads {
        return app_service(incoming, setup, now);
    }
    if path.ends_with("/oauth2/v2.0/token") || path.ends_with("/oauth2/token") {
        return token(incoming, setup, now);
    }
    Answer::json(
        404,
        json!({"error": {"code": "NotFound", "message": format!("No path '{}' is known.", incoming.path)}}),
    )
}

/// The part of a path before the first slash: the tenant in authority paths.
fn tenant(incoming: &Incoming) -> &str {
    incoming
        .path
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default()
}

fn configuration(incoming: &Incoming, setup: &Setup) -> Answer {
    let base = &incoming.base;
    let given = tenant(incoming);
    Answer::json(
        200,
        json!({
            "token_endpoint": format!("{base}/{given}/oauth2/v2.0/token"),
            "authorization_endpoint": format!("{base}/{given}/oauth2/v2.0/authorize"),
            "device_authorization_endpoint": format!("{base}/{given}/oauth2/v2.0/devicecode"),
            "jwks_uri": format!("{base}/{given}/discovery/v2.0/keys"),
            "issuer": format!("{base}/{}/v2.0", setup.tenant),
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"],
            "response_types_supported": ["code", "id_token", "token id_token"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["none"],
            "tenant_region_scope": "NA",
        }),
    )
}

fn discovery(incoming: &Incoming) -> Answer {
    let base = &incoming.base;
    let host = base.rsplit('/').next().unwrap_or_default();
    Answer::json(
        200,
        json!({
            "tenant_discovery_endpoint": format!("{base}/common/v2.0/.well-known/openid-configuration"),
            "api-version": "1.1",
            "metadata": [{
                "preferred_network": host,
                "preferred_cache": host,
                "aliases": [host],
            }],
        }),
    )
}

/// The cloud as clients look it up: one since 2022-09-01, a list of all clouds before.
fn endpoints(incoming: &Incoming) -> Value {
    let base = &incoming.base;
    let cloud = json!({
        "name": "Sandbox",
        "portal": base,
        "resourceManager": format!("{base}/"),
        "gallery": format!("{base}/"),
        "batch": "https://batch.core.windows.net/",
        "graphAudience": format!("{base}/graph/"),
        "microsoftGraphResourceId": format!("{base}/graph/"),
        "graph": format!("{base}/graph"),
        "authentication": {
            "loginEndpoint": base,
            "audiences": [format!("{base}/"), "https://management.azure.com/"],
            "tenant": "common",
            "identityProvider": "AAD",
        },
        "suffixes": {
            "storage": "core.windows.net",
            "keyVaultDns": "vault.azure.net",
            "acrLoginServer": "azurecr.io",
        },
    });
    let one = incoming
        .query
        .get("api-version")
        .is_some_and(|version| version >= "2022-09-01");
    if one { cloud } else { json!([cloud]) }
}

/// An unsigned token with the claims that clients look into.
fn access_token(setup: &Setup, audience: &str, client: &str, now: Instant) -> String {
    let object = Seeded::of_text(setup.seed, client).guid();
    let seconds = now.unix_seconds();
    let header = json!({"typ": "JWT", "alg": "none"});
    let claims = json!({
        "aud": audience,
        "iss": format!("https://sts.windows.net/{}/", setup.tenant),
        "iat": seconds,
        "nbf": seconds,
        "exp": seconds + LIFE,
        "appid": client,
        "idtyp": "app",
        "oid": object,
        "sub": object,
        "tid": setup.tenant,
        "ver": "1.0",
    });
    format!(
        "{}.{}.{}",
        base64_url(header.to_string().as_bytes()),
        base64_url(claims.to_string().as_bytes()),
        base64_url(b"unsigned")
    )
}

fn refused(code: &str, number: u32, description: &str) -> Answer {
    Answer::json(
        400,
        json!({
            "error": code,
            "error_description": format!("AADSTS{number}: {description}"),
            "error_codes": [number],
        }),
    )
}

fn token(incoming: &Incoming, setup: &Setup, now: Instant) -> Answer {
    if incoming.method != Method::Post {
        return refused(
            "invalid_request",
            900_561,
            "The endpoint only accepts POST requests.",
        );
    }
    let form = Query::parse(&incoming.text());
    let missing = |name: &str| {
        refused(
            "invalid_request",
            900_144,
            &format!("The request body must contain the following parameter: '{name}'."),
        )
    };
    let Some(grant) = form.get("grant_type") else {
        return missing("grant_type");
    };
    let Some(client) = form.get("client_id") else {
        return missing("client_id");
    };
    let proof = match grant {
        "client_credentials" => form.get("client_secret").or(form.get("client_assertion")),
        "refresh_token" => form.get("refresh_token"),
        "password" => form.get("password"),
        "authorization_code" => form.get("code"),
        other => {
            return refused(
                "unsupported_grant_type",
                70_003,
                &format!("The app requested an unsupported grant type '{other}'."),
            );
        }
    };
    if proof.is_none_or(str::is_empty) {
        return refused(
            "invalid_client",
            7_000_216,
            "'client_assertion', 'client_secret' or 'request' is required for the 'client_credentials' grant type.",
        );
    }
    let audience = form
        .get("scope")
        .map(|scope| scope.trim_end_matches(".default"))
        .or(form.get("resource"))
        .unwrap_or("https://management.azure.com/");
    Answer::json(
        200,
        json!({
            "token_type": "Bearer",
            "expires_in": LIFE,
            "ext_expires_in": LIFE,
            "access_token": access_token(setup, audience, client, now),
        }),
    )
    .with_header("Cache-Control", "no-store, no-cache")
}

/// The client id of the identity that a machine of the sandbox has.
const MACHINE: &str = "44444444-4444-4444-4444-444444444444";

fn metadata(incoming: &Incoming, setup: &Setup, now: Instant) -> Answer {
    let asked = incoming
        .header("metadata")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let Some(resource) = incoming.query.get("resource").filter(|_| asked) else {
        return Answer::json(
            400,
            json!({
                "error": "invalid_request",
                "error_description": if asked {
                    "Identity request lacks the resource parameter"
                } else {
                    "Required metadata header not specified"
                },
            }),
        );
    };
    let client = incoming.query.get("client_id").unwrap_or(MACHINE);
    let seconds = now.unix_seconds();
    Answer::json(
        200,
        json!({
            "access_token": access_token(setup, resource, client, now),
            "client_id": client,
            "expires_in": LIFE.to_string(),
            "expires_on": (seconds + LIFE).to_string(),
            "ext_expires_in": LIFE.to_string(),
            "not_before": seconds.to_string(),
            "resource": resource,
            "token_type": "Bearer",
        }),
    )
}

fn app_service(incoming: &Incoming, setup: &Setup, now: Instant) -> Answer {
    let Some(resource) = incoming
        .query
        .get("resource")
        .filter(|_| incoming.header("x-identity-header").is_some())
    else {
        return Answer::json(
            400,
            json!({"statusCode": 400, "message": "X-IDENTITY-HEADER and resource are required."}),
        );
    };
    let client = incoming.query.get("client_id").unwrap_or(MACHINE);
    Answer::json(
        200,
        json!({
            "access_token": access_token(setup, resource, client, now),
            "client_id": client,
            "expires_on": (now.unix_seconds() + LIFE).to_string(),
            "resource": resource,
            "token_type": "Bearer",
        }),
    )
}
