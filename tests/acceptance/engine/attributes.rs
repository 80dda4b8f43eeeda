//! Every member of every body that we send gets another value past the tool: the plan shows
//! exactly that, with what it leads to, or `docs/attributes.md` says why not.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use model::{diag::Code, ids::ArmId, resource::ResourceKind};
use planner::Planned;
use serde_json::{Value, json};

use super::{
    noise::{BESIDE, EVERYTHING, made},
    plans::{good, spec},
    stage::{Sent, Stage, run},
    worlds::group,
};
use crate::harness::{compare, root};

/// The role `Storage Blob Data Reader`.
const READER: &str = "/subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.Authorization/roleDefinitions/2a2b9908-6ea1-4ae2-8e65-a410df84e7d1";
/// What the plan showed of each member.
const SHOWN: &str = "tests/goldens/attributes.txt";

/// A member of a body that we send.
#[derive(Clone, Debug)]
struct Member {
    kind: ResourceKind,
    id: ArmId,
    /// Where it stands, such as `/properties/priority`.
    place: String,
    body: Value,
}

/// The API version that a PUT of a kind goes with.
fn version(kind: ResourceKind) -> &'static str {
    if kind == ResourceKind::ResourceGroup {
        "2021-04-01"
    } else if kind == ResourceKind::Disk {
        "2024-03-02"
    } else if matches!(
        kind,
        ResourceKind::StorageAccount | ResourceKind::BlobContainer
    ) {
        "2023-05-01"
    } else if kind == ResourceKind::ManagedIdentity {
        "2023-01-31"
    } else if kind == ResourceKind::RoleAssignment {
        "2022-04-01"
    } else {
        "2024-07-01"
    }
}

/// The members of a body that are no objects and no lists, by place.
fn leaves(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                leaves(member, &format!("{place}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, &format!("{place}/{at}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(place.to_owned());
        }
    }
}

/// Every member of every body that made something, each once for a kind.
fn members(sent: &[Sent]) -> Vec<Member> {
    let mut found: BTreeMap<(ResourceKind, String), Member> = BTreeMap::new();
    for sent in sent.iter().filter(|sent| sent.method == "PUT") {
        let Ok(id) = sent.path.parse::<ArmId>() else {
            continue;
        };
        let Some(kind) = ResourceKind::from_arm_type(&id.resource_type()) else {
            continue;
        };
        let mut places = Vec::new();
        leaves(&sent.body, "", &mut places);
        for place in places {
            let body = sent.body.clone();
            // The words of a form differ between forms, so that each form is tried.
            let form = form(kind, &body);
            let member = Member {
                kind,
                id: id.clone(),
                place: place.clone(),
                body,
            };
            found
                .entry((kind, format!("{form}{place}")))
                .or_insert(member);
        }
    }
    found.into_values().collect()
}

/// The form of a body, where a kind has several.
fn form(kind: ResourceKind, body: &Value) -> &'static str {
    let text = |place: &str| body.pointer(place).and_then(Value::as_str);
    let windows = body.pointer("/properties/osProfile/windowsConfiguration");
    let is_set = kind == ResourceKind::VirtualMachineScaleSet;
    if is_set && text("/properties/orchestrationMode") == Some("Flexible") {
        "flexible "
    } else if kind != ResourceKind::VirtualMachine {
        ""
    } else if text("/properties/priority").is_some() {
        "spot "
    } else if windows.is_some() {
        "windows "
    } else {
        ""
    }
}

/// Other values of a member that is a word of a list, in the order in which they are tried.
fn other_words(kind: ResourceKind, place: &str) -> &'static [&'static str] {
    let name = place
        .rsplit('/')
        .find(|name| name.parse::<usize>().is_err());
    match (name.unwrap_or_default(), kind) {
        ("location", _) => &["westus2"],
        ("vmSize", _) => &["Standard_D8s_v5", "Standard_D2s_v5"],
        ("storageAccountType", _) => &["StandardSSD_LRS", "Premium_LRS"],
        ("caching", _) => &["ReadWrite", "ReadOnly", "None"],
        ("createOption", _) => &["Empty", "Attach"],
        ("deleteOption", _) => &["Detach", "Delete"],
        ("priority", _) => &["Regular", "Spot"],
        ("evictionPolicy", _) => &["Delete", "Deallocate"],
        ("securityType", _) => &["Standard"],
        ("orchestrationMode", _) => &["Flexible", "Uniform"],
        ("mode", _) => &["Automatic", "Rolling"],
        ("zones", _) => &["3"],
        ("publicIPAllocationMethod", _) => &["Dynamic"],
        ("publicIPAddressVersion", _) => &["IPv6"],
        ("addressPrefix", _) => &["10.40.0.0/18"],
        ("addressPrefixes", _) => &["10.40.0.0/15"],
        ("networkApiVersion", _) => &["2022-11-01"],
        ("version", _) => &["1.0.0", "latest"],
        ("keyData" | "publicKey", _) => {
            &["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"]
        }
        ("adminPassword", _) => &["Other-Horse-8-Battery"],
        ("offer", _) => &["ubuntu-hpc", "dsvm-win-2022"],
        ("publisher", _) => &["canonical"],
        ("sku", _) => &["2204-rocm", "winserver-2022"],
        ("name", ResourceKind::Disk) => &["StandardSSD_LRS"],
        ("name", ResourceKind::PublicIpAddress) | ("tier", _) => &["Basic"],
        ("name", ResourceKind::NatGateway) => &["StandardV2"],
        ("name", ResourceKind::StorageAccount) => &["Standard_GRS"],
        ("kind", ResourceKind::StorageAccount) => &["BlobStorage"],
        ("minimumTlsVersion", _) => &["TLS1_1"],
        ("publicAccess", _) => &["Blob"],
        ("roleDefinitionId", _) => &[READER],
        ("principalType", _) => &["User"],
        ("name", ResourceKind::BastionHost) => &["Basic", "Premium"],
        ("poolAllocationMode", _) => &["UserSubscription"],
        ("interNodeCommunication", _) => &["Enabled", "Disabled"],
        ("evaluationInterval", _) => &["PT15M"],
        ("provision", _) => &["BatchManagedPublicIPAddresses", "NoPublicIPAddresses"],
        ("name", _) if place == "/sku/name" => &["Standard_D8s_v5", "Standard_ND96amsr_A100_v4"],
        _ => &[],
    }
}

/// Other values of a member, in the order in which they are tried.
fn others(kind: ResourceKind, place: &str, value: &Value) -> Vec<Value> {
    let words = other_words(kind, place);
    let mut all: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    match value {
        Value::Bool(flag) => all.push(json!(!flag)),
        Value::Number(number) => {
            let usual = number.as_i64().unwrap_or_default();
            let numbers = match place.rsplit('/').next().unwrap_or_default() {
                "diskSizeGB" => vec![json!(usual * 2)],
                "maxPrice" => vec![json!(0.5)],
                "platformFaultDomainCount" => vec![json!(2), json!(3), json!(1), json!(5)],
                _ => vec![json!(usual + 1)],
            };
            all.extend(numbers);
        }
        Value::String(text) if text.starts_with("/subscriptions/") => {
            all.push(json!(id_of_others(text)));
        }
        Value::String(text) if words.is_empty() => all.push(json!(format!("{text}x"))),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
    }
    all.retain(|other| other != value);
    all
}

/// What others have of the kind that an id leads to.
fn id_of_others(id: &str) -> String {
    let others = group("others");
    let kind = id.split('/').nth(7).unwrap_or_default();
    match kind {
        "networkSecurityGroups" | "publicIPAddresses" | "natGateways" => {
            format!("{others}/providers/Microsoft.Network/{kind}/theirs")
        }
        "virtualNetworks" => {
            format!("{others}/providers/Microsoft.Network/{kind}/theirs/subnets/theirs")
        }
        _ => format!("{others}/providers/Microsoft.Compute/{kind}/theirs"),
    }
}

/// What others have that a reference can lead to.
async fn add_others(stage: &Stage) {
    let others = group("others");
    let location = json!({"location": "eastus"});
    let target = format!("{others}?api-version=2021-04-01");
    stage.raw("PUT", &target, Some(&location)).await;
    let network = |kind: &str| {
        format!("{others}/providers/Microsoft.Network/{kind}/theirs?api-version=2024-07-01")
    };
    let nsg = network("networkSecurityGroups");
    stage.raw("PUT", &nsg, Some(&location)).await;
    let standard = json!({"location": "eastus", "sku": {"name": "Standard"},
        "properties": {"publicIPAllocationMethod": "Static"}});
    stage
        .raw("PUT", &network("publicIPAddresses"), Some(&standard))
        .await;
    let gateway = json!({"location": "eastus", "sku": {"name": "Standard"}, "properties": {}});
    stage
        .raw("PUT", &network("natGateways"), Some(&gateway))
        .await;
    let body = json!({"location": "eastus", "properties": {
        "addressSpace": {"addressPrefixes": ["10.90.0.0/16"]},
        "subnets": [{"name": "theirs", "properties": {"addressPrefix": "10.90.0.0/24"}}]}});
    stage
        .raw("PUT", &network("virtualNetworks"), Some(&body))
        .await;
    let disk = format!("{others}/providers/Microsoft.Compute/disks/theirs?api-version=2024-03-02");
    let body = json!({"location": "eastus", "zones": ["1"], "sku": {"name": "Premium_LRS"},
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 64}});
    stage.raw("PUT", &disk, Some(&body)).await;
    let near = "providers/Microsoft.Compute/proximityPlacementGroups/theirs?api-version=2024-07-01";
    let near = format!("{others}/{near}");
    stage.raw("PUT", &near, Some(&location)).await;
    stage.wait(Duration::from_secs(120)).await;
}

/// What a plan says: what each step would change, and findings that were not there before.
fn shown(planned: Planned, usual: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = findings(&planned)
        .into_iter()
        .filter(|finding| !usual.contains(finding))
        .collect();
    let Some(plan) = planned.plan else {
        return lines;
    };
    for step in plan.changes() {
        let what = format!("{} {}", step.action, step.address);
        if step.reason.attributes.is_empty() {
            lines.push(what.clone());
        }
        for change in &step.reason.attributes {
            lines.push(format!("`{}` {what}", change.path));
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

/// Findings by code and place; of differences that lead to nothing also the attribute.
fn findings(planned: &Planned) -> Vec<String> {
    let differences = [Code::CannotChange, Code::ChangeRefused];
    planned
        .diagnostics
        .iter()
        .map(|finding| {
            let attribute = finding.message.split('`').nth(1);
            match attribute.filter(|_| differences.contains(&finding.code)) {
                Some(attribute) => {
                    let word = if finding.code == Code::CannotChange {
                        "reported"
                    } else {
                        "refused"
                    };
                    format!("`{attribute}` {word}")
                }
                None => format!("finding {}", finding.code.as_str()),
            }
        })
        .collect()
}

/// A stage on which everything and what others have was made, and what its plan says.
struct Set {
    text: &'static str,
    stage: Stage,
    usual: Vec<String>,
}

impl Set {
    async fn new(text: &'static str, with: Option<(&ArmId, &Value)>) -> Option<Self> {
        let stage = Stage::with(|options| options.throttling = false).await;
        add_others(&stage).await;
        if let Some((id, body)) = with {
            let (id, body) = (id.to_string().to_lowercase(), body.to_string());
            stage.change_requests(Some(Box::new(move |request| {
                let is_it = request.method == "PUT"
                    && request.url.to_lowercase().contains(&format!("{id}?"));
                if is_it {
                    request.body = body.clone().into_bytes();
                }
            })));
        }
        let spec = spec(text);
        let plan = good(stage.plan(&spec, false).await.ok()?).ok()?;
        let outcome = stage.apply(&plan, "made").await;
        stage.change_requests(None);
        if !outcome.reached() {
            return None;
        }
        let planned = stage.plan(&spec, false).await.ok()?;
        let usual = findings(&planned);
        Some(Self { text, stage, usual })
    }

    async fn shown(&self) -> Vec<String> {
        let planned = self.stage.plan(&spec(self.text), false).await;
        shown(planned.expect("a world"), &self.usual)
    }
}

/// The body with another value in one place.
fn changed(member: &Member, other: &Value) -> Value {
    let mut body = member.body.clone();
    if let Some(place) = body.pointer_mut(&member.place) {
        *place = other.clone();
    }
    body
}

/// Changes a member on what is live, or, where Azure refuses that, makes the resource with the
/// other value; what the plan shows then. `None` where Azure takes no other value at all.
async fn tell(
    set: &mut Set,
    usual: &[String],
    member: &Member,
) -> Option<(&'static str, Value, Vec<String>)> {
    let value = member.body.pointer(&member.place)?;
    let target = format!("{}?api-version={}", member.id, version(member.kind));
    let others = others(member.kind, &member.place, value);
    for other in &others {
        let body = changed(member, other);
        let (status, _) = set.stage.raw("PUT", &target, Some(&body)).await;
        if status >= 400 {
            continue;
        }
        set.stage.wait(Duration::from_secs(600)).await;
        let shown = set.shown().await;
        *set = Set::new(set.text, None).await.expect("everything is made");
        if !shown.is_empty() {
            return Some(("changed", other.clone(), shown));
        }
    }
    for other in &others {
        let body = changed(member, other);
        if let Some(made) = Set::new(set.text, Some((&member.id, &body))).await {
            let planned = made.stage.plan(&spec(set.text), false).await;
            return Some((
                "made",
                other.clone(),
                shown(planned.expect("a world"), usual),
            ));
        }
    }
    None
}

/// Rows of the written list: kind and member, where `*` stands for any text.
fn written() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("docs/attributes.md")).expect("the list");
    let (_, list) = text.split_once("## Not managed").expect("the list");
    list.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('|'))
        .filter_map(|(kind, rest)| {
            let member = rest.split('|').next()?;
            let bare = |cell: &str| cell.trim().trim_matches('`').to_owned();
            Some((bare(kind), bare(member)))
        })
        .collect()
}

fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| matches(after, rest)))
        }),
    }
}

#[test]
fn every_member_that_we_send_is_compared_or_on_the_written_list() {
    let mut lines = String::new();
    let mut unseen = Vec::new();
    for text in [EVERYTHING, BESIDE] {
        run(tell_all(text, &mut lines, &mut unseen));
    }
    compare(&root().join(SHOWN), &lines);
    check_written(&unseen);
}

/// Tells of every member of every body that makes a stack; of the stack beside only what the other
/// one has not.
async fn tell_all(text: &'static str, lines: &mut String, unseen: &mut Vec<(String, String)>) {
    let stage = made(text).await;
    let mut members = members(&stage.take_sent());
    members.retain(|member| text == EVERYTHING || is_beside(member.kind));
    let mut set = Set::new(text, None).await.expect("everything is made");
    let usual = set.usual.clone();
    for member in &members {
        let form = form(member.kind, &member.body);
        let name = format!("{form}{}", member.kind.collection());
        let place = member.place.trim_start_matches('/').replace('/', ".");
        let told = tell(&mut set, &usual, member).await;
        let line = match &told {
            Some((how, other, shown)) if !shown.is_empty() => {
                format!("{name} {place} {how} to {other}: {}", shown.join(", "))
            }
            Some((how, other, _)) => format!("{name} {place} {how} to {other}: nothing"),
            None => format!("{name} {place}: no other value is taken"),
        };
        writeln!(lines, "{line}").expect("text grows");
        let names_it = |line: &String| line.starts_with('`');
        if told.is_none_or(|(_, _, shown)| !shown.iter().any(names_it)) {
            unseen.push((name, place));
        }
    }
}

/// Kinds that only the stack beside has.
fn is_beside(kind: ResourceKind) -> bool {
    matches!(
        kind,
        ResourceKind::BastionHost
            | ResourceKind::BatchAccount
            | ResourceKind::BatchPool
            | ResourceKind::MarketplaceTerms
            | ResourceKind::StorageAccount
            | ResourceKind::BlobContainer
            | ResourceKind::ManagedIdentity
            | ResourceKind::RoleAssignment
    )
}

/// What no plan shows is on the written list, and nothing else is.
#[expect(
    clippy::print_stdout,
    reason = "the rows that lack are printed as they are to be written"
)]
fn check_written(unseen: &[(String, String)]) {
    let written = written();
    let open: Vec<_> = unseen
        .iter()
        .filter(|(kind, place)| {
            let is_it = |row: &(String, String)| matches(&row.0, kind) && matches(&row.1, place);
            !written.iter().any(is_it)
        })
        .collect();
    for (kind, place) in &open {
        println!("| `{kind}` | `{place}` |");
    }
    assert!(
        open.is_empty(),
        "{} are neither seen nor on the list",
        open.len()
    );
    let idle: Vec<_> = written
        .iter()
        .filter(|row| {
            let is_it = |one: &(String, String)| matches(&row.0, &one.0) && matches(&row.1, &one.1);
            !unseen.iter().any(is_it)
        })
        .collect();
    assert!(idle.is_empty(), "on the list for nothing: {idle:#?}");
}
