//! The spec that a text becomes.

use std::collections::BTreeMap;

use super::{BASE, pool, read, top};
use crate::{
    spec::{
        Access, BastionSku, Bootstrap, Budget, Capacity, Checkpoint, CheckpointTarget,
        ContainerRuntime, Containers, DataDisk, DiskController, DiskType, Disks, EphemeralOs,
        EphemeralPlacement, Eviction, Grouping, Identity, ImageChoice, Method, Model, Mount,
        MountKind, Network, OnBootstrapChange, OnExceed, OnPartial, OperatingSystem, Orchestrator,
        Outbound, Pool, Precision, Priority, Scheduler, SecurityChoice, SizeChoice,
        SizeConstraints, Spec, Spot, SshKeys, Stage, Via, Workload, Zones, decode, yaml,
    },
    units::{CaseInsensitive, Region, SizeName, Span},
};

fn spec(text: &str) -> Spec {
    let parsed = read(text);
    let found = super::findings(&parsed);
    parsed.spec.unwrap_or_else(|| panic!("{found:#?}\n{text}"))
}

/// The spec of a text with keys that are not supported yet.
fn draft(text: &str) -> Spec {
    let (root, _) = yaml::read::read(text);
    decode::spec(&root.expect("a document"))
}

fn only_pool(text: &str) -> Pool {
    let mut pools = draft(text).pools;
    pools.remove("p").expect("the pool `p`")
}

fn minimal_pool() -> Pool {
    Pool::plain(Stage::Inference, Workload::Generative)
}

#[test]
fn the_shortest_spec_has_the_defaults() {
    let expected = Spec {
        name: "demo".to_owned(),
        locations: vec![Region::new("eastus")],
        resource_group: "rg-demo".to_owned(),
        subscription: None,
        tags: BTreeMap::new(),
        ignore_tags: Vec::new(),
        budget: None,
        lifetime: None,
        network: Network::Own {
            address_space: "10.40.0.0/16".parse().expect("a block"),
            outbound: Outbound::Nat,
        },
        access: Access {
            user: "azureuser".to_owned(),
            ssh_keys: SshKeys::Generate,
            via: Via::None,
            ssh_from: Vec::new(),
            bastion_sku: BastionSku::Standard,
        },
        identity: Identity::None,
        aks: None,
        cyclecloud: None,
        pools: BTreeMap::from([("p".to_owned(), minimal_pool())]),
    };
    assert_eq!(spec(BASE), expected);
}

#[test]
fn the_top_level_is_read() {
    let text = BASE.replace("location: eastus", "location: [East US, southcentralus]");
    let keys = "\
resource_group: rg-x
subscription: 0A000000-0000-0000-0000-000000000000
tags: {version: 1.10, country: NO, mode: 0755, big: 99999999999999999999, on: yes, empty: \"\"}
ignore_tags: [\"hidden-*\", created]
budget: {hourly: 900.50, monthly: 600000, on_exceed: warn}
network: {address_space: 192.168.0.0/20, outbound: none}
access: {user: me, ssh_keys: [~/.ssh/a.pub, keys/b.pub]}
";
    let spec = spec(&format!("{text}{keys}"));
    assert_eq!(
        spec.locations,
        [Region::new("eastus"), Region::new("southcentralus")]
    );
    assert_eq!(spec.resource_group, "rg-x");
    assert_eq!(
        spec.subscription.as_deref(),
        Some("0a000000-0000-0000-0000-000000000000")
    );
    let tags: Vec<(&str, &str)> = spec
        .tags
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        tags,
        [
            ("big", "99999999999999999999"),
            ("country", "NO"),
            ("empty", ""),
            ("mode", "0755"),
            ("on", "yes"),
            ("version", "1.10"),
        ]
    );
    assert_eq!(spec.ignore_tags, ["hidden-*", "created"]);
    let budget = Budget {
        hourly: Some("900.50".parse().expect("a number")),
        monthly: Some("600000".parse().expect("a number")),
        currency: "USD".to_owned(),
        on_exceed: OnExceed::Warn,
    };
    assert_eq!(spec.budget, Some(budget));
    let network = Network::Own {
        address_space: "192.168.0.0/20".parse().expect("a block"),
        outbound: Outbound::None,
    };
    assert_eq!(spec.network, network);
    let keys = vec!["~/.ssh/a.pub".to_owned(), "keys/b.pub".to_owned()];
    assert_eq!(spec.access.ssh_keys, SshKeys::Given(keys));
    assert_eq!(spec.access.user, "me");
}

#[test]
fn what_is_not_supported_yet_is_read_as_well() {
    let group = "/subscriptions/s/resourceGroups/g/providers";
    let subnet = format!("{group}/Microsoft.Network/virtualNetworks/v/subnets/s");
    let identity = format!("{group}/Microsoft.ManagedIdentity/userAssignedIdentities/i");
    let spec = draft(&top(&format!(
        "lifetime: 72h\nnetwork: {{subnet_id: {subnet}}}\nidentity: {identity}\naccess: {{via: public_ip, ssh_from: [203.0.113.0/24]}}"
    )));
    assert_eq!(spec.lifetime, Some(Span::from_seconds(72 * 3600)));
    let subnet = subnet.parse().expect("an id");
    assert_eq!(spec.network, Network::Existing { subnet });
    let identity = identity.parse().expect("an id");
    assert_eq!(spec.identity, Identity::User(identity));
    assert_eq!(spec.access.via, Via::PublicIp);
    let block = "203.0.113.0/24".parse().expect("a block");
    assert_eq!(spec.access.ssh_from, [block]);
    assert_eq!(draft(&top("identity: system")).identity, Identity::System);
}

const EVERYTHING: &str = "\
model: {parameters: 70B, active_parameters: 13B, name: m, config: c.json, precision: fp8, method: lora, sequence: 8192, tokens: 20B, concurrency: 64}
deadline: 30d
count: 8
grouping: vms
os: windows
password: {from_env: PW}
size: {family: [ND, NC], gpu: H100, min_gpu_memory: 80GB, rdma: true, max_hourly: 110}
fallback: [Standard_ND96amsr_A100_v4]
capacity: {wait: 2h, min_count: 6, on_partial: rollback}
image: {urn: \"a:b:c:latest\", accept_terms: true}
priority: {spot: {max_price: 1.5, eviction: deallocate, fallback: regular}}
zones: [2, 1]
orchestrator: cyclecloud
scheduler: pbs
containers: {runtime: enroot, images: [a/b], registry: r.azurecr.io}
disks: {os: {size_gb: 256, type: standard_ssd, ephemeral: nvme_disk}, data: [{size_gb: 4, type: ultra}, {size_gb: 8, lun: 0}, {size_gb: 9}], scratch: nvme}
mounts: [{path: /data, source: \"h:/e\", type: nfs}]
bootstrap: {script: setup.sh, on_change: replace}
checkpoint: {to: \"https://a.blob.core.windows.net/c\", every: 30m, hook: /data/save}
accelerated_networking: false
disk_controller: nvme
security: trusted_launch
capacity_reservation: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c
allow_stop: true
protect: true
";

fn number(text: &str) -> rust_decimal::Decimal {
    text.parse().expect("a number")
}

fn everything() -> Pool {
    Pool {
        stage: Stage::Inference,
        workload: Workload::Generative,
        model: Some(Model {
            parameters: Some(70_000_000_000),
            active_parameters: Some(13_000_000_000),
            name: Some("m".to_owned()),
            config: Some("c.json".to_owned()),
            transformer: None,
            precision: Precision::Fp8,
            method: Method::Lora,
            sequence: Some(8192),
            tokens: Some(20_000_000_000),
            concurrency: Some(64),
        }),
        deadline: Some(Span::from_seconds(30 * 86_400)),
        count: Some(8),
        grouping: Grouping::Vms,
        os: OperatingSystem::Windows {
            password_from_env: Some("PW".to_owned()),
        },
        size: SizeChoice::Constrained(SizeConstraints {
            family: vec!["ND".to_owned(), "NC".to_owned()],
            gpu: vec!["H100".to_owned()],
            min_gpu_memory_gb: Some(80),
            rdma: Some(true),
            max_hourly: Some(number("110")),
        }),
        fallback: vec![SizeName::from("Standard_ND96amsr_A100_v4")],
        capacity: Capacity {
            wait: Span::from_seconds(7200),
            min_count: Some(6),
            on_partial: OnPartial::Rollback,
        },
        image: ImageChoice::Urn {
            urn: "a:b:c:latest".parse().expect("four parts"),
            accept_terms: true,
        },
        priority: Priority::Spot(Spot {
            max_price: Some(number("1.5")),
            eviction: Eviction::Deallocate,
            fallback_to_regular: true,
        }),
        ..the_rest()
    }
}

fn the_rest() -> Pool {
    let reservation =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c";
    Pool {
        zones: Zones::Listed(vec![2, 1]),
        orchestrator: Orchestrator::CycleCloud,
        scheduler: Some(Scheduler::Pbs),
        containers: Some(Containers {
            runtime: ContainerRuntime::Enroot,
            images: vec!["a/b".to_owned()],
            registry: Some("r.azurecr.io".to_owned()),
            identity: None,
        }),
        disks: Disks {
            os_size_gb: Some(256),
            os_type: Some(DiskType::StandardSsd),
            os_ephemeral: EphemeralOs::At(EphemeralPlacement::NvmeDisk),
            data: [
                (4, DiskType::Ultra, 1),
                (8, DiskType::Premium, 0),
                (9, DiskType::Premium, 2),
            ]
            .map(|(size_gb, disk_type, lun)| DataDisk {
                size_gb,
                disk_type,
                lun,
            })
            .into(),
            scratch_nvme: true,
        },
        mounts: vec![Mount {
            path: "/data".to_owned(),
            source: "h:/e".to_owned(),
            kind: MountKind::Nfs,
        }],
        bootstrap: Some(Bootstrap {
            script: "setup.sh".to_owned(),
            on_change: OnBootstrapChange::Replace,
            text: None,
        }),
        checkpoint: Some(Checkpoint {
            to: CheckpointTarget::Url("https://a.blob.core.windows.net/c".to_owned()),
            every: Some(Span::from_seconds(1800)),
            hook: "/data/save".to_owned(),
            identity: None,
            protect: true,
        }),
        accelerated_networking: Some(false),
        disk_controller: Some(DiskController::Nvme),
        security: SecurityChoice::TrustedLaunch,
        rollout: None,
        capacity_reservation: Some(reservation.parse().expect("an id")),
        allow_stop: true,
        protect: true,
        ..minimal_pool()
    }
}

#[test]
fn every_key_of_a_pool_is_read() {
    assert_eq!(only_pool(&pool(EVERYTHING)), everything());
}

#[test]
fn unions_are_told_apart() {
    let size = |text: &str| only_pool(&pool(&format!("size: {text}"))).size;
    assert_eq!(size("auto"), SizeChoice::Auto);
    assert_eq!(
        size("standard_d2s_V5"),
        SizeChoice::Named(CaseInsensitive::from("Standard_D2s_v5"))
    );
    let image = |text: &str| only_pool(&pool(&format!("image: {text}"))).image;
    assert_eq!(image("dsvm"), ImageChoice::Dsvm);
    assert_eq!(image("hpc"), ImageChoice::Hpc);
    assert_eq!(image("{id: /x}"), ImageChoice::Id("/x".to_owned()));
    let priority = |text: &str| only_pool(&pool(&format!("priority: {text}"))).priority;
    let spot = Priority::Spot(Spot {
        max_price: None,
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    });
    assert_eq!(priority("regular"), Priority::Regular);
    assert_eq!(priority("spot"), spot);
    assert_eq!(priority("{spot: {}}"), spot);
    assert_eq!(priority("{spot: {max_price: -1}}"), spot);
    let zones = |text: &str| only_pool(&pool(&format!("zones: {text}"))).zones;
    assert_eq!(zones("none"), Zones::None);
    assert_eq!(zones("[3]"), Zones::Listed(vec![3]));
    let networking = |text: &str| {
        only_pool(&pool(&format!("accelerated_networking: {text}"))).accelerated_networking
    };
    assert_eq!(networking("auto"), None);
    assert_eq!(networking("true"), Some(true));
    let one_key = draft(&top("access: {ssh_keys: a.pub}")).access.ssh_keys;
    assert_eq!(one_key, SshKeys::Given(vec!["a.pub".to_owned()]));
    let checkpoint = only_pool(&pool("checkpoint: {to: blob, hook: /save}")).checkpoint;
    let blob = Checkpoint {
        to: CheckpointTarget::Blob,
        every: None,
        hook: "/save".to_owned(),
        identity: None,
        protect: true,
    };
    assert_eq!(checkpoint, Some(blob));
}
