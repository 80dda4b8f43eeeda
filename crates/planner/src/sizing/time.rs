//! From speed to hours.

use super::number::float;

/// Tokens a second of one GPU, where it reaches a share of its peak.
pub fn tokens_per_second(peak: f64, mfu: f64, flops_per_token: f64) -> f64 {
    peak * mfu / flops_per_token
}

/// Seconds that a number of GPUs takes for some tokens.
pub fn seconds(tokens: f64, tokens_per_second_per_gpu: f64, gpus: u32) -> f64 {
    tokens / tokens_per_second_per_gpu / float(u64::from(gpus.max(1)))
}

/// Hours of one GPU that some tokens take.
pub fn gpu_hours(tokens: f64, tokens_per_second_per_gpu: f64) -> f64 {
    tokens / tokens_per_second_per_gpu / 3_600.0
}
