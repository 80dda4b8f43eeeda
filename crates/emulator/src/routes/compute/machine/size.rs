//! The size of a VM: whether it exists, is offered, and is not restricted; and resizing.

use model::catalog::Size;
use serde_json::Value;

use crate::{
    catalogue,
    error::ArmError,
    json::{items, same, text},
    store::{entry::Image, world::World},
};

/// Where a VM is to be placed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) subscription: &'a str,
    pub(crate) location: &'a str,
    /// The VM's name, for messages.
    pub(crate) name: &'a str,
    pub(crate) spot: bool,
}

/// The size of a VM body, or the refusal of one that is unknown, not offered or restricted.
pub(crate) fn check(
    world: &World,
    place: Place<'_>,
    body: &Value,
) -> Result<&'static Size, ArmError> {
    let name = text(body, "/properties/hardwareProfile/vmSize")
        .ok_or_else(|| ArmError::missing_parameter("hardwareProfile.vmSize"))?;
    let location = place.location;
    let size = catalogue::size(name);
    let offer = catalogue::offer(location, name);
    let (Some(size), Some(offer)) = (size, offer) else {
        let valid: Vec<&str> = catalogue::offers(location)
            .into_iter()
            .flat_map(model::catalog::RegionOffers::iter)
            .map(|offer| offer.size.as_str())
            .collect();
        return Err(ArmError::invalid_parameter(
            "vmSize",
            format!(
                "The value {name} provided for the VM size is not valid. The valid sizes in the \
                 current region are: {}.",
                valid.join(",")
            ),
        ));
    };
    let zones: Vec<&str> = items(body, "/zones")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    check_zones(location, &zones)?;
    let missing = zones.iter().any(|zone| !offer.zones.contains(*zone));
    let restricted = world
        .restriction(place.subscription, location, name)
        .is_some_and(|restriction| {
            restriction.zones.is_empty()
                || zones.iter().any(|zone| restriction.zones.contains(*zone))
        });
    if missing || restricted {
        return Err(not_available(place, name, &zones));
    }
    if place.spot && !offer.spot {
        return Err(ArmError::not_allowed(format!(
            "Azure Spot is not supported for this VM size {name}."
        )));
    }
    Ok(size)
}

fn check_zones(location: &str, zones: &[&str]) -> Result<(), ArmError> {
    if zones.len() > 1 {
        return Err(ArmError::invalid_parameter(
            "zones",
            "A virtual machine can be in one availability zone alone.",
        ));
    }
    let known = catalogue::zones(location);
    match zones.first() {
        Some(zone) if !known.iter().any(|known| known == zone) => Err(ArmError::gateway(
            400,
            "InvalidAvailabilityZone",
            format!(
                "The zone(s) '{zone}' for resource 'Microsoft.Compute/virtualMachines' is not \
                 supported. The supported zones for location '{location}' are '{}'",
                known.join(",")
            ),
        )),
        Some(_) | None => Ok(()),
    }
}

/// The refusal of a size that is restricted, or not to be had.
pub(crate) fn not_available(place: Place<'_>, size: &str, zones: &[&str]) -> ArmError {
    let Place {
        subscription,
        location,
        name,
        ..
    } = place;
    let message = if zones.is_empty() {
        format!(
            "The requested VM size for resource 'Following SKUs have failed for Capacity \
             Restrictions: {size}' is currently not available in location '{location}'. Please \
             try another size or deploy to a different location or different zone. See \
             https://aka.ms/azureskunotavailable for details."
        )
    } else {
        format!(
            "The requested size for resource '{name}' is currently not available in location \
             '{location}' zones '{}' for subscription '{subscription}'. Please try another size \
             or deploy to a different location or zones. See https://aka.ms/azureskunotavailable \
             for details.",
            zones.join(",")
        )
    };
    ArmError::new(409, "SkuNotAvailable", message)
}

/// Whether an image boots on a size.
pub(crate) fn check_image(size: &Size, image: &Image) -> Result<(), ArmError> {
    let name = size.name.as_str();
    let generation = image.generation;
    if !size.generations.is_empty() && !size.generations.contains(&generation) {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "The selected VM size '{name}' cannot boot Hypervisor Generation '{generation}'. \
                 If this was a Create operation please check that the Hypervisor Generation of \
                 the Image matches the Hypervisor Generation of the selected VM Size. If this was \
                 an Update operation please select a Hypervisor Generation '{generation}' VM \
                 Size. For more information, see https://aka.ms/azuregen2vm"
            ),
        ));
    }
    let wanted = size.architecture.map(catalogue::architecture);
    if let Some(wanted) = wanted
        && !same(wanted, &image.architecture)
    {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "Cannot create a VM of size '{name}' because this VM size only supports a CPU \
                 Architecture of '{wanted}', but an image or disk with CPU Architecture '{}' was \
                 given. Please check that the CPU Architecture of the image or disk is compatible \
                 with that of the VM size.",
                image.architecture
            ),
        ));
    }
    Ok(())
}

/// Whether a VM can change its size: on its hardware only within the family, and never between
/// sizes with and without a temporary disk.
pub(crate) fn check_resize(
    vm: &str,
    old: &Size,
    new: &Size,
    allocated: bool,
    location: &str,
) -> Result<(), ArmError> {
    if let (Some(before), Some(after)) = (has_temporary_disk(old), has_temporary_disk(new))
        && before != after
    {
        return Err(ArmError::not_allowed(format!(
            "Unable to resize the VM '{vm}' since changing from resource disk to non-resource disk \
             VM size and vice-versa is not allowed. Please refer to https://aka.ms/AAah4sj for \
             more details."
        )));
    }
    if allocated && old.family != new.family {
        let available: Vec<&str> = catalogue::offers(location)
            .into_iter()
            .flat_map(model::catalog::RegionOffers::iter)
            .filter(|offer| {
                catalogue::size(offer.size.as_str()).is_some_and(|size| size.family == old.family)
            })
            .map(|offer| offer.size.as_str())
            .collect();
        return Err(ArmError::not_allowed(format!(
            "Unable to resize the VM '{vm}' because the requested size {} is not available in the \
             current hardware cluster. The available sizes are: {}",
            new.name.as_str(),
            available.join(",")
        ))
        .with_target("vmSize"));
    }
    Ok(())
}

/// Whether a size has a temporary disk, by the rule of names: all did up to version 3, and since
/// version 4 of the D, E and F families those with a `d` behind the number. Other families do
/// not follow the rule, and nothing is said of them.
fn has_temporary_disk(size: &Size) -> Option<bool> {
    if !["D", "E", "F"].contains(&size.series.as_str()) {
        return None;
    }
    let name = size.name.as_str().trim_start_matches("Standard_");
    let first = name.split('_').next().unwrap_or_default();
    let features = first
        .trim_start_matches(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
    match size.version {
        Some(version) if version >= 4 => Some(features.contains('d')),
        Some(_) | None => Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_disks_are_told_by_names() {
        let judged = |name: &str| has_temporary_disk(catalogue::size(name).expect(name));
        assert_eq!(judged("Standard_D4s_v3"), Some(true));
        assert_eq!(judged("Standard_D4s_v5"), Some(false));
        assert_eq!(judged("Standard_D4ds_v5"), Some(true));
        assert_eq!(judged("Standard_NC24ads_A100_v4"), None);
    }
}
