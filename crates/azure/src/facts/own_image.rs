//! Images by their id: managed ones, and those of galleries of one's own, shared or of a community.

use std::collections::{BTreeMap, BTreeSet};

use azure_core::Method;
use model::{
    live::{ImageFact, ImageKind, OwnImageQuestion},
    resource::System,
    units::Region,
};
use serde_json::Value;

use super::image::{compare_versions, plan};
use crate::{
    client::{Client, absent_as_none},
    error::RequestError,
    versions,
};

/// Reads an image; `None` where there is none, or where it has no version for the region.
pub(super) async fn read(
    client: &Client,
    question: &OwnImageQuestion,
) -> Result<Option<ImageFact>, RequestError> {
    let id = question.id.as_str();
    let lower = id.to_lowercase();
    if !lower.contains("galleries/") {
        let body = get(client, id, versions::COMPUTE).await?;
        return Ok(body.map(|body| managed(&body)));
    }
    let is_foreign = !lower.starts_with("/subscriptions/");
    let path = if is_foreign {
        format!(
            "/subscriptions/{}/providers/Microsoft.Compute/locations/{}{id}",
            client.subscription(),
            question.location
        )
    } else {
        id.to_owned()
    };
    let lower = path.to_lowercase();
    let split = lower.rfind("/versions/");
    let image = split.and_then(|at| path.get(..at)).unwrap_or(&path);
    let wanted = split.and_then(|at| path.get(at + "/versions/".len()..));
    let Some(definition) = get(client, image, versions::GALLERIES).await? else {
        return Ok(None);
    };
    let version = match wanted {
        Some(version) => {
            get(
                client,
                &format!("{image}/versions/{version}"),
                versions::GALLERIES,
            )
            .await?
        }
        None => newest(client, image, &question.location).await?,
    };
    Ok(version.map(|version| of_gallery(&definition, &version)))
}

async fn get(client: &Client, path: &str, version: &str) -> Result<Option<Value>, RequestError> {
    let call = client.call_at(Method::Get, path, &[("api-version", version)])?;
    let reply = absent_as_none(client.send(&call).await)?;
    Ok(reply.map(|reply| reply.body))
}

/// The version that `latest` stands for in a region.
async fn newest(
    client: &Client,
    image: &str,
    location: &Region,
) -> Result<Option<Value>, RequestError> {
    let query = [("api-version", versions::GALLERIES)];
    let all = client.list(&format!("{image}/versions"), &query).await?;
    let mut here: Vec<Value> = all
        .into_iter()
        .filter(|version| is_latest_in(version, location))
        .collect();
    here.sort_by(|one, other| compare_versions(name(one), name(other)));
    Ok(here.pop())
}

fn is_latest_in(version: &Value, location: &Region) -> bool {
    let excluded =
        |value: &Value| value.get("excludeFromLatest").and_then(Value::as_bool) == Some(true);
    let properties = version.get("properties").unwrap_or(&Value::Null);
    let profile = properties.get("publishingProfile").unwrap_or(&Value::Null);
    let ready = properties
        .get("provisioningState")
        .and_then(Value::as_str)
        .is_none_or(|state| state.eq_ignore_ascii_case("Succeeded"));
    let targets = profile.get("targetRegions").and_then(Value::as_array);
    // Versions of others are listed for the region that was asked for.
    let is_here = targets.is_none_or(|targets| {
        targets
            .iter()
            .any(|target| Region::new(name(target)) == *location && !excluded(target))
    });
    ready && is_here && !excluded(profile) && !excluded(properties)
}

fn name(value: &Value) -> &str {
    value
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn managed(body: &Value) -> ImageFact {
    let disk = "/properties/storageProfile/osDisk";
    ImageFact {
        generation: generation(body).or(Some(1)),
        os: system(body, &format!("{disk}/osType")),
        specialized: is_specialized(body, &format!("{disk}/osState")),
        os_disk_gb: number(body, &format!("{disk}/diskSizeGB")),
        kind: ImageKind::Managed,
        regions: text(body, "/location").map(|location| BTreeSet::from([Region::new(location)])),
        ..ImageFact::default()
    }
}

/// What a definition and one of its versions say together.
fn of_gallery(definition: &Value, version: &Value) -> ImageFact {
    let features = definition
        .pointer("/properties/features")
        .and_then(Value::as_array);
    let pair = |feature: &Value| {
        let value = feature.get("value")?.as_str()?.to_owned();
        Some((name(feature).to_owned(), value))
    };
    let targets = version
        .pointer("/properties/publishingProfile/targetRegions")
        .and_then(Value::as_array);
    let disk = "/properties/storageProfile/osDiskImage";
    ImageFact {
        version: name(version).to_owned(),
        generation: generation(definition).or(Some(1)),
        architecture: text(definition, "/properties/architecture").map(ToOwned::to_owned),
        plan: definition
            .pointer("/properties/purchasePlan")
            .and_then(plan),
        os_disk_gb: number(version, &format!("{disk}/sizeInGB"))
            .or_else(|| number(version, &format!("{disk}/diskSizeGB"))),
        features: features
            .into_iter()
            .flatten()
            .filter_map(pair)
            .collect::<BTreeMap<_, _>>(),
        os: system(definition, "/properties/osType"),
        specialized: is_specialized(definition, "/properties/osState"),
        kind: ImageKind::Gallery,
        regions: targets.map(|targets| targets.iter().map(|it| Region::new(name(it))).collect()),
    }
}

fn text<'a>(body: &'a Value, place: &str) -> Option<&'a str> {
    body.pointer(place).and_then(Value::as_str)
}

fn number(body: &Value, place: &str) -> Option<u32> {
    u32::try_from(body.pointer(place)?.as_u64()?).ok()
}

/// An image without a word on its generation is of generation 1.
fn generation(body: &Value) -> Option<u8> {
    let word = text(body, "/properties/hyperVGeneration")?;
    Some(if word.eq_ignore_ascii_case("V2") {
        2
    } else {
        1
    })
}

fn system(body: &Value, place: &str) -> Option<System> {
    let word = text(body, place)?;
    Some(if word.eq_ignore_ascii_case("Windows") {
        System::Windows
    } else {
        System::Linux
    })
}

fn is_specialized(body: &Value, place: &str) -> bool {
    text(body, place).is_some_and(|state| state.eq_ignore_ascii_case("Specialized"))
}
