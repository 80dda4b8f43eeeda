//! Namespaces, permissions, policies and spot placement, before anything is written.

use std::collections::BTreeMap;

use model::{
    ids::ArmId,
    live::{Answer, Live, PolicyFact, Question},
    permissions::{Grant, Permissions},
    spec::{Eviction, Priority, Spec, Spot, Stage, Workload},
};
use tensorform_planner::{Input, Planned, plan};

use crate::support::{
    SUBSCRIPTION, applied, codes, empty, good_plan, options, planned, pool, spec,
};

fn small() -> Spec {
    spec(pool(Stage::Inference, Workload::Small))
}

fn registered(states: &[(&str, &str)]) -> Live {
    let mut live = empty();
    let states = states.iter();
    let states: BTreeMap<String, String> = states
        .map(|(name, state)| ((*name).to_owned(), (*state).to_owned()))
        .collect();
    live.facts.namespaces = Some(Answer::Known(states));
    live
}

/// Messages of findings with a code.
fn said(planned: &Planned, code: &str) -> Vec<String> {
    let findings = planned.diagnostics.iter();
    findings
        .filter(|finding| finding.code.as_str() == code)
        .map(|finding| finding.message.clone())
        .collect()
}

#[test]
fn a_namespace_that_is_not_registered_is_an_error_with_its_fix() {
    let live = registered(&[
        ("microsoft.compute", "NotRegistered"),
        ("Microsoft.Network", "Registered"),
    ]);
    let planned = planned(&small(), &live);
    assert!(planned.diagnostics.has_errors());
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "RIGHT001")
        .expect("a finding");
    assert!(finding.message.contains("`Microsoft.Compute`"));
    assert!(
        finding
            .help
            .join(" ")
            .contains("az provider register --namespace Microsoft.Compute")
    );
}

#[test]
fn a_namespace_under_registration_or_unread_is_a_warning() {
    let live = registered(&[
        ("Microsoft.Compute", "Registering"),
        ("Microsoft.Network", "Registered"),
    ]);
    let registering = planned(&small(), &live);
    assert!(!registering.diagnostics.has_errors());
    assert_eq!(said(&registering, "RIGHT001").len(), 1);
    let mut live = empty();
    live.facts.namespaces = Some(Answer::Unknown {
        reason: "AuthorizationFailed".to_owned(),
    });
    let unread = planned(&small(), &live);
    assert!(!unread.diagnostics.has_errors());
    assert_eq!(said(&unread, "RIGHT003").len(), 1);
}

fn subscription() -> ArmId {
    ArmId::subscription_scope(SUBSCRIPTION)
}

#[test]
fn a_reader_gets_a_plan_that_says_what_apply_would_lack() {
    let mut live = empty();
    let reader = Permissions {
        grants: vec![Grant {
            actions: vec!["*/read".to_owned()],
            not_actions: Vec::new(),
        }],
    };
    live.facts
        .permissions
        .insert(subscription(), Answer::Known(reader));
    let planned = planned(&small(), &live);
    assert!(!planned.diagnostics.has_errors());
    assert!(planned.plan.is_some());
    let said = said(&planned, "RIGHT002");
    assert_eq!(said.len(), 1);
    for action in [
        "Microsoft.Compute/virtualMachines/write",
        "Microsoft.Network/virtualNetworks/subnets/join/action",
        "Microsoft.Resources/subscriptions/resourceGroups/write",
    ] {
        assert!(
            said.iter().all(|message| message.contains(action)),
            "{said:?}"
        );
    }
}

#[test]
fn what_a_policy_denies_is_an_error_at_the_pool() {
    // Asked once for many nodes that are alike.
    let mut many = small();
    for pool in many.pools.values_mut() {
        pool.count = Some(5);
    }
    let live = empty();
    let first = plan(Input {
        spec: &many,
        catalog: model::catalog::Catalog::embedded(),
        live: &with_images(&many, &live),
        options: &options(),
    });
    let asked: Vec<_> = first
        .questions
        .iter()
        .filter_map(|question| {
            let Question::Policy(node) = question else {
                return None;
            };
            Some(node.clone())
        })
        .collect();
    let [node] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    let mut live = live;
    let denied = PolicyFact {
        assignment: "/subscriptions/s/providers/Microsoft.Authorization/policyAssignments/sizes"
            .to_owned(),
        objection: "Microsoft.Compute/virtualMachines/sku.name".to_owned(),
    };
    live.facts
        .policies
        .insert(node.clone(), Answer::Known(vec![denied]));
    let planned = planned(&many, &live);
    let said = said(&planned, "RIGHT004");
    assert_eq!(said.len(), 1, "{:?}", planned.diagnostics);
    assert!(
        said.iter()
            .all(|message| message.contains("policyAssignments/sizes"))
    );
}

/// The same world once it has said what images there are.
fn with_images(spec: &Spec, live: &Live) -> Live {
    let mut live = live.clone();
    let questions = plan(Input {
        spec,
        catalog: model::catalog::Catalog::embedded(),
        live: &live,
        options: &options(),
    })
    .questions;
    for question in questions {
        if matches!(question, Question::Image(_)) {
            live.facts.set_unknown(question, "not asked in this test");
        }
    }
    live
}

#[test]
fn poor_chances_of_spot_are_told_before_anybody_waits() {
    let mut spot = small();
    for pool in spot.pools.values_mut() {
        pool.count = Some(4);
        pool.priority = Priority::Spot(Spot {
            max_price: None,
            eviction: Eviction::Delete,
            fallback_to_regular: false,
        });
    }
    let live = with_images(&spot, &empty());
    let questions = plan(Input {
        spec: &spot,
        catalog: model::catalog::Catalog::embedded(),
        live: &live,
        options: &options(),
    })
    .questions;
    let asked = questions.iter().find_map(|question| {
        let Question::SpotPlacement(asked) = question else {
            return None;
        };
        Some(asked.clone())
    });
    let asked = asked.expect("a question");
    assert_eq!(asked.count, 4);
    for (score, warned) in [
        (Answer::Known(Some("Low".to_owned())), true),
        (Answer::Known(Some("High".to_owned())), false),
        (Answer::Known(None), false),
        (
            Answer::Unknown {
                reason: "AuthorizationFailed".to_owned(),
            },
            false,
        ),
    ] {
        let mut live = live.clone();
        live.facts.placements.insert(asked.clone(), score);
        let planned = planned(&spot, &live);
        assert_eq!(codes(&planned.diagnostics).contains(&"SPOT003"), warned);
        assert!(!planned.diagnostics.has_errors());
    }
}

#[test]
fn a_plan_without_changes_asks_nothing() {
    let spec = small();
    let mut live = applied(&good_plan(&spec, &empty()), &empty());
    live.facts = model::live::Facts::default();
    let planned = plan(Input {
        spec: &spec,
        catalog: model::catalog::Catalog::embedded(),
        live: &live,
        options: &options(),
    });
    assert!(planned.questions.is_empty(), "{:?}", planned.questions);
}
