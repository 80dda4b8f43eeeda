//! The work of one token, in floating-point operations.

use model::spec::Method;

use super::subject::Subject;

/// Model operations of one training token. Attention is counted over the tokens that a token
/// sees (causal), and the look-up of the input embedding is none.
///
/// Full training is `6·(P − E) + 6·L·w·s`; adapters need no weight gradients of the frozen
/// matrices, and by the usual convention no attention: `4·(P − E)`. Recomputing is not the
/// model's work, and not in it.
pub fn training(subject: &Subject, method: Method, sequence: f64) -> f64 {
    let linear = subject.active - subject.embedding;
    match method {
        Method::Full => 6.0 * linear + attention(subject, sequence),
        Method::Lora | Method::Qlora => 4.0 * linear,
    }
}

/// Operations of causal attention for one training token, forward and backward.
pub fn attention(subject: &Subject, sequence: f64) -> f64 {
    6.0 * subject.shape.layers * subject.shape.attention_width * sequence
}

/// Operations of one token that is read or written by a served model.
pub fn inference(subject: &Subject) -> f64 {
    2.0 * subject.active
}
