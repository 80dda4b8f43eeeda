//! Azure resource ids, which compare without case and print as they were given.

use std::{cmp::Ordering, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The id of an Azure resource, such as
/// `/subscriptions/…/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm`.
#[derive(Clone)]
pub struct ArmId {
    // Shared: the id of one resource stands in many places.
    text: Arc<str>,
    key: Arc<str>,
}

/// Why a text is no resource id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a resource id such as `/subscriptions/<id>/resourceGroups/<name>/…`, found `{0}`"
)]
pub struct InvalidArmId(String);

impl ArmId {
    /// The id of a subscription.
    pub fn subscription_scope(subscription: &str) -> Self {
        Self::from_text(format!("/subscriptions/{subscription}"))
    }

    /// The id of a resource group.
    pub fn resource_group(subscription: &str, group: &str) -> Self {
        Self::from_text(format!(
            "/subscriptions/{subscription}/resourceGroups/{group}"
        ))
    }

    /// The id of a resource of `provider/kind` in this group, such as `Microsoft.Compute/disks`.
    pub fn in_group(&self, resource_type: &str, name: &str) -> Self {
        Self::from_text(format!("{}/providers/{resource_type}/{name}", self.text))
    }

    /// The id of a child of this resource, such as `subnets/default`.
    pub fn child(&self, kind: &str, name: &str) -> Self {
        Self::from_text(format!("{}/{kind}/{name}", self.text))
    }

    fn from_text(text: String) -> Self {
        let key = text.to_lowercase().into();
        let text = text.into();
        Self { text, key }
    }

    /// The id as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The lower-case form that comparisons use.
    pub fn key(&self) -> &str {
        &self.key
    }

    fn segments(&self) -> Vec<&str> {
        self.text.trim_start_matches('/').split('/').collect()
    }

    fn after(&self, segment: &str) -> Option<&str> {
        let segments = self.segments();
        let at = segments
            .iter()
            .position(|part| part.eq_ignore_ascii_case(segment))?;
        segments.get(at + 1).copied()
    }

    /// The subscription's id.
    pub fn subscription(&self) -> Option<&str> {
        self.after("subscriptions")
    }

    /// The resource group's name.
    pub fn group(&self) -> Option<&str> {
        self.after("resourceGroups")
    }

    /// The resource group's id, where this is inside one.
    pub fn group_id(&self) -> Option<Self> {
        Some(Self::resource_group(self.subscription()?, self.group()?))
    }

    /// The last name of the id.
    pub fn name(&self) -> &str {
        self.text.rsplit('/').next().unwrap_or_default()
    }

    /// `namespace/type` or `namespace/type/child`, as spelt in the id;
    /// `Microsoft.Resources/resourceGroups` for a group.
    pub fn resource_type(&self) -> String {
        let segments = self.segments();
        match segments
            .iter()
            .rposition(|part| part.eq_ignore_ascii_case("providers"))
        {
            Some(at) => {
                let mut parts = vec![segments.get(at + 1).copied().unwrap_or_default()];
                parts.extend(segments.iter().skip(at + 2).step_by(2));
                parts.join("/")
            }
            None if self.group().is_some() => "Microsoft.Resources/resourceGroups".to_owned(),
            None => "Microsoft.Resources/subscriptions".to_owned(),
        }
    }

    /// What an extension of a resource, such as a role assignment, stands on.
    pub fn scope(&self) -> Option<Self> {
        let at = self.key.rfind("/providers/")?;
        let scope = self.text.get(..at)?;
        let is_extension = self.key.get(..at)?.contains("/providers/");
        is_extension.then(|| Self::from_text(scope.to_owned()))
    }

    /// The resource this one is a child of: a subnet's network, an extension's VM.
    pub fn parent(&self) -> Option<Self> {
        let at = self.key.rfind("/providers/")?;
        let below = self.text.get(at + "/providers/".len()..)?;
        if below.split('/').count() < 5 {
            return None;
        }
        let (parent, _) = self.text.rsplit_once('/')?;
        let (parent, _) = parent.rsplit_once('/')?;
        Some(Self::from_text(parent.to_owned()))
    }
}

impl FromStr for ArmId {
    type Err = InvalidArmId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim_end_matches('/');
        let mut segments = trimmed
            .strip_prefix('/')
            .into_iter()
            .flat_map(|rest| rest.split('/'));
        let starts_well = segments
            .next()
            .is_some_and(|first| first.eq_ignore_ascii_case("subscriptions"));
        if !starts_well || segments.clone().next().is_none() || segments.any(str::is_empty) {
            return Err(InvalidArmId(text.to_owned()));
        }
        Ok(Self::from_text(trimmed.to_owned()))
    }
}

impl PartialEq for ArmId {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for ArmId {}

impl PartialOrd for ArmId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ArmId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl std::hash::Hash for ArmId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Display for ArmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ArmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for ArmId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for ArmId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VM: &str =
        "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm";

    fn id(text: &str) -> ArmId {
        text.parse().expect(text)
    }

    #[test]
    fn ids_compare_without_case_and_print_as_given() {
        let odd =
            "/Subscriptions/S/resourcegroups/RG/providers/microsoft.compute/VirtualMachines/VM";
        assert_eq!(id(VM), id(odd));
        assert_eq!(id(odd).to_string(), odd);
        assert_eq!(id(&format!("{VM}/")), id(VM));
    }

    #[test]
    fn parts_are_found_whatever_the_case() {
        let extension = id(&format!(
            "{}/Extensions/gpu",
            VM.replace("resourceGroups", "resourcegroups")
        ));
        assert_eq!(
            (
                extension.subscription(),
                extension.group(),
                extension.name()
            ),
            (Some("s"), Some("rg"), "gpu")
        );
        assert_eq!(
            extension.resource_type(),
            "Microsoft.Compute/virtualMachines/Extensions"
        );
        assert_eq!(extension.parent(), Some(id(VM)));
        assert_eq!(id(VM).parent(), None);
        assert_eq!(
            id("/subscriptions/s/resourceGroups/rg").resource_type(),
            "Microsoft.Resources/resourceGroups"
        );
        assert_eq!(
            id(VM).group_id(),
            Some(id("/subscriptions/s/resourceGroups/rg"))
        );
    }

    #[test]
    fn wrong_ids_are_refused() {
        for wrong in [
            "",
            "/",
            "subscriptions/s",
            "/subscriptions",
            "/resourceGroups/rg",
            "/subscriptions//resourceGroups/x",
        ] {
            assert!(wrong.parse::<ArmId>().is_err(), "{wrong}");
        }
    }
}
