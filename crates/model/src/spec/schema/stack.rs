//! The tables of everything outside of pools.

use super::{
    cyclecloud::SERVER,
    forms::{azure, names, places, quantities},
    kind::{Block, Form, Key, Kind, List, Map, Presence, Support},
    kubernetes::CLUSTER,
    pool::POOL,
    words,
};

const NOW: Support = Support::Now;
const REQUIRED: Presence = Presence::Required;
const OPTIONAL: Presence = Presence::Optional;

/// Makes a table of keys.
macro_rules! keys {
    ($($name:literal: $kind:expr, $presence:expr, $support:expr, $example:literal, $doc:literal;)+) => {
        &[$(Key {
            name: $name,
            kind: $kind,
            presence: $presence,
            doc: $doc,
            example: $example,
            support: $support,
        },)+]
    };
}
pub(super) use keys;

/// The whole spec.
pub(crate) const SPEC: Block = Block {
    name: "spec",
    doc: "A stack: pools of equal nodes with a network of their own, in one resource group.",
    keys: keys! {
        "version": Kind::integer(1, 1), REQUIRED, NOW, "1",
            "Version of the spec's language.";
        "name": Kind::text(&names::STACK), REQUIRED, NOW, "llama-finetune",
            "Name of the stack; the names of its resources begin with it.";
        "location": Kind::text(&azure::REGION).or_list(&REGIONS), REQUIRED, NOW, "[eastus, southcentralus]",
            "Azure region, or several in order of preference.";
        "resource_group": Kind::text(&azure::RESOURCE_GROUP), OPTIONAL, NOW, "rg-llama-finetune",
            "Resource group; `rg-` and the stack's name unless given. It cannot be changed later.";
        "subscription": Kind::text(&azure::SUBSCRIPTION), OPTIONAL, NOW, "00000000-0000-0000-0000-000000000000",
            "Subscription the stack belongs to; the credential's own unless given.";
        "tags": Kind::map(&TAGS), OPTIONAL, NOW, "{team: ml}",
            "Tags for every resource. Values are kept exactly as written: `1.10` stays `1.10`, `NO` stays `NO`.";
        "ignore_tags": Kind::list(&TAG_PATTERNS), Presence::Default("[]"), NOW, "[\"hidden-*\", \"created*\"]",
            "Tags that somebody else manages: names, or beginnings with `*`. They are neither changed nor reported.";
        "budget": Kind::block(&BUDGET), OPTIONAL, NOW, "{hourly: 900, monthly: 600000, on_exceed: error}",
            "What the stack may cost.";
        "lifetime": Kind::text(&quantities::SPAN), OPTIONAL, NOW, "72h",
            "Time from the stack's creation after which the plan deletes all but the empty group. `apply --renew` starts it over.";
        "variables": Kind::map(&VARIABLES), OPTIONAL, NOW, "{env: {default: dev, allowed: [dev, prod]}}",
            "Variables for `${var.NAME}` in values; `--var NAME=VALUE` sets them. `${env.NAME}` reads the environment.";
        "network": Kind::block(&NETWORK), OPTIONAL, NOW, "{address_space: 10.40.0.0/16, outbound: nat}",
            "Network of all pools.";
        "access": Kind::block(&ACCESS), OPTIONAL, NOW, "{user: azureuser, ssh_keys: generate, via: none}",
            "How people get in. Nobody does unless asked for.";
        "identity": Kind::text(&azure::IDENTITY_ID).or_words(words::IDENTITY_WORD), Presence::Default("none"), NOW, "none",
            "Managed identity of the nodes: `none`, `system`, or the id of a user-assigned one.";
        "pools": Kind::map(&POOLS), REQUIRED, NOW, "{train: {stage: training, workload: generative}}",
            "Pools of equal nodes, by name.";
        "aks": Kind::block(&CLUSTER), OPTIONAL, NOW, "{tier: standard, system: {count: 2}}",
            "The cluster that pools with `orchestrator: aks` share.";
        "cyclecloud": Kind::block(&SERVER), OPTIONAL, NOW,
            "{accept_terms: true, identity: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/cyclecloud, locker: \"https://account.blob.core.windows.net/cyclecloud\"}",
            "The server that makes the nodes of pools with `orchestrator: cyclecloud`.";
    },
};

const REGIONS: List = List {
    nouns: "regions",
    item: Kind::text(&azure::REGION),
    not_empty: true,
    distinct: true,
};

/// Most tags of the user's own: of the 50 that Azure lets a resource have, less the 8 that
/// the tool may set.
pub(crate) const MOST_TAGS: usize = 42;

/// Most pools: a stack has at most a thousand nodes, and each pool has one.
pub(crate) const MOST_POOLS: usize = 1_000;

const TAGS: Map = Map {
    noun: "tag",
    key: &names::TAG_NAME,
    value: Kind::text(&names::TAG_VALUE),
    not_empty: false,
    most: MOST_TAGS,
    too_many: "remove some: Azure lets a resource have 50 tags, and the tool sets up to 8",
};

const TAG_PATTERNS: List = List {
    nouns: "tag names",
    item: Kind::text(&names::TAG_PATTERN),
    not_empty: false,
    distinct: true,
};

const VARIABLES: Map = Map {
    noun: "variable",
    key: &names::VARIABLE,
    value: Kind::block(&VARIABLE),
    not_empty: false,
    most: 1_000,
    too_many: "use fewer variables",
};

const POOLS: Map = Map {
    noun: "pool",
    key: &names::POOL,
    value: Kind::block(&POOL),
    not_empty: true,
    most: MOST_POOLS,
    too_many: "split the stack",
};

const BUDGET: Block = Block {
    name: "budget",
    doc: "What the stack may cost, by list prices. Lines whose price is unknown give a warning.",
    keys: keys! {
        "hourly": Kind::form(Form::Decimal(&quantities::MONEY)), OPTIONAL, NOW, "900",
            "Most an hour.";
        "monthly": Kind::form(Form::Decimal(&quantities::MONEY)), OPTIONAL, NOW, "600000",
            "Most a month of 730 hours.";
        "currency": Kind::words(words::CURRENCY_WORD).not(&[("$", "write `USD`"), ("€", "write `EUR`")]),
            Presence::Default("USD"), NOW, "USD",
            "Currency of both, an ISO 4217 code.";
        "on_exceed": Kind::words(words::ON_EXCEED), Presence::Default("error"), NOW, "error",
            "What happens to a plan that costs more.";
    },
};

/// A variable.
pub(crate) const VARIABLE: Block = Block {
    name: "variable",
    doc: "A value that differs between uses of a spec.",
    keys: keys! {
        "default": Kind::text(&names::VARIABLE_VALUE), OPTIONAL, NOW, "dev",
            "Value when none is given; without it, one must be given.";
        "allowed": Kind::list(&ALLOWED), OPTIONAL, NOW, "[dev, prod]",
            "Values that may be given; any unless listed.";
    },
};

const ALLOWED: List = List {
    nouns: "values",
    item: Kind::text(&names::VARIABLE_VALUE),
    not_empty: true,
    distinct: false,
};

const NETWORK: Block = Block {
    name: "network",
    doc: "The network of all pools: one of the stack's own, or an existing subnet.",
    keys: keys! {
        "address_space": Kind::text(&places::ADDRESS_SPACE), Presence::Default("10.40.0.0/16"), NOW, "10.40.0.0/16",
            "Private IPv4 block, /8 to /28. Nodes get its lower half; the upper half stays free for other subnets.";
        "subnet_id": Kind::text(&azure::SUBNET_ID), OPTIONAL, NOW,
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub/subnets/gpu",
            "Id of an existing subnet, instead of `address_space`. Its network is used and never changed.";
        "outbound": Kind::words(words::OUTBOUND), Presence::Default("nat"), NOW, "nat",
            "How nodes reach the internet; with `subnet_id` always as that subnet does.";
    },
};

const ACCESS: Block = Block {
    name: "access",
    doc: "How people get in. By default there is no public address and no inbound rule.",
    keys: keys! {
        "user": Kind::text(&names::USER), Presence::Default("azureuser"), NOW, "azureuser",
            "Administrator's name on the nodes.";
        "ssh_keys": Kind::text(&places::SSH_KEY).or_words(words::GENERATE).or_list(&SSH_KEYS), Presence::Default("generate"), NOW,
            "[~/.ssh/id_ed25519.pub]",
            "Public keys of the administrator: files, or keys in one line. RSA keys have 2048 bits or more.";
        "via": Kind::words(words::VIA).not(&[("public", "`public_ip`"), ("ssh", "`public_ip` gives SSH a way in")]),
            Presence::Default("none"), NOW, "none",
            "Way in to the nodes.";
        "ssh_from": Kind::list(&SSH_FROM_BLOCKS), Presence::Default("[]"), NOW, "[203.0.113.0/24]",
            "IPv4 blocks from which SSH, and on Windows RDP, is allowed; goes with `via: public_ip`. Never the whole internet.";
        "bastion_sku": Kind::words(words::BASTION_SKU), Presence::Default("standard"), NOW, "standard",
            "Tier of the Bastion host of `via: bastion`.";
    },
};

const SSH_KEYS: List = List {
    nouns: "keys",
    item: Kind::text(&places::SSH_KEY),
    not_empty: true,
    distinct: true,
};

const SSH_FROM_BLOCKS: List = List {
    nouns: "IPv4 blocks",
    item: Kind::text(&places::SSH_SOURCE),
    not_empty: false,
    distinct: true,
};
