//! Making a resource that must not exist.

use std::{collections::BTreeSet, sync::atomic::Ordering};

use azure_core::Method;
use model::{
    live::Provisioning,
    plan::Action,
    resource::{Known, Properties, Resource, ResourceKind, Tags, tags},
};
use serde_json::Value;

use super::{
    failure::{self, Stopped},
    step::{Own, Performer},
};
use crate::{
    call::Call,
    lro::drive,
    read::one::{Now, read_one},
    wire,
};

impl Performer<'_> {
    /// Makes the resource. A VM is made with a precondition; where the API has none, the place is
    /// looked at right before.
    pub(super) async fn create(&self, own: &mut Own) -> Result<(), Stopped> {
        if self.step.kind == ResourceKind::MarketplaceTerms {
            return self.accept_terms().await;
        }
        let body = self.new_body().await?;
        // A repair writes over what is half made, so that it cannot demand that nothing is there.
        let precondition = is_written_once(self.step.kind) && self.step.action != Action::Repair;
        if !precondition && self.is_made_already().await? {
            own.all();
            return Ok(());
        }
        let mut call = self.call(Method::Put)?.body(body);
        if precondition {
            call = call.header("if-none-match", "*");
        }
        let result = self.send_new(&call).await;
        own.all();
        match result {
            Ok(()) => self.await_readiness().await,
            Err(mut failure) => {
                // What a failed creation leaves is told, so that nobody pays for it unknowingly.
                if !failure.left_behind {
                    failure.left_behind = matches!(self.look().await, Ok(Some(_)));
                }
                self.count_instances(&mut failure).await;
                Err(failure)
            }
        }
    }

    async fn send_new(&self, call: &Call) -> Result<(), Stopped> {
        let Err(error) = self.write(call).await else {
            return Ok(());
        };
        let unanswered = error.is_open();
        let refused = error.arm().is_some_and(|arm| arm.status == 412);
        if !unanswered && !refused {
            return Err(error.failure(self.is_spot()));
        }
        match self.look().await? {
            Some(now) if unanswered && self.made_by_us(&now) => self.settle_new().await,
            Some(now) if refused => {
                self.is_open.store(false, Ordering::Relaxed);
                Err(failure::occupied(&whose(&now)))
            }
            Some(_) | None => Err(error.failure(self.is_spot())),
        }
    }

    /// Whether an earlier attempt of this run made it; anything else in its place is a refusal.
    async fn is_made_already(&self) -> Result<bool, Stopped> {
        let Some(now) = self.look().await? else {
            return Ok(false);
        };
        if now.live.state.provisioning == Provisioning::Deleting {
            let read = self.call(Method::Get)?;
            let mut report = |state: &str| self.waiting(state);
            drive::settle(
                self.run.client,
                Method::Delete,
                &read,
                self.deadline,
                &mut report,
            )
            .await
            .map_err(|error| failure::of_operation(&error, self.is_spot()))?;
            return Ok(false);
        }
        if self.made_by_us(&now) {
            self.settle_new().await?;
            return Ok(true);
        }
        Err(failure::occupied(&whose(&now)))
    }

    pub(super) fn made_by_us(&self, now: &Now) -> bool {
        now.tags().get(tags::RUN) == Some(self.run.inputs.nonce.as_str())
    }

    /// Waits for a resource of ours whose acceptance we did not see.
    pub(super) async fn settle_new(&self) -> Result<(), Stopped> {
        let read = self.call(Method::Get)?;
        let mut report = |state: &str| self.waiting(state);
        drive::settle(
            self.run.client,
            Method::Put,
            &read,
            self.deadline,
            &mut report,
        )
        .await
        .map(|_| self.is_open.store(false, Ordering::Relaxed))
        .map_err(|error| self.not_ended(&error))
    }

    /// The body of the new resource, with the tags of the run.
    async fn new_body(&self) -> Result<Value, Stopped> {
        let after = self.with_known_key(self.after()?)?;
        let after = self.with_known_principal(after).await?;
        let mut body = wire::encode(&after).map_err(|error| failure::of_encoding(&error))?;
        self.add_password(&after, &mut body)?;
        self.add_custom_data(&after, &mut body)?;
        if after.kind().takes_tags() {
            wire::set_tags(&mut body, &self.run_tags());
        }
        Ok(body)
    }

    /// Puts the password into the body, where the resource has one.
    fn add_password(&self, after: &Resource, body: &mut Value) -> Result<(), Stopped> {
        let source = after.virtual_machine().and_then(|vm| vm.password.as_ref());
        let Some(source) = source else {
            return Ok(());
        };
        let password = self.run.inputs.passwords.of(&source.from_env);
        let password = password.ok_or_else(|| {
            let message = format!("the variable `{}` holds no password", source.from_env);
            failure::ours("ValueNotKnown", message)
        })?;
        if let Some(profile) = body
            .pointer_mut("/properties/osProfile")
            .and_then(Value::as_object_mut)
        {
            profile.insert("adminPassword".to_owned(), Value::from(password));
        }
        Ok(())
    }

    /// The tags that make a resource the stack's.
    pub(super) fn run_tags(&self) -> Tags {
        let mut run_tags = Tags::default();
        run_tags.set(tags::STACK, &self.run.plan.stack);
        run_tags.set(tags::ADDRESS, self.step.address.to_string());
        run_tags.set(tags::CREATED, self.run.inputs.created_at.to_string());
        run_tags.set(tags::RUN, &self.run.inputs.nonce);
        run_tags
    }

    /// The resource with the principal that the plan could not know: that of the identity that an
    /// earlier step has made.
    async fn with_known_principal(&self, mut resource: Resource) -> Result<Resource, Stopped> {
        let Properties::RoleAssignment(role) = &mut resource.properties else {
            return Ok(resource);
        };
        if role.principal != Known::AfterApply {
            return Ok(resource);
        }
        let mut steps = self.run.plan.steps.iter();
        let identity = steps.find(|step| {
            step.kind == ResourceKind::ManagedIdentity && self.step.needs.contains(&step.address)
        });
        let found = match identity {
            Some(step) => read_one(self.run.client, step.kind, &step.id)
                .await
                .map_err(|error| self.failed(&error))?,
            None => None,
        };
        let live = found.and_then(|now| now.live.resource);
        let principal = live.and_then(|live| {
            let Properties::ManagedIdentity(identity) = live.properties else {
                return None;
            };
            identity.principal
        });
        let principal = principal.ok_or_else(|| {
            failure::ours(
                "ValueNotKnown",
                "the identity that gets the role tells no principal",
            )
        })?;
        role.principal = Known::Value(principal);
        Ok(resource)
    }

    /// The resource with the key that the plan could not know.
    pub(super) fn with_known_key(&self, mut resource: Resource) -> Result<Resource, Stopped> {
        let key = || {
            let generated = self.run.inputs.generated_ssh_key.clone();
            generated.ok_or_else(|| {
                failure::ours(
                    "ValueNotKnown",
                    "the plan generates an SSH key, and none was given",
                )
            })
        };
        if let Some(keys) = resource.ssh_keys_mut()
            && *keys == Known::AfterApply
        {
            *keys = Known::Value(BTreeSet::from([key()?]));
        }
        if let Properties::SshPublicKey(public) = &mut resource.properties
            && public.public_key == Known::AfterApply
        {
            public.public_key = Known::Value(key()?);
        }
        Ok(resource)
    }
}

/// Whether Azure can be told to make a resource of a kind only where there is none, and to change
/// it only if nobody else has.
pub(super) fn is_written_once(kind: ResourceKind) -> bool {
    matches!(
        kind,
        ResourceKind::VirtualMachine
            | ResourceKind::VirtualMachineScaleSet
            | ResourceKind::BatchPool
            | ResourceKind::KubernetesCluster
            | ResourceKind::AgentPool
    )
}

/// Whose a resource in our way is, in words.
fn whose(now: &Now) -> String {
    match (now.tags().get(tags::STACK), now.tags().get(tags::ADDRESS)) {
        (Some(stack), Some(address)) => format!("`{address}` of the stack `{stack}`"),
        (Some(stack), None) => format!("something of the stack `{stack}`"),
        (None, _) => "it belongs to no stack".to_owned(),
    }
}
