//! Versions of marketplace images.

use std::cmp::Ordering;

use model::{
    live::{ImageFact, ImageQuestion},
    resource::{PurchasePlan, System},
};
use serde_json::Value;

use crate::{client::Client, error::RequestError, versions};

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// Reads the version asked for, or the newest; `None` where Azure has no such image.
pub(super) async fn read(
    client: &Client,
    question: &ImageQuestion,
) -> Result<Option<ImageFact>, RequestError> {
    match find(client, question).await {
        Err(error) if is_absent(&error) => Ok(None),
        other => other,
    }
}

async fn find(
    client: &Client,
    question: &ImageQuestion,
) -> Result<Option<ImageFact>, RequestError> {
    let ImageQuestion {
        location,
        publisher,
        offer,
        sku,
        version,
    } = question;
    let path = format!(
        "/subscriptions/{}/providers/Microsoft.Compute/locations/{location}/publishers/{publisher}\
         /artifacttypes/vmimage/offers/{offer}/skus/{sku}/versions",
        client.subscription()
    );
    let query = [("api-version", versions::COMPUTE)];
    let version = if let Some(version) = version {
        version.clone()
    } else {
        // The whole list: asked for one in descending order, the service orders by text.
        let items = client.list(&path, &query).await?;
        let names = items.iter().filter_map(|item| item.get("name")?.as_str());
        match names.max_by(|one, other| compare_versions(one, other)) {
            Some(newest) => newest.to_owned(),
            None => return Ok(None),
        }
    };
    let call = client.call_at(
        azure_core::Method::Get,
        &format!("{path}/{version}"),
        &query,
    )?;
    let reply = client.send(&call).await?;
    Ok(Some(fact(&version, &reply.body)))
}

/// Whether the image is absent, rather than the subscription.
fn is_absent(error: &RequestError) -> bool {
    error.is_absence()
        || error.arm().is_some_and(|arm| {
            arm.status == 404
                && (arm.has_code("PlatformImageNotFound") || arm.has_code("ArtifactNotFound"))
        })
}

/// Compares versions number by number, as Azure means them.
pub(super) fn compare_versions(one: &str, other: &str) -> Ordering {
    let numbers = |version: &str| -> Vec<u64> {
        version
            .split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect()
    };
    numbers(one)
        .cmp(&numbers(other))
        .then_with(|| one.cmp(other))
}

/// What the body of a version tells.
pub(super) fn fact(version: &str, body: &Value) -> ImageFact {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let features = body
        .pointer("/properties/features")
        .and_then(Value::as_array);
    let pair = |feature: &Value| {
        let name = feature.get("name")?.as_str()?.to_owned();
        Some((name, feature.get("value")?.as_str()?.to_owned()))
    };
    ImageFact {
        version: version.to_owned(),
        generation: match text("/properties/hyperVGeneration") {
            Some(word) if word.eq_ignore_ascii_case("V1") => Some(1),
            Some(word) if word.eq_ignore_ascii_case("V2") => Some(2),
            _ => None,
        },
        architecture: text("/properties/architecture").map(ToOwned::to_owned),
        plan: body.pointer("/properties/plan").and_then(plan),
        os_disk_gb: os_disk_gb(body),
        features: features.into_iter().flatten().filter_map(pair).collect(),
        os: text("/properties/osDiskImage/operatingSystem").map(|system| {
            if system.eq_ignore_ascii_case("Windows") {
                System::Windows
            } else {
                System::Linux
            }
        }),
        ..ImageFact::default()
    }
}

/// A purchase plan as images name it.
pub(super) fn plan(body: &Value) -> Option<PurchasePlan> {
    let part = |name: &str| body.get(name)?.as_str().filter(|part| !part.is_empty());
    Some(PurchasePlan {
        publisher: part("publisher")?.into(),
        product: part("product")?.into(),
        name: part("name")?.into(),
    })
}

/// The size of the OS disk that the image makes: whole GiB, without the footer that the stored
/// file has beyond them.
fn os_disk_gb(body: &Value) -> Option<u32> {
    let image = body.pointer("/properties/osDiskImage")?;
    let gib = image.get("sizeInGb").and_then(Value::as_u64);
    let bytes = image.get("sizeInBytes").and_then(Value::as_u64);
    u32::try_from(gib.or_else(|| bytes.map(|bytes| bytes / GIB))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_order_as_numbers() {
        let mut versions = ["22.04.20250930", "22.4.9", "22.04.20251009", "9.1.1"];
        versions.sort_by(|one, other| compare_versions(one, other));
        assert_eq!(
            versions,
            ["9.1.1", "22.4.9", "22.04.20250930", "22.04.20251009"]
        );
    }
}
