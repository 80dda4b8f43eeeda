//! Scale sets: Uniform ones, whose instances are kept in them, and Flexible ones, whose
//! instances are ordinary VMs.

pub(crate) mod limits;

pub(crate) mod network;

pub(crate) mod profile;

pub(crate) mod create;

pub(crate) mod scale;

pub(crate) mod flexible;

pub(crate) mod action;

pub(crate) mod instance;

pub(crate) mod extension;

pub(crate) mod finish;

pub(crate) mod view;

mod interfaces;

mod serve;

pub(crate) use self::serve::answer;

/// The type of scale sets.
pub(crate) const KIND: &str = "Microsoft.Compute/virtualMachineScaleSets";

/// Whether the body of a scale set asks for Flexible orchestration.
pub(crate) fn is_flexible(body: &serde_json::Value) -> bool {
    crate::json::text(body, "/properties/orchestrationMode")
        .is_some_and(|mode| crate::json::same(mode, "Flexible"))
}
