//! Checkpoints in a container that the tool makes: what it makes, who may write there, and that
//! what was written stays.

use std::collections::BTreeSet;

use model::{
    address::Address,
    diag::Code,
    live::{Answer, Live},
    permissions::{Grant, Permissions},
    plan::{Action, Plan, ReasonCode, Step},
    resource::{Known, Properties, ResourceKind, tags},
    spec::{Checkpoint, CheckpointTarget, Pool, SizeChoice, Spec, Stage, Workload},
};
use tensorform_planner::{Input, bootstrap, plan};

use crate::{
    scale_sets::fabric,
    support::{
        SUBSCRIPTION, actions, applied, codes, empty, good_plan, options, planned, pool, spec,
    },
};

const PRINCIPAL: &str = "11111111-2222-3333-4444-555555555555";

fn node() -> Pool {
    let mut pool = pool(Stage::Training, Workload::Complex);
    pool.size = SizeChoice::Named("Standard_NC24ads_A100_v4".into());
    pool.count = Some(2);
    pool
}

fn saving(mut pool: Pool, protect: bool) -> Spec {
    pool.checkpoint = Some(in_container(protect));
    spec(pool)
}

/// Checkpoints in a container that the tool makes.
pub(crate) fn in_container(protect: bool) -> Checkpoint {
    Checkpoint {
        to: CheckpointTarget::Blob,
        every: None,
        hook: "/data/save".to_owned(),
        identity: None,
        protect,
    }
}

/// What is live once a plan was applied: Azure has given the identity a principal.
fn made(plan: &Plan, before: &Live) -> Live {
    let mut live = applied(plan, before);
    for resource in &mut live.resources {
        match resource.resource.as_mut().map(|one| &mut one.properties) {
            Some(Properties::ManagedIdentity(identity)) => {
                identity.principal = Some(PRINCIPAL.to_owned());
            }
            Some(Properties::RoleAssignment(role)) => {
                role.principal = Known::Value(PRINCIPAL.to_owned());
            }
            _ => {}
        }
    }
    live
}

fn step<'a>(plan: &'a Plan, part: &str) -> &'a Step {
    let address = Address::checkpoint(part);
    let mut steps = plan.steps.iter();
    steps
        .find(|step| step.address == address)
        .expect("a step for the part")
}

fn parts(plan: &Plan) -> Vec<(String, Action)> {
    let mut all = actions(plan);
    all.retain(|(address, _)| address.starts_with("checkpoint."));
    all
}

#[test]
fn account_container_identity_and_role_are_made_before_nodes() {
    for pool in [node(), fabric(2)] {
        let plan = good_plan(&saving(pool, true), &empty());
        let names: Vec<&str> = ["account", "container", "identity", "role"]
            .map(|part| step(&plan, part).id.name())
            .to_vec();
        let [account, container, identity, role] = names.as_slice() else {
            panic!("four names: {names:?}");
        };
        assert!(
            account.starts_with("demo") && account.len() == 12,
            "{account}"
        );
        assert_eq!((*container, *identity), ("checkpoints", "demo-checkpoint"));
        assert_eq!(role.len(), 36);
        let needs = ["container", "identity"].map(Address::checkpoint).to_vec();
        assert_eq!(step(&plan, "role").needs, needs);
        let own = step(&plan, "identity").id.clone();
        let nodes = plan.steps.iter().filter(|step| {
            let resource = step.after.as_ref();
            let resource = resource.filter(|resource| resource.machines().is_some());
            let ids = resource.and_then(|resource| {
                let vm = resource.virtual_machine().map(|vm| &vm.identities);
                vm.or_else(|| resource.scale_set().map(|set| &set.identities))
            });
            ids == Some(&BTreeSet::from([own.clone()]))
        });
        let nodes: Vec<&Step> = nodes.collect();
        assert!(!nodes.is_empty());
        for node in nodes {
            for part in ["identity", "role"] {
                let part = Address::checkpoint(part);
                assert!(node.needs.contains(&part), "{:?}", node.needs);
            }
        }
        let (_, recorded) = plan.bootstraps.first_key_value().expect("a bootstrap");
        let size = &plan.pools["train"].size;
        let data = bootstrap::custom_data(recorded, size, None).expect("what nodes run");
        let url =
            format!("CHECKPOINT_URL='https://{account}.blob.core.windows.net/checkpoints/train'");
        assert!(data.contains(&url), "{data}");
        assert!(data.contains(&format!("CHECKPOINT_IDENTITY='{own}'")));
    }
}

#[test]
fn the_name_of_the_account_is_of_the_stack_and_its_group_alone() {
    let name = |change: &dyn Fn(&mut Spec)| {
        let mut spec = saving(node(), true);
        change(&mut spec);
        let plan = good_plan(&spec, &empty());
        step(&plan, "account").id.name().to_owned()
    };
    let usual = name(&|_| {});
    assert_eq!(
        usual,
        name(&|spec| spec
            .pools
            .values_mut()
            .for_each(|pool| pool.count = Some(1)))
    );
    assert_ne!(
        usual,
        name(&|spec| "rg-other".clone_into(&mut spec.resource_group))
    );
    let long = name(&|spec| "a-very-long-name-of-a-stack-for-once".clone_into(&mut spec.name));
    assert_eq!(long.len(), 24);
    assert!(long.starts_with("averylongnameofa"), "{long}");
    assert!(
        long.bytes()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    );
}

#[test]
fn nothing_is_left_to_do_once_it_is_there() {
    for pool in [node(), fabric(2)] {
        let wanted = saving(pool, true);
        let live = made(&good_plan(&wanted, &empty()), &empty());
        assert_eq!(actions(&good_plan(&wanted, &live)), Vec::new());
    }
}

#[test]
fn what_lets_others_in_is_put_back() {
    let wanted = saving(node(), true);
    let mut live = made(&good_plan(&wanted, &empty()), &empty());
    for resource in &mut live.resources {
        if let Some(Properties::StorageAccount(account)) =
            resource.resource.as_mut().map(|one| &mut one.properties)
        {
            account.shared_keys = true;
            account.sku = "Standard_GRS".into();
        }
    }
    let found = planned(&wanted, &live);
    // More copies of what was written are nobody's harm.
    assert_eq!(
        codes(&found.diagnostics)
            .iter()
            .filter(|code| code.starts_with("CHANGE"))
            .count(),
        1
    );
    let plan = found.plan.expect("a plan");
    assert_eq!(
        parts(&plan),
        [("checkpoint.account".to_owned(), Action::Update)]
    );
}

#[test]
fn a_role_for_an_identity_that_is_gone_is_made_anew_with_it() {
    let wanted = saving(node(), true);
    let mut live = made(&good_plan(&wanted, &empty()), &empty());
    let address = Address::checkpoint("identity");
    live.resources
        .retain(|resource| resource.address() != Some(&address));
    let plan = good_plan(&wanted, &live);
    let expected = [
        ("checkpoint.identity".to_owned(), Action::Create),
        ("checkpoint.role".to_owned(), Action::Replace),
    ];
    assert_eq!(parts(&plan), expected);
    let after = made(&plan, &live);
    assert_eq!(actions(&good_plan(&wanted, &after)), Vec::new());
}

#[test]
fn an_account_with_checkpoints_is_never_deleted_unless_the_spec_says_so() {
    let wanted = saving(node(), true);
    let live = made(&good_plan(&wanted, &empty()), &empty());
    let account = step(&good_plan(&wanted, &live), "account").after.clone();
    let account = account.expect("an account");
    assert_eq!(account.tags.get(tags::PROTECT), Some("true"));
    // A destroy keeps it, and what is in it.
    let mut destroying = options();
    destroying.destroy = true;
    let destroyed = |live: &Live| {
        let input = Input {
            spec: &wanted,
            catalog: model::catalog::Catalog::embedded(),
            live,
            options: &destroying,
        };
        plan(input)
    };
    let found = destroyed(&live);
    assert!(codes(&found.diagnostics).contains(&"CHANGE004"));
    let gone = found.plan.expect("a plan");
    assert_eq!(gone.breaches(), Vec::<String>::new());
    let expected = [
        ("checkpoint.role".to_owned(), Action::Delete),
        ("checkpoint.identity".to_owned(), Action::Delete),
    ];
    assert_eq!(parts(&gone), expected);
    // Leaving the spec is refused as well.
    let without = planned(&spec(node()), &live);
    let refused = without
        .diagnostics
        .iter()
        .find(|finding| finding.code == Code::Protected)
        .expect("a refusal");
    assert!(
        refused
            .help
            .join(" ")
            .contains("checkpoint: {protect: false}")
    );

    // The way out: said in the spec, and applied.
    let open = saving(node(), false);
    let opened = good_plan(&open, &live);
    assert_eq!(
        parts(&opened),
        [("checkpoint.account".to_owned(), Action::Update)]
    );
    let live = made(&opened, &live);
    let gone = destroyed(&live).plan.expect("a plan");
    assert_eq!(parts(&gone).len(), 4);
    assert!(gone.steps.iter().all(|step| step.action == Action::Delete));
}

#[test]
fn nodes_that_stay_keep_the_identity_that_they_write_by() {
    let open = saving(node(), false);
    let live = made(&good_plan(&open, &empty()), &empty());
    let found = planned(&spec(node()), &live);
    assert!(codes(&found.diagnostics).contains(&"OWN009"));
    let kept = found.plan.expect("a plan");
    assert_eq!(parts(&kept), Vec::new());
    // Made anew, they do not have it any more.
    let mut replacing = options();
    replacing.permissions.replace = vec![Address::vm("train", 0), Address::vm("train", 1)];
    let without = spec(node());
    let input = Input {
        spec: &without,
        catalog: model::catalog::Catalog::embedded(),
        live: &live,
        options: &replacing,
    };
    let anew = plan(input).plan.expect("a plan");
    assert_eq!(anew.breaches(), Vec::<String>::new());
    assert_eq!(parts(&anew).len(), 4, "{:?}", actions(&anew));
    let role = step(&anew, "role");
    assert_eq!(
        (role.kind, role.reason.code),
        (ResourceKind::RoleAssignment, ReasonCode::NotInSpec)
    );
    let after = made(&anew, &live);
    assert_eq!(actions(&good_plan(&without, &after)), Vec::new());
}

/// Who may only read plans for somebody who may more.
#[test]
fn a_reader_gets_a_plan_that_names_the_role_among_what_apply_would_lack() {
    let mut live = empty();
    let reader = Permissions {
        grants: vec![Grant {
            actions: vec!["*/read".to_owned()],
            not_actions: Vec::new(),
        }],
    };
    let subscription = model::ids::ArmId::subscription_scope(SUBSCRIPTION);
    live.facts
        .permissions
        .insert(subscription, Answer::Known(reader));
    let found = planned(&saving(node(), true), &live).diagnostics;
    assert!(!found.has_errors(), "{found:#?}");
    let lacks = found
        .iter()
        .find(|finding| finding.code.as_str() == "RIGHT002")
        .expect("a warning");
    assert!(
        lacks
            .message
            .contains("`Microsoft.Authorization/roleAssignments/write`"),
        "{}",
        lacks.message
    );
}

#[test]
fn who_may_give_no_roles_is_refused_with_the_ways_out() {
    let wanted = saving(node(), true);
    let mut live = empty();
    let contributor = Permissions {
        grants: vec![Grant {
            actions: vec!["*".to_owned()],
            not_actions: vec!["Microsoft.Authorization/*/Write".to_owned()],
        }],
    };
    let subscription = model::ids::ArmId::subscription_scope(SUBSCRIPTION);
    live.facts
        .permissions
        .insert(subscription, Answer::Known(contributor));
    let found = planned(&wanted, &live);
    assert!(found.diagnostics.has_errors());
    let refused = found
        .diagnostics
        .iter()
        .find(|finding| finding.code == Code::RoleNotGiven)
        .expect("a refusal");
    assert!(
        refused
            .message
            .contains("Microsoft.Authorization/roleAssignments/write")
    );
    assert!(
        refused
            .help
            .join(" ")
            .contains("checkpoint: {to: https://…}")
    );
    assert!(!codes(&found.diagnostics).contains(&"RIGHT002"));
    // A container that exists needs no role of the tool's.
    let mut existing = wanted;
    for pool in existing.pools.values_mut() {
        if let Some(checkpoint) = &mut pool.checkpoint {
            checkpoint.to = CheckpointTarget::Url("https://a.blob.core.windows.net/c".to_owned());
        }
    }
    assert!(!planned(&existing, &live).diagnostics.has_errors());
}
