//! Rules for Spot VMs. Their texts are documented, the status is that of similar refusals.

use model::catalog::Size;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::{
    catalogue,
    error::ArmError,
    json::{default, text},
    routes::compute::quota::is_spot,
};

/// The price limit of a body, if it has one that reads.
pub(crate) fn max_price(body: &Value) -> Option<Decimal> {
    let given = body.pointer("/properties/billingProfile/maxPrice")?;
    given.to_string().trim_matches('"').parse().ok()
}

/// Checks what belongs to Spot, and fills in its defaults.
pub(crate) fn check(body: &mut Value, size: &Size, location: &str) -> Result<(), ArmError> {
    let price = max_price(body);
    if !is_spot(body) {
        if text(body, "/properties/evictionPolicy").is_some() {
            return Err(ArmError::not_allowed(
                "Eviction policy can be set only on Azure Spot Virtual Machines.",
            )
            .with_target("evictionPolicy"));
        }
        if price.is_some() {
            return Err(ArmError::not_allowed(
                "Max price is supported only for Azure Spot Virtual Machines.",
            )
            .with_target("billingProfile.maxPrice"));
        }
        return Ok(());
    }
    if body.pointer("/properties/availabilitySet").is_some() {
        return Err(ArmError::not_allowed(
            "Azure Spot Virtual Machine is not supported in Availability Set.",
        ));
    }
    if let Some(price) = price {
        check_price(price, size, location)?;
    }
    default(body, "/properties/evictionPolicy", "Deallocate");
    default(
        body,
        "/properties/billingProfile",
        json!({"maxPrice": -1.0}),
    );
    Ok(())
}

/// Whether a price limit is one, and not below the price now.
pub(crate) fn check_price(price: Decimal, size: &Size, location: &str) -> Result<(), ArmError> {
    if price == Decimal::NEGATIVE_ONE {
        return Ok(());
    }
    if price <= Decimal::ZERO {
        return Err(ArmError::not_allowed(
            "The Max price value must be -1 (default) or a decimal value greater than zero.",
        )
        .with_target("billingProfile.maxPrice"));
    }
    let now = catalogue::price(location, &size.name).and_then(|price| price.spot);
    match now {
        Some(now) if price < now => Err(ArmError::not_allowed(format!(
            "Unable to perform operation 'Create VM' since the provided max price '{price} USD' \
             is lower than the current spot price '{now} USD' for Azure Spot VM size '{}'.",
            size.name.as_str()
        ))
        .with_target("billingProfile.maxPrice")),
        Some(_) | None => Ok(()),
    }
}
