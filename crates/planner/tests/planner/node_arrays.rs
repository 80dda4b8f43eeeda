//! Pools of CycleCloud: the server that they bring along, and the arrays that it imports.

use model::{
    address::Address,
    cyclecloud::{SERVER_POOL, template},
    diag::Code,
    live::{LiveResource, Owner, State},
    plan::{Action, Plan, Step},
    resource::{NodeArray, Resource},
    spec::{
        Orchestrator, Pool, Priority, Scheduler, SizeChoice, Spec, Spot, Stage, Workload,
        cyclecloud::{Locker, Server},
    },
};
use tensorform_planner::{Options, cluster, with_server};

use crate::support::{applied, empty, good_plan, options, planned, planned_with, pool, spec};

const IDENTITY: &str = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shared/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cyclecloud";

/// A pool of so many nodes.
pub(crate) fn array(size: &str, count: u32) -> Pool {
    let mut pool = pool(Stage::Training, Workload::Generative);
    pool.orchestrator = Orchestrator::CycleCloud;
    pool.size = SizeChoice::Named(size.into());
    pool.count = Some(count);
    pool
}

/// A stack with a server.
pub(crate) fn stack(pool: Pool) -> Spec {
    let mut spec = spec(pool);
    spec.cyclecloud = Some(Server {
        size: "Standard_D4s_v5".into(),
        accept_terms: true,
        identity: Some(IDENTITY.parse().expect("an id")),
        locker: Some(Locker {
            account: "locker".to_owned(),
            container: "cyclecloud".to_owned(),
        }),
        start: false,
    });
    spec
}

fn step<'a>(plan: &'a Plan, address: &str) -> &'a Step {
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address.to_string() == address)
        .unwrap_or_else(|| panic!("a step for {address}"))
}

fn made(plan: &Plan) -> &NodeArray {
    let after = step(plan, "pool.train.node_array").after.as_ref();
    after.and_then(Resource::node_array).expect("an array")
}

#[test]
fn a_server_is_made_before_its_arrays() {
    let plan = good_plan(&stack(array("Standard_ND96isr_H100_v5", 8)), &empty());
    let server = step(&plan, "pool.cyclecloud-server[0].vm");
    let vm = server.after.as_ref().and_then(Resource::virtual_machine);
    let vm = vm.expect("a VM");
    assert_eq!(vm.size.as_str(), "Standard_D4s_v5");
    assert!(vm.reports_readiness);
    assert!(vm.identities.contains(&IDENTITY.parse().expect("an id")));
    let image = vm.image.to_string();
    assert!(
        image.starts_with("azurecyclecloud:azure-cyclecloud:"),
        "{image}"
    );
    let needs = &step(&plan, "pool.train.node_array").needs;
    assert!(needs.contains(&Address::vm(SERVER_POOL, 0)), "{needs:?}");
    let made = made(&plan);
    assert_eq!((made.nodes, made.coupled, made.is_default), (8, true, true));
    assert_eq!(plan.pools["train"].orchestrator, "cyclecloud");
    // The machines of the array, and the node that runs the scheduler.
    let machines = plan
        .quota
        .iter()
        .find(|line| line.name == "virtualMachines");
    assert_eq!(machines.map(|line| line.needed), Some(10));
    let servers = plan.bootstraps.values();
    let user = servers.filter_map(|one| Some(one.setup.server.as_ref()?.user.as_str()));
    assert_eq!(user.collect::<Vec<_>>(), ["azureuser"]);
}

#[test]
fn what_is_live_stays_and_other_bounds_are_imported_in_place() {
    let spec = stack(array("Standard_ND96isr_H100_v5", 8));
    let plan = good_plan(&spec, &empty());
    let live = applied(&plan, &empty());
    let again = good_plan(&spec, &live);
    assert!(!again.has_changes, "{:#?}", again.counts);
    let mut more = spec.clone();
    more.pools.get_mut("train").expect("the pool").count = Some(12);
    let plan = good_plan(&more, &live);
    let changed: Vec<String> = plan
        .changes()
        .map(|step| format!("{}: {:?}", step.address, step.action))
        .collect();
    assert_eq!(changed, ["pool.train.node_array: Update"]);
    // Another image of the marketplace is for nobody who did not ask for it.
    assert_eq!(made(&plan).image, made(&again).image);
}

#[test]
fn what_is_exported_is_what_is_imported() {
    let mut spec = stack(array("Standard_ND96isr_H100_v5", 8));
    let mut small = pool(Stage::Inference, Workload::Small);
    small.orchestrator = Orchestrator::CycleCloud;
    small.size = SizeChoice::Named("Standard_F4s_v2".into());
    small.count = Some(3);
    spec.pools.insert("small".to_owned(), small);
    let plan = good_plan(&spec, &empty());
    let catalog = model::catalog::Catalog::embedded();
    let exported = template(&cluster(&spec, &plan, catalog, Scheduler::Slurm));
    let arrays = plan.steps.iter();
    let arrays = arrays.filter_map(|step| step.after.as_ref()?.node_array());
    let parts: Vec<_> = arrays
        .map(|array| model::cyclecloud::sections(&array.as_cluster()))
        .collect();
    assert_eq!(parts.len(), 2);
    let mut imported = parts[0].head.clone();
    for part in &parts {
        assert_eq!((&part.head, &part.tail), (&parts[0].head, &parts[0].tail));
        imported.push_str(&part.arrays[0].1);
    }
    imported.push_str(&parts[0].tail);
    assert!(exported.ends_with(&imported), "{exported}\n---\n{imported}");
}

#[test]
fn nodes_are_paid_for_at_most_and_the_scheduler_with_the_first_array() {
    let plan = good_plan(&stack(array("Standard_ND96isr_H100_v5", 8)), &empty());
    let of = |address: &str, item: &str| -> Option<u32> {
        let mut lines = plan.cost.lines.iter();
        let line = lines.find(|line| line.address == address && line.item == item);
        line.map(|line| line.quantity)
    };
    assert_eq!(of("pool.train", "Standard_ND96isr_H100_v5"), Some(8));
    assert_eq!(of("pool.train", "Standard_D4ads_v5"), Some(1));
    assert_eq!(of("pool.cyclecloud-server", "Standard_D4s_v5"), Some(1));
}

#[test]
fn what_no_array_can_be_is_refused_with_both_settings() {
    let told = |pool: Pool| -> Vec<String> {
        let planned = planned(&stack(pool), &empty());
        let findings = planned.diagnostics.iter();
        let of_code = findings.filter(|finding| finding.code == Code::CycleCloudRefused);
        of_code.map(|finding| finding.message.clone()).collect()
    };
    let mut spot = array("Standard_ND96isr_H100_v5", 2);
    spot.priority = Priority::Spot(Spot {
        max_price: None,
        eviction: model::spec::Eviction::Delete,
        fallback_to_regular: false,
    });
    let said = told(spot);
    assert!(
        said.len() == 1
            && said[0].contains("`priority: spot`")
            && said[0].contains("Standard_ND96isr_H100_v5"),
        "{said:?}"
    );
    let mut other = array("Standard_ND96isr_H100_v5", 2);
    other.scheduler = Some(Scheduler::Pbs);
    let said = told(other);
    assert!(
        said[0].contains("`scheduler: pbs`") && said[0].contains("Enterprise Linux 8"),
        "{said:?}"
    );
}

#[test]
fn findings_about_the_server_stand_where_the_spec_has_it() {
    let mut spec = stack(array("Standard_ND96isr_H100_v5", 2));
    let server = spec.cyclecloud.as_mut().expect("a server");
    server.size = "Standard_None_v9".into();
    let planned = planned(&spec, &empty());
    let mut errors = planned.diagnostics.iter();
    let error = errors.find(|finding| finding.message.contains("Standard_None_v9"));
    let at = format!("{:?}", error.expect("an error").at);
    assert!(
        at.contains("cyclecloud") && !at.contains(SERVER_POOL),
        "{at}"
    );
    assert!(with_server(&spec).pools.contains_key(SERVER_POOL));
}

#[test]
fn machines_of_the_cluster_end_with_it_and_are_no_strangers() {
    let spec = stack(array("Standard_ND96isr_H100_v5", 2));
    let plan = good_plan(&spec, &empty());
    let mut live = applied(&plan, &empty());
    let group = step(&plan, "resource_group").id.clone();
    let subnet = step(&plan, "network.subnet").id.clone();
    let node = group.in_group("Microsoft.Compute/virtualMachines", "train-1");
    let mut tags = model::resource::Tags::default();
    tags.set("ClusterName", "demo");
    live.resources.push(LiveResource {
        id: node.clone(),
        arm_type: "Microsoft.Compute/virtualMachines".to_owned(),
        owner: Owner::Foreign,
        tags,
        resource: None,
        state: State::default(),
    });
    live.strangers.insert(subnet, [node].into());
    assert!(!good_plan(&spec, &live).has_changes, "nodes are no drift");
    let destroy = Options {
        destroy: true,
        ..options()
    };
    let catalog = model::catalog::Catalog::embedded();
    let planned = planned_with(&spec, catalog, &live, &destroy);
    let gone = planned.plan.expect("a plan");
    let deleted = gone
        .steps
        .iter()
        .filter(|step| step.action == Action::Delete);
    assert_eq!(
        deleted.count(),
        gone.steps.len(),
        "the group and the subnet go too"
    );
    let told = planned.diagnostics.iter().map(|one| one.code);
    let codes: Vec<Code> = told.filter(|code| *code != Code::SizesUnknown).collect();
    assert_eq!(codes, [Code::CycleCloudNodesRun]);
    let array = gone
        .steps
        .iter()
        .find(|step| step.address.leaf() == "node_array");
    let server = gone.steps.iter().find(|step| step.address.leaf() == "vm");
    let needs = &array.expect("the array").needs;
    assert!(
        needs.contains(&server.expect("the server").address),
        "{needs:?}"
    );
}
