//! How long applies take and how many requests plans send, on a clock on which only operations,
//! pauses and request buckets take time: the same on every machine. `benches/apply.sh` keeps what
//! these tests print.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use azure::{Carried, Carrier, Delivered, Lost};
use emulator::Pace;
use model::plan::{Action, Operation, Outcome, Plan, Step};
use serde_json::{Value, json};

use super::{
    plans::{changes, good, spec},
    stage::{Sent, Stage, client_over, run},
};

/// A second of operations and pauses that a person would count.
fn seconds(span: Duration) -> f64 {
    span.as_secs_f64()
}

fn machines(count: usize, outbound: &str) -> String {
    format!(
        "version: 1\nname: proof\nlocation: eastus\nnetwork: {{outbound: {outbound}}}\npools:\n  \
         nodes: {{stage: inference, workload: small, count: {count}, grouping: vms, size: Standard_D2s_v5, zones: none}}\n"
    )
}

/// What an apply or a destroy took, and what it sent.
struct Taken {
    span: Duration,
    sent: Vec<Sent>,
}

impl Taken {
    fn requests(&self) -> String {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for sent in &self.sent {
            *kinds.entry(sent.method.as_str()).or_default() += 1;
        }
        format!("{} requests {kinds:?}", self.sent.len())
    }

    fn writes(&self) -> usize {
        self.sent.iter().filter(|sent| sent.method != "GET").count()
    }

    /// Refusals with 429 of a bucket that earlier answers had told of, and all others.
    fn throttled(&self) -> (usize, usize) {
        let mut told = BTreeSet::new();
        let (mut announced, mut others) = (0, 0);
        for sent in &self.sent {
            let is_read = sent.method == "GET";
            if sent.status == Some(429) {
                if told.contains(&is_read) {
                    announced += 1;
                } else {
                    others += 1;
                }
            }
            if sent.tells_its_bucket {
                told.insert(is_read);
            }
        }
        (announced, others)
    }
}

/// Plans and applies, or destroys.
async fn take(stage: &Stage, text: &str, destroy: bool) -> Taken {
    let planned = stage.plan(&spec(text), destroy).await.expect("a world");
    let plan = good(planned).expect("a plan");
    stage.take_sent();
    let begun = tokio::time::Instant::now();
    let outcome = stage.apply(&plan, "measured").await;
    let span = begun.elapsed();
    let failed = outcome
        .steps
        .iter()
        .find(|(_, _, ending)| *ending != model::plan::Ending::Done);
    assert!(outcome.reached(), "{failed:#?}");
    Taken {
        span,
        sent: stage.take_sent(),
    }
}

#[test]
fn a_hundred_machines_take_little_more_than_their_operations() {
    run(async {
        let pace = Pace {
            takes: Duration::from_secs(2),
            retry_after: 1,
        };
        let stage = Stage::with(|options| {
            options.throttling = false;
            options.pace = Some(pace);
        })
        .await;
        let text = machines(100, "none");
        let made = take(&stage, &text, false).await;
        // The command line begins a new process for each.
        let gone = take(&stage.in_another_process().await, &text, true).await;
        println!(
            "100 machines, operations of 2 s: apply {:.2} s, {}; destroy {:.2} s, {}; at most 9 s",
            seconds(made.span),
            made.requests(),
            seconds(gone.span),
            gone.requests()
        );
        assert!(made.span <= Duration::from_secs(9), "{:?}", made.span);
        assert!(gone.span <= Duration::from_secs(9), "{:?}", gone.span);
    });
}

/// Tokens of ARM's bucket of writes when it is full, and how many come each second.
const WRITES: (usize, f64) = (200, 10.0);
/// The same of its bucket of reads.
const READS: (usize, f64) = (250, 25.0);

/// How long a bucket makes so many requests take.
fn through((full, each_second): (usize, f64), requests: usize) -> f64 {
    let beyond = requests.saturating_sub(full);
    f64::from(u32::try_from(beyond).expect("a small number")) / each_second
}

#[test]
fn a_thousand_machines_take_what_the_buckets_ask() {
    let chain = run(async {
        let stage = Stage::with(|_| {}).await;
        take(&stage, &machines(1, "nat"), false).await.span
    });
    run(async {
        let stage = Stage::with(|_| {}).await;
        let taken = take(&stage, &machines(1_000, "nat"), false).await;
        let writes = taken.writes();
        // The fewest reads: each operation is asked about once, and its machine read once.
        let reads = 2 * writes;
        let buckets = through(WRITES, writes).max(through(READS, reads));
        let bound = buckets + seconds(chain);
        let ratio = seconds(taken.span) / bound;
        let (announced, others) = taken.throttled();
        println!(
            "1,000 machines: {:.1} s; buckets {buckets:.1} s and the longest chain {:.1} s: bound \
             {bound:.1} s, {ratio:.3} times that, at most 1.15; {}, {announced} of them refused with 429 although \
             headers had told, {others} by the bucket of reads, of which no header tells",
            seconds(taken.span),
            seconds(chain),
            taken.requests()
        );
        assert_eq!(announced, 0, "headers had told");
        assert!(ratio <= 1.15, "{ratio}");
    });
}

/// The most memory of this process so far, in megabytes of a million bytes; none where Linux does
/// not tell.
fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1_024 / 1_000_000)
}

/// Requests of a plan without a change of ten Flexible sets of this many instances in all, whose
/// lists have pages of this length; and how long it took, the sandbox's part included.
async fn requests_of_sets(instances: usize, page: usize) -> (usize, Duration) {
    let stage = Stage::with(|options| {
        options.throttling = false;
        options.pages.virtual_machines = page;
    })
    .await;
    let mut text = "version: 1\nname: proof\nlocation: eastus\npools:\n".to_owned();
    for pool in 0..10 {
        writeln!(
            text,
            "  p{pool}: {{stage: inference, workload: small, count: {}, grouping: scale_set, \
             size: Standard_D2s_v5, zones: none}}",
            instances / 10
        )
        .expect("text grows");
    }
    take(&stage, &text, false).await;
    let begun = Instant::now();
    let planned = stage.plan(&spec(&text), false).await.expect("a world");
    let span = begun.elapsed();
    assert_eq!(
        changes(&good(planned).expect("a plan")),
        Vec::<String>::new()
    );
    (stage.take_sent().len(), span)
}

/// Pages of the lists of instances with their states, and of what carries the tag; no request for
/// an instance.
#[test]
fn a_plan_of_many_instances_sends_pages_alone() {
    let count = std::env::var("INSTANCES").ok();
    let count = count.map_or(1_000, |count| count.parse().expect("a number of instances"));
    for page in [200, 1_000] {
        let (requests, span) = run(requests_of_sets(count, page));
        let peak = peak_megabytes().map_or_else(|| "unknown".to_owned(), |peak| peak.to_string());
        println!(
            "no change of {count} instances in ten sets, pages of {page}: {requests} requests, \
             {:.2} s, peak of the process {peak} MB, both with the sandbox in the same process",
            seconds(span)
        );
        // The first page, then each set's machines with their states; machines and disks with the
        // tag; other lists.
        let sets = 10 * (count / 10).div_ceil(page);
        let pages = 1 + sets + (2 * count).div_ceil(1_000);
        assert!(requests <= pages + 9, "{requests} for {pages} pages");
    }
}

/// An Azure that has made everything before it is asked.
struct Instantly;

#[async_trait]
impl Carrier for Instantly {
    async fn carry(&self, request: Carried) -> Result<Delivered, Lost> {
        let absent = request.method == "GET";
        let body = if absent {
            json!({"error": {"code": "ResourceNotFound", "message": "absent"}})
        } else {
            let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            body["properties"]["provisioningState"] = json!("Succeeded");
            body
        };
        Ok(Delivered {
            status: if absent { 404 } else { 201 },
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        })
    }
}

/// The processor's time for an apply of so many steps, each of which one answer ends.
fn bookkeeping(count: u32) -> Duration {
    let plan = run(async {
        let stage = Stage::with(|options| options.throttling = false).await;
        let planned = stage.plan(&spec(&machines(1, "none")), false).await;
        good(planned.expect("a world")).expect("a plan")
    });
    let network = plan
        .steps
        .iter()
        .find(|step| step.address.to_string() == "network.nsg");
    let usual = network.expect("a security group").clone();
    let steps = (0..count).map(|index| {
        let address = format!("pool.nodes[{index}].vm")
            .parse()
            .expect("an address");
        let id = format!("{}-{index}", usual.id).parse().expect("an id");
        Step {
            address,
            id,
            action: Action::Create,
            operations: vec![Operation::Create],
            needs: Vec::new(),
            ..usual.clone()
        }
    });
    let plan = Plan {
        steps: steps.collect(),
        ..plan
    };
    run(async {
        let client = client_over(Instantly).await;
        let begun = Instant::now();
        let outcome: Outcome = Stage::apply_with(&client, &plan, "bookkeeping", 128).await;
        let spent = begun.elapsed();
        let failed = outcome
            .steps
            .iter()
            .find(|(_, _, ending)| *ending != model::plan::Ending::Done);
        assert!(outcome.reached(), "{failed:#?}");
        spent
    })
}

#[test]
fn twice_as_many_steps_cost_twice_as_much() {
    // Enough to tell two from four times, and not so many that others wait. `STEPS=5000` measures
    // what is promised.
    let count = std::env::var("STEPS").ok();
    let count = count.map_or(1_000, |count| count.parse().expect("a number of steps"));
    bookkeeping(count.min(100));
    let median = |count: u32| {
        let mut spans: Vec<Duration> = (0..3).map(|_| bookkeeping(count)).collect();
        spans.sort();
        spans[1]
    };
    let (one, two) = (median(count), median(2 * count));
    let ratio = seconds(two) / seconds(one);
    println!(
        "bookkeeping: {count} steps {:.2} s, {} steps {:.2} s, {ratio:.2} times that; medians of 3",
        seconds(one),
        2 * count,
        seconds(two)
    );
    // Four times as much would be work that grows with the square.
    assert!(ratio < 3.2, "{ratio}");
}
