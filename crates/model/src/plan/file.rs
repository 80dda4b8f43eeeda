//! Plan files: read with suspicion.

use serde_json::Value;

use super::{FORMAT_VERSION, Plan};
use crate::digest;

/// Why a text is no plan that this version can use.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It is no JSON, or not of the form of a plan.
    #[error("the file is not a plan: {0}")]
    Malformed(#[source] serde_json::Error),
    /// Another version wrote it.
    #[error("the plan has format version `{found}`, this tool reads `{FORMAT_VERSION}`")]
    Version {
        /// What the file says.
        found: String,
    },
    /// It was changed after it was written.
    #[error(
        "the plan was changed after it was written: its digest is `{found}`, its content has `{computed}`"
    )]
    Edited {
        /// What the file says.
        found: String,
        /// What its content has.
        computed: String,
    },
    /// It breaks a rule that every plan keeps.
    #[error("the plan contradicts itself: {0}")]
    Unsound(String),
}

/// Reads a plan file.
///
/// # Errors
/// The file is no plan, of another version, edited, or unsound.
pub fn read_plan(text: &str) -> Result<Plan, PlanFileError> {
    let document: Value = serde_json::from_str(text).map_err(PlanFileError::Malformed)?;
    let version = document.get("format_version").and_then(Value::as_str);
    if let Some(found) = version.filter(|version| *version != FORMAT_VERSION) {
        return Err(PlanFileError::Version {
            found: found.to_owned(),
        });
    }
    let found = document
        .get("digest")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let mut without = document.clone();
    if let Some(members) = without.as_object_mut() {
        members.remove("digest");
        members.remove("run");
    }
    let computed = digest::of_json(&without);
    let plan: Plan = serde_json::from_value(document).map_err(PlanFileError::Malformed)?;
    if found != computed {
        return Err(PlanFileError::Edited { found, computed });
    }
    match plan.breaches().into_iter().next() {
        Some(breach) => Err(PlanFileError::Unsound(breach)),
        None => Ok(plan),
    }
}
