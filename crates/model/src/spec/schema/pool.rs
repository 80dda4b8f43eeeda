//! The tables of a pool.

use super::{
    batch::BATCH,
    forms::{azure, names, places, quantities},
    kind::{Block, Form, Key, Kind, List, Presence, Support},
    kubernetes::AGENT_POOL,
    stack::keys,
    words,
};

const NOW: Support = Support::Now;
const REQUIRED: Presence = Presence::Required;
const OPTIONAL: Presence = Presence::Optional;

const fn default(value: &'static str) -> Presence {
    Presence::Default(value)
}

/// Most single VMs of a pool, and of a stack.
pub(crate) const MOST_NODES: u32 = 1_000;

/// A pool.
pub(crate) const POOL: Block = Block {
    name: "pool",
    doc: "A group of equal nodes. What is left at `auto` is decided by the planner, which says why.",
    keys: keys! {
        "stage": Kind::words(words::STAGE).not(&[
                ("train", "write `training`"), ("finetuning", "write `training`"), ("fine-tuning", "write `training`"),
                ("serving", "write `inference`"), ("serve", "write `inference`"), ("infer", "write `inference`")]),
            REQUIRED, NOW, "training", "AI stage: decides between sizes for training and for inference.";
        "workload": Kind::words(words::WORKLOAD).not(&[("llm", "write `generative`"), ("simple", "write `small`")]),
            REQUIRED, NOW, "generative", "Kind of model: decides between GPU and CPU sizes.";
        "model": Kind::block(&MODEL), OPTIONAL, NOW, "{parameters: 70B, precision: bf16, method: full}",
            "What is known about the model; decides the memory and with it size and number of nodes.";
        "deadline": Kind::text(&quantities::SPAN), OPTIONAL, NOW, "30d",
            "Time in which the training tokens must be through; decides the number of nodes where `count` is not given.";
        "count": Kind::integer(0, MOST_NODES), OPTIONAL, NOW, "8",
            "Number of nodes; optional where the model says enough. With 0 the pool has none, and what pools share stays.";
        "grouping": Kind::words(words::GROUPING), default("auto"), NOW, "auto",
            "Single VMs or one scale set, which one write makes. `auto`: a scale set for several InfiniBand nodes or more than 10 nodes; a live pool keeps its grouping.";
        "os": Kind::words(words::OS).not(&[("ubuntu", "write `linux`; `image` chooses the distribution")]),
            default("linux"), NOW, "linux", "Operating system.";
        "password": Kind::block(&PASSWORD_BLOCK).no_secret(), OPTIONAL, NOW, "{from_env: ADMIN_PASSWORD}",
            "Administrator's password on Windows nodes: the environment variable that holds it, never the password.";
        "size": Kind::text(&azure::SIZE).or_words(words::AUTO).or_block(&SIZE), default("auto"), NOW,
            "{gpu: [H100, H200], min_gpu_memory: 80GB}",
            "VM size: `auto`, a name, or what a size must have.";
        "fallback": Kind::list(&SIZES), default("[]"), NOW, "[Standard_ND96amsr_A100_v4]",
            "Sizes that are tried in order, for the whole pool, when there is no capacity. Live nodes keep theirs.";
        "capacity": Kind::block(&CAPACITY_BLOCK), OPTIONAL, NOW, "{wait: 0h, on_partial: keep}",
            "What to do about scarce capacity.";
        "image": Kind::words(words::IMAGE).or_block(&IMAGE).not(&[
                ("custom", "write `image: {id: …}` with the image's id"),
                ("latest", "write `auto`; plans name the version"), ("ubuntu", "write `image: {urn: …}`")]),
            default("auto"), NOW, "auto", "VM image: a word, a marketplace image, or one of your own. Plans name the version.";
        "priority": Kind::words(words::PRIORITY).or_block(&PRIORITY).not(&[
                ("low", "write `spot`"), ("on_demand", "write `regular`"), ("on-demand", "write `regular`")]),
            default("regular"), NOW, "regular", "How capacity is bought.";
        "zones": Kind::words(words::ZONES).or_list(&ZONES), default("auto"), NOW, "[1, 2]",
            "Availability zones: nodes are spread evenly over those listed, InfiniBand nodes share one of them. Zone numbers belong to the subscription.";
        "orchestrator": Kind::words(words::ORCHESTRATOR).not(&[
                ("slurm", "write `orchestrator: cyclecloud` and `scheduler: slurm`"),
                ("kubernetes", "write `aks`"), ("none", "write `manual`")]),
            default("manual"), NOW, "manual", "What runs the jobs.";
        "batch": Kind::block(&BATCH), OPTIONAL, NOW, "{autoscale: {min: 0}, task_slots: 1}",
            "Settings of Azure Batch; needs `orchestrator: batch` or `auto`.";
        "aks": Kind::block(&AGENT_POOL), OPTIONAL, NOW, "{gpu_driver: install, autoscale: {min: 0}}",
            "Settings of Azure Kubernetes Service; needs `orchestrator: aks` or `auto`.";
        "scheduler": Kind::words(words::SCHEDULER), OPTIONAL, NOW, "slurm",
            "Scheduler of CycleCloud, `slurm` unless given; needs `orchestrator: cyclecloud`.";
        "containers": Kind::block(&CONTAINERS), OPTIONAL, NOW, "{runtime: none}",
            "Containers on the nodes.";
        "disks": Kind::block(&DISKS), OPTIONAL, NOW, "{os: {size_gb: 256}, data: [{size_gb: 1024, type: premium}]}",
            "Disks of each node.";
        "mounts": Kind::list(&MOUNTS), default("[]"), NOW,
            "[{path: /data, source: \"https://acct.blob.core.windows.net/data\", type: blob_nfs}]",
            "Existing stores that each node mounts.";
        "bootstrap": Kind::block(&BOOTSTRAP), OPTIONAL, NOW, "{script: setup.sh, on_change: warn}",
            "Script that each node runs once, when it starts first; apply waits for its end.";
        "checkpoint": Kind::block(&CHECKPOINT), OPTIONAL, NOW, "{to: \"https://account.blob.core.windows.net/checkpoints\", hook: /data/save}",
            "Where checkpoints go, and what writes them when Azure takes a node back; required for training on spot capacity. A URL needs `identity`.";
        "accelerated_networking": Kind::boolean().or_words(words::AUTO), default("auto"), NOW, "auto",
            "Accelerated networking; `auto` where the size has it.";
        "disk_controller": Kind::words(words::DISK_CONTROLLER).not(&[("SCSI", "write `scsi`"), ("NVMe", "write `nvme`")]),
            default("auto"), NOW, "auto",
            "How nodes reach their disks; `auto`: the controller that both size and image have, SCSI where both do.";
        "security": Kind::words(words::SECURITY), default("auto"), NOW, "auto",
            "Security type of the VMs.";
        "rollout": Kind::block(&ROLLOUT), OPTIONAL, NOW, "{max_unavailable: 20%}",
            "How instances of an InfiniBand scale set are brought up to date when its profile changes, such as to a new version of the image. Without it they stay as they are, and new ones are up to date.";
        "capacity_reservation": Kind::text(&azure::RESERVATION_ID).or_null(), default("null"), NOW,
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.Compute/capacityReservationGroups/crg",
            "Id of a capacity reservation group to draw from: its nodes need no quota of their family. Not for InfiniBand sizes and spot capacity.";
        "proximity_placement_group": Kind::text(&azure::PROXIMITY_ID).or_words(words::PROXIMITY_GROUP).or_null().not(&[
                ("auto", "write `own`"), ("new", "write `own`"), ("true", "write `own`")]),
            default("null"), NOW, "own",
            "Keeps the nodes in one datacentre, near each other: `own`, which makes a group for the pool, or the id of an existing one. Its nodes are in one zone at most. Not for InfiniBand sizes, which are near each other anyway, nor with `capacity_reservation`.";
        "allow_stop": Kind::boolean(), default("false"), NOW, "false",
            "Whether a change may deallocate nodes, and so lose scarce capacity and what local disks hold.";
        "protect": Kind::boolean(), default("false"), NOW, "false",
            "Whether nodes are never deleted or replaced while this is `true`.";
    },
};

const MODEL: Block = Block {
    name: "model",
    doc: "What is known about the model.",
    keys: keys! {
        "parameters": Kind::text(&quantities::PARAMETERS), OPTIONAL, NOW, "70B",
            "All parameters: a number with K, M, B (10⁹) or T (10¹²).";
        "active_parameters": Kind::text(&quantities::PARAMETERS), OPTIONAL, NOW, "13B",
            "Parameters that take part in one token, for mixtures of experts.";
        "name": Kind::text(&places::MODEL_NAME), OPTIONAL, NOW, "llama-3.1-70b",
            "Name of a known model, which says parameters and shape: those of `manifests/models.csv`.";
        "config": Kind::text(&places::FILE), OPTIONAL, NOW, "config.json",
            "A model's `config.json` in the form of Hugging Face, which says the shape. Relative paths begin at the spec's folder.";
        "precision": Kind::words(words::PRECISION).not(&[
                ("float32", "write `fp32`"), ("bfloat16", "write `bf16`"), ("float16", "write `fp16`"), ("half", "write `fp16`")]),
            default("bf16"), NOW, "bf16", "Number format of weights and activations.";
        "method": Kind::words(words::METHOD), default("full"), NOW, "full",
            "What is trained; for `stage: training`.";
        "sequence": Kind::integer(1, 100_000_000), OPTIONAL, NOW, "8192",
            "Tokens in one sequence: of training, or of prompt and answer together; decides activations and KV cache.";
        "tokens": Kind::text(&quantities::TOKENS), OPTIONAL, NOW, "20B",
            "Training tokens in all; decides hours and what they cost.";
        "concurrency": Kind::integer(1, 1_000_000), OPTIONAL, NOW, "64",
            "Sequences that are served at once; for `stage: inference`.";
    },
};

const PASSWORD_BLOCK: Block = Block {
    name: "password",
    doc: "Where a password comes from. Passwords themselves never stand in a spec.",
    keys: keys! {
        "from_env": Kind::text(&names::ENVIRONMENT), REQUIRED, NOW, "ADMIN_PASSWORD",
            "Environment variable that holds the password.";
    },
};

const SIZE: Block = Block {
    name: "size",
    doc: "What a size must have; the planner decides among those that fit.",
    keys: keys! {
        "family": Kind::text(&azure::FAMILY).or_list(&FAMILIES), OPTIONAL, NOW, "[ND]",
            "Letters of the families.";
        "gpu": Kind::words(words::GPU).or_list(&GPUS).not(GPU_MISTAKES), OPTIONAL, NOW, "[H100, H200]",
            "GPU names, exactly.";
        "min_gpu_memory": Kind::text(&quantities::MEMORY), OPTIONAL, NOW, "80GB",
            "Least nameplate memory of one GPU.";
        "rdma": Kind::boolean(), OPTIONAL, NOW, "true",
            "Whether it has RDMA (InfiniBand).";
        "max_hourly": Kind::form(Form::Decimal(&quantities::MONEY)), OPTIONAL, NOW, "110",
            "Most an hour for one VM, in US dollars.";
    },
};

const GPU_MISTAKES: &[(&str, &str)] = &[
    ("A100", "write `A100-40` or `A100-80`"),
    ("B200", "`GB200` is the nearest one in Azure"),
    ("A10G", "write `A10`"),
    ("MI300", "write `MI300X`"),
    ("GH200", "write `H200` or `GB200`"),
];

const FAMILIES: List = List {
    nouns: "families",
    item: Kind::text(&azure::FAMILY),
    not_empty: true,
    distinct: true,
};

const GPUS: List = List {
    nouns: "GPU names",
    item: Kind::words(words::GPU).not(GPU_MISTAKES),
    not_empty: true,
    distinct: true,
};

const SIZES: List = List {
    nouns: "sizes",
    item: Kind::text(&azure::SIZE),
    not_empty: false,
    distinct: true,
};

const CAPACITY_BLOCK: Block = Block {
    name: "capacity",
    doc: "What to do about scarce capacity.",
    keys: keys! {
        "wait": Kind::text(&quantities::SPAN_OR_ZERO), default("0h"), NOW, "0h",
            "How long to keep trying, slowly.";
        "min_count": Kind::integer(1, MOST_NODES), OPTIONAL, NOW, "8",
            "Number of nodes that is enough to keep them: no other zone, size or price is tried then. All of them unless given.";
        "on_partial": Kind::words(words::ON_PARTIAL), default("keep"), NOW, "keep",
            "What happens in the end when fewer nodes were made.";
    },
};

const ROLLOUT: Block = Block {
    name: "rollout",
    doc: "How instances of a scale set are brought up to date. Each restarts with a new OS disk.",
    keys: keys! {
        "max_unavailable": Kind::text(&quantities::SHARE), Presence::Required, NOW, "20%",
            "Nodes that are away at once: a number, or a part of all nodes that is rounded down, one at least.";
    },
};

const IMAGE: Block = Block {
    name: "image",
    doc: "An image by its name: `urn` of the marketplace, or `id` of your own.",
    keys: keys! {
        "urn": Kind::text(&azure::URN), OPTIONAL, NOW, "microsoft-dsvm:ubuntu-hpc:2204:latest",
            "Marketplace image as `publisher:offer:sku:version`.";
        "accept_terms": Kind::boolean(), default("false"), NOW, "false",
            "Whether the terms of its purchase plan may be accepted in your name, once for the subscription.";
        "id": Kind::text(&azure::IMAGE_ID), OPTIONAL, NOW,
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.Compute/images/train",
            "Image of your own, or one in a gallery: also shared, or of a community. Without its version the newest is taken, and stays.";
    },
};

const PRIORITY: Block = Block {
    name: "priority",
    doc: "Spot capacity with its settings.",
    keys: keys! {
        "spot": Kind::block(&SPOT), REQUIRED, NOW, "{max_price: -1, eviction: delete}",
            "Spare capacity that Azure may take back at any time.";
    },
};

const SPOT: Block = Block {
    name: "spot",
    doc: "How spare capacity is bought.",
    keys: keys! {
        "max_price": Kind::form(Form::Decimal(&quantities::SPOT_PRICE)), default("-1"), NOW, "-1",
            "Most an hour for one VM; `-1` is up to the regular price.";
        "eviction": Kind::words(words::EVICTION), default("delete"), NOW, "delete",
            "What happens to a node that Azure takes back.";
        "fallback": Kind::words(words::SPOT_FALLBACK), default("none"), NOW, "none",
            "What happens when there is no spare capacity.";
    },
};

const ZONES: List = List {
    nouns: "zones",
    item: Kind::integer(1, 3),
    not_empty: true,
    distinct: true,
};

const CONTAINERS: Block = Block {
    name: "containers",
    doc: "Containers on the nodes.",
    keys: keys! {
        "runtime": Kind::words(words::RUNTIME), default("none"), NOW, "none",
            "What runs them.";
        "images": Kind::list(&CONTAINER_IMAGES), default("[]"), NOW, "[\"nvcr.io/nvidia/pytorch:24.07-py3\"]",
            "Images that each node pulls before it is ready.";
        "registry": Kind::text(&places::REGISTRY).or_null(), default("null"), NOW, "example.azurecr.io",
            "Registry of Azure that nodes sign in to by the `identity` of the spec, which must have the role `AcrPull` there.";
    },
};

const CONTAINER_IMAGES: List = List {
    nouns: "images",
    item: Kind::text(&places::CONTAINER_IMAGE),
    not_empty: false,
    distinct: true,
};

const DISKS: Block = Block {
    name: "disks",
    doc: "Disks of each node.",
    keys: keys! {
        "os": Kind::block(&OS_DISK), OPTIONAL, NOW, "{size_gb: 256, type: premium}",
            "Disk of the operating system.";
        "data": Kind::list(&DATA_DISKS), default("[]"), NOW, "[{size_gb: 1024, type: premium, lun: 0}]",
            "Data disks.";
        "scratch": Kind::words(words::SCRATCH_DISK), default("none"), NOW, "none",
            "Local NVMe disks, which are empty after a node was deallocated.";
    },
};

const OS_DISK: Block = Block {
    name: "os_disk",
    doc: "The disk of the operating system.",
    keys: keys! {
        "size_gb": Kind::integer(30, 4095), OPTIONAL, NOW, "256",
            "Size in GiB; as large as the image needs unless given.";
        "type": Kind::words(words::OS_DISK_TYPE).not(&[
                ("premium_v2", "Premium SSD v2 is for data disks only"), ("ultra", "Ultra Disk is for data disks only"),
                ("Premium_LRS", "write `premium`")]),
            OPTIONAL, NOW, "premium", "Kind of disk; Premium SSD where the size can use it.";
        "ephemeral": Kind::words(words::EPHEMERAL).not(&[
                ("Local", "write `auto`"), ("CacheDisk", "write `cache_disk`"), ("ResourceDisk", "write `resource_disk`"),
                ("NvmeDisk", "write `nvme_disk`"), ("true", "write `auto`"), ("false", "write `none`")]),
            default("none"), NOW, "auto",
            "Whether the disk stands on the node itself: it costs nothing, is faster, and nothing on it outlives the node; nodes cannot be deallocated then.";
    },
};

const DATA_DISKS: List = List {
    nouns: "data disks",
    item: Kind::block(&DATA_DISK),
    not_empty: false,
    distinct: false,
};

pub(crate) const DATA_DISK: Block = Block {
    name: "data_disk",
    doc: "A data disk.",
    keys: keys! {
        "size_gb": Kind::integer(1, 65_536), REQUIRED, NOW, "1024",
            "Size in GiB: up to 32767, and up to 65536 for Premium SSD v2 and Ultra Disk.";
        "type": Kind::words(words::DISK_TYPE).not(&[("Premium_LRS", "write `premium`"), ("PremiumV2_LRS", "write `premium_v2`")]),
            default("premium"), NOW, "premium_v2", "Kind of disk.";
        "lun": Kind::integer(0, 63), OPTIONAL, NOW, "0",
            "Logical unit number; in the order of the list unless given.";
    },
};

const MOUNTS: List = List {
    nouns: "mounts",
    item: Kind::block(&MOUNT),
    not_empty: false,
    distinct: false,
};

pub(crate) const MOUNT: Block = Block {
    name: "mount",
    doc: "An existing store that each node mounts.",
    keys: keys! {
        "path": Kind::text(&places::MOUNT_PATH), REQUIRED, NOW, "/data", "Where on the nodes.";
        "source": Kind::text(&places::MOUNT_SOURCE), REQUIRED, NOW, "\"https://acct.blob.core.windows.net/data\"", "What.";
        "type": Kind::words(words::MOUNT), REQUIRED, NOW, "blob_nfs", "How.";
    },
};

const BOOTSTRAP: Block = Block {
    name: "bootstrap",
    doc: "A script that each node runs once, when it starts first.",
    keys: keys! {
        "script": Kind::text(&places::FILE), REQUIRED, NOW, "setup.sh", "The file, which begins with `#!`; plans have its digest only.";
        "on_change": Kind::words(words::ON_CHANGE), default("warn"), NOW, "warn",
            "What happens to nodes that have run an older script.";
    },
};

const CHECKPOINT: Block = Block {
    name: "checkpoint",
    doc: "Where checkpoints go.",
    keys: keys! {
        "to": Kind::text(&places::CONTAINER_URL).or_words(words::CHECKPOINT_TO), REQUIRED, NOW, "blob",
            "A container that the tool makes, or the URL of an existing one.";
        "every": Kind::text(&quantities::SPAN).or_words(words::AUTO), default("auto"), NOW, "auto",
            "How often the hook is called besides; `auto`: only when Azure takes a node back.";
        "hook": Kind::text(&places::HOOK), REQUIRED, NOW, "/data/save",
            "Program on the nodes that writes a checkpoint; its first argument says why: `preempt` or `interval`.";
        "protect": Kind::boolean(), default("true"), NOW, "true",
            "Whether the container that the tool makes is never deleted, with what is in it, while this is `true`.";
    },
};
