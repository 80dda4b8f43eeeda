//! What `apply` and `destroy` share: asking, applying, interrupting, verifying, reporting.

use std::time::Duration;

use azure::{ApplyInputs, Interrupt};
use model::{
    diag::{At, Code, Diagnostic, Diagnostics},
    plan::{Outcome, Plan},
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
    VERSION, app::App, args::Applying, exit::Exit, journal::Journal, keys, stop::Stop, world::World,
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

/// Ends a run that has nothing to apply.
pub(crate) fn nothing(app: &App, plan: &Plan, exit: Exit) -> Exit {
    let findings = Diagnostics::default();
    print(app, plan, &Outcome::default(), &findings, exit);
    exit
}

/// Applies a plan, verifies the result, and reports. `reached` is how a run ends that did all
/// that the plan says.
///
/// # Errors
/// Nothing was written, and why.
pub(crate) fn run(
    app: &App,
    plan: &Plan,
    world: &World,
    applying: &Applying,
    reached: Exit,
) -> Result<Exit, Stop> {
    let Some(client) = world.client() else {
        return Err(crate::planning::is_offline());
    };
    let nonce: String = uuid::Uuid::new_v4()
        .simple()
        .to_string()
        .chars()
        .take(12)
        .collect();
    let mut inputs = ApplyInputs::new(nonce.clone(), crate::planning::now());
    if needs_generated_key(plan) {
        inputs.generated_ssh_key = Some(keys::generated(&plan.stack)?);
    }
    if let Some(parallelism) = applying.parallelism {
        inputs.parallelism = usize::from(parallelism);
    }
    let journal = Journal::open(app, &plan.stack, &nonce, applying.events.as_deref())?;
    app.output.note("\n");
    let outcome = world.wait(drive(client, plan, &inputs, &journal));
    journal.close();
    let (exit, found) = finish(plan, world, &outcome, reached);
    let facts = RunFacts {
        stack: &plan.stack,
        mode: plan.scope.mode,
        seconds: journal.elapsed(),
        destroys: plan.destroys(),
        verified: !found.has_errors(),
        left: Left::of(plan.diagnostics.iter().map(|finding| finding.code.clone())),
    };
    app.output.note("\n");
    let text = summary(&outcome, facts, app.output.stderr);
    if outcome.reached() {
        app.output.note(&text);
    } else if !app.output.is_json() || !app.output.quiet {
        // What failed is said even when quiet.
        app.output.say(&text);
    }
    if outcome.reached() {
        app.say_below(&found);
    }
    if !matches!(exit, Exit::Done | Exit::Refused) {
        app.output
            .note(&format!("The journal is {}.\n", journal.path.display()));
    }
    print(app, plan, &outcome, &found, exit);
    Ok(exit)
}

fn needs_generated_key(plan: &Plan) -> bool {
    plan.changes()
        .filter_map(|step| step.after.as_ref())
        .any(|after| {
            let key = after
                .ssh_public_key()
                .is_some_and(|key| key.public_key.value().is_none());
            key || after
                .virtual_machine()
                .is_some_and(|vm| vm.ssh_keys.value().is_none())
        })
}

/// Applies while it listens to interrupts and keeps progress fresh.
async fn drive(
    client: &azure::Client,
    plan: &Plan,
    inputs: &ApplyInputs,
    journal: &Journal,
) -> Outcome {
    let (sender, receiver) = watch::channel(Interrupt::No);
    let applying = azure::apply(client, plan, inputs, journal, receiver);
    tokio::pin!(applying);
    let signals = interrupts(sender);
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

/// The first interrupt lets finish what is under way, the second leaves at once.
async fn interrupts(sender: watch::Sender<Interrupt>) {
    let mut signals = Signals::new();
    signals.next().await;
    sender.send_replace(Interrupt::Graceful);
    signals.next().await;
    sender.send_replace(Interrupt::Now);
}

/// Waits for one interrupt.
pub(crate) async fn interrupted() {
    Signals::new().next().await;
}

/// Ctrl-C and SIGTERM.
struct Signals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
                .ok(),
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(terminate) = &mut self.terminate {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        // Where signals cannot be listened to, the process ends by them.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Turns an outcome into an exit code and findings; reads once more where every step was done.
fn finish(plan: &Plan, world: &World, outcome: &Outcome, reached: Exit) -> (Exit, Diagnostics) {
    if outcome.reached() {
        return match crate::planning::verify(plan, world) {
            Ok(findings) if findings.has_errors() => (Exit::NotReached, findings),
            Ok(findings) => (reached, findings),
            Err(stop) => (Exit::NotReached, stop.diagnostics),
        };
    }
    let failed = outcome.failed();
    let mut findings = Diagnostics::default();
    if failed > 0 {
        let message = summary::failed_words(failed, outcome.steps.len());
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

fn print(app: &App, plan: &Plan, outcome: &Outcome, findings: &Diagnostics, exit: Exit) {
    if app.output.is_json() {
        app.output.data(&render::events::outcome_json(
            outcome,
            plan,
            &app.documents(findings),
            exit.number(),
            VERSION,
        ));
    }
}
