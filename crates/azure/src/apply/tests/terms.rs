//! Accepting the terms of purchase plans.

use model::{
    plan::{Action, Operation, Step},
    resource::{MarketplaceTerms, Properties, PurchasePlan, Resource, Tags},
};
use serde_json::{Value, json};

use super::world::*;
use crate::testing::{Act, Seen};

const PLACE: &str = "/subscriptions/s/providers/Microsoft.MarketplaceOrdering/offerTypes/virtualmachine/publishers/shop/offers/linux/plans/nine/agreements/current";

fn accept() -> Step {
    let plan = PurchasePlan {
        publisher: "shop".into(),
        product: "linux".into(),
        name: "nine".into(),
    };
    let after = Resource {
        tags: Tags::default(),
        properties: Properties::MarketplaceTerms(MarketplaceTerms {
            plan,
            accepted: true,
        }),
    };
    let id = PLACE.parse().expect("an id");
    step(
        "terms.shop.linux.nine",
        &id,
        Action::Create,
        vec![Operation::Create],
        Some(after),
    )
}

fn body(accepted: bool) -> Value {
    json!({"properties": {"publisher": "shop", "product": "linux", "plan": "nine",
        "signature": "SIGNED", "accepted": accepted}})
}

/// A world whose terms are answered by version of the API.
async fn world(newer: bool, older: bool) -> World {
    World::with(move |seen: &Seen, _| {
        if !seen.target.starts_with(PLACE) {
            return None;
        }
        if seen.method == "PUT" {
            return Some(Act::json(200, &body(true)));
        }
        let accepted = if seen.target.contains("2021-01-01") {
            newer
        } else {
            older
        };
        Some(Act::json(200, &body(accepted)))
    })
    .await
}

#[tokio::test]
async fn terms_are_accepted_with_the_signature_that_was_read() {
    let world = world(false, false).await;
    let (outcome, _) = world.apply(vec![accept()]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(outcome.writes, 1);
    let seen = world.server.seen();
    let put = seen.iter().find(|seen| seen.method == "PUT");
    assert_eq!(put.expect("a PUT").json(), body(true));
}

#[tokio::test]
async fn terms_that_somebody_accepted_since_the_plan_are_left_alone() {
    let world = world(true, true).await;
    let (outcome, _) = world.apply(vec![accept()]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(outcome.writes, 0);
}

#[tokio::test]
async fn a_version_that_denies_what_was_accepted_is_not_believed() {
    let world = world(false, true).await;
    let (outcome, _) = world.apply(vec![accept()]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(outcome.writes, 0);
}

#[tokio::test]
async fn terms_that_may_not_be_accepted_stop_what_needs_them() {
    let world = World::with(|seen: &Seen, _| {
        if !seen.target.starts_with(PLACE) {
            return None;
        }
        Some(match seen.method.as_str() {
            "PUT" => Act::error(403, "AuthorizationFailed"),
            _ => Act::json(200, &body(false)),
        })
    })
    .await;
    let mut vm = create_vm(0);
    vm.needs = vec![accept().address];
    let (outcome, _) = world.apply(vec![accept(), vm]).await;
    assert!(!outcome.reached());
    assert_eq!(outcome.writes, 0);
    let writes = world.writes();
    assert!(
        writes
            .iter()
            .all(|write| write.ends_with("agreements/current")),
        "{writes:?}"
    );
}
