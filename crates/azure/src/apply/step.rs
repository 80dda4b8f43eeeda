//! One step: its operations in order, each against what the plan relied on.

use std::{sync::Arc, time::Duration};

use azure_core::Method;
use model::{
    ids::ArmId,
    live::Power,
    plan::{Ending, Event, Operation, Step},
    resource::{Resource, ResourceKind, VmPriority},
};
use tokio::sync::mpsc::UnboundedSender;

use super::{
    Run,
    failure::{self, Stopped},
    tell_end,
};
use crate::{
    call::{Call, MachineAction, Reply},
    clock::Clock,
    error::RequestError,
    lro::drive::{self, OperationError},
    read::one::{Now, read_one},
};

/// So many times a write is tried again whose answer was lost or whose entity tag was old.
pub(super) const TRIES: u32 = 3;

/// Performs one step.
pub(super) struct Performer<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) step: &'a Step,
    index: usize,
    accepted: UnboundedSender<usize>,
    begun: Duration,
    /// When the step must have ended.
    pub(super) deadline: Duration,
}

/// How somebody else's write must end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Settled {
    Well,
    Anyhow,
}

/// What the step itself has changed: differences there are no surprise.
#[derive(Debug, Default)]
pub(super) struct Own {
    everything: bool,
    paths: Vec<String>,
}

impl Own {
    fn covers(&self, path: &str) -> bool {
        let under = |own: &String| path == own || path.starts_with(&format!("{own}."));
        self.everything || self.paths.iter().any(under)
    }

    /// Everything may differ from now on.
    pub(super) fn all(&mut self) {
        self.everything = true;
    }

    /// These may differ from now on, and with any write the state.
    pub(super) fn add(&mut self, paths: impl IntoIterator<Item = String>) {
        self.paths.extend(paths);
        self.paths.push("state".to_owned());
    }
}

impl<'a> Performer<'a> {
    /// For a step of the run.
    pub(super) fn new(
        run: &'a Run<'a>,
        step: &'a Step,
        index: usize,
        accepted: UnboundedSender<usize>,
    ) -> Self {
        let begun = run.client.clock().now();
        Self {
            run,
            step,
            index,
            accepted,
            begun,
            deadline: begun.saturating_add(run.inputs.step_deadline),
        }
    }

    /// Performs the step and tells of its beginning and its end.
    pub(super) async fn perform(&self) -> Result<(), Stopped> {
        let (address, action) = (&self.step.address, self.step.action);
        self.run.tell(&Event::StepStarted {
            address: address.clone(),
            action,
        });
        let result = self.operations().await;
        let ending = match &result {
            Ok(()) => Ending::Done,
            Err(failure) => {
                let (code, message) = (&failure.code, &failure.message);
                tracing::info!(%address, %action, code, message, "the step failed");
                Ending::Failed((**failure).clone())
            }
        };
        tell_end(self.run, address, action, &ending, self.seconds());
        result
    }

    async fn operations(&self) -> Result<(), Stopped> {
        let mut own = Own::default();
        let mut operations = self.step.operations.iter().peekable();
        while let Some(operation) = operations.next() {
            match operation {
                Operation::Create => self.create(&mut own).await?,
                Operation::Put => self.put(&mut own).await?,
                Operation::Patch { attributes } => {
                    if let Err(failure) = self.patch(attributes, &mut own).await {
                        return Err(self.run_again(operation, failure, &mut own).await);
                    }
                }
                Operation::MergeTags { set, remove } => {
                    self.merge_tags(set, remove, &mut own).await?;
                }
                Operation::Adopt => self.adopt(&mut own).await?,
                Operation::Release => self.release(&mut own).await?,
                // What is to be deleted may settle badly.
                Operation::Settle if operations.peek() == Some(&&Operation::Delete) => {
                    self.settle(Method::Put, Settled::Anyhow, &mut own).await?;
                }
                Operation::Settle => self.settle(Method::Put, Settled::Well, &mut own).await?,
                Operation::AwaitGone => {
                    self.settle(Method::Delete, Settled::Well, &mut own).await?;
                }
                Operation::DeleteInstances { instances } => {
                    self.delete_instances(instances, &mut own).await?;
                }
                Operation::ReplaceInstances { instances } => {
                    self.replace_instances(instances, &mut own).await?;
                }
                Operation::DeallocateInstances { instances } => {
                    self.act_on_instances(MachineAction::Deallocate, instances, &mut own)
                        .await?;
                }
                Operation::StartInstances { instances } => {
                    self.act_on_instances(MachineAction::Start, instances, &mut own)
                        .await?;
                }
                Operation::UpgradeInstances { instances, at_once } => {
                    self.upgrade_instances(instances, *at_once, &mut own)
                        .await?;
                }
                Operation::Deallocate => self.act(MachineAction::Deallocate, &mut own).await?,
                Operation::Start => {
                    let started = self.act(MachineAction::Start, &mut own).await;
                    if let Err(failure) = started {
                        return Err(self.run_again(operation, failure, &mut own).await);
                    }
                }
                Operation::Reapply => self.act(MachineAction::Reapply, &mut own).await?,
                Operation::Delete => self.delete(&mut own).await?,
            }
        }
        Ok(())
    }

    /// The clock of the client.
    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        self.run.client.clock()
    }

    /// Whether the step is about spot capacity, where some errors mean something else.
    pub(super) fn is_spot(&self) -> bool {
        let resource = self.step.after.as_ref().or(self.step.before.as_ref());
        let priority = resource.and_then(Resource::priority);
        matches!(priority, Some(VmPriority::Spot { .. }))
    }

    fn seconds(&self) -> f64 {
        self.clock().now().saturating_sub(self.begun).as_secs_f64()
    }

    /// Tells that the step waits.
    pub(super) fn waiting(&self, state: &str) {
        self.run.tell(&Event::Waiting {
            address: self.step.address.clone(),
            state: state.to_owned(),
            seconds: self.seconds(),
        });
    }

    /// Tells that Azure accepted a write.
    pub(super) fn accept(&self, reply: &Reply) {
        self.run.tell(&Event::Accepted {
            address: self.step.address.clone(),
            status: reply.status,
            request_id: reply.request_id(),
        });
        // The driver is gone only when the run was left.
        self.accepted.send(self.index).ok();
    }

    /// The failure of a request that is no write.
    pub(super) fn failed(&self, error: &RequestError) -> Stopped {
        failure::of_request(error, self.is_spot())
    }

    /// A call on the step's resource.
    pub(super) fn call(&self, method: Method) -> Result<Call, Stopped> {
        self.call_on(method, &self.step.id)
    }

    /// A call on a resource.
    pub(super) fn call_on(&self, method: Method, id: &ArmId) -> Result<Call, Stopped> {
        let call = self.run.client.call_on(method, id);
        call.map_err(|error| self.failed(&error))
    }

    /// The resource right now.
    pub(super) async fn look(&self) -> Result<Option<Now>, Stopped> {
        read_one(self.run.client, self.step.kind, &self.step.id)
            .await
            .map_err(|error| self.failed(&error))
    }

    /// The resource right now: it must exist and be what the plan relied on, but for what the step
    /// itself has changed.
    pub(super) async fn inspect(&self, own: &Own) -> Result<Now, Stopped> {
        let now = self.look().await?;
        self.compare(now.as_ref(), own)?;
        now.ok_or_else(|| failure::ours("ResourceNotFound", "the resource does not exist"))
    }

    /// Refuses a resource that is not what the plan relied on.
    pub(super) fn compare(&self, now: Option<&Now>, own: &Own) -> Result<(), Stopped> {
        if own.everything {
            return Ok(());
        }
        let values = now.map(Now::values);
        let mut changes = self.step.fingerprint.changes(values.as_ref());
        changes.retain(|changed| !own.covers(&changed.path));
        if changes.is_empty() {
            Ok(())
        } else {
            Err(failure::changed(&changes))
        }
    }

    /// The desired resource; a step without one cannot write it.
    pub(super) fn after(&self) -> Result<Resource, Stopped> {
        let after = self.step.after.clone();
        after.ok_or_else(|| failure::ours("PlanUnsound", "the step has no desired resource"))
    }

    /// Waits until somebody else's write to the resource has ended, or until it is gone.
    async fn settle(&self, method: Method, enough: Settled, own: &mut Own) -> Result<(), Stopped> {
        let read = self.call(Method::Get)?;
        let mut report = |state: &str| self.waiting(state);
        let settled =
            drive::settle(self.run.client, method, &read, self.deadline, &mut report).await;
        match settled {
            Err(OperationError::Failed(_)) if enough == Settled::Anyhow => {}
            Err(error) => return Err(failure::of_operation(&error, self.is_spot())),
            Ok(_) => {}
        }
        if method == Method::Delete {
            own.all();
        } else {
            own.add([]);
        }
        Ok(())
    }

    /// Does something with a VM.
    pub(super) async fn act(&self, action: MachineAction, own: &mut Own) -> Result<(), Stopped> {
        if self.step.kind != ResourceKind::VirtualMachine {
            let message = format!("`{}` is no virtual machine", self.step.id);
            return Err(failure::ours("PlanUnsound", message));
        }
        self.inspect(own).await?;
        own.add([]);
        for attempt in 1.. {
            let call = self.run.client.machine_call(action, &self.step.id);
            let call = call.map_err(|error| self.failed(&error))?;
            let Err(error) = self.write(&call).await else {
                return Ok(());
            };
            // A POST is not sent again blindly; whether it had an effect can be seen.
            if !error.is_open() || attempt >= TRIES {
                return Err(error.failure(self.is_spot()));
            }
            if self.has_acted(action).await? {
                return self.settle(Method::Put, Settled::Well, own).await;
            }
        }
        Ok(())
    }

    /// Whether a VM shows that an action was begun.
    async fn has_acted(&self, action: MachineAction) -> Result<bool, Stopped> {
        let power = self.look().await?.and_then(|now| now.live.state.power);
        Ok(match action {
            MachineAction::Deallocate => {
                matches!(power, Some(Power::Deallocating | Power::Deallocated))
            }
            MachineAction::Start => matches!(power, Some(Power::Starting | Power::Running)),
            MachineAction::Reapply | MachineAction::Delete => false,
        })
    }
}
