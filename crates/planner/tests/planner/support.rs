//! Specs and live worlds for tests.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Catalog,
    diag::Diagnostics,
    live::{
        Answer, Facts, ImageFact, Instance, Live, LiveResource, Mode, Owner, Power, Provisioning,
        Question, State, UsageFact,
    },
    permissions::{self, Grant},
    plan::{Action, Plan, SpecReference, Step},
    resource::{Known, Properties, Resource, ResourceKind},
    spec::{
        Access, BastionSku, Cidr, Identity, Network, Outbound, Pool, Spec, SshKeys, Stage, Via,
        Workload,
    },
    units::{Region, Timestamp},
};
use tensorform_planner::{Input, Options, Planned, cost::Limits, diff::Permissions, plan};

pub(crate) const SUBSCRIPTION: &str = "11111111-1111-1111-1111-111111111111";

/// The newest version of every image in these tests.
pub(crate) const NEWEST: &str = "99.1.1";

/// A public key that nobody has the private part of.
pub(crate) const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

pub(crate) fn pool(stage: Stage, workload: Workload) -> Pool {
    Pool::plain(stage, workload)
}

/// A stack with one pool `train` in eastus.
pub(crate) fn spec(pool: Pool) -> Spec {
    Spec {
        name: "demo".to_owned(),
        locations: vec![Region::new("eastus")],
        resource_group: "rg-demo".to_owned(),
        subscription: None,
        tags: BTreeMap::new(),
        ignore_tags: Vec::new(),
        budget: None,
        lifetime: None,
        network: Network::Own {
            address_space: Cidr {
                first: 0x0a28_0000,
                prefix: 16,
            },
            outbound: Outbound::Nat,
        },
        access: Access {
            user: "azureuser".to_owned(),
            ssh_keys: SshKeys::Generate,
            via: Via::None,
            ssh_from: Vec::new(),
            bastion_sku: BastionSku::Standard,
        },
        identity: Identity::None,
        aks: None,
        cyclecloud: None,
        pools: BTreeMap::from([("train".to_owned(), pool)]),
    }
}

pub(crate) fn options() -> Options {
    Options {
        now: Timestamp::from_unix(1_796_040_000),
        mode: Mode::Sandbox,
        cloud: "public".to_owned(),
        tool_version: "0.0.0".to_owned(),
        spec: SpecReference {
            digest: String::new(),
            path: "tensorform.yaml".to_owned(),
        },
        ssh_keys: None,
        destroy: false,
        orphans: false,
        power: None,
        reselect: false,
        renew: false,
        targets: BTreeSet::new(),
        permissions: Permissions::default(),
        limits: Limits::default(),
        price_book: None,
    }
}

/// A world with nothing in it that answers every question: no restrictions, plenty of quota.
pub(crate) fn empty() -> Live {
    Live {
        subscription: Some(SUBSCRIPTION.to_owned()),
        facts: generous(),
        ..Live::default()
    }
}

/// Answers that refuse nothing.
pub(crate) fn generous() -> Facts {
    let mut facts = Facts::default();
    let unknown = || "not asked in this test".to_owned();
    for region in ["eastus", "westus2", "swedencentral", "southcentralus"].map(Region::new) {
        facts
            .sizes
            .insert(region.clone(), Answer::Unknown { reason: unknown() });
        let counters = |names: &[&str]| {
            names
                .iter()
                .map(|name| UsageFact {
                    name: (*name).to_owned(),
                    display_name: (*name).to_owned(),
                    limit: 1_000_000,
                    used: 0,
                })
                .collect()
        };
        facts.compute_quota.insert(
            region.clone(),
            Answer::Known(counters(&["cores", "lowPriorityCores", "virtualMachines"])),
        );
        facts.network_quota.insert(
            region,
            Answer::Known(counters(&["IPv4StandardSkuPublicIpAddresses"])),
        );
    }
    facts
}

/// Plans, answering questions about images: they exist, and nothing else is known of them.
pub(crate) fn planned_with(
    spec: &Spec,
    catalog: &Catalog,
    live: &Live,
    options: &Options,
) -> Planned {
    let mut live = live.clone();
    loop {
        let planned = plan(Input {
            spec,
            catalog,
            live: &live,
            options,
        });
        let open: Vec<_> = planned
            .questions
            .iter()
            .filter(|question| !live.facts.has(question))
            .cloned()
            .collect();
        if open.is_empty() {
            return planned;
        }
        for question in open {
            answer(question, &mut live);
        }
    }
}

/// Answers a question so that nothing is refused.
fn answer(question: Question, live: &mut Live) {
    match question {
        Question::Image(image) => {
            let fact = ImageFact {
                version: image.version.clone().unwrap_or_else(|| NEWEST.to_owned()),
                ..ImageFact::default()
            };
            live.facts.images.insert(image, Answer::Known(Some(fact)));
        }
        Question::OwnImage(image) => {
            live.facts
                .own_images
                .insert(image, Answer::Known(Some(ImageFact::default())));
        }
        Question::Namespaces => {
            let registered = [
                "Microsoft.Compute",
                "Microsoft.Network",
                "Microsoft.MarketplaceOrdering",
                "Microsoft.Batch",
                "Microsoft.ManagedIdentity",
                "Microsoft.Storage",
                "Microsoft.ContainerService",
            ]
            .map(|name| (name.to_owned(), "Registered".to_owned()));
            live.facts.namespaces = Some(Answer::Known(BTreeMap::from(registered)));
        }
        Question::Permissions(scope) => {
            let grants = vec![Grant {
                actions: vec!["*".to_owned()],
                not_actions: Vec::new(),
            }];
            live.facts
                .permissions
                .insert(scope, Answer::Known(permissions::Permissions { grants }));
        }
        Question::Policy(node) => {
            live.facts.policies.insert(node, Answer::Known(Vec::new()));
        }
        Question::Reservations(group) => {
            live.facts.reservations.insert(group, Answer::Known(None));
        }
        Question::ProximityGroup(group) => {
            live.facts
                .proximity_groups
                .insert(group, Answer::Known(None));
        }
        Question::SpotPlacement(asked) => {
            let score = Some("High".to_owned());
            live.facts.placements.insert(asked, Answer::Known(score));
        }
        other @ (Question::Terms(_)
        | Question::Subnet(_)
        | Question::Sizes(_)
        | Question::ComputeQuota(_)
        | Question::BatchSizes(_)
        | Question::BatchQuota(_)
        | Question::NetworkQuota(_)) => {
            live.facts.set_unknown(other, "not asked in this test");
        }
    }
}

pub(crate) fn planned(spec: &Spec, live: &Live) -> Planned {
    planned_with(spec, Catalog::embedded(), live, &options())
}

/// The plan, which must be sound and without errors.
pub(crate) fn good_plan(spec: &Spec, live: &Live) -> Plan {
    let planned = planned(spec, live);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:#?}",
        planned.diagnostics
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    plan
}

/// What is live after a plan has been applied well.
pub(crate) fn applied(plan: &Plan, before: &Live) -> Live {
    let mut live = before.clone();
    for step in &plan.steps {
        live.resources.retain(|resource| resource.id != step.id);
        live.instances.remove(&step.id);
        if let Some(set) = step.after.as_ref().and_then(Resource::scale_set) {
            let all = (0..set.capacity).map(|index| instance(index, running()));
            live.instances.insert(step.id.clone(), all.collect());
        }
        live.resources
            .extend(step.after.as_ref().map(|_| made(step)));
    }
    live
}

/// An instance of a scale set.
pub(crate) fn instance(index: u32, state: State) -> Instance {
    Instance {
        id: index.to_string(),
        name: format!("demo-train_{index}"),
        host_name: Some(format!("demo-train{index:06}")),
        zone: None,
        created: None,
        latest_model: Some(true),
        state,
    }
}

/// The state of a node that is well.
pub(crate) fn running() -> State {
    State {
        power: Some(Power::Running),
        agent_ready: Some(true),
        ..State::default()
    }
}

fn made(step: &Step) -> LiveResource {
    let mut resource = step.after.clone().expect("a desired resource");
    if let Properties::SshPublicKey(key) = &mut resource.properties {
        key.public_key = Known::Value(KEY.to_owned());
    }
    if let Some(keys) = resource.ssh_keys_mut() {
        *keys = Known::Value([KEY.to_owned()].into());
    }
    if let Some(vm) = resource.virtual_machine_mut() {
        if vm.os.is_linux() {
            vm.ssh_keys = Known::Value([KEY.to_owned()].into());
        }
        vm.password = None;
        // A VM's answer names only the id of its interface.
        vm.network.subnet = None;
        vm.network.accelerated = None;
    }
    let is_vm = step.kind == ResourceKind::VirtualMachine;
    let nodes = resource.batch_pool().map(|pool| pool.nodes);
    LiveResource {
        id: step.id.clone(),
        arm_type: step.kind.arm_type().to_owned(),
        owner: match step.id.parent() {
            Some(parent) if nodes.is_none() => Owner::Child {
                of: parent,
                address: Some(step.address.clone()),
            },
            Some(_) | None => Owner::Stack(step.address.clone()),
        },
        tags: resource.tags.clone(),
        resource: Some(resource),
        state: State {
            provisioning: Provisioning::Succeeded,
            power: is_vm.then_some(Power::Running),
            agent_ready: is_vm.then_some(true),
            message: None,
            evicted: false,
            readiness: None,
            nodes,
        },
    }
}

/// A stack that is live and equal to its spec.
pub(crate) fn live_stack(spec: &Spec) -> Live {
    let live = empty();
    applied(&good_plan(spec, &live), &live)
}

/// The live VM with this index.
pub(crate) fn vm(live: &mut Live, index: u32) -> &mut LiveResource {
    let address = model::address::Address::vm("train", index);
    live.resources
        .iter_mut()
        .find(|resource| resource.address() == Some(&address))
        .expect("a live VM")
}

/// Addresses and actions of the steps that write.
pub(crate) fn actions(plan: &Plan) -> Vec<(String, Action)> {
    plan.changes()
        .map(|step| (step.address.to_string(), step.action))
        .collect()
}

/// Codes of the findings, in order.
pub(crate) fn codes(diagnostics: &Diagnostics) -> Vec<&'static str> {
    diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.as_str())
        .collect()
}
