//! Ways in to the nodes: public addresses, a Bastion host, and subnets that are not the stack's.

use std::collections::BTreeSet;

use model::{
    live::{Answer, Live, SubnetFact, UsageFact},
    plan::{Action, Plan, Step},
    resource::{Properties, Resource, ResourceKind},
    spec::{BastionSku, Grouping, Network, Spec, Via},
    units::Region,
};

use crate::{
    scale_sets::{ethernet, fabric, messages, with_count},
    support::{SUBSCRIPTION, applied, empty, good_plan, spec},
};

fn with_addresses(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    spec.access.via = Via::PublicIp;
    spec.access.ssh_from = vec![
        "203.0.113.0/24".parse().expect("a block"),
        "198.51.100.7/32".parse().expect("a block"),
    ];
    spec
}

fn with_bastion(spec: &Spec, sku: BastionSku) -> Spec {
    let mut spec = spec.clone();
    spec.access.via = Via::Bastion;
    spec.access.bastion_sku = sku;
    spec
}

fn subnet_id() -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub/subnets/gpu"
    )
}

fn with_subnet(spec: &Spec) -> Spec {
    let mut spec = spec.clone();
    let subnet = subnet_id().parse().expect("an id");
    spec.network = Network::Existing { subnet };
    spec
}

fn knowing(fact: Option<SubnetFact>) -> Live {
    let mut live = empty();
    let subnet = subnet_id().parse().expect("an id");
    live.facts.subnets.insert(subnet, Answer::Known(fact));
    live
}

fn fact(prefix: &str, used: u64) -> SubnetFact {
    SubnetFact {
        location: Region::new("eastus"),
        prefixes: vec![prefix.to_owned()],
        used,
        delegated_to: None,
    }
}

fn step<'a>(plan: &'a Plan, address: &str) -> &'a Step {
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address.to_string() == address)
        .expect("a step")
}

fn with_action(plan: &Plan, action: Action) -> Vec<String> {
    let steps = plan.steps.iter();
    let steps = steps.filter(|step| step.action == action);
    steps.map(|step| step.address.to_string()).collect()
}

fn rules(plan: &Plan) -> Vec<(String, u32, BTreeSet<String>, BTreeSet<String>)> {
    let after = step(plan, "network.nsg").after.as_ref();
    let Some(Properties::NetworkSecurityGroup(group)) = after.map(|after| &after.properties) else {
        panic!("a security group");
    };
    let rules = group.rules.iter();
    rules
        .map(|(name, rule)| {
            (
                name.clone(),
                rule.priority,
                rule.sources.clone(),
                rule.ports.clone(),
            )
        })
        .collect()
}

fn line<'a>(plan: &'a Plan, address: &str, item: &str) -> &'a model::plan::CostLine {
    let mut lines = plan.cost.lines.iter();
    lines
        .find(|line| line.address == address && line.item == item)
        .expect("a line")
}

#[test]
fn nobody_gets_in_unless_asked_for() {
    let plan = good_plan(&spec(ethernet(2)), &empty());
    assert_eq!(rules(&plan), []);
    let nodes = plan.steps.iter().filter_map(|step| step.after.as_ref());
    let addresses: u32 = nodes
        .filter(|after| after.machines().is_some())
        .map(Resource::public_addresses)
        .sum();
    assert_eq!(addresses, 0);
}

#[test]
fn public_addresses_come_with_the_nodes_and_are_open_for_the_given_blocks_alone() {
    let spec = with_addresses(&spec(ethernet(2)));
    let plan = good_plan(&spec, &empty());
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let sources: BTreeSet<String> = texts(&["198.51.100.7/32", "203.0.113.0/24"]);
    let expected = ("ssh".to_owned(), 100, sources, texts(&["22"]));
    assert_eq!(rules(&plan), [expected]);
    for node in ["pool.train[0].vm", "pool.train[1].vm"] {
        let after = step(&plan, node).after.as_ref().expect("a VM");
        assert_eq!(after.public_addresses(), 1);
    }
    let paid = line(&plan, "pool.train", "Standard public IP address");
    assert_eq!(paid.quantity, 2);
    let live = applied(&plan, &empty());
    assert!(!good_plan(&spec, &live).has_changes);
}

#[test]
fn each_instance_of_a_set_has_a_public_address() {
    for pool in [fabric(4), {
        let mut pool = ethernet(4);
        pool.grouping = Grouping::ScaleSet;
        pool
    }] {
        let spec = with_addresses(&spec(pool));
        let plan = good_plan(&spec, &empty());
        let after = step(&plan, "pool.train.scale_set").after.as_ref();
        assert_eq!(after.map(Resource::public_addresses), Some(4));
        let paid = line(&plan, "pool.train", "Standard public IP address");
        assert_eq!(paid.quantity, 4);
        let needed: Vec<i64> = plan
            .quota
            .iter()
            .filter(|line| line.name.ends_with("PublicIpAddresses"))
            .map(|line| line.needed)
            .collect();
        // Those of the nodes, and that of the NAT gateway.
        assert_eq!(needed, [5]);
        let live = applied(&plan, &empty());
        let plan = good_plan(&with_count(&spec, 6), &live);
        let needed = plan.quota.iter().find(|line| line.name.contains("Public"));
        assert_eq!(needed.map(|line| line.needed), Some(2));
    }
}

#[test]
fn a_limit_of_public_addresses_is_found_before_anything_is_made() {
    let mut live = empty();
    let counter = UsageFact {
        name: "PublicIPAddresses".to_owned(),
        display_name: "Public IP Addresses".to_owned(),
        limit: 100,
        used: 100,
    };
    live.facts
        .network_quota
        .insert(Region::new("eastus"), Answer::Known(vec![counter]));
    let found = messages(&with_addresses(&spec(ethernet(2))), &live);
    let expected = "QUOTA001: quota `PublicIPAddresses` (Public IP Addresses) in eastus: limit 100, used 100, needed 3, short by 3";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
}

#[test]
fn closing_the_way_in_takes_the_rule_away_and_keeps_the_nodes() {
    let open = with_addresses(&spec(ethernet(1)));
    let live = applied(&good_plan(&open, &empty()), &empty());
    let closed = spec(ethernet(1));
    let plan = good_plan(&closed, &live);
    assert_eq!(with_action(&plan, Action::Update), ["network.nsg"]);
    assert_eq!(rules(&plan), []);
    let found = messages(&closed, &live);
    let expected =
        "CHANGE003: `network.public_address` is true, the spec wants null; Azure cannot change it";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
}

#[test]
fn a_bastion_host_has_a_subnet_of_its_own_in_the_free_half() {
    let spec = with_bastion(&spec(ethernet(1)), BastionSku::Standard);
    let plan = good_plan(&spec, &empty());
    let host = step(&plan, "network.bastion");
    let needs: Vec<String> = host.needs.iter().map(ToString::to_string).collect();
    assert_eq!(needs, ["network.bastion_ip", "network.bastion_subnet"]);
    let Some(Properties::BastionHost(made)) = host.after.as_ref().map(|after| &after.properties)
    else {
        panic!("a Bastion host");
    };
    assert!(made.tunneling);
    assert_eq!(made.sku, "Standard".into());
    let subnet = step(&plan, "network.bastion_subnet");
    assert!(
        subnet
            .id
            .to_string()
            .ends_with("/subnets/AzureBastionSubnet")
    );
    let after = subnet.after.as_ref().map(|after| &after.properties);
    let Some(Properties::Subnet(subnet)) = after else {
        panic!("a subnet");
    };
    assert_eq!(subnet.address_prefix, "10.40.255.192/26");
    assert!(line(&plan, "network.bastion", "Bastion Standard").quantity == 1);
    let live = applied(&plan, &empty());
    assert!(!good_plan(&spec, &live).has_changes);
}

#[test]
fn a_bastion_host_goes_before_its_subnet_and_its_address() {
    let spec = spec(ethernet(1));
    let live = applied(
        &good_plan(&with_bastion(&spec, BastionSku::Basic), &empty()),
        &empty(),
    );
    let plan = good_plan(&spec, &live);
    let gone = with_action(&plan, Action::Delete);
    assert_eq!(
        gone,
        [
            "network.bastion",
            "network.bastion_subnet",
            "network.bastion_ip"
        ]
    );
    let host = step(&plan, "network.bastion");
    let needs: Vec<String> = host.needs.iter().map(ToString::to_string).collect();
    assert!(
        needs.contains(&"network.bastion_subnet".to_owned()),
        "{needs:?}"
    );
    assert!(
        needs.contains(&"network.bastion_ip".to_owned()),
        "{needs:?}"
    );
}

#[test]
fn another_tier_makes_the_bastion_host_anew_and_nothing_else() {
    let base = spec(ethernet(1));
    let live = applied(
        &good_plan(&with_bastion(&base, BastionSku::Basic), &empty()),
        &empty(),
    );
    let plan = good_plan(&with_bastion(&base, BastionSku::Standard), &live);
    assert_eq!(with_action(&plan, Action::Replace), ["network.bastion"]);
    let writes = plan.steps.iter().filter(|step| step.action.writes());
    assert_eq!(writes.count(), 1);
}

#[test]
fn an_existing_subnet_is_used_and_nothing_is_made_beside_it() {
    let spec = with_subnet(&spec(ethernet(2)));
    let asked = messages(&spec, &empty());
    let unanswered = "NET002: the subnet `gpu` of `hub` could not be read: not asked in this test";
    assert!(asked.iter().any(|found| found == unanswered), "{asked:?}");
    let live = knowing(Some(fact("10.1.0.0/28", 9)));
    let plan = good_plan(&spec, &live);
    let kinds: BTreeSet<ResourceKind> = plan.steps.iter().map(|step| step.kind).collect();
    let expected = [
        ResourceKind::ResourceGroup,
        ResourceKind::SshPublicKey,
        ResourceKind::VirtualMachine,
    ];
    assert_eq!(kinds, expected.into());
    let vm = step(&plan, "pool.train[0].vm").after.as_ref();
    let vm = vm.and_then(Resource::virtual_machine).expect("a VM");
    let used = vm.network.subnet.as_ref().map(ToString::to_string);
    assert_eq!(used, Some(subnet_id()));
    let after = applied(&plan, &live);
    assert!(!good_plan(&spec, &after).has_changes);
}

#[test]
fn an_existing_subnet_is_checked_before_anything_is_made() {
    let check = |count: u32, fact: Option<SubnetFact>, expected: &str| {
        let spec = with_subnet(&spec(ethernet(count)));
        let found = messages(&spec, &knowing(fact));
        let expected = format!("NET001: the subnet `gpu` of `hub` {expected}");
        assert!(found.contains(&expected), "{found:?}");
    };
    check(1, None, "does not exist");
    check(
        3,
        Some(fact("10.1.0.0/28", 9)),
        "has 2 free addresses of 11, the plan makes 3 nodes",
    );
    let mut elsewhere = fact("10.1.0.0/16", 0);
    elsewhere.location = Region::new("westus2");
    check(1, Some(elsewhere), "is in westus2, the stack is in eastus");
    let mut given = fact("10.1.0.0/16", 0);
    given.delegated_to = Some("Microsoft.Batch/batchAccounts".to_owned());
    check(
        1,
        Some(given),
        "is given to `Microsoft.Batch/batchAccounts`",
    );
}

#[test]
fn an_existing_subnet_that_cannot_be_read_is_unknown() {
    let mut live = empty();
    let subnet = subnet_id().parse().expect("an id");
    let reason = "AuthorizationFailed".to_owned();
    live.facts
        .subnets
        .insert(subnet, Answer::Unknown { reason });
    let found = messages(&with_subnet(&spec(ethernet(1))), &live);
    let expected = "NET002: the subnet `gpu` of `hub` could not be read: AuthorizationFailed";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
}

#[test]
fn nodes_do_not_move_between_networks() {
    let own = spec(ethernet(1));
    let live = applied(&good_plan(&own, &empty()), &empty());
    let found = messages(&with_subnet(&own), &live);
    let expected = "NET003: the nodes are in the stack's own network, the spec puts them into the subnet `gpu` of `hub`";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
    let there = knowing(Some(fact("10.1.0.0/24", 0)));
    let live = applied(&good_plan(&with_subnet(&own), &there), &there);
    let found = messages(&own, &live);
    let expected = "NET003: the nodes are in a network that is not the stack's, the spec gives it one of its own";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
}
