//! What `apply` and `destroy` share: asking, applying, interrupting, verifying, reporting.

use std::{collections::BTreeSet, time::Duration};

use azure::{ApplyInputs, Interrupt, Passwords};
use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Diagnostics},
    live::Mode,
    plan::{Ending, Operation, Outcome, Plan},
    spec::password::weakness,
};
use render::events::{
    RunFacts,
    summary::{self, Left, summary},
};
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};

use crate::{
    VERSION,
    app::App,
    args::Applying,
    bootstraps,
    exit::Exit,
    journal::{Events, Journal},
    keys,
    signals::Signals,
    stop::Stop,
    world::World,
};

/// How often progress is drawn anew.
const REDRAW: Duration = Duration::from_millis(200);

/// Shows a plan before it is applied.
///
/// What it deletes, interrupts and costs stands in its last lines, or, where somebody is asked,
/// right before the question.
pub(crate) fn show(app: &App, plan: &Plan, applying: &Applying) {
    if app.output.is_json() {
        return;
    }
    let style = app.output.stderr;
    let text = if will_ask(app, applying) && plan.has_changes {
        render::plan::without_consequences(plan, style)
    } else {
        render::plan::text(plan, style)
    };
    app.output.note(&text);
}

fn will_ask(app: &App, applying: &Applying) -> bool {
    !applying.yes && app.output.can_ask && !app.output.is_json()
}

/// Asks, unless the options answer already.
///
/// # Errors
/// The answer is no, or nobody can be asked.
pub(crate) fn confirm(app: &App, plan: &Plan, applying: &Applying) -> Result<(), Stop> {
    if applying.yes {
        return Ok(());
    }
    if !will_ask(app, applying) {
        return Err(Stop::because(
            Code::NotConfirmed,
            "nobody can be asked here whether to go on",
        )
        .help("pass `--yes`, or apply a saved plan with `--yes` after looking at it"));
    }
    if app
        .output
        .confirm(&render::plan::question(plan, app.output.stderr))
    {
        Ok(())
    } else {
        Err(Stop::because(
            Code::NotConfirmed,
            "nothing was done: the answer was not `yes`",
        ))
    }
}

/// What came of an apply.
pub(crate) struct Applied {
    outcome: Outcome,
    found: Diagnostics,
    exit: Exit,
    /// What an earlier run had left under way has ended, and there is more to do for it.
    pub(crate) settled: bool,
}

impl Applied {
    /// There was nothing to apply.
    pub(crate) fn nothing(exit: Exit) -> Self {
        Self {
            outcome: Outcome::default(),
            found: Diagnostics::default(),
            exit,
            settled: false,
        }
    }

    /// Writes that had an effect, or may have had one, those of earlier rounds included.
    pub(crate) fn writes(&self) -> u64 {
        self.outcome.writes
    }

    /// Whether it ended so.
    pub(crate) fn is(&self, exit: Exit) -> bool {
        self.exit == exit
    }

    /// Whether a new stack got not one node, and lacked nothing but capacity.
    pub(crate) fn found_no_room(&self, plan: &Plan) -> bool {
        let is_new = plan.steps.iter().all(|step| step.before.is_none());
        let is_node = |address: &Address| ["vm", "scale_set"].contains(&address.leaf());
        let is_capacity = |kind: &str| ["capacity", "sku_unavailable"].contains(&kind);
        let mut has_failed = false;
        let only = self
            .outcome
            .steps
            .iter()
            .all(|(address, _, ending)| match ending {
                Ending::Done => !is_node(address),
                Ending::Failed(failure) => {
                    has_failed = true;
                    is_capacity(&failure.kind)
                }
                Ending::Skipped { .. } | Ending::NotStarted => true,
            });
        is_new && has_failed && only && !self.outcome.interrupted
    }

    /// Ends the command: prints the one JSON document, where that is the format.
    pub(crate) fn end(&self, app: &App, plan: &Plan) -> Exit {
        if app.output.is_json() {
            app.output.data(&render::events::outcome_json(
                &self.outcome,
                plan,
                &app.documents(&self.found),
                self.exit.number(),
                VERSION,
            ));
        }
        self.exit
    }
}

/// Applies a plan, verifies the result, and reports. `reached` is how a run ends that did all
/// that the plan says; `earlier` are the writes of earlier rounds of the command, if any.
///
/// # Errors
/// Nothing was written, and why.
pub(crate) fn run(
    app: &App,
    plan: &Plan,
    world: &World,
    applying: &Applying,
    reached: Exit,
    earlier: Option<u64>,
) -> Result<Applied, Stop> {
    let Some(client) = world.client() else {
        return Err(crate::planning::is_offline());
    };
    let nonce = nonce();
    let mut inputs = ApplyInputs::new(nonce.clone(), crate::planning::now());
    if needs_generated_key(plan) {
        inputs.generated_ssh_key = Some(keys::generated(&plan.stack)?);
    }
    inputs.passwords = passwords(app, plan)?;
    inputs.custom_data = bootstraps::custom_data(app, plan)?;
    if let Some(parallelism) = applying.parallelism {
        inputs.parallelism = usize::from(parallelism);
    }
    if plan.scope.mode == Mode::Sandbox && waits_for_capacity(plan) {
        inputs.pace = world.wait(client.pace());
    }
    let events = applying.events.as_deref().map(|path| Events {
        path,
        goes_on: earlier.is_some(),
    });
    let journal = Journal::open(app, &plan.stack, &nonce, events)?;
    app.output.note("\n");
    let mut outcome =
        world.listening(async |signals| drive(client, plan, &inputs, &journal, signals).await);
    outcome.writes += earlier.unwrap_or_default();
    journal.close();
    let (exit, mut found) = finish(plan, world, &outcome, reached);
    let failure = journal.failure();
    found.extend(failure.clone().into_iter().collect());
    let facts = RunFacts {
        stack: &plan.stack,
        mode: plan.scope.mode,
        seconds: journal.elapsed(),
        destroys: plan.destroys(),
        orphans: plan.orphans,
        as_planned: exit == reached,
        left: Left::of(plan.diagnostics.iter().map(|finding| finding.code.clone())),
    };
    app.output.note("\n");
    report(app, &outcome, facts, &found);
    if facts.as_planned {
        let prices = planner::cost::Prices::list(app.catalog(false));
        if let Some(cost) = planner::cost::taking(plan, &outcome.taken, prices) {
            app.output.note(&render::cost::now(&cost));
        }
    }
    if let Some(failure) = failure.filter(|_| !outcome.reached()) {
        app.say_below(&[failure].into_iter().collect());
    }
    if !matches!(exit, Exit::Done | Exit::Refused) {
        app.output
            .note(&format!("The journal is {}.\n", journal.path.display()));
    }
    Ok(Applied {
        settled: exit != reached && has_settled(plan, &outcome),
        outcome,
        found,
        exit,
    })
}

/// Twelve characters that no other run has.
fn nonce() -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    random.chars().take(12).collect()
}

/// Whether a pool is tried again later where there is no capacity.
fn waits_for_capacity(plan: &Plan) -> bool {
    let mut scarcities = plan.pools.values().filter_map(|pool| pool.scarcity);
    scarcities.any(|scarcity| scarcity.wait_seconds > 0)
}

fn report(app: &App, outcome: &Outcome, facts: RunFacts<'_>, found: &Diagnostics) {
    let text = summary(outcome, facts, app.output.stderr);
    if outcome.reached() {
        app.output.note(&text);
        app.say_below(found);
    } else if !app.output.is_json() || !app.output.quiet {
        // What failed is said even when quiet.
        app.output.say(&text);
    }
}

/// Whether steps waited for what an earlier run had left under way, and nothing else failed.
fn has_settled(plan: &Plan, outcome: &Outcome) -> bool {
    let waiting: BTreeSet<_> = plan
        .changes()
        .filter(|step| step.operations == [Operation::Settle])
        .map(|step| &step.address)
        .collect();
    let failed = |(_, _, ending): &&(_, _, Ending)| matches!(ending, Ending::Failed(_));
    let only = outcome
        .steps
        .iter()
        .filter(failed)
        .all(|(address, ..)| waiting.contains(address));
    !waiting.is_empty() && !outcome.interrupted && only
}

fn needs_generated_key(plan: &Plan) -> bool {
    plan.changes()
        .filter_map(|step| step.after.as_ref())
        .any(|after| {
            let key = after
                .ssh_public_key()
                .is_some_and(|key| key.public_key.value().is_none());
            key || after.ssh_keys().is_some_and(|keys| keys.value().is_none())
        })
}

/// The passwords that new nodes of the plan need, from the environment.
fn passwords(app: &App, plan: &Plan) -> Result<Passwords, Stop> {
    let mut passwords = Passwords::default();
    let variables: BTreeSet<&str> = plan
        .changes()
        .filter(|step| makes(&step.operations))
        .filter_map(|step| step.after.as_ref()?.virtual_machine()?.password.as_ref())
        .map(|password| password.from_env.as_str())
        .collect();
    for variable in variables {
        let refused = |why: String| {
            let message = format!("the variable `{variable}` {why}");
            Stop::because(Code::PasswordUnusable, message)
                .help("set it for this run: the plan, the journal and logs never have it")
        };
        let password = app.environment.get(variable).ok_or_else(|| {
            refused("is not set: it is to hold the password of Windows nodes".to_owned())
        })?;
        if let Some(weakness) = weakness(password) {
            return Err(refused(format!(
                "holds a password that Azure refuses: {weakness}"
            )));
        }
        passwords.keep(variable, password);
    }
    Ok(passwords)
}

fn makes(operations: &[Operation]) -> bool {
    operations.contains(&Operation::Create)
}

/// Applies while it listens to interrupts and keeps progress fresh.
async fn drive(
    client: &azure::Client,
    plan: &Plan,
    inputs: &ApplyInputs,
    journal: &Journal,
    signals: &mut Signals,
) -> Outcome {
    let (sender, receiver) = watch::channel(Interrupt::No);
    let applying = azure::apply(client, plan, inputs, journal, receiver);
    tokio::pin!(applying);
    let signals = signals.tell(sender);
    tokio::pin!(signals);
    let mut ticks = interval(REDRAW);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut listening = true;
    loop {
        tokio::select! {
            outcome = &mut applying => return outcome,
            () = &mut signals, if listening => listening = false,
            _ = ticks.tick() => journal.redraw(),
        }
    }
}

/// Turns an outcome into an exit code and findings; reads once more where every step was done.
fn finish(plan: &Plan, world: &World, outcome: &Outcome, reached: Exit) -> (Exit, Diagnostics) {
    if outcome.reached() {
        return match crate::planning::verify(&plan.taking(&outcome.taken), world) {
            Ok(findings) if findings.has_errors() => (Exit::NotReached, findings),
            Ok(findings) => (reached, findings),
            Err(stop) => (Exit::NotReached, stop.diagnostics),
        };
    }
    let failed = outcome.failed();
    let mut findings = Diagnostics::default();
    if failed > 0 {
        let message = summary::failed_words(outcome);
        let finding = Diagnostic::new(Code::StepsFailed, At::Nowhere, message);
        findings.push(finding.with_help(summary::NEXT));
    }
    let exit = match (outcome.writes, outcome.interrupted) {
        (0, true) => Exit::Interrupted,
        (0, false) => Exit::Error,
        (_, true) if failed == 0 => Exit::Interrupted,
        (_, _) => Exit::NotReached,
    };
    (exit, findings)
}
