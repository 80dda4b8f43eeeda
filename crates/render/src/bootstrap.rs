//! What nodes run when they start first, as one JSON document.

use model::units::SizeName;
use serde_json::json;

use crate::failure;

/// The version of the document.
pub const FORMAT_VERSION: &str = "1.0";

/// The document.
pub fn json(pool: &str, size: Option<&SizeName>, text: Option<&str>) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "pool": pool,
        "size": size,
        "text": text,
    }))
}
