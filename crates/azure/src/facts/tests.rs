//! Facts at the wire.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    live::{Answer, Facts, ImageKind, ImageQuestion, OwnImageQuestion, Question},
    resource::{PurchasePlan, System},
    units::Region,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{answer, image as images, sizes, usages};
use crate::testing::{Act, Seen, Server, odd};

fn image(version: Option<&str>) -> ImageQuestion {
    ImageQuestion {
        location: Region::new("eastus"),
        publisher: "microsoft-dsvm".to_owned(),
        offer: "ubuntu-hpc".to_owned(),
        sku: "2204".to_owned(),
        version: version.map(ToOwned::to_owned),
    }
}

fn region() -> Region {
    Region::new("East US")
}

/// A size with restrictions, as recorded for another subscription.
fn restricted(restrictions: &Value) -> Value {
    json!({"resourceType": "virtualMachines", "name": "Standard_NC4as_T4_v3", "family": "Standard NCASv3_T4 Family",
        "locations": ["eastus"], "locationInfo": [{"location": "EastUS", "zones": ["1", "2", "3"], "zoneDetails": []}],
        "capabilities": [{"name": "vCPUs", "value": "4"}], "restrictions": restrictions})
}

/// Answers as Azure does for one region.
fn world(seen: &Seen) -> Act {
    let path = seen.target.split('?').next().unwrap_or_default();
    let newest = "22.04.2026010100";
    match path.rsplit('/').next().unwrap_or_default() {
        "skus" => Act::json(
            200,
            &json!({"value": [restricted(&json!([])), {"resourceType": "disks"}]}),
        ),
        "usages" if path.contains("Microsoft.Compute") => Act::json(
            200,
            &json!({"value": [{"limit": 100, "currentValue": 5, "unit": "Count",
                "name": {"value": "cores", "localizedValue": "Total Regional vCPUs"}}, {"name": {"value": "x"}}]}),
        ),
        "usages" => Act::error(403, "AuthorizationFailed"),
        "versions" => Act::json(200, &json!([{"name": "22.04.9"}, {"name": newest}])),
        version if version == newest => Act::json(
            200,
            &json!({"name": newest, "properties": {"hyperVGeneration": "V2", "architecture": "x64",
                "osDiskImage": {"operatingSystem": "Linux", "sizeInBytes": 32_213_303_808_u64},
                "features": [{"name": "SecurityType", "value": "TrustedLaunchSupported"}]}}),
        ),
        _ => Act::error(404, "PlatformImageNotFound"),
    }
}

#[tokio::test]
async fn questions_are_answered_once() {
    let server = Server::start(world).await;
    let (client, _) = server.client().await;
    let questions = [
        Question::Sizes(region()),
        Question::ComputeQuota(region()),
        Question::NetworkQuota(region()),
        Question::Image(image(None)),
        Question::Image(image(Some("1.2.3"))),
        Question::Sizes(region()),
    ];
    let mut facts = Facts::default();
    answer(&client, &questions, &mut facts)
        .await
        .expect("answers");
    assert!(questions.iter().all(|question| facts.has(question)));
    let sent = server.seen().len();
    answer(&client, &questions, &mut facts)
        .await
        .expect("answers");
    assert_eq!((server.seen().len(), sent), (sent, 6));

    let sizes = facts.sizes[&region()].known().expect("sizes");
    let zones = |name: &str| sizes.get(&name.into()).map(|size| size.zones.len());
    assert_eq!((sizes.len(), zones("standard_nc4as_T4_V3")), (1, Some(3)));
    let cores = &facts.compute_quota[&region()].known().expect("quota")[0];
    assert_eq!(
        (cores.name.as_str(), cores.limit, cores.used),
        ("cores", 100, 5)
    );
    let Answer::Unknown { reason } = &facts.network_quota[&region()] else {
        panic!("a refusal is not known");
    };
    assert!(reason.contains("AuthorizationFailed"), "{reason}");
    let newest = facts.images[&image(None)]
        .known()
        .cloned()
        .flatten()
        .expect("an image");
    assert_eq!(newest.version, "22.04.2026010100");
    assert_eq!(
        (newest.generation, newest.plan, newest.os_disk_gb),
        (Some(2), None, Some(30))
    );
    let features = BTreeMap::from([(
        "SecurityType".to_owned(),
        "TrustedLaunchSupported".to_owned(),
    )]);
    assert_eq!(newest.features, features);
    assert_eq!(facts.images[&image(Some("1.2.3"))], Answer::Known(None));
    let asked = &server.seen()[0];
    let filter = server
        .seen()
        .iter()
        .any(|seen| seen.target.contains("location%20eq%20%27eastus%27"));
    assert!(filter, "{}", asked.target);
}

/// Galleries and their versions, a managed image, and terms, as the schemas have them.
fn images_and_terms(seen: &Seen) -> Act {
    let path = seen.target.split('?').next().unwrap_or_default();
    let version = |name: &str, regions: &[&str], excluded: bool| {
        let regions: Vec<Value> = regions.iter().map(|name| json!({"name": name})).collect();
        json!({"name": name, "properties": {
            "publishingProfile": {"targetRegions": regions, "excludeFromLatest": excluded},
            "provisioningState": "Succeeded", "storageProfile": {"osDiskImage": {"sizeInGB": 64}}}})
    };
    let definition = json!({"properties": {"osType": "Linux", "osState": "Generalized",
        "hyperVGeneration": "V2", "architecture": "x64",
        "features": [{"name": "SecurityType", "value": "TrustedLaunch"}],
        "purchasePlan": {"publisher": "shop", "product": "linux", "name": "nine"}}});
    let foreign = json!({"name": "1.0.0", "location": "eastus",
        "properties": {"storageProfile": {"osDiskImage": {"diskSizeGB": 40}}}});
    let answer = if path.ends_with("/galleries/own/images/train") {
        definition
    } else if path.ends_with("/galleries/own/images/train/versions") {
        json!({"value": [
            version("1.9.0", &["East US", "West US"], false),
            version("1.10.0", &["East US"], false),
            version("1.11.0", &["West US"], false),
            version("2.0.0", &["East US"], true),
        ]})
    } else if path.ends_with("/galleries/own/images/train/versions/1.9.0") {
        version("1.9.0", &["East US", "West US"], false)
    } else if path.ends_with("/locations/eastus/communityGalleries/hpc/images/ubuntu") {
        json!({"properties": {"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2"}})
    } else if path.ends_with("/locations/eastus/communityGalleries/hpc/images/ubuntu/versions") {
        json!({"value": [foreign]})
    } else if path.ends_with("/images/managed") {
        json!({"location": "eastus", "properties": {"hyperVGeneration": "V1",
            "storageProfile": {"osDisk": {"osType": "Windows", "osState": "Generalized", "diskSizeGB": 127}}}})
    } else if path.ends_with("/plans/nine/agreements/current") {
        let accepted = seen.target.contains("2015-06-01");
        json!({"properties": {"accepted": accepted, "marketplaceTermsLink": "https://example.org"}})
    } else {
        return Act::error(404, "ResourceNotFound");
    };
    Act::json(200, &answer)
}

#[tokio::test]
async fn images_by_id_say_what_their_kind_knows() {
    let server = Server::start(images_and_terms).await;
    let (client, _) = server.client().await;
    let below = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute";
    let mut facts = Facts::default();
    let mut read = async |id: &str| {
        let question = OwnImageQuestion {
            location: Region::new("eastus"),
            id: id.into(),
        };
        answer(&client, &[Question::OwnImage(question.clone())], &mut facts)
            .await
            .expect("answers");
        facts.own_images[&question].known().cloned().expect("known")
    };
    let newest = read(&format!("{below}/galleries/own/images/train")).await;
    let newest = newest.expect("an image");
    // The newest one that is there and counts as such.
    assert_eq!(newest.version, "1.10.0");
    assert_eq!(
        (newest.generation, newest.os_disk_gb, newest.kind),
        (Some(2), Some(64), ImageKind::Gallery)
    );
    assert_eq!(newest.feature("securitytype"), Some("TrustedLaunch"));
    assert_eq!(newest.plan.map(|plan| plan.name), Some("nine".into()));
    let named = read(&format!(
        "{below}/galleries/own/images/train/versions/1.9.0"
    ))
    .await;
    let named = named.expect("an image");
    assert_eq!(named.version, "1.9.0");
    assert_eq!(
        named.regions,
        Some(BTreeSet::from(["eastus", "westus"].map(Region::new)))
    );
    let community = read("/communityGalleries/hpc/images/ubuntu").await;
    let community = community.expect("an image");
    assert_eq!(
        (
            community.version.as_str(),
            community.os_disk_gb,
            community.regions
        ),
        ("1.0.0", Some(40), None)
    );
    let managed = read(&format!("{below}/images/managed"))
        .await
        .expect("an image");
    assert_eq!(
        (managed.kind, managed.os, managed.generation),
        (ImageKind::Managed, Some(System::Windows), Some(1))
    );
    assert_eq!(read(&format!("{below}/images/none")).await, None);
    assert_eq!(read("/sharedGalleries/none/images/none").await, None);
}

#[tokio::test]
async fn terms_are_accepted_where_one_version_of_the_api_says_so() {
    let server = Server::start(images_and_terms).await;
    let (client, _) = server.client().await;
    let plan = PurchasePlan {
        publisher: "shop".into(),
        product: "linux".into(),
        name: "nine".into(),
    };
    let mut facts = Facts::default();
    answer(&client, &[Question::Terms(plan.clone())], &mut facts)
        .await
        .expect("answers");
    let fact = facts.terms[&plan].known().expect("known");
    assert!(fact.accepted);
    assert_eq!(fact.link.as_deref(), Some("https://example.org"));
}

#[tokio::test]
async fn a_read_that_fails_is_no_answer() {
    let server = Server::script(vec![Act::error(500, "InternalServerError")]).await;
    let (client, _) = server.client().await;
    let mut facts = Facts::default();
    let error = answer(&client, &[Question::Sizes(region())], &mut facts)
        .await
        .expect_err("a failure");
    assert_eq!(error.to_string(), "could not read the sizes of `eastus`");
    assert!(!facts.has(&Question::Sizes(region())));
}

#[test]
fn restrictions_are_told_apart() {
    let check = |restrictions: Value, restricted_at_all: Option<&str>, zones: &[&str]| {
        let size = sizes::size(&restricted(&restrictions), &region()).expect("a size");
        assert_eq!(
            size.restricted.as_deref(),
            restricted_at_all,
            "{restrictions}"
        );
        let expected: BTreeSet<String> = zones.iter().map(ToString::to_string).collect();
        assert_eq!(size.restricted_zones, expected, "{restrictions}");
    };
    let reason = "NotAvailableForSubscription";
    let place = json!({"type": "Location", "values": ["eastus"], "reasonCode": reason,
        "restrictionInfo": {"locations": ["eastus"]}});
    let zones = json!({"type": "Zone", "values": ["eastus"], "reasonCode": reason,
        "restrictionInfo": {"locations": ["eastus"], "zones": ["1", "3"]}});
    check(json!([]), None, &[]);
    check(json!([place]), Some(reason), &[]);
    check(json!([zones]), None, &["1", "3"]);
    check(json!([place, zones]), Some(reason), &["1", "3"]);
    let elsewhere = json!({"type": "Location", "values": ["westus"], "reasonCode": reason,
        "restrictionInfo": {"locations": ["westus"]}});
    check(json!([elsewhere]), None, &[]);
    assert!(sizes::size(&restricted(&json!([])), &Region::new("westus")).is_none());
}

/// Answers about a region, with something wrong in them.
fn harmed() -> impl Strategy<Value = Value> {
    let restrictions = json!([{"type": "Zone", "values": ["eastus"], "reasonCode": "NotAvailableForSubscription",
        "restrictionInfo": {"locations": ["eastus"], "zones": ["1"]}}]);
    odd::harmed(vec![
        restricted(&restrictions),
        json!({"limit": 100, "currentValue": 5, "name": {"value": "cores", "localizedValue": "vCPUs"}}),
        json!({"properties": {"hyperVGeneration": "V2", "architecture": "x64", "plan": {},
            "osDiskImage": {"sizeInGb": 30, "sizeInBytes": 32_213_303_808_u64},
            "features": [{"name": "SecurityType", "value": "TrustedLaunchSupported"}]}}),
    ])
}

proptest! {
    /// A number that was not told is not made up: unknown is not zero.
    #[test]
    fn a_harmed_fact_is_left_out_or_told_as_it_is(item in harmed(), version in odd::text()) {
        if let Some(usage) = usages::usage(&item) {
            prop_assert_eq!(item["limit"].as_i64(), Some(usage.limit));
            prop_assert_eq!(item["currentValue"].as_i64(), Some(usage.used));
        }
        if let Some(size) = sizes::size(&item, &region()) {
            prop_assert_eq!(item["name"].as_str().unwrap_or_default(), size.name.as_str());
        }
        let fact = images::fact(&version, &item);
        let told = item.pointer("/properties/osDiskImage").is_some_and(Value::is_object);
        prop_assert!(told || fact.os_disk_gb.is_none());
    }

    #[test]
    fn versions_of_any_text_have_an_order(one in odd::text(), other in odd::text()) {
        let order = images::compare_versions(&one, &other);
        prop_assert_eq!(images::compare_versions(&other, &one), order.reverse());
    }
}
