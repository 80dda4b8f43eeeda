//! Plans for every kind of change.

use std::collections::BTreeMap;

use model::{
    live::Mode,
    plan::{
        Action, CatalogReference, Cost, CostKind, CostLine, FORMAT_VERSION, Operation, Plan,
        ReasonCode, Run, Scope, SpecReference, Step, Total,
    },
    units::{Micros, Timestamp},
};
use serde_json::json;

use crate::{
    build::{self, StepExt as _, after_apply, disk, in_zone, machine, spot, step, vm},
    parts::{H100, every_cost, findings, line, monthly, network_cost, quota, training_pool},
};

/// A sound plan of these steps, pools and cost lines.
fn plan(mode: Mode, steps: Vec<Step>, before: Total, lines: Vec<CostLine>) -> Plan {
    let sum = |of: fn(&CostLine) -> Option<Micros>| {
        lines
            .iter()
            .filter_map(of)
            .fold(Micros::default(), Micros::saturating_add)
    };
    let after = Total {
        hourly_micros: sum(|line| line.hourly_micros),
        monthly_micros: sum(|line| line.monthly_micros),
    };
    let mut plan = Plan {
        format_version: FORMAT_VERSION.to_owned(),
        tensorform_version: "0.1.0".to_owned(),
        digest: String::new(),
        stack: "llama".to_owned(),
        created_at: Timestamp::from_unix(1_796_040_000),
        spec: SpecReference {
            digest: "sha256:00".to_owned(),
            path: "tensorform.yaml".to_owned(),
        },
        catalog: CatalogReference {
            digest: "sha256:01".to_owned(),
            prices_as_of: "2026-08-01".to_owned(),
            skus_as_of: "2026-07-15".to_owned(),
        },
        scope: Scope {
            cloud: "public".to_owned(),
            mode,
            subscription: (mode != Mode::Offline).then(|| build::SUBSCRIPTION.to_owned()),
            location: build::region(),
            resource_group: "rg-llama".to_owned(),
        },
        has_changes: steps.iter().any(|step| step.action.writes()),
        complete: true,
        counts: Plan::count(&steps),
        pools: BTreeMap::new(),
        steps,
        bootstraps: BTreeMap::new(),
        quota: Vec::new(),
        cost: Cost {
            price_book: None,
            currency: "USD".to_owned(),
            complete: lines.iter().all(|line| line.known),
            before,
            after,
            delta: after.minus(before),
            lines,
        },
        run: Run::default(),
        lifetime: None,
        targets: Vec::new(),
        orphans: false,
        diagnostics: Vec::new(),
    };
    plan.digest = plan.computed_digest();
    plan
}

fn network(action: Action) -> Vec<Step> {
    vec![
        step("resource_group", "rg-llama", action, build::group()),
        step(
            "network.nsg",
            "llama-nsg",
            action,
            build::security_group(&["203.0.113.0/24"]),
        ),
        step("network.nat_ip", "llama-nat-ip", action, build::public_ip()),
        step("network.nat", "llama-nat", action, build::nat()),
        step("network.vnet", "llama-vnet", action, build::network()),
        step("network.subnet", "default", action, build::subnet()),
        step("access.ssh_key", "llama-key", action, build::ssh_key()),
    ]
}

/// A first plan: everything is created, in the sandbox.
pub(crate) fn first() -> Plan {
    let mut steps = network(Action::Create);
    for node in 0..8 {
        let name = format!("llama-train-{node}");
        steps.push(
            step(
                &format!("pool.train[{node}].vm"),
                &name,
                Action::Create,
                machine(vm(&name, H100)),
            )
            .or_else("Standard_ND96amsr_A100_v4")
            .or_else("Standard_ND96amsr_A100_v4 in zone 2"),
        );
    }
    let mut lines = vec![
        line("pool.train", CostKind::Compute, H100, 8, Some(98_320_000)),
        monthly("pool.train", "P15, Premium SSD, 256 GiB", 8, 38_020_000),
    ];
    lines.extend(network_cost());
    let mut plan = plan(Mode::Sandbox, steps, Total::default(), lines);
    plan.pools
        .insert("train".to_owned(), training_pool(H100, 8));
    plan.quota = vec![
        quota("standardNDSH100v5Family", Some(960), Some(0), 768),
        quota("cores", Some(1_000_000), Some(12_416), 768),
        quota("virtualMachines", Some(25_000), Some(31), 8),
        quota("IPv4StandardSkuPublicIpAddresses", Some(100), Some(99), 1),
    ];
    plan
}

/// Every action, values of every kind, prices and quota that are not known.
pub(crate) fn every_action() -> Plan {
    let mut steps = network(Action::NoOp);
    steps.extend(in_place());
    steps.extend(recovering());
    steps.extend(anew());
    steps.extend(leaving());
    let mut lines = every_cost();
    lines.extend(network_cost());
    let before = Total {
        hourly_micros: Micros(112_400_000),
        monthly_micros: Micros(82_052_000_000),
    };
    let mut plan = plan(Mode::Azure, steps, before, lines);
    plan.complete = false;
    plan.pools
        .insert("train".to_owned(), training_pool(H100, 12));
    let mut web = training_pool("Standard_NC8as_T4_v3", 3);
    web.priority = String::from("spot");
    web.zones = vec!["1".to_owned(), "2".to_owned(), "3".to_owned()];
    web.placement = String::from("single_placement_group");
    web.grouping = String::from("scale_set");
    (web.memory, web.throughput, web.parallelism) = (None, None, None);
    web.candidates.clear();
    web.rules.clear();
    web.why = vec!["the spec names the size".to_owned()];
    plan.pools.insert("web".to_owned(), web);
    plan.quota = vec![
        quota("standardNDSH100v5Family", Some(96), Some(96), 192),
        quota("lowPriorityCores", None, None, 24),
        quota("cores", Some(350), None, 216),
    ];
    plan.diagnostics = findings();
    plan
}

fn train(node: u32, action: Action) -> Step {
    let name = format!("llama-train-{node}");
    step(
        &format!("pool.train[{node}].vm"),
        &name,
        action,
        machine(vm(&name, H100)),
    )
}

fn in_place() -> Vec<Step> {
    vec![
        step(
            "network.nsg2",
            "llama-nsg2",
            Action::Update,
            build::security_group(&[]),
        )
        .changes(
            "rules.ssh.sources",
            json!(["198.51.100.0/24", "203.0.113.0/24"]),
            json!(["203.0.113.0/24"]),
            Action::Update,
        ),
        train(0, Action::Update)
            .changes("tags.team", json!(null), json!("ml"), Action::Update)
            .changes(
                "tags.cost-center",
                json!("1.10"),
                json!("1.20"),
                Action::Update,
            )
            .changes("ssh_keys", long_keys("a"), long_keys("b"), Action::NoOp),
        train(1, Action::RestartUpdate).changes(
            "size",
            json!("Standard_ND96isr_H200_v5"),
            json!(H100),
            Action::RestartUpdate,
        ),
        train(2, Action::StopUpdate)
            .changes(
                "size",
                json!("Standard_ND96amsr_A100_v4"),
                json!(H100),
                Action::StopUpdate,
            )
            .changes("tags.team", json!("infra"), json!(null), Action::Update),
    ]
}

fn recovering() -> Vec<Step> {
    vec![
        train(3, Action::Start).why(ReasonCode::Deallocated),
        train(4, Action::Start)
            .changes("tags.team", json!(null), json!("ml"), Action::Update)
            .calls(&[
                Operation::MergeTags {
                    set: model::resource::Tags::default(),
                    remove: vec![],
                },
                Operation::Start,
            ]),
        train(5, Action::Repair),
        train(6, Action::Repair)
            .why(ReasonCode::FailedWithoutHardware)
            .calls(&[Operation::Delete, Operation::Create]),
        train(7, Action::Repair)
            .why(ReasonCode::HalfMade)
            .calls(&[Operation::Settle]),
    ]
}

fn long_keys(last: &str) -> serde_json::Value {
    let key = |letter: &str| format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{}", letter.repeat(43));
    json!([key("k"), key(last)])
}

fn anew() -> Vec<Step> {
    vec![
        train(8, Action::Replace)
            .changes(
                "image.version",
                json!("22.04.2025112001"),
                json!("22.04.2026061901"),
                Action::Replace,
            )
            .changes("zones", json!([]), json!(["1"]), Action::Replace),
        step(
            "access.ssh_key2",
            "llama-key2",
            Action::Replace,
            build::ssh_key(),
        )
        .changes(
            "public_key",
            json!("ssh-ed25519 AAAA"),
            after_apply(),
            Action::Replace,
        )
        .calls(&[Operation::Create, Operation::Delete]),
        train(9, Action::Create),
        train(10, Action::Create).calls(&[Operation::AwaitGone, Operation::Create]),
        step(
            "pool.web[0].vm",
            "llama-web-0",
            Action::Create,
            machine(in_zone(
                spot(vm("llama-web-0", "Standard_NC8as_T4_v3")),
                "1",
            )),
        ),
        step(
            "pool.web[0].data_disk[0]",
            "llama-web-0-data-0",
            Action::Create,
            disk(1_024, "1"),
        ),
    ]
}

fn leaving() -> Vec<Step> {
    let mut steps: Vec<Step> = (0..6)
        .map(|node| {
            let name = format!("llama-old-{node}");
            step(
                &format!("pool.old[{node}].vm"),
                &name,
                Action::Delete,
                machine(vm(&name, "Standard_D4s_v5")),
            )
        })
        .collect();
    steps.push(step(
        "pool.old[0].data_disk[0]",
        "llama-old-0-data-0",
        Action::Delete,
        disk(512, "3"),
    ));
    steps
}

/// A thousand nodes with a data disk each, zones in turn; node 500 differs.
pub(crate) fn thousand() -> Plan {
    let mut steps = network(Action::NoOp);
    for node in 0..1_000_u32 {
        let name = format!("llama-train-{node}");
        let zone = ["1", "2", "3"][usize::try_from(node % 3).expect("small")];
        let size = if node == 500 {
            "Standard_D8s_v5"
        } else {
            "Standard_D4s_v5"
        };
        let disk_name = format!("{name}-data-0");
        steps.push(step(
            &format!("pool.train[{node}].data_disk[0]"),
            &disk_name,
            Action::Create,
            disk(64, zone),
        ));
        let machine = machine(in_zone(vm(&name, size), zone));
        steps.push(step(
            &format!("pool.train[{node}].vm"),
            &name,
            Action::Create,
            machine,
        ));
    }
    let lines = vec![
        line(
            "pool.train",
            CostKind::Compute,
            "Standard_D4s_v5",
            999,
            Some(192_000),
        ),
        line(
            "pool.train",
            CostKind::Compute,
            "Standard_D8s_v5",
            1,
            Some(384_000),
        ),
    ];
    plan(Mode::Azure, steps, Total::default(), lines)
}

/// Nothing to do.
pub(crate) fn unchanged() -> Plan {
    let lines = network_cost();
    let before = Total {
        hourly_micros: Micros(50_000),
        monthly_micros: Micros(36_500_000),
    };
    plan(Mode::Azure, network(Action::NoOp), before, lines)
}

/// Everything is deleted.
pub(crate) fn destroyed() -> Plan {
    let mut steps = Vec::new();
    for node in 0..3 {
        let name = format!("llama-train-{node}");
        steps.push(step(
            &format!("pool.train[{node}].vm"),
            &name,
            Action::Delete,
            machine(vm(&name, H100)),
        ));
    }
    let mut network = network(Action::Delete);
    network.reverse();
    steps.extend(network);
    for step in &mut steps {
        step.reason.code = ReasonCode::Destroy;
    }
    let before = Total {
        hourly_micros: Micros(295_010_000),
        monthly_micros: Micros(215_357_300_000),
    };
    plan(Mode::Azure, steps, before, Vec::new())
}

/// Made without a cloud: what belongs to a subscription is unknown.
pub(crate) fn offline() -> Plan {
    let mut plan = first();
    plan.scope.mode = Mode::Offline;
    plan.scope.subscription = None;
    for line in &mut plan.quota {
        (line.limit, line.used, line.after, line.ok) = (None, None, None, None);
    }
    plan.digest = plan.computed_digest();
    plan
}
