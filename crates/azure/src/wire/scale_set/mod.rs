//! Scale sets with the profile that their instances are made from.

mod change;
mod decode;
mod encode;
mod instance;

pub(super) use self::{
    change::{changes, over_live},
    decode::decode,
    encode::encode,
};

pub(crate) use self::instance::{instance_of_set, instance_of_vm, parts_of_instance, set_of_vm};

#[cfg(test)]
mod tests;
