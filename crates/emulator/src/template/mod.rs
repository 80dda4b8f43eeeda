//! Templates of deployments: how they are read, and what their expressions come to.
//!
//! `lenient` reads the text, `expression` takes expressions apart, `evaluate` works them out as
//! far as is known yet, with the functions of `texts`, `values` and `numbers` and those that
//! look at the deployment.

pub(crate) mod lenient;

pub(crate) mod expression;

pub(crate) mod evaluate;

pub(crate) mod functions;

mod numbers;
mod texts;
mod values;

#[cfg(test)]
mod tests;
