//! Tables: columns, status, sizes, images.

use std::collections::BTreeSet;

use model::{
    catalog::{
        Architecture, Fit as Verdict, GpuShare, ImageFit, ImageOs, ImageRow, Lifecycle, Size,
        SizeGpu, UnitPrices, VmPrice,
    },
    live::{Instance, Mode, Power, Provisioning, Readiness, State},
    plan::Lifetime,
    units::{Micros, Region, Span, Timestamp},
};
use tensorform_render::{
    Style,
    images::{self, ImageEntry},
    line::Line,
    sizes::{self, SizeRow, Unit},
    status::{self, LooseRow, NodeRow, SetRow, Status},
    table::{Column, Fit, Table},
};

use crate::golden;

const PLAIN: Style = Style::plain(100);

fn drawn(table: &Table, style: Style) -> String {
    let lines: Vec<String> = table
        .lines(style)
        .iter()
        .map(|line| line.draw(style))
        .collect();
    lines.join("\n") + "\n"
}

#[test]
fn columns_align_by_display_width_and_decimal_point() {
    let columns = [
        Column::left("Name", Fit::Cut),
        Column::right("Count"),
        Column::decimal("Price"),
        Column::left("Empty", Fit::Keep),
        Column::left("Remark", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    let mut row = |cells: [&str; 5]| table.row(cells.map(Line::of));
    row(["plain", "1", "98.32", "", "short"]);
    row([
        "한국어 이름",
        "1,000",
        "0.0450",
        "",
        "a remark that is longer than what is left of the line, so it is broken",
    ]);
    row(["中文名字", "12", "unknown", "", ""]);
    row(["combining e\u{301}", "7", "1,234", "", "tab\there"]);
    golden::check("table", &drawn(&table, Style::plain(60)));
    golden::check("table_narrow", &drawn(&table, Style::plain(30)));
}

/// A table of names with long words, notes with one, and amounts that are never broken.
fn notes() -> Table {
    let columns = [
        Column::left("Name", Fit::Wrap),
        Column::decimal("USD/h"),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 0);
    let mut row = |cells: [&str; 3]| table.row(cells.map(Line::of));
    row([
        "microsoft-dsvm:ubuntu-2204:2204:(unknown)",
        "98.32",
        "is not offered in eastus, and does not run on Standard_ND96isr_H100_v5 either",
    ]);
    row(["hpc", "3.6", "cannot be spot here"]);
    table
}

#[test]
fn a_column_keeps_its_longest_word_whole_while_another_can_give_way() {
    // 41 for the name, 5 for the amount, 24 for the longest word of the notes, and the gaps.
    for width in 74..120 {
        let words: BTreeSet<String> = drawn(&notes(), Style::plain(width))
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        for word in [
            "microsoft-dsvm:ubuntu-2204:2204:(unknown)",
            "Standard_ND96isr_H100_v5",
        ] {
            assert!(words.contains(word), "{width}: {words:?}");
        }
    }
    golden::check("table_notes", &drawn(&notes(), Style::plain(80)));
}

#[test]
fn a_word_that_must_be_broken_is_broken_behind_a_mark() {
    golden::check("table_notes_narrow", &drawn(&notes(), Style::plain(40)));
}

#[test]
fn tables_without_rows_are_nothing() {
    let table = Table::new([Column::left("Name", Fit::Keep)], 0);
    assert!(table.lines(PLAIN).is_empty());
}

fn state(provisioning: Provisioning, power: Option<Power>, agent_ready: Option<bool>) -> State {
    State {
        provisioning,
        power,
        agent_ready,
        message: None,
        evicted: false,
        readiness: None,
        nodes: None,
    }
}

fn node(index: u32, state: State) -> NodeRow {
    NodeRow {
        address: format!("pool.train[{index}].vm"),
        name: format!("llama-train-{index}"),
        size: Some("Standard_ND96isr_H100_v5".to_owned()),
        state,
        age: Some(Span::from_seconds(183_600)),
        hourly: Some(Micros(98_320_000)),
        drift: None,
    }
}

/// A set of which one instance never got hardware, and one is behind the newest profile.
fn set() -> SetRow {
    let instance = |id: u32, state: State| Instance {
        id: id.to_string(),
        name: format!("llama-big_{id}"),
        host_name: Some(format!("llama-big00000{id}")),
        zone: None,
        created: None,
        latest_model: Some(id != 0),
        state,
    };
    let running = || state(Provisioning::Succeeded, Some(Power::Running), Some(true));
    let mut failed = state(Provisioning::Failed, None, None);
    failed.message = Some("AllocationFailed: no capacity".to_owned());
    SetRow {
        address: "pool.big.scale_set".to_owned(),
        name: "llama-big".to_owned(),
        size: Some("Standard_ND96isr_H200_v5".to_owned()),
        capacity: Some(3),
        state: state(Provisioning::Succeeded, None, None),
        instances: vec![
            instance(0, running()),
            instance(1, running()),
            instance(2, failed),
        ],
        age: Some(Span::from_seconds(7_200)),
        hourly: Some(Micros(220_000_000)),
        drift: Some(vec!["capacity".to_owned()]),
    }
}

fn live() -> Status {
    let mut evicted = node(
        3,
        state(Provisioning::Succeeded, Some(Power::Deallocated), None),
    );
    evicted.state.evicted = true;
    evicted.hourly = Some(Micros(52_000));
    let mut failed = node(4, state(Provisioning::Failed, None, None));
    failed.state.message = Some(
        "Allocation failed. We do not have sufficient capacity for the requested VM size."
            .to_owned(),
    );
    (failed.size, failed.age, failed.hourly) = (None, None, None);
    let mut drifted = node(
        0,
        state(Provisioning::Succeeded, Some(Power::Running), Some(true)),
    );
    drifted.drift = Some(vec!["tags.team".to_owned(), "os_disk.size_gb".to_owned()]);
    Status {
        missing: vec!["pool.train[5].vm".to_owned()],
        stack: "llama".to_owned(),
        mode: Mode::Sandbox,
        resource_group: "rg-llama".to_owned(),
        read_at: Some(Timestamp::from_unix(1_796_040_000)),
        lifetime: Some(Lifetime {
            starts: Timestamp::from_unix(1_796_000_000),
            expires: Timestamp::from_unix(1_796_259_200),
            over: false,
        }),
        nodes: vec![
            drifted,
            node(1, state(Provisioning::Updating, Some(Power::Running), Some(false))),
            node(2, state(Provisioning::Succeeded, Some(Power::Stopped), None)),
            evicted,
            failed,
        ],
        sets: vec![set()],
        orphans: vec![LooseRow {
            id: "/subscriptions/s/resourceGroups/rg-llama/providers/Microsoft.Compute/disks/llama-old-0-data-0".to_owned(),
            arm_type: "Microsoft.Compute/disks".to_owned(),
            hourly: Some(Micros(52_082)),
        }],
        foreign: vec![LooseRow {
            id: "/subscriptions/s/resourceGroups/rg-llama/providers/Microsoft.Storage/storageAccounts/data".to_owned(),
            arm_type: "Microsoft.Storage/storageAccounts".to_owned(),
            hourly: None,
        }],
        unread: vec!["power states: the credential may not read instance views".to_owned()],
        currency: "USD".to_owned(),
        hourly: Some(Micros(295_012_000)),
        checks: None,
        hourly_complete: false,
    }
}

fn gone() -> Status {
    Status {
        missing: Vec::new(),
        mode: Mode::Azure,
        nodes: Vec::new(),
        sets: Vec::new(),
        orphans: Vec::new(),
        foreign: Vec::new(),
        unread: Vec::new(),
        hourly: Some(Micros(0)),
        hourly_complete: true,
        ..live()
    }
}

#[test]
fn status_reads_as_in_the_goldens() {
    golden::check("status", &status::text(&live(), PLAIN));
    golden::check("status_gone", &status::text(&gone(), PLAIN));
    golden::check("status_json", &status::json(&live()));
    let colored = status::text(
        &live(),
        Style {
            color: true,
            width: 100,
        },
    );
    assert_eq!(
        golden::without_colours(&colored),
        status::text(&live(), PLAIN)
    );
}

#[test]
fn an_unknown_health_is_never_said_to_be_good() {
    for power in [None, Some(Power::Unknown), Some(Power::Running)] {
        let health = status::health(&state(Provisioning::Succeeded, power, None));
        assert_eq!(health.1, "unknown", "{power:?}");
    }
    let ready = state(Provisioning::Succeeded, Some(Power::Running), Some(true));
    assert_eq!(status::health(&ready).1, "ready");
    let bootstrap = |readiness: Readiness| {
        let state = State {
            readiness: Some(readiness),
            ..ready.clone()
        };
        status::health(&state).1
    };
    assert_eq!(bootstrap(Readiness::Ready), "ready");
    assert_eq!(bootstrap(Readiness::Waiting), "setting up");
    assert_eq!(bootstrap(Readiness::Failed(String::new())), "setup failed");
    let taken = State {
        evicted: true,
        ..ready
    };
    assert_eq!(status::health(&taken).1, "evicted");
}

fn size(name: &str, gpu: Option<SizeGpu>) -> Size {
    Size {
        name: name.into(),
        family: Some("standardNDSH100v5Family".into()),
        series: "ND".to_owned(),
        version: Some(5),
        vcpus: 96,
        memory_mib: Some(1_945_600),
        max_data_disks: Some(16),
        max_nics: None,
        architecture: Some(Architecture::X64),
        generations: [2].into(),
        accelerated_networking: Some(true),
        premium_disks: Some(true),
        ephemeral_os_disk: None,
        encryption_at_host: Some(false),
        gpu,
        rdma: true,
        gpu_interconnect: Some("NVLink".to_owned()),
        local_nvme: None,
        lifecycle: Lifecycle::Current,
        image_family: "nd".to_owned(),
        notes: String::new(),
        source: "D".into(),
        as_of: "2026-07-15".into(),
    }
}

fn gpu(model: &str, share: GpuShare, memory_gb: u32) -> SizeGpu {
    SizeGpu {
        model: model.to_owned(),
        share: Some(share),
        memory_gb: Some(memory_gb),
    }
}

fn price(linux: Option<&str>, spot: Option<&str>, flags: &[&str]) -> VmPrice {
    let parse = |text: &str| text.parse().expect("a decimal");
    VmPrice {
        linux: linux.map(parse),
        spot: spot.map(parse),
        windows: None,
        savings_plan_1y: None,
        source: "R".into(),
        as_of: "2026-08-01".into(),
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
    }
}

/// A row without unit prices; what the region offers is zones, and whether it is spot.
fn row<'a>(
    size: &'a Size,
    price: Option<&'a VmPrice>,
    offered: Option<(&'a BTreeSet<String>, bool)>,
) -> SizeRow<'a> {
    SizeRow {
        size,
        price,
        units: UnitPrices::default(),
        zones: offered.map(|(zones, _)| zones),
        spot: offered.map(|(_, spot)| spot),
    }
}

#[test]
fn sizes_read_as_in_the_goldens() {
    let mut part = size(
        "Standard_NV12ads_A10_v5",
        Some(gpu("A10", GpuShare::Part(3), 8)),
    );
    (part.vcpus, part.memory_mib, part.rdma) = (12, Some(112_640), false);
    part.lifecycle = Lifecycle::EndOfLife {
        retires: "2027-09-30".to_owned(),
    };
    let mut cpu = size("Standard_D2ps_v5", None);
    (cpu.vcpus, cpu.memory_mib, cpu.rdma) = (2, Some(8_704), false);
    cpu.architecture = Some(Architecture::Arm64);
    let mut vague = size("Standard_ND128isr_GB300_v6", None);
    (vague.memory_mib, vague.architecture) = (None, None);
    vague.gpu = Some(SizeGpu {
        model: "GB300".to_owned(),
        share: None,
        memory_gb: None,
    });
    let big = size(
        "Standard_ND96isr_H100_v5",
        Some(gpu("H100", GpuShare::Whole(8), 80)),
    );
    let zones: BTreeSet<String> = ["1", "2", "3"].map(str::to_owned).into();
    let none = BTreeSet::new();
    let prices = [
        price(Some("98.32"), Some("23.9"), &["cs_estimated"]),
        price(Some("0.0187"), Some("0.004"), &[]),
    ];
    let with_units = SizeRow {
        units: UnitPrices {
            gpu: "12.29".parse().ok(),
            gpu_gib: "0.153625".parse().ok(),
            tflops: "0.012427".parse().ok(),
        },
        ..row(&big, Some(&prices[0]), Some((&zones, true)))
    };
    let rows = [
        with_units,
        row(&part, None, None),
        row(&vague, None, None),
        row(&cpu, Some(&prices[1]), Some((&none, false))),
    ];
    let eastus = Region::new("eastus");
    let by_memory = sizes::text(&rows, &eastus, Some(Unit::GpuGib), PLAIN);
    golden::check("sizes_by_memory", &by_memory);
    let by_speed = sizes::text(&rows, &eastus, Some(Unit::Tflops), PLAIN);
    golden::check("sizes_by_speed", &by_speed);
    golden::check("sizes", &sizes::text(&rows, &eastus, None, PLAIN));
    let [_, unknown, ..] = rows;
    golden::check(
        "sizes_unknown",
        &sizes::text(&[unknown], &eastus, None, PLAIN),
    );
    golden::check("sizes_none", &sizes::text(&[], &eastus, None, PLAIN));
    golden::check("sizes_json", &sizes::json(&rows, &eastus));
}

#[test]
fn images_read_as_in_the_goldens() {
    let image = |kind: &str, sku: &str| ImageRow {
        kind: kind.to_owned(),
        column: kind.to_owned(),
        publisher: "microsoft-dsvm".to_owned(),
        offer: "ubuntu-hpc".to_owned(),
        sku: sku.to_owned(),
        version: Some("22.04.2026061901".to_owned()),
        os: ImageOs::Linux,
        generation: 2,
        architecture: Architecture::X64,
        usable: true,
        has_plan: Some(false),
        os_disk_floor_gb: 64,
        os_disk_default_gb: 256,
        notes: String::new(),
        source: "azhpc-images".into(),
        as_of: "2026-07-01".into(),
    };
    let hpc = image("hpc", "2204");
    let mut old = image("dsvm", "2004-gen2");
    old.usable = false;
    (old.version, old.has_plan) = (None, None);
    old.notes = "Ubuntu 20.04 is out of support".to_owned();
    let fit = ImageFit {
        family: "nd_h100".to_owned(),
        column: "hpc".to_owned(),
        verdict: Verdict::Ok,
        driver: None,
        reason: "documented".to_owned(),
        source: "matrix".into(),
        as_of: "2026-07-01".into(),
    };
    let misfit = ImageFit {
        verdict: Verdict::NeedsDriver,
        driver: Some("NvidiaGpuDriverLinux".to_owned()),
        reason: "its driver is older than the GPU".to_owned(),
        ..fit.clone()
    };
    let rows = [
        ImageEntry {
            image: &hpc,
            fit: Some(&fit),
        },
        ImageEntry {
            image: &old,
            fit: Some(&misfit),
        },
    ];
    golden::check("images", &images::text(&rows, PLAIN));
    golden::check("images_json", &images::json(&rows));
    let alone = [ImageEntry {
        image: &hpc,
        fit: None,
    }];
    assert!(
        !images::text(&alone, PLAIN).contains("Fits"),
        "no column without content"
    );
}
