//! How a number came about, carried as data so that whoever shows it need not know the maths.

use serde::{Deserialize, Serialize};

/// A number with the formula it follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formula {
    /// What the number is, such as `weights`.
    pub name: String,
    /// The formula in symbols.
    pub formula: String,
    /// The formula with its values.
    pub values: String,
    /// The number with its unit.
    pub result: String,
    /// Where the formula and its constants are from.
    pub source: String,
}
