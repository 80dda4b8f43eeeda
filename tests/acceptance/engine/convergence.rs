//! Whatever stack, whatever world, whatever goes wrong and whenever the process dies: one more
//! plan and apply gets to the goal, and nothing else is touched.
//!
//! `TENSORFORM_TEST_CASES` says how many cases are tried, `TENSORFORM_TEST_SEED` where they
//! begin: a case that fails tells its own seed, and is tried again alone with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use model::spec::Spec;

use super::{
    plans::{good, spec},
    stacks::{Stack, once_in, one_of},
    stage::{Stage, run},
    trial::{Case, GROUP, Told, check_writes, lower, on_two_threads, same, tell},
    worlds::{add_strangers, bodies, faults, group, meddle},
};
use crate::harness::Seeded;

/// Cases unless `TENSORFORM_TEST_CASES` says.
const CASES: usize = 2_000;

/// A case with what is drawn for it.
struct Drawn {
    case: Case,
    random: Seeded,
}

impl Drawn {
    /// One plan and apply during which anything may happen.
    async fn disturbed(&mut self, spec: &Spec, destroy: bool) {
        if !once_in(&mut self.random, 4) {
            let rules = faults(&mut self.random);
            tell(&format!("faults {rules}"));
            self.case.stage.set_faults(&rules);
        }
        let planned = match self.case.stage.plan(spec, destroy).await {
            Ok(planned) => planned,
            Err(error) => return tell(&format!("not read: {error}")),
        };
        let plan = match good(planned) {
            Ok(plan) => plan,
            Err(why) => return tell(&format!("not planned: {why}")),
        };
        let nonce = self.case.nonce();
        self.case.stage.take_sent();
        if once_in(&mut self.random, 2) {
            let (requests, arrives) = (1 + self.random.below(60), once_in(&mut self.random, 2));
            let ended = self
                .case
                .stage
                .apply_until_death(&plan, &nonce, requests, arrives)
                .await;
            self.case.told.killed += usize::from(ended.is_none());
            let how = ended.map_or("killed", |_| "ended before");
            tell(&format!("{how} at request {requests}, arrives: {arrives}"));
        } else {
            let outcome = self.case.stage.apply(&plan, &nonce).await;
            self.case.told.failed += usize::from(outcome.failed() > 0);
            tell(&format!(
                "applied, {} of {} failed",
                outcome.failed(),
                outcome.steps.len()
            ));
        }
        check_writes(&plan, &self.case.stage.take_sent());
    }
}

async fn try_case(seed: u64) -> Told {
    let mut random = Seeded::of(seed);
    let first = Stack::random(&mut random);
    let second = first.changed(&mut random);
    let stage = Stage::with(|options| options.throttling = false).await;
    let case = Case::on(stage);
    let mut drawn = Drawn { case, random };
    let (first, second) = (first.text(), second.text());
    tell(&format!("first\n{first}\nsecond\n{second}"));
    let (first, second) = (spec(&first), spec(&second));
    if !once_in(&mut drawn.random, 3) {
        drawn.disturbed(&first, false).await;
        drawn
            .case
            .stage
            .set_faults(&serde_json::json!({"rules": []}));
    }
    let strangers = add_strangers(&drawn.case.stage, Some(GROUP)).await;
    for _ in 0..drawn.random.below(3) {
        let done = meddle(&drawn.case.stage, &mut drawn.random, GROUP).await;
        tell(&done);
        let seconds = one_span(&mut drawn.random);
        drawn.case.stage.wait(Duration::from_secs(seconds)).await;
    }
    let theirs = bodies(&drawn.case.stage, &strangers).await;
    drawn.disturbed(&second, false).await;
    drawn
        .case
        .stage
        .set_faults(&serde_json::json!({"rules": []}));
    if drawn.case.converge(&second, false).await {
        drawn.case.check_no_orphans(&second, &strangers).await;
        same(&theirs, &bodies(&drawn.case.stage, &strangers).await);
    }
    if once_in(&mut drawn.random, 2) {
        drawn.disturbed(&second, true).await;
        drawn
            .case
            .stage
            .set_faults(&serde_json::json!({"rules": []}));
    }
    assert!(
        drawn.case.converge(&second, true).await,
        "a destroy is not refused"
    );
    same(&theirs, &bodies(&drawn.case.stage, &strangers).await);
    let strangers: BTreeSet<String> = strangers.iter().map(lower).collect();
    let mut left: Vec<String> = Vec::new();
    for body in drawn.case.stage.everything().await {
        left.push(lower(&body["id"].as_str().expect("an id")));
    }
    // The group stays where somebody else has something in it.
    left.retain(|id| !strangers.contains(id) && *id != lower(&group(GROUP)));
    assert!(left.is_empty(), "left after the destroy: {left:#?}");
    drawn.case.told
}

fn one_span(random: &mut Seeded) -> u64 {
    one_of(random, &[0, 5, 60, 600])
}

/// The seeds of this run.
fn seeds() -> (u64, usize) {
    let cases = std::env::var("TENSORFORM_TEST_CASES").ok();
    let cases = cases.map(|cases| cases.parse().expect("a number of cases"));
    (Seeded::new().seed(), cases.unwrap_or(CASES))
}

/// How all cases of a run went.
#[derive(Default)]
struct Sum {
    refused: BTreeMap<String, usize>,
    killed: usize,
    failed: usize,
    rounds: BTreeMap<usize, usize>,
    wrong: BTreeMap<u64, String>,
}

impl Sum {
    fn add(&mut self, told: &Told) {
        if let Some(why) = &told.refused {
            let code = why.split(' ').next().unwrap_or_default().to_owned();
            *self.refused.entry(code).or_default() += 1;
        }
        self.killed += told.killed;
        self.failed += told.failed;
        *self.rounds.entry(told.rounds).or_default() += 1;
    }
}

#[test]
fn every_stack_in_every_world_with_every_fault_converges() {
    let (first, cases) = seeds();
    let begun = Instant::now();
    let seed = |at: usize| first.wrapping_add(u64::try_from(at).expect("a small number"));
    let mut sum = Sum::default();
    let results = on_two_threads(cases, |at| run(try_case(seed(at))));
    for (at, result) in results.into_iter().enumerate() {
        match result {
            Ok(told) => sum.add(&told),
            Err(why) => {
                sum.wrong.insert(seed(at), why);
            }
        }
    }
    println!(
        "{cases} cases from the seed {first} in {:.1} s: {} runs killed, {} failed in part; by \
         rounds until the goal {:?}; refused {:?}",
        begun.elapsed().as_secs_f64(),
        sum.killed,
        sum.failed,
        sum.rounds,
        sum.refused,
    );
    for (seed, why) in &sum.wrong {
        println!("TENSORFORM_TEST_SEED={seed} TENSORFORM_TEST_CASES=1: {why}\n");
    }
    let wrong: Vec<&u64> = sum.wrong.keys().collect();
    assert!(
        wrong.is_empty(),
        "of {cases} from the seed {first}: {wrong:?}"
    );
    let refused: usize = sum.refused.values().sum();
    assert!(
        refused * 4 <= cases.max(4),
        "most cases are no refusals: {refused}"
    );
    assert!(
        cases < CASES || (sum.killed * 4 > cases && sum.failed * 16 > cases),
        "much goes wrong: {} killed, {} failed",
        sum.killed,
        sum.failed
    );
}
