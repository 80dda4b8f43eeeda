//! One case: a stage, what happens on it, and what must hold whatever happens.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fmt::Write as _,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use model::{
    plan::{Action, Ending, Operation, Outcome, Plan},
    resource::ResourceKind,
    spec::Spec,
};
use serde_json::Value;

use super::{
    plans::{changes, good},
    stage::{Sent, Stage},
    worlds::group,
};

/// Rounds of plan and apply that reach the goal once nothing goes wrong: what an earlier run left
/// under way is waited for in a round of its own, as the command line does.
const ROUNDS: usize = 3;

/// The group of the stacks here.
pub(super) const GROUP: &str = "rg-proof";

/// How a case went.
#[derive(Default)]
pub(super) struct Told {
    /// Disturbed runs that were killed, and that failed in part.
    pub(super) killed: usize,
    pub(super) failed: usize,
    /// Most rounds that it took once nothing went wrong any more.
    pub(super) rounds: usize,
    /// Why the changed stack is refused, where it is.
    pub(super) refused: Option<String>,
}

/// A case under way.
pub(super) struct Case {
    pub(super) stage: Stage,
    pub(super) told: Told,
    nonce: usize,
}

impl Case {
    /// On this stage.
    pub(super) fn on(stage: Stage) -> Self {
        Self {
            stage,
            told: Told::default(),
            nonce: 0,
        }
    }

    /// The next run's nonce.
    pub(super) fn nonce(&mut self) -> String {
        self.nonce += 1;
        format!("run-{}", self.nonce)
    }

    /// Plans and applies until nothing is left to do; `false` where the plan is refused.
    pub(super) async fn converge(&mut self, spec: &Spec, destroy: bool) -> bool {
        for round in 0..=ROUNDS {
            self.stage.take_sent();
            let planned = self.stage.plan(spec, destroy).await.expect("a world");
            let plan = match good(planned) {
                Ok(plan) => plan,
                Err(why) => {
                    tell(&format!("refused: {why}"));
                    self.told.refused = Some(why);
                    return false;
                }
            };
            let open = changes(&plan);
            self.told.rounds = self.told.rounds.max(round);
            if open.is_empty() {
                return true;
            }
            assert!(round < ROUNDS, "after {round} rounds still: {open:#?}");
            tell(&format!("round {round}: {open:?}"));
            let only_settles = plan
                .changes()
                .any(|step| step.operations == [Operation::Settle]);
            // What a dead run had begun goes on to its end.
            let may_meet_dead = round == 0 && self.told.killed > 0;
            let nonce = self.nonce();
            let outcome = self.stage.apply(&plan, &nonce).await;
            check_writes(&plan, &self.stage.take_sent());
            assert!(
                only_settles || outcome.reached() || (may_meet_dead && is_of_before(&outcome)),
                "nothing goes wrong any more, and yet: {outcome:#?}"
            );
        }
        unreachable!("the last round ends above")
    }

    /// Everything in the world is the plan's, a part of it, or a stranger's.
    pub(super) async fn check_no_orphans(&self, spec: &Spec, strangers: &[String]) {
        let planned = self.stage.plan(spec, false).await.expect("a world");
        let plan = good(planned).expect("a plan");
        let planned: BTreeSet<String> = plan.steps.iter().map(|step| lower(&step.id)).collect();
        let strangers: BTreeSet<String> = strangers.iter().map(lower).collect();
        let everything = self.stage.everything().await;
        let mut left = Vec::new();
        for body in &everything {
            let id = lower(&body["id"].as_str().expect("an id"));
            let known =
                planned.contains(&id) || strangers.contains(&id) || id == lower(&group(GROUP));
            if !known && !self.is_part(&id, &planned).await {
                left.push(id);
            }
        }
        assert!(left.is_empty(), "orphans: {left:#?}");
    }

    /// Whether a resource came with a machine or a set of the plan.
    async fn is_part(&self, id: &str, planned: &BTreeSet<String>) -> bool {
        let (version, owners): (_, &[&str]) = if id.contains("/microsoft.compute/disks/") {
            ("2024-03-02", &["/managedBy"])
        } else if id.contains("/microsoft.network/networkinterfaces/") {
            ("2024-07-01", &["/properties/virtualMachine/id"])
        } else if id.contains("/microsoft.compute/virtualmachines/") {
            ("2024-07-01", &["/properties/virtualMachineScaleSet/id"])
        } else {
            return false;
        };
        let target = format!("{id}?api-version={version}");
        let (_, body) = self.stage.raw("GET", &target, None).await;
        let owner = owners
            .iter()
            .find_map(|owner| body.pointer(owner)?.as_str());
        let Some(owner) = owner.map(|owner| lower(&owner)) else {
            return false;
        };
        if planned.contains(&owner) {
            return true;
        }
        // An instance of a set is no step of the plan; its set is.
        if owner.contains("/virtualmachines/") {
            let target = format!("{owner}?api-version=2024-07-01");
            let (_, machine) = self.stage.raw("GET", &target, None).await;
            let set = machine["properties"]["virtualMachineScaleSet"]["id"].as_str();
            let of_uniform = owner.split("/virtualmachines/").next().unwrap_or_default();
            return set.is_some_and(|set| planned.contains(&lower(&set)))
                || planned.contains(of_uniform);
        }
        false
    }
}

/// Whether all that failed are operations that somebody else, or an earlier run, had begun: they
/// end as they were bound to, whatever is over by now.
fn is_of_before(outcome: &Outcome) -> bool {
    outcome.steps.iter().all(|(.., ending)| match ending {
        Ending::Failed(failure) => failure.code == "ProvisioningFailed",
        Ending::Done | Ending::Skipped { .. } | Ending::NotStarted => true,
    })
}

/// Remembers what happens, for a case that goes wrong.
pub(super) fn tell(what: &str) {
    STORY.with_borrow_mut(|story| writeln!(story, "- {what}").expect("text grows"));
}

/// In lower case.
pub(super) fn lower(text: &impl ToString) -> String {
    text.to_string().to_lowercase()
}

/// Every write is one of a step that writes, on its resource or a part that goes with it; what is
/// deleted is what a step deletes, or what this very run had made before in an attempt that a pool
/// gave up.
pub(super) fn check_writes(plan: &Plan, sent: &[Sent]) {
    let asks = ["/checkpolicyrestrictions", "/placementscores/spot/generate"];
    let mut made: BTreeSet<String> = BTreeSet::new();
    for sent in sent.iter().filter(|sent| sent.method != "GET") {
        let path = lower(&sent.path);
        let may_be_made = sent
            .status
            .is_none_or(|status| !(400..500).contains(&status));
        if sent.method == "PUT" && may_be_made {
            made.insert(path.clone());
        }
        if asks.iter().any(|ask| path.ends_with(ask)) {
            continue;
        }
        let step = plan
            .changes()
            .filter(|step| {
                let id = lower(&step.id);
                let os_disk = step.before.as_ref().and_then(|before| {
                    let name = &before.virtual_machine()?.os_disk.name;
                    let group = step.id.group_id()?;
                    Some(lower(&group.in_group(ResourceKind::Disk.arm_type(), name)))
                });
                path == id || path.starts_with(&format!("{id}/")) || os_disk.as_ref() == Some(&path)
            })
            .max_by_key(|step| step.id.to_string().len());
        let Some(step) = step else {
            panic!("{} {} is of no step of the plan", sent.method, sent.path);
        };
        let deletes = step
            .operations
            .iter()
            .any(|operation| matches!(operation, Operation::Delete));
        let pool = step
            .address
            .pool_name()
            .and_then(|pool| plan.pools.get(pool));
        let gives_up = pool.is_some_and(|pool| pool.scarcity.is_some())
            && step.action == Action::Create
            && made.contains(&path);
        assert!(
            sent.method != "DELETE" || deletes || gives_up,
            "DELETE {} for {} {}",
            sent.path,
            step.action,
            step.address
        );
    }
}

/// What strangers have must be as it was.
pub(super) fn same(before: &[Value], after: &[Value]) {
    assert_eq!(before, after, "what strangers have stays as it is");
}

thread_local! {
    /// What happened so far in the case that this thread tries.
    static STORY: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Tries a case; else why it went wrong, with what happened before.
pub(super) fn tried<T>(case: impl FnOnce() -> T) -> Result<T, String> {
    STORY.with_borrow_mut(String::clear);
    panic::catch_unwind(AssertUnwindSafe(case)).map_err(|panicked| {
        let why = panicked.downcast_ref::<String>().cloned();
        let why = why.or_else(|| panicked.downcast_ref::<&str>().map(ToString::to_string));
        let story = STORY.with_borrow(String::clone);
        format!("{}\n{story}", why.unwrap_or_default())
    })
}

/// Tries so many cases on two threads; what came of each, in order.
pub(super) fn on_two_threads<T: Send>(
    cases: usize,
    case: impl Fn(usize) -> T + Sync,
) -> Vec<Result<T, String>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= cases {
                return;
            }
            let result = tried(|| case(at));
            let mut results = results.lock().expect("no panic here");
            results.push((at, result));
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().expect("no panic here");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
