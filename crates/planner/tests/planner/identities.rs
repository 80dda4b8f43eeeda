//! Identities of nodes: given to all of them, and those that others have given stay.

use std::collections::BTreeSet;

use model::{
    ids::ArmId,
    live::Live,
    plan::{Action, Operation, Step},
    resource::{Properties, Resource},
    spec::{Identity, Pool, SizeChoice, Spec, Stage, Workload},
};

use crate::{
    scale_sets::fabric,
    support::{actions, applied, empty, good_plan, pool, spec},
};

fn id(name: &str) -> ArmId {
    let id = format!(
        "/subscriptions/s/resourceGroups/ids/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"
    );
    id.parse().expect("an id")
}

fn with_identity(pool: Pool, identity: Identity) -> Spec {
    Spec {
        identity,
        ..spec(pool)
    }
}

fn node() -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named("Standard_F4s_v2".into());
    pool.count = Some(1);
    pool
}

fn of_nodes(resource: &Resource) -> Option<&BTreeSet<ArmId>> {
    let machine = resource.virtual_machine().map(|vm| &vm.identities);
    machine.or_else(|| resource.scale_set().map(|set| &set.identities))
}

/// What a policy does: each node has one identity more.
fn given_another(live: &Live) -> Live {
    let mut live = live.clone();
    for resource in live
        .resources
        .iter_mut()
        .filter_map(|live| live.resource.as_mut())
    {
        if let Properties::VirtualMachine(machine) = &mut resource.properties {
            machine.identities.insert(id("policy"));
        }
        if let Properties::VirtualMachineScaleSet(set) = &mut resource.properties {
            set.identities.insert(id("policy"));
        }
    }
    live
}

#[test]
fn nodes_have_the_identity_of_the_spec_and_one_that_others_gave_is_no_drift() {
    for pool in [node(), fabric(2)] {
        let wanted = with_identity(pool.clone(), Identity::User(id("jobs")));
        let plan = good_plan(&wanted, &empty());
        let given: Vec<&BTreeSet<ArmId>> = plan
            .steps
            .iter()
            .filter_map(|step| of_nodes(step.after.as_ref()?))
            .collect();
        assert_eq!(given, [&BTreeSet::from([id("jobs")])]);
        let live = applied(&plan, &empty());
        let more = given_another(&live);
        for live in [&live, &more] {
            assert_eq!(actions(&good_plan(&wanted, live)), Vec::new());
            // Whose it is cannot be told any more: it stays.
            let none = with_identity(pool.clone(), Identity::None);
            assert_eq!(actions(&good_plan(&none, live)), Vec::new());
        }
    }
}

#[test]
fn an_identity_is_given_to_nodes_that_run() {
    for pool in [node(), fabric(2)] {
        let none = with_identity(pool.clone(), Identity::None);
        let live = given_another(&applied(&good_plan(&none, &empty()), &empty()));
        let wanted = with_identity(pool, Identity::User(id("jobs")));
        let plan = good_plan(&wanted, &live);
        let changed: Vec<&Step> = plan.changes().collect();
        let [step] = changed.as_slice() else {
            panic!("one change: {changed:#?}");
        };
        assert_eq!(step.action, Action::Update);
        assert!(
            matches!(
                step.operations.as_slice(),
                [Operation::Patch { attributes }] if attributes.as_slice() == ["identities"]
            ),
            "{:?}",
            step.operations
        );
        let after = applied(&plan, &live);
        assert_eq!(actions(&good_plan(&wanted, &after)), Vec::new());
    }
}
