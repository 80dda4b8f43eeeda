//! Two processes apply to one stack at once: what Azure guards with a precondition is written by
//! one of them, and the other is refused by name. What it does not guard is in
//! `docs/races.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use model::plan::{Ending, Outcome};

use super::{
    plans::{good, spec},
    stage::{Sent, Stage, run},
    trial::{Case, on_two_threads, tell},
    worlds::{add_strangers, bodies},
};
use crate::harness::Seeded;

/// Runs of two at once.
const RUNS: usize = 200;

/// How a loser is refused: somebody else was there first, the world is not as it was planned on,
/// or Azure says what the other does.
const REFUSALS: [&str; 5] = [
    "AlreadyExists",
    "ChangedSincePlan",
    "OperationPreempted",
    "InUseSubnetCannotBeDeleted",
    "ResourceVanished",
];

const STACK: &str = "version: 1\nname: proof\nlocation: eastus\ntags: {team: TEAM}\npools:\n  \
    nodes: {stage: inference, workload: small, count: COUNT, grouping: vms, size: SIZE, zones: none, allow_stop: true}\n  \
    set: {stage: inference, workload: small, count: COUNT, grouping: scale_set, size: Standard_F8s_v2, zones: none}\n";

fn text(team: &str, count: usize, size: &str) -> String {
    STACK
        .replace("TEAM", team)
        .replace("COUNT", &count.to_string())
        .replace("SIZE", size)
}

/// What both do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Race {
    /// Both make the same stack.
    Make,
    /// Each changes the live stack in a way of its own.
    Change,
    /// One changes it, the other deletes it.
    Destroy,
}

/// What the machines and sets of a stack were written with: whoever writes one names what must
/// be there, or that nothing may be.
fn is_guarded(sent: &Sent) -> bool {
    let path = sent.path.to_lowercase();
    let last_but_one = path.rsplit('/').nth(1).unwrap_or_default();
    let guards = ["virtualmachines", "virtualmachinescalesets"];
    let is_write = sent.method == "PUT" || sent.method == "PATCH";
    !is_write || !guards.contains(&last_but_one) || sent.condition.is_some()
}

/// Machines and sets that were made more than once.
fn made_twice(sent: &[Sent]) -> Vec<String> {
    let mut made: BTreeMap<String, usize> = BTreeMap::new();
    for sent in sent {
        let is_machine = sent
            .path
            .to_lowercase()
            .contains("/microsoft.compute/virtualmachine");
        if sent.method == "PUT" && sent.status == Some(201) && is_machine {
            *made.entry(sent.path.to_lowercase()).or_default() += 1;
        }
    }
    made.retain(|_, times| *times > 1);
    made.into_keys().collect()
}

fn codes(outcome: &Outcome) -> BTreeSet<String> {
    let failed = outcome
        .steps
        .iter()
        .filter_map(|(_, _, ending)| match ending {
            Ending::Failed(failure) => Some(failure.code.clone()),
            Ending::Done | Ending::Skipped { .. } | Ending::NotStarted => None,
        });
    failed.collect()
}

async fn race(seed: u64) -> (Race, BTreeSet<String>) {
    let mut random = Seeded::of(seed);
    let race = [Race::Make, Race::Change, Race::Destroy][random.below(3)];
    let mut case = Case::on(Stage::with(|options| options.throttling = false).await);
    let first = spec(&text("one", 1 + random.below(3), "Standard_D2s_v5"));
    let one = spec(&text("one", 1 + random.below(3), "Standard_D4s_v5"));
    let other = spec(&text("two", 1 + random.below(3), "Standard_D8s_v5"));
    if race != Race::Make {
        assert!(case.converge(&first, false).await, "it is made");
    }
    let strangers = add_strangers(&case.stage, None).await;
    let theirs = bodies(&case.stage, &strangers).await;
    let other = if race == Race::Make { &one } else { &other };
    let destroy = race == Race::Destroy;
    let plan_one = case.stage.plan(&one, false).await.expect("a world");
    let plan_one = good(plan_one).expect("a plan");
    let plan_other = case.stage.plan(other, destroy).await.expect("a world");
    let plan_other = good(plan_other).expect("a plan");
    let late = Duration::from_millis(u64::try_from(random.below(60_000)).expect("a small number"));
    let late = if random.below(3) == 0 {
        Duration::ZERO
    } else {
        late
    };
    tell(&format!("{race:?}, the other {late:?} later"));
    case.stage.take_sent();
    let another = case.stage.another().await;
    let begun = case.stage.apply(&plan_one, "one");
    let behind = async {
        tokio::time::sleep(late).await;
        case.stage.apply_by(&another, &plan_other, "other").await
    };
    let (mine, others) = tokio::join!(begun, behind);
    let sent = case.stage.take_sent();
    let unguarded: Vec<&Sent> = sent.iter().filter(|sent| !is_guarded(sent)).collect();
    assert!(unguarded.is_empty(), "{unguarded:#?}");
    if race == Race::Make {
        assert_eq!(made_twice(&sent), Vec::<String>::new());
    }
    let mut refused = codes(&mine);
    refused.extend(codes(&others));
    tell(&format!("{:?} {:?}", codes(&mine), codes(&others)));
    // Both are whole only where one came after the other had ended.
    assert!(case.converge(&one, false).await, "nothing is refused");
    case.check_no_orphans(&one, &strangers).await;
    assert_eq!(theirs, bodies(&case.stage, &strangers).await);
    (race, refused)
}

#[test]
fn of_two_applies_at_once_one_is_refused_by_name() {
    let (first, begun) = (Seeded::new().seed(), Instant::now());
    let seed = |at: usize| first.wrapping_add(u64::try_from(at).expect("a small number"));
    let results = on_two_threads(RUNS, |at| run(race(seed(at))));
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for (at, result) in results.into_iter().enumerate() {
        match result {
            Ok((race, found)) => {
                refused += usize::from(!found.is_empty());
                for code in found {
                    *codes.entry(format!("{race:?} {code}")).or_default() += 1;
                }
            }
            Err(why) => wrong.push(format!("TENSORFORM_TEST_SEED={}: {why}", seed(at))),
        }
    }
    println!(
        "{RUNS} runs from the seed {first} in {:.1} s, {refused} with a refusal: {codes:#?}",
        begun.elapsed().as_secs_f64()
    );
    for why in &wrong {
        println!("{why}\n");
    }
    assert!(wrong.is_empty(), "{} of {RUNS} went wrong", wrong.len());
    assert!(refused * 2 > RUNS, "most of them meet: {refused}");
    let others: Vec<&String> = codes
        .keys()
        .filter(|code| !REFUSALS.iter().any(|known| code.ends_with(known)))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}
