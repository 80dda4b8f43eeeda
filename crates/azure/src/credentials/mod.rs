//! Who we are: a chain of credentials in a fixed order, and what each of them needs.
//!
//! The order is that of explicitness: CI, the environment, the machine's identity, developer
//! tools. A credential of the first two groups that is configured and refused ends the chain:
//! falling through to another identity would act in somebody else's name.

mod assertion;
mod bridge;
mod chain;
mod developer;
mod http;
mod managed;
mod subscription;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    bridge::Bridge,
    chain::{Chosen, choose},
    subscription::{seen_subscriptions, subscription_of},
};

pub use self::chain::{ConnectError, CredentialAttempt, NoCredential};
