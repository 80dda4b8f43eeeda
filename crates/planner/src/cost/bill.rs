//! What is paid for, before prices: equal things counted together.

use std::collections::BTreeMap;

use model::{
    address::Address,
    catalog::ImageOs,
    cost::PurchaseOption,
    plan::{CostKind, CostLine},
    resource::{Properties, PurchasePlan, Resource, VirtualMachine, VmPriority},
    spec::{DiskType, Eviction},
    units::{Region, SizeName},
};

use super::{
    aks, batch, cyclecloud, disk,
    quote::{self, Meter, Prices, Quote, Unit},
    scale_set,
    service::Service,
};

/// Something that is paid for.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    /// Its address.
    pub address: &'a Address,
    /// What it is.
    pub resource: &'a Resource,
    /// Whether it has hardware: a deallocated VM pays only for its disks.
    pub has_hardware: bool,
    /// Instances of a scale set that have none.
    pub without_hardware: u32,
}

/// A thing of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    /// A virtual machine without its disks.
    Machine {
        /// Its size.
        size: SizeName,
        /// How it is paid for.
        meter: Meter,
    },
    /// A managed disk.
    Disk {
        /// Its type.
        kind: DiskType,
        /// Its size in GiB.
        size_gb: u32,
    },
    /// A service of the network or above it.
    Service(Service),
    /// Storage that is paid for by what is in it and how often it is written and read.
    Storage,
    /// What the seller of an image asks for its software, which no list prices.
    Software(String),
}

/// What something is billed as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bill {
    pub(super) item: String,
    pub(super) meter: String,
    pub(super) unit: Unit,
    pub(super) amount: u32,
}

impl Bill {
    /// What no row of any catalogue prices.
    pub(super) fn unpriced(item: String, meter: &str) -> Self {
        Self {
            item,
            meter: meter.to_owned(),
            unit: Unit::Hour,
            amount: 0,
        }
    }
}

/// Things by what they belong to and where they are.
pub(super) type Bills = BTreeMap<(String, Region, Thing), u32>;

/// What nodes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// They are as each item says.
    AsTheyAre,
    /// All run.
    Running,
    /// All are deallocated.
    Stopped,
    /// All were evicted: what goes with a VM is gone where eviction deletes it.
    Evicted,
}

/// How nodes of a priority are paid for.
pub(super) fn option_of(priority: &VmPriority) -> PurchaseOption {
    match priority {
        VmPriority::Regular => PurchaseOption::OnDemand,
        VmPriority::Spot { .. } => PurchaseOption::Spot,
    }
}

/// How many of the nodes of a service are paid for: one that is not there has no disks either.
pub(super) fn of_service(nodes: u32, item: Item<'_>, state: State) -> u32 {
    match state {
        State::AsTheyAre => nodes.saturating_sub(item.without_hardware),
        State::Running => nodes,
        State::Stopped | State::Evicted => 0,
    }
}

/// Counts things.
pub(super) fn count<'a>(items: impl IntoIterator<Item = Item<'a>>, state: State) -> Bills {
    let mut bills = Bills::new();
    for item in items {
        let pool = item.address.pool_name();
        let address = pool.map_or_else(|| item.address.to_string(), |pool| format!("pool.{pool}"));
        for (region, thing, more) in things(item, state) {
            let count = bills
                .entry((address.clone(), region.clone(), thing))
                .or_default();
            *count = count.saturating_add(more);
        }
    }
    bills
}

/// What an item is billed as, each with its number.
fn things(item: Item<'_>, state: State) -> Vec<(&Region, Thing, u32)> {
    match &item.resource.properties {
        Properties::VirtualMachine(vm) => {
            let things = of_machine(vm, quote::system(vm.os), item.has_hardware, state);
            things.map(|thing| (&vm.location, thing, 1)).collect()
        }
        Properties::Disk(data) => vec![(
            &data.location,
            Thing::Disk {
                kind: data.disk_type,
                size_gb: data.size_gb,
            },
            1,
        )],
        Properties::VirtualMachineScaleSet(set) => {
            let system = quote::system(set.os);
            located(&set.location, scale_set::things(set, system, item, state))
        }
        Properties::BatchPool(pool) => located(&pool.location, batch::things(pool, item, state)),
        Properties::KubernetesCluster(cluster) => {
            located(&cluster.location, aks::of_cluster(cluster, state))
        }
        Properties::AgentPool(pool) => located(&pool.location, aks::of_pool(pool, item, state)),
        Properties::NodeArray(array) => {
            located(&array.location, cyclecloud::things(array, item, state))
        }
        Properties::NatGateway(gateway) => {
            vec![(&gateway.location, Thing::Service(Service::NatGateway), 1)]
        }
        Properties::PublicIpAddress(address) => {
            let thing = Thing::Service(Service::PublicIpAddress);
            vec![(&address.location, thing, 1)]
        }
        Properties::BastionHost(host) => {
            vec![(&host.location, Service::of_bastion(&host.sku), 1)]
        }
        Properties::StorageAccount(account) => {
            // What is in it, and how often it is written, nobody knows before.
            vec![(&account.location, Thing::Storage, 1)]
        }
        // These cost nothing by themselves.
        Properties::MarketplaceTerms(_)
        | Properties::BatchAccount(_)
        | Properties::BlobContainer(_)
        | Properties::ManagedIdentity(_)
        | Properties::RoleAssignment(_)
        | Properties::NetworkInterface(_)
        | Properties::ResourceGroup(_)
        | Properties::VirtualNetwork(_)
        | Properties::Subnet(_)
        | Properties::NetworkSecurityGroup(_)
        | Properties::SshPublicKey(_)
        | Properties::ProximityPlacementGroup(_) => Vec::new(),
    }
}

fn located(region: &Region, things: Vec<(Thing, u32)>) -> Vec<(&Region, Thing, u32)> {
    let things = things.into_iter();
    things
        .map(|(thing, count)| (region, thing, count))
        .collect()
}

fn of_machine(
    vm: &VirtualMachine,
    system: ImageOs,
    has_hardware: bool,
    state: State,
) -> impl Iterator<Item = Thing> {
    let runs = match state {
        State::AsTheyAre => has_hardware,
        State::Running => true,
        State::Stopped | State::Evicted => false,
    };
    let is_gone = state == State::Evicted
        && vm.os_disk.delete_with_vm
        && matches!(
            vm.priority,
            VmPriority::Spot {
                eviction: Eviction::Delete,
                ..
            }
        );
    // One on the node is part of the machine.
    let is_managed = vm.os_disk.ephemeral.is_none();
    let disk = (!is_gone && is_managed).then_some(Thing::Disk {
        kind: vm.os_disk.disk_type,
        size_gb: vm.os_disk.size_gb,
    });
    let machine = runs.then(|| Thing::Machine {
        size: vm.size.clone(),
        meter: Meter::of(system, option_of(&vm.priority)),
    });
    let software = vm.plan.as_ref().filter(|_| runs).map(|plan| {
        let PurchasePlan {
            publisher,
            product,
            name,
        } = plan;
        Thing::Software(format!("software of {publisher}:{product}:{name}"))
    });
    // A static address is paid for as long as there is one.
    let has_address = vm.network.public_address && !is_gone;
    let address = has_address.then_some(Thing::Service(Service::PublicIpAddress));
    disk.into_iter()
        .chain(machine)
        .chain(software)
        .chain(address)
}

/// The same things with every spot machine paid for on demand; `None` where none is spot.
pub(super) fn on_demand(bills: &Bills) -> Option<Bills> {
    let mut all = Bills::new();
    let mut has_spot = false;
    for ((address, region, thing), count) in bills {
        let mut thing = thing.clone();
        if let Thing::Machine { meter, .. } = &mut thing
            && meter.option == PurchaseOption::Spot
        {
            meter.option = PurchaseOption::OnDemand;
            has_spot = true;
        }
        let sum = all
            .entry((address.clone(), region.clone(), thing))
            .or_default();
        *sum = u32::saturating_add(*sum, *count);
    }
    has_spot.then_some(all)
}

/// A counted thing with its price, where there is one.
#[derive(Clone, Debug)]
pub(super) struct Priced {
    pub(super) address: String,
    pub(super) kind: CostKind,
    pub(super) item: String,
    pub(super) meter: String,
    pub(super) count: u32,
    pub(super) quote: Option<Quote>,
    /// What is known of a price that there is not.
    pub(super) gap: Vec<String>,
}

/// Prices counted things, in another region where one is named; in the order of lines.
pub(super) fn price(bills: &Bills, elsewhere: Option<&Region>, prices: Prices<'_>) -> Vec<Priced> {
    let mut all: Vec<Priced> = bills
        .iter()
        .map(|((address, region, thing), count)| {
            let region = elsewhere.unwrap_or(region);
            let (kind, item, meter, quote) = quoted(thing, region, prices);
            let gap = match thing {
                Thing::Machine { size, meter } if quote.is_none() => {
                    quote::gap(prices, region, size, *meter)
                }
                Thing::Machine { .. }
                | Thing::Disk { .. }
                | Thing::Service(_)
                | Thing::Storage
                | Thing::Software(_) => Vec::new(),
            };
            Priced {
                address: address.clone(),
                kind,
                item,
                meter,
                count: *count,
                quote,
                gap,
            }
        })
        .collect();
    let order = |a: &Priced, b: &Priced| {
        let key = |priced: &Priced| (priced.kind, priced.item.clone(), priced.meter.clone());
        (&a.address, key(a)).cmp(&(&b.address, key(b)))
    };
    all.sort_by(order);
    // Disks of different sizes may be of one tier.
    all.dedup_by(|next, first| {
        let same = order(first, next).is_eq() && first.quote == next.quote;
        if same {
            first.count = first.count.saturating_add(next.count);
        }
        same
    });
    all
}

fn quoted(
    thing: &Thing,
    region: &Region,
    prices: Prices<'_>,
) -> (CostKind, String, String, Option<Quote>) {
    match thing {
        Thing::Machine { size, meter } => (
            CostKind::Compute,
            quote::spelled(prices.catalog, size),
            meter.words(),
            quote::machine(prices, region, size, *meter),
        ),
        Thing::Disk { kind, size_gb } => {
            let (item, meter, quote) = billed(disk::bill(*kind, *size_gb), region, prices);
            (CostKind::Disk, item, meter, quote)
        }
        Thing::Service(service) => {
            let (item, meter, quote) = billed(service.bill(), region, prices);
            (service.kind(), item, meter, quote)
        }
        Thing::Storage => {
            let item = "Storage account, by what is in it".to_owned();
            let bill = Bill::unpriced(item, "storage.blob");
            let (item, meter, quote) = billed(bill, region, prices);
            (CostKind::Service, item, meter, quote)
        }
        Thing::Software(item) => {
            let bill = Bill::unpriced(item.clone(), "marketplace.plan");
            let (item, meter, quote) = billed(bill, region, prices);
            (CostKind::Service, item, meter, quote)
        }
    }
}

fn billed(bill: Bill, region: &Region, prices: Prices<'_>) -> (String, String, Option<Quote>) {
    let Bill {
        item,
        meter,
        unit,
        amount,
    } = bill;
    let is_priced = amount > 0;
    let quote = is_priced.then(|| quote::item(prices, region, &meter, unit, amount));
    (item, meter, quote.flatten())
}

impl Priced {
    /// As a line of a preview.
    pub(super) fn line(&self) -> CostLine {
        let Self {
            address,
            kind,
            item,
            meter,
            count,
            quote,
            gap,
        } = self;
        let hourly = quote.as_ref().and_then(|quote| quote.hourly(*count));
        let monthly = quote.as_ref().and_then(|quote| quote.monthly(*count));
        CostLine {
            address: address.clone(),
            kind: *kind,
            item: item.clone(),
            quantity: *count,
            unit_hourly: quote.as_ref().and_then(|quote| quote.text(Unit::Hour)),
            unit_monthly: quote.as_ref().and_then(|quote| quote.text(Unit::Month)),
            known: hourly.is_some() && monthly.is_some(),
            hourly_micros: hourly,
            monthly_micros: monthly,
            meter: meter.clone(),
            as_of: quote.as_ref().and_then(|quote| quote.as_of.clone()),
            source: quote.as_ref().map(|quote| quote.source.clone()),
            flags: match quote {
                Some(quote) => quote.flags.clone(),
                None => gap.clone(),
            },
        }
    }
}
