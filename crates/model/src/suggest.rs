//! "Did you mean": the nearest of some names.

/// Similarity above which a name is worth suggesting, from 0 to 1.
pub const CLOSE: f64 = 0.75;

/// How alike two texts are, from 0 to 1.
pub fn similarity(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(one, other)
}
