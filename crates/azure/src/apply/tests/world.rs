//! A world of a few resources that answers at once, steps made by hand, and a sink that remembers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use model::{
    address::Address,
    ids::ArmId,
    plan::{
        Action, Cost, Event, Fingerprint, Operation, Outcome, Plan, Reason, ReasonCode, Run, Scope,
        SpecReference, Step,
    },
    resource::{
        Disk, ImageReference, Known, MarketplaceImage, NetworkInterface, OsDisk, Properties,
        Resource, ResourceGroup, ResourceKind, Security, System, Tags, VirtualMachine,
        VirtualNetwork, VmPriority,
    },
    spec::DiskType,
    units::{Region, Timestamp},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::super::{ApplyInputs, Interrupt, Sink, apply};
use crate::{
    SinkError,
    clock::testing::TestClock,
    read::one::read_one,
    testing::{Act, Seen, Server},
};

/// What exists, by lower-case path.
#[derive(Default)]
pub(super) struct State {
    pub(super) resources: BTreeMap<String, Value>,
    etags: u64,
}

/// A world and the server that shows it.
pub(super) struct World {
    pub(super) server: Server,
    pub(super) state: Arc<Mutex<State>>,
}

impl World {
    /// A world without surprises.
    pub(super) async fn calm() -> Self {
        Self::with(|_, _| None).await
    }

    /// A world in which `hook` answers first, told how many requests came before.
    pub(super) async fn with(
        hook: impl Fn(&Seen, usize) -> Option<Act> + Send + Sync + 'static,
    ) -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let counter = std::sync::atomic::AtomicUsize::new(0);
        let server = Server::start(move |seen| {
            let count = counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            // A hook that hangs up lets the write happen first.
            let act = hook(seen, count);
            match act {
                Some(Act::HangUp) => {
                    shared.lock().expect("no thread panics").answer(seen);
                    Act::HangUp
                }
                Some(act) => act,
                None => shared.lock().expect("no thread panics").answer(seen),
            }
        })
        .await;
        Self { server, state }
    }

    /// Puts a resource there.
    pub(super) fn put(&self, id: &ArmId, body: Value) {
        let mut state = self.state.lock().expect("no thread panics");
        state.store(id.key(), body);
    }

    /// A resource's body.
    pub(super) fn body(&self, id: &ArmId) -> Option<Value> {
        let state = self.state.lock().expect("no thread panics");
        state.resources.get(id.key()).cloned()
    }

    /// What was written, as `METHOD last/parts`.
    pub(super) fn writes(&self) -> Vec<String> {
        let seen = self.server.seen();
        let writes = seen.iter().filter(|seen| seen.method != "GET");
        writes
            .map(|seen| {
                let path = seen.target.split('?').next().unwrap_or_default();
                let last: Vec<&str> = path.rsplit('/').take(2).collect();
                format!("{} {}/{}", seen.method, last[1], last[0])
            })
            .collect()
    }

    /// Applies steps without anybody interrupting.
    pub(super) async fn apply(&self, steps: Vec<Step>) -> (Outcome, Vec<Event>) {
        let sink = Remember::default();
        let (_, interrupt) = watch::channel(Interrupt::No);
        let (outcome, _) = self.apply_with(steps, &sink, interrupt).await;
        (outcome, sink.events())
    }

    /// Applies steps with a given sink and interrupts.
    pub(super) async fn apply_with(
        &self,
        steps: Vec<Step>,
        sink: &dyn Sink,
        interrupt: watch::Receiver<Interrupt>,
    ) -> (Outcome, Arc<TestClock>) {
        self.apply_plan(&plan(steps), sink, interrupt).await
    }

    /// Applies a plan.
    pub(super) async fn apply_plan(
        &self,
        plan: &Plan,
        sink: &dyn Sink,
        interrupt: watch::Receiver<Interrupt>,
    ) -> (Outcome, Arc<TestClock>) {
        let (client, clock) = self.server.client().await;
        let outcome = apply(&client, plan, &inputs(), sink, interrupt).await;
        (outcome, clock)
    }

    /// What a plan that is made now would rely on.
    pub(super) async fn fingerprint(&self, kind: ResourceKind, id: &ArmId) -> Fingerprint {
        let (client, _) = self.server.client().await;
        let now = read_one(&client, kind, id).await.expect("a read");
        Fingerprint::new(now.map(|now| now.values()))
    }
}

impl State {
    fn store(&mut self, path: &str, mut body: Value) {
        self.etags += 1;
        body["id"] = json!(path);
        body["etag"] = json!(format!("\"{}\"", self.etags));
        body["properties"]["provisioningState"] = json!("Succeeded");
        self.resources.insert(path.to_owned(), body);
    }

    fn answer(&mut self, seen: &Seen) -> Act {
        let path = seen
            .target
            .split('?')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let there = self.resources.get(&path).cloned();
        match (seen.method.as_str(), there) {
            ("GET", _) if path.ends_with("/resources") => {
                self.list(path.trim_end_matches("/resources"))
            }
            ("GET", Some(body)) => Act::json(200, &body),
            ("GET", None) => Act::error(404, "ResourceNotFound"),
            ("DELETE", Some(_)) => {
                self.resources.remove(&path);
                Act::empty(200)
            }
            ("DELETE", None) => Act::empty(204),
            ("PATCH", _) if path.ends_with("/tags/default") => self.tag(&path, &seen.json()),
            ("POST", _) => self.act(&path),
            (_, there) => self.write(seen, &path, there),
        }
    }

    fn list(&self, group: &str) -> Act {
        let inside = self
            .resources
            .keys()
            .filter(|path| path.starts_with(&format!("{group}/")));
        let items: Vec<Value> = inside.map(|path| json!({ "id": path })).collect();
        Act::json(200, &json!({ "value": items }))
    }

    fn write(&mut self, seen: &Seen, path: &str, there: Option<Value>) -> Act {
        let etag = there
            .as_ref()
            .and_then(|body| body["etag"].as_str())
            .unwrap_or_default();
        if seen.header("if-none-match") == "*" && there.is_some() {
            return Act::error(412, "PreconditionFailed");
        }
        let wanted = seen.header("if-match");
        if !wanted.is_empty() && wanted != etag {
            return Act::error(412, "PreconditionFailed");
        }
        let status = if there.is_some() { 200 } else { 201 };
        let mut body = match (seen.method.as_str(), there) {
            ("PATCH", Some(mut body)) => {
                merge(&mut body, &seen.json());
                body
            }
            _ => seen.json(),
        };
        answer_as_live(path, &mut body);
        self.store(path, body.clone());
        Act::json(status, &self.resources[path])
    }

    fn tag(&mut self, path: &str, request: &Value) -> Act {
        let target = path.trim_end_matches("/providers/microsoft.resources/tags/default");
        let Some(mut body) = self.resources.get(target).cloned() else {
            return Act::error(404, "ResourceNotFound");
        };
        for (name, value) in request["properties"]["tags"].as_object().expect("tags") {
            match request["operation"].as_str() {
                Some("Merge") => body["tags"][name] = value.clone(),
                _ => {
                    body["tags"].as_object_mut().expect("tags").remove(name);
                }
            }
        }
        self.store(target, body);
        Act::json(200, &json!({}))
    }

    fn act(&mut self, path: &str) -> Act {
        let (target, action) = path.rsplit_once('/').expect("an action");
        let Some(mut body) = self.resources.get(target).cloned() else {
            return Act::error(404, "ResourceNotFound");
        };
        let power = match action {
            "deallocate" => "deallocated",
            _ => "running",
        };
        body["properties"]["instanceView"] =
            json!({"statuses": [{"code": format!("PowerState/{power}")}]});
        self.store(target, body);
        Act::empty(200)
    }
}

/// A live VM names its interface, runs, and knows its disk.
fn answer_as_live(path: &str, body: &mut Value) {
    if !path.contains("/virtualmachines/") {
        return;
    }
    let group = path.split("/providers/").next().unwrap_or_default();
    if let Some(name) =
        body.pointer("/properties/networkProfile/networkInterfaceConfigurations/0/name")
    {
        let id = format!(
            "{group}/providers/Microsoft.Network/networkInterfaces/{}",
            name.as_str().expect("a name")
        );
        body["properties"]["networkProfile"] =
            json!({"networkInterfaces": [{"id": id, "properties": {"deleteOption": "Delete"}}]});
    }
    if body.pointer("/properties/instanceView").is_none() {
        body["properties"]["instanceView"] = json!({"statuses": [{"code": "PowerState/running"}]});
    }
    let disk = &body["properties"]["storageProfile"]["osDisk"]["name"];
    let id = format!(
        "{group}/providers/Microsoft.Compute/disks/{}",
        disk.as_str().unwrap_or_default()
    );
    body["properties"]["storageProfile"]["osDisk"]["managedDisk"]["id"] = json!(id);
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name.as_str()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Remembers events, and refuses from some number on.
#[derive(Default)]
pub(super) struct Remember {
    events: Mutex<Vec<Event>>,
    /// Refuses the writes from this one on.
    pub(super) refuses_write: Option<usize>,
}

impl Remember {
    pub(super) fn events(&self) -> Vec<Event> {
        self.events.lock().expect("no thread panics").clone()
    }
}

impl Sink for Remember {
    fn emit(&self, event: &Event) -> Result<(), SinkError> {
        let mut events = self.events.lock().expect("no thread panics");
        let is_write = |event: &&Event| matches!(event, Event::Write { .. });
        let writes = events.iter().filter(is_write).count();
        if is_write(&event) && self.refuses_write.is_some_and(|limit| writes >= limit) {
            return Err(SinkError("the disk is full".into()));
        }
        events.push(event.clone());
        Ok(())
    }
}

pub(super) fn group() -> ArmId {
    ArmId::resource_group("s", "rg")
}

pub(super) fn vm_id(name: &str) -> ArmId {
    group().in_group(ResourceKind::VirtualMachine.arm_type(), name)
}

pub(super) fn machine(name: &str) -> VirtualMachine {
    let network = group().in_group(ResourceKind::VirtualNetwork.arm_type(), "demo-vnet");
    VirtualMachine {
        location: Region::new("eastus"),
        zones: Vec::new(),
        size: "Standard_D2s_v5".into(),
        image: ImageReference::Marketplace(MarketplaceImage {
            publisher: "p".into(),
            offer: "o".into(),
            sku: "s".into(),
            version: "1.0.0".to_owned(),
        }),
        plan: None,
        os: System::Linux,
        password: None,
        priority: VmPriority::Regular,
        capacity_reservation: None,
        proximity_placement_group: None,
        computer_name: name.to_owned(),
        admin_user: "azureuser".to_owned(),
        ssh_keys: Known::AfterApply,
        os_disk: OsDisk {
            name: format!("{name}-os"),
            size_gb: 64,
            disk_type: DiskType::Premium,
            delete_with_vm: true,
            ephemeral: None,
        },
        disk_controller: None,
        data_disks: BTreeMap::new(),
        network: NetworkInterface {
            name: format!("{name}-nic"),
            subnet: Some(network.child("subnets", "demo-subnet")),
            accelerated: Some(true),
            delete_with_vm: true,
            public_address: false,
        },
        security: Security::Standard,
        identities: std::collections::BTreeSet::new(),
        reports_readiness: false,
    }
}

pub(super) fn resource(properties: Properties) -> Resource {
    let mut tags = Tags::default();
    tags.set("team", "ml");
    Resource { tags, properties }
}

pub(super) fn vm(machine: VirtualMachine) -> Resource {
    resource(Properties::VirtualMachine(Box::new(machine)))
}

pub(super) fn disk(size_gb: u32) -> Resource {
    resource(Properties::Disk(Disk {
        location: Region::new("eastus"),
        zones: Vec::new(),
        disk_type: DiskType::Premium,
        size_gb,
    }))
}

pub(super) fn network(block: &str) -> Resource {
    resource(Properties::VirtualNetwork(VirtualNetwork {
        location: Region::new("eastus"),
        address_space: [block.to_owned()].into(),
    }))
}

pub(super) fn resource_group() -> Resource {
    resource(Properties::ResourceGroup(ResourceGroup {
        location: Region::new("eastus"),
    }))
}

pub(super) fn step(
    address: &str,
    id: &ArmId,
    action: Action,
    operations: Vec<Operation>,
    after: Option<Resource>,
) -> Step {
    let kind = ResourceKind::from_arm_type(&id.resource_type()).expect("a kind");
    Step {
        address: address.parse::<Address>().expect("an address"),
        kind,
        id: id.clone(),
        action,
        operations,
        reason: Reason {
            code: ReasonCode::Absent,
            attributes: Vec::new(),
        },
        before: None,
        after,
        needs: Vec::new(),
        fingerprint: Fingerprint::new(None),
        alternates: Vec::new(),
    }
}

/// A step that makes the VM `name` at `pool.p[index].vm`.
pub(super) fn create_vm(index: usize) -> Step {
    let name = format!("demo-p-{index}");
    step(
        &format!("pool.p[{index}].vm"),
        &vm_id(&name),
        Action::Create,
        vec![Operation::Create],
        Some(vm(machine(&name))),
    )
}

pub(super) fn inputs() -> ApplyInputs {
    let mut inputs = ApplyInputs::new("nonce-1", Timestamp::from_unix(1_800_000_000));
    inputs.generated_ssh_key = Some("ssh-ed25519 AAAA".to_owned());
    inputs
}

pub(super) fn plan(steps: Vec<Step>) -> Plan {
    Plan {
        format_version: model::plan::FORMAT_VERSION.to_owned(),
        tensorform_version: "0".to_owned(),
        digest: String::new(),
        stack: "demo".to_owned(),
        created_at: Timestamp::from_unix(0),
        spec: SpecReference {
            digest: String::new(),
            path: "tensorform.yaml".to_owned(),
        },
        catalog: model::plan::CatalogReference {
            digest: String::new(),
            prices_as_of: String::new(),
            skus_as_of: String::new(),
        },
        scope: Scope {
            cloud: "public".to_owned(),
            mode: model::live::Mode::Azure,
            subscription: Some("s".to_owned()),
            location: Region::new("eastus"),
            resource_group: "rg".to_owned(),
        },
        has_changes: true,
        complete: true,
        counts: Plan::count(&steps),
        pools: BTreeMap::new(),
        steps,
        bootstraps: BTreeMap::new(),
        quota: Vec::new(),
        cost: Cost::default(),
        run: Run::default(),
        lifetime: None,
        targets: Vec::new(),
        orphans: false,
        diagnostics: Vec::new(),
    }
}
