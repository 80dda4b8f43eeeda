//! Where nodes write what must outlive them: a storage account with a container, an identity that
//! nodes sign in with, and the role that lets it write there.

use serde::{Deserialize, Serialize};

use super::Known;
use crate::{
    digest,
    ids::ArmId,
    units::{CaseInsensitive, Region},
};

/// The name of the container that the tool makes. Containers carry no tags, so that this name, in
/// an account of the stack, is what tells whose it is.
pub const CHECKPOINTS: &str = "checkpoints";

/// The built-in role `Storage Blob Data Contributor`.
pub const BLOB_DATA_CONTRIBUTOR: &str = "ba92f5b4-2d11-453d-a403-e96b0029c9fe";

/// A storage account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageAccount {
    /// Where it is.
    pub location: Region,
    /// How many copies of its data there are and where, such as `Standard_LRS`.
    pub sku: CaseInsensitive,
    /// `StorageV2`, or another kind.
    pub account_kind: CaseInsensitive,
    /// Whether whoever has its keys gets in.
    pub shared_keys: bool,
    /// Whether a container in it may be opened to everybody.
    pub public_blobs: bool,
    /// Whether it answers without encryption.
    pub plain_http: bool,
    /// Whether it answers with a version of TLS older than 1.2.
    pub old_tls: bool,
}

/// A container of blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobContainer {
    /// `None`, `Blob` or `Container`: what everybody may read.
    pub public_access: CaseInsensitive,
}

/// An identity that machines sign in with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagedIdentity {
    /// Where it is.
    pub location: Region,
    /// Its principal in the directory, which Azure gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// That a principal has a role on what the assignment stands on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleAssignment {
    /// The definition of the role.
    pub role: ArmId,
    /// Who has it.
    pub principal: Known<String>,
}

impl RoleAssignment {
    /// The definition of a built-in role.
    pub fn definition(subscription: &str, role: &str) -> ArmId {
        ArmId::subscription_scope(subscription)
            .in_group("Microsoft.Authorization/roleDefinitions", role)
    }

    /// The id of the stack's own assignment on a container. Its name is a GUID that everybody
    /// works out alike from the container's id.
    pub fn on(container: &ArmId) -> ArmId {
        let text = format!("{}/{BLOB_DATA_CONTRIBUTOR}", container.key());
        let kind = super::ResourceKind::RoleAssignment;
        container.in_group(kind.arm_type(), &guid(&text))
    }
}

/// A GUID of a text: of version 8, which is for digests that one chooses oneself.
fn guid(text: &str) -> String {
    let digest = digest::of_text(text);
    let hex: String = digest
        .chars()
        .skip_while(|one| *one != ':')
        .skip(1)
        .collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-8{}-8{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 15),
        part(15, 18),
        part(18, 30)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTAINER: &str = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a/blobServices/default/containers/checkpoints";

    #[test]
    fn the_name_of_an_assignment_is_a_guid_of_its_container_whatever_the_case() {
        let id: ArmId = CONTAINER.parse().expect("an id");
        let upper: ArmId = CONTAINER
            .to_uppercase()
            .replacen("/SUBSCRIPTIONS", "/subscriptions", 1)
            .parse()
            .expect("an id");
        let assignment = RoleAssignment::on(&id);
        assert_eq!(assignment.name(), RoleAssignment::on(&upper).name());
        let parts: Vec<usize> = assignment.name().split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        let is_hex = |letter: char| letter == '-' || letter.is_ascii_hexdigit();
        assert!(assignment.name().chars().all(is_hex));
        let other: ArmId = CONTAINER.replace("/a/", "/b/").parse().expect("an id");
        assert_ne!(assignment.name(), RoleAssignment::on(&other).name());
        assert_eq!(
            assignment.resource_type(),
            "Microsoft.Authorization/roleAssignments"
        );
        assert_eq!(assignment.scope(), Some(id));
    }
}
