//! Parts of plans: what was decided for a pool, cost, quota, findings.

use model::{
    diag::{DiagnosticDocument, PlaceDocument, Severity},
    plan::{
        Candidate, CandidateReason, CostKind, CostLine, Formula, Memory, Parallelism, PoolImage,
        PoolPlan, QuotaLine, Throughput, Verdict,
    },
    units::Micros,
};

use crate::build;

/// The size of the training pools.
pub(crate) const H100: &str = "Standard_ND96isr_H100_v5";

/// A cost line; prices in micro-units of one thing per hour, or `None`.
pub(crate) fn line(
    address: &str,
    kind: CostKind,
    item: &str,
    quantity: u32,
    unit: Option<i64>,
) -> CostLine {
    let hourly = unit.map(|unit| Micros(unit * i64::from(quantity)));
    let decimal = |micros: i64| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let text = unit.map(|unit| {
        decimal(unit)
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    });
    CostLine {
        address: address.to_owned(),
        kind,
        item: item.to_owned(),
        quantity,
        unit_hourly: text,
        unit_monthly: None,
        hourly_micros: hourly,
        monthly_micros: hourly.map(|hourly| Micros(hourly.0 * 730)),
        meter: "Linux, on demand".to_owned(),
        as_of: unit.map(|_| "2026-08-01".to_owned()),
        source: unit.map(|_| "R".to_owned()),
        known: unit.is_some(),
        flags: Vec::new(),
    }
}

/// A line of a monthly meter.
pub(crate) fn monthly(address: &str, item: &str, quantity: u32, unit: i64) -> CostLine {
    let month = Micros(unit * i64::from(quantity));
    CostLine {
        unit_hourly: None,
        unit_monthly: Some(format!(
            "{}.{:02}",
            unit / 1_000_000,
            unit % 1_000_000 / 10_000
        )),
        hourly_micros: Some(Micros(month.0 / 730)),
        monthly_micros: Some(month),
        ..line(address, CostKind::Disk, item, quantity, Some(0))
    }
}

fn candidate(size: &str, rank: Option<u32>, hourly: Option<i64>, reasons: &[&str]) -> Candidate {
    Candidate {
        size: size.into(),
        verdict: if rank.is_some() {
            Verdict::Kept
        } else {
            Verdict::Rejected
        },
        rank,
        reasons: reasons
            .iter()
            .map(|reason| CandidateReason {
                code: "rule".to_owned(),
                message: (*reason).to_owned(),
            })
            .collect(),
        hourly_micros: hourly.map(Micros),
    }
}

pub(crate) fn training_pool(size: &str, count: u32) -> PoolPlan {
    PoolPlan {
        size: size.into(),
        count,
        image: PoolImage {
            kind: "hpc".to_owned(),
            urn: "microsoft-dsvm:ubuntu-hpc:2204:22.04.2026061901".to_owned(),
        },
        priority: "regular".to_owned(),
        zones: Vec::new(),
        scarcity: None,
        placement: "none".to_owned(),
        grouping: "vms".to_owned(),
        orchestrator: "manual".to_owned(),
        memory: Some(memory()),
        throughput: Some(throughput()),
        parallelism: Some(Parallelism {
            tensor: 8,
            pipeline: 1,
            data: 8,
            strategy: "fsdp".to_owned(),
            recompute: Some("full".to_owned()),
            micro_batch: Some(2),
        }),
        formulas: vec![Formula {
            name: "flops_per_token".to_owned(),
            formula: "6·P".to_owned(),
            values: "6·70e9".to_owned(),
            result: "4.2e11 FLOPs".to_owned(),
            source: "arithmetic".to_owned(),
        }],
        rules: vec!["A4".to_owned(), "A19".to_owned()],
        why: vec![
            "A4: the article names the ND series for training generative models".to_owned(),
            "the cheapest of 4 sizes per TFLOPS that pass every rule, with InfiniBand between \
             its nodes and NVLink between the GPUs of each node"
                .to_owned(),
            "the HPC image instead of the Data Science VM: its drivers are older than the GPUs"
                .to_owned(),
        ],
        choices: Vec::new(),
        candidates: candidates(size),
    }
}

fn candidates(size: &str) -> Vec<Candidate> {
    vec![
        candidate(size, Some(1), Some(98_320_000), &[]),
        candidate(
            "Standard_ND96isr_H200_v5",
            Some(2),
            Some(110_240_000),
            &["12 % dearer for each TFLOPS"],
        ),
        candidate(
            "Standard_ND96amsr_A100_v4",
            Some(3),
            Some(32_770_000),
            &["3 times as long"],
        ),
        candidate(
            "Standard_ND96isr_MI300X_v5",
            Some(4),
            None,
            &["no known price"],
        ),
        candidate(
            "Standard_ND128isr_NDR_GB200_v6",
            None,
            Some(216_700_000),
            &["needs a rack", "is not offered in eastus"],
        ),
        candidate(
            "Standard_NC80adis_H100_v5",
            None,
            Some(13_960_000),
            &["has no interconnect between its nodes"],
        ),
        candidate(
            "Standard_ND40rs_v2",
            None,
            Some(22_032_000),
            &["cannot compute in bf16 on its V100"],
        ),
        candidate(
            "Standard_NC24ads_A100_v4",
            None,
            Some(3_673_000),
            &[
                "has no interconnect between its nodes",
                "the model takes 1,130 GB, which is 16 GPUs of 80 GB",
            ],
        ),
        candidate(
            "Standard_NV36ads_A10_v5",
            None,
            None,
            &["is of the NV series, the article names ND"],
        ),
    ]
}

fn memory() -> Memory {
    Memory {
        per_gpu_bytes: Some(17_650_000_000),
        usable_per_gpu_bytes: Some(72_000_000_000),
        weights_bytes: Some(2_206_250_000),
        gradients_bytes: Some(2_206_250_000),
        optimizer_bytes: Some(13_237_500_000),
        activations_bytes: None,
        kv_cache_bytes: None,
        overhead_bytes: None,
        gpus_minimum: Some(16),
        gpus_recommended: Some(64),
    }
}

fn throughput() -> Throughput {
    Throughput {
        flops_per_token: 4.2e11,
        mfu: 0.4,
        tokens_per_second_per_gpu: 942.0,
        gpu_hours: Some(5_898.0),
        seconds: Some(331_762.5),
    }
}

pub(crate) fn quota(name: &str, limit: Option<i64>, used: Option<i64>, needed: i64) -> QuotaLine {
    let after = used.map(|used| used + needed);
    QuotaLine {
        name: name.to_owned(),
        location: build::region(),
        limit,
        used,
        needed,
        after,
        ok: limit.zip(after).map(|(limit, after)| after <= limit),
    }
}

pub(crate) fn network_cost() -> Vec<CostLine> {
    vec![
        line(
            "network.nat",
            CostKind::Network,
            "NAT gateway",
            1,
            Some(45_000),
        ),
        line(
            "network.nat_ip",
            CostKind::Network,
            "Standard public IP address",
            1,
            Some(5_000),
        ),
    ]
}

pub(crate) fn every_cost() -> Vec<CostLine> {
    let mut estimated = line("pool.train", CostKind::Compute, H100, 11, Some(98_320_000));
    estimated.flags = vec!["cs_estimated".to_owned(), "new_flag".to_owned()];
    let mut web = line(
        "pool.web",
        CostKind::Compute,
        "Standard_NC8as_T4_v3",
        1,
        Some(75_200),
    );
    web.meter = String::from("Linux, spot");
    web.as_of = Some("2026-06-18".to_owned());
    web.flags = vec!["spot".to_owned()];
    vec![
        estimated,
        monthly("pool.train", "P15, Premium SSD, 256 GiB", 11, 38_020_000),
        web,
        line(
            "pool.web",
            CostKind::Disk,
            "Premium SSD v2, 1024 GiB",
            1,
            None,
        ),
    ]
}

pub(crate) fn findings() -> Vec<DiagnosticDocument> {
    vec![
        DiagnosticDocument {
            code: "QUOTA002".to_owned(),
            severity: Severity::Warning,
            message: "quota `lowPriorityCores` in eastus could not be read: no permission"
                .to_owned(),
            at: None,
            help: Some(
                "the plan may fail at apply; reading quota needs the Reader role".to_owned(),
            ),
        },
        DiagnosticDocument {
            code: "SIZE005".to_owned(),
            severity: Severity::Note,
            message: "`Standard_NC8as_T4_v3` retires on 2027-09-30".to_owned(),
            at: Some(PlaceDocument {
                file: Some("tensorform.yaml".to_owned()),
                line: Some(12),
                column: Some(11),
                path: Some("pools.web.size".to_owned()),
                resource: None,
            }),
            help: Some(
                "plan the move to a successor\n`tensorform sizes` shows current ones".to_owned(),
            ),
        },
    ]
}
