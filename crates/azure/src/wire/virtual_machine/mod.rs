//! Virtual machines with the NIC and the OS disk they bring along.
//!
//! Writing goes through the typed models of the SDK, so that a misspelt member does not compile.
//! Reading goes by place in the JSON: typed reading fails as a whole on one unknown word.

mod decode;
mod encode;

pub(super) use self::{
    decode::decode,
    encode::{
        caching, diff_disk_settings, encode, image_reference, linux_configuration, os_caching,
        purchase_plan, reference, reservation, security_profile, spot, storage_account_type,
    },
};

/// What profiles of scale sets and of Batch pools have in common with a VM.
pub(super) mod profile {
    pub(in crate::wire) use super::{
        decode::{
            disk_controller, ephemeral, image, plan, priority, reservation, security, ssh_keys,
            system,
        },
        encode::image_reference,
    };
}

pub(crate) use self::decode::{VmDisks, os_disk_id, os_disk_of};

#[cfg(test)]
pub(super) use self::decode::asked_name;
