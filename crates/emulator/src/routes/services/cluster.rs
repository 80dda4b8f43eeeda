//! Clusters of AKS. Their pools of nodes are resources of their own, in `agent_pool`.
//!
//! The sandbox has no node resource group and no machines behind a cluster; a cluster in it is
//! what its API says of one.

use serde_json::{Value, json};

use super::{
    agent_pool,
    serve::{Draft, quiet_id},
};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::Answer,
    json::{default, items, merge, remove, same, set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::{self, not_served},
        compute::machine::profile,
    },
    store::{
        entry::{Resource, Style, Work},
        world::World,
    },
    text::base64_url,
};

/// The version of Kubernetes that a cluster gets which asks for none: the newest one recorded.
const VERSION: &str = "1.28.9";

/// The version that runs where a version was asked for, which may leave out its last part.
pub(super) fn running(version: &str) -> String {
    if version.split('.').count() > 2 {
        return version.to_owned();
    }
    let newest = VERSION.rsplit_once('.').map(|(minor, _)| minor);
    if newest == Some(version) {
        VERSION.to_owned()
    } else {
        format!("{version}.0")
    }
}

pub(super) fn invalid(target: &str, message: impl Into<String>) -> ArmError {
    refusal(400, "InvalidParameter", message).with_target(target)
}

/// A refusal in the form of AKS.
pub(super) fn refusal(status: u16, code: &str, message: impl Into<String>) -> ArmError {
    ArmError::new(status, code, message)
        .with_member("details", Value::Null)
        .with_member("subcode", json!(""))
        .bare()
}

/// Refuses a write while another one is running.
pub(super) fn idle(world: &World, resource: &Resource, what: &str) -> Result<(), ArmError> {
    let running = resource
        .operation
        .as_ref()
        .and_then(|id| world.operation(id));
    match running {
        None => Ok(()),
        Some(operation) => Err(refusal(
            409,
            "OperationNotAllowed",
            format!(
                "Operation is not allowed because there's an in progress {} operation on the \
                 {what} started on {}. Please wait for it to finish before starting a new \
                 operation. See https://aka.ms/aks-pending-operation for more details",
                operation.title,
                operation.started.plain()
            ),
        )),
    }
}

/// The body of a cluster; its pools come out beside it.
pub(super) fn build(
    world: &mut World,
    call: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    if let Some(old) = &draft.old {
        idle(world, old, "managed cluster")?;
    }
    let mut given = draft.given.clone();
    let profiles = remove(&mut given, "/properties/agentPoolProfiles");
    let profiles: Vec<Value> = profiles.map_or_else(Vec::new, |profiles| {
        items(&json!({"profiles": profiles}), "/profiles").to_vec()
    });
    for place in ["/properties/addonProfiles", "/properties/kubernetesVersion"] {
        let empty = given
            .pointer(place)
            .is_some_and(|value| *value == json!({}) || *value == json!(""));
        if empty {
            remove(&mut given, place);
        }
    }
    let mut body = draft
        .old
        .as_ref()
        .map_or_else(|| json!({}), |old| old.body.clone());
    merge(&mut body, &given);
    if draft.old.is_none() {
        if text(&body, "/properties/dnsPrefix").is_none()
            && text(&body, "/properties/fqdnSubdomain").is_none()
        {
            return Err(invalid(
                "dnsPrefix",
                "Required parameter dnsPrefix is missing (null).",
            ));
        }
        let system = |pool: &Value| text(pool, "/mode").is_some_and(|mode| same(mode, "System"));
        if !profiles.iter().any(system) {
            return Err(invalid(
                "agentPoolProfile.mode",
                "Must define at least one system pool.",
            ));
        }
    }
    fill(world, draft, &mut body);
    if body.get("identity").is_some() {
        let old = draft.old.as_ref().map(|old| &old.body);
        profile::identify(world, &draft.id, &mut body, old)?;
    }
    let new = draft.old.is_none();
    for pool in profiles {
        let child = agent_pool::inline(world, call, draft, &body, pool)?;
        draft.below.push(child);
    }
    if !new {
        draft.state = Some(state(draft, &body));
    }
    Ok(body)
}

/// What a changed cluster says while it changes.
fn state(draft: &Draft, body: &Value) -> &'static str {
    let version = "/properties/kubernetesVersion";
    let old = draft.kept(version);
    if old.as_ref() != body.pointer(version) {
        return "Upgrading";
    }
    let scales = draft.below.iter().any(|pool| pool.state() == "Scaling");
    if scales { "Scaling" } else { "Updating" }
}

/// What a cluster has that was not given, as recorded.
fn fill(world: &mut World, draft: &Draft, body: &mut Value) {
    let place = &draft.place;
    default(body, "/properties/kubernetesVersion", VERSION);
    let version = running(text(body, "/properties/kubernetesVersion").unwrap_or_default());
    set(body, "/properties/currentKubernetesVersion", json!(version));
    let prefix = text(body, "/properties/dnsPrefix")
        .or_else(|| text(body, "/properties/fqdnSubdomain"))
        .unwrap_or_default()
        .to_owned();
    let name = text(body, "/properties/fqdn").map(str::to_owned);
    let host = name
        .and_then(|fqdn| fqdn.split('.').next().map(str::to_owned))
        .unwrap_or_else(|| format!("{prefix}-{}", world.stream().letters(8)));
    for (member, value) in [
        ("powerState/code", json!("Running")),
        ("fqdn", json!(format!("{host}.hcp.{place}.azmk8s.io"))),
        (
            "azurePortalFQDN",
            json!(format!("{host}.portal.hcp.{place}.azmk8s.io")),
        ),
        (
            "nodeResourceGroup",
            json!(format!(
                "MC_{}_{}_{place}",
                draft.id.group().unwrap_or_default(),
                draft.id.name()
            )),
        ),
        ("servicePrincipalProfile/clientId", json!("msi")),
        ("enableRBAC", json!(true)),
        ("supportPlan", json!("KubernetesOfficial")),
        ("networkProfile/networkPlugin", json!("kubenet")),
        ("networkProfile/loadBalancerSku", json!("standard")),
        ("networkProfile/serviceCidr", json!("10.0.0.0/16")),
        ("networkProfile/dnsServiceIP", json!("10.0.0.10")),
        ("networkProfile/outboundType", json!("loadBalancer")),
        ("networkProfile/ipFamilies", json!(["IPv4"])),
        ("maxAgentPools", json!(100)),
        ("disableLocalAccounts", json!(false)),
        ("securityProfile", json!({})),
        ("storageProfile/diskCSIDriver/enabled", json!(true)),
        ("storageProfile/fileCSIDriver/enabled", json!(true)),
        ("storageProfile/snapshotController/enabled", json!(true)),
        ("oidcIssuerProfile/enabled", json!(false)),
        ("workloadAutoScalerProfile", json!({})),
    ] {
        default(body, &format!("/properties/{member}"), value);
    }
    default(body, "/sku/name", "Base");
    default(body, "/sku/tier", "Free");
    networks(body);
}

/// What follows from the network of a cluster.
fn networks(body: &mut Value) {
    let network = "/properties/networkProfile";
    let plugin = text(body, &format!("{network}/networkPlugin")).unwrap_or_default();
    if same(plugin, "kubenet") {
        default(body, &format!("{network}/podCidr"), "10.244.0.0/16");
    }
    for (one, all) in [("podCidr", "podCidrs"), ("serviceCidr", "serviceCidrs")] {
        if let Some(range) = text(body, &format!("{network}/{one}")).map(str::to_owned) {
            default(body, &format!("{network}/{all}"), json!([range]));
        }
    }
    let outbound = text(body, &format!("{network}/outboundType")).unwrap_or_default();
    if same(outbound, "loadBalancer") {
        let place = format!("{network}/loadBalancerProfile/managedOutboundIPs/count");
        default(body, &place, 1);
    }
}

/// The cluster as its GET shows it.
pub(super) fn show(world: &World, call: &Call<'_>, cluster: &Resource) -> Value {
    let mut shown = common::base(cluster);
    set(&mut shown, "/id", quiet_id(call, cluster));
    if call.setup.quirks {
        // Recorded in this case, that of pools in the other.
        set(
            &mut shown,
            "/type",
            json!("Microsoft.ContainerService/ManagedClusters"),
        );
    }
    let pools: Vec<Value> = agent_pool::of(world, &cluster.id)
        .map(|pool| agent_pool::profile(call, pool))
        .collect();
    set(&mut shown, "/properties/agentPoolProfiles", json!(pools));
    if call.since("2024-09-01") {
        set(&mut shown, "/eTag", json!(cluster.etag));
    }
    if cluster.state() != "Creating" {
        settled(call, cluster, &mut shown);
    }
    shown
}

/// What a cluster shows once it was made.
fn settled(call: &Call<'_>, cluster: &Resource, shown: &mut Value) {
    let mut stream = crate::text::Seeded::of_text(call.setup.seed, cluster.id.key());
    let group = text(shown, "/properties/nodeResourceGroup").unwrap_or_default();
    let subscription = cluster.id.subscription().unwrap_or_default();
    let base = format!("/subscriptions/{subscription}/resourceGroups/{group}/providers");
    let network = "/properties/networkProfile";
    let managed = format!("{network}/loadBalancerProfile/managedOutboundIPs");
    if shown.pointer(&managed).is_some() {
        let address = format!(
            "{base}/Microsoft.Network/publicIPAddresses/{}",
            stream.guid()
        );
        let place = format!("{network}/loadBalancerProfile/effectiveOutboundIPs");
        set(shown, &place, json!([{"id": address}]));
    }
    let sku = format!("{network}/loadBalancerSku");
    if call.setup.quirks && text(shown, &sku) == Some("standard") {
        set(shown, &sku, json!("Standard"));
    }
    if shown.get("identity").is_some() {
        let mut id = format!(
            "{base}/Microsoft.ManagedIdentity/userAssignedIdentities/{}-agentpool",
            cluster.name()
        );
        if call.setup.quirks {
            id = id.replacen("/resourceGroups/", "/resourcegroups/", 1);
        }
        let kubelet = json!({
            "resourceId": id, "clientId": stream.guid(), "objectId": stream.guid(),
        });
        default(
            shown,
            "/properties/identityProfile/kubeletidentity",
            kubelet,
        );
    }
}

/// The actions of a cluster: access to it, and its power.
pub(super) fn act(
    world: &mut World,
    call: &Call<'_>,
    cluster: Resource,
    action: &str,
) -> Result<Answer, ArmError> {
    let local = cluster.body.pointer("/properties/disableLocalAccounts") == Some(&json!(false));
    match action {
        "listclusteradmincredential" if !local => Err(refusal(
            400,
            "BadRequest",
            "Getting static credential is not allowed because this cluster is set to disable \
             local accounts.",
        )),
        "listclusteradmincredential" => Ok(credentials(&cluster, "clusterAdmin")),
        "listclusterusercredential" => Ok(credentials(&cluster, "clusterUser")),
        "stop" => power(world, call, cluster, ("Stopping", "Stopped")),
        "start" => power(world, call, cluster, ("Starting", "Running")),
        _ => Err(not_served(call)),
    }
}

/// A kubeconfig that leads nowhere, and says so.
fn credentials(cluster: &Resource, name: &str) -> Answer {
    let host = text(&cluster.body, "/properties/fqdn").unwrap_or_default();
    let own = cluster.name();
    let group = cluster.id.group().unwrap_or_default();
    let user = format!("{name}_{group}_{own}");
    let config = format!(
        "# Made by the Tensorform sandbox: there is no cluster behind it.\n\
         apiVersion: v1\nkind: Config\n\
         clusters:\n- cluster:\n    server: https://{host}:443\n  name: {own}\n\
         contexts:\n- context:\n    cluster: {own}\n    user: {user}\n  name: {own}\n\
         current-context: {own}\npreferences: {{}}\n\
         users:\n- name: {user}\n  user:\n    token: tensorform-sandbox\n"
    );
    Answer::json(
        200,
        json!({"kubeconfigs": [{"name": name, "value": padded(config.as_bytes())}]}),
    )
}

/// Base64 in the usual alphabet, with padding.
pub(super) fn padded(bytes: &[u8]) -> String {
    let mut text = base64_url(bytes).replace('-', "+").replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

fn power(
    world: &mut World,
    call: &Call<'_>,
    cluster: Resource,
    (state, code): (&str, &str),
) -> Result<Answer, ArmError> {
    idle(world, &cluster, "managed cluster")?;
    let mut cluster = cluster;
    let timing = durations::cluster(state);
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &cluster.id,
            location: &cluster.location,
            style: Style::Cluster,
            work: Work::Settle,
            title: state,
            timing,
        },
    );
    cluster.set_state(state);
    set(
        &mut cluster.body,
        "/properties/powerState/code",
        json!(code),
    );
    cluster.operation = Some(operation.id.clone());
    let pools: Vec<Resource> = agent_pool::of(world, &cluster.id).cloned().collect();
    for mut pool in pools {
        set(&mut pool.body, "/properties/powerState/code", json!(code));
        world.put_resource(pool);
    }
    // Recorded: 202 without a body, with both headers.
    world.put_resource(cluster);
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    ))
}
