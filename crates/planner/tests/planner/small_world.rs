//! Random small worlds: a catalogue of nine sizes, what live Azure says of them, and demands.
//! The choice is checked against every rule, stated again and apart from them; and what is
//! live stays whatever the catalogue says later.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::{Catalog, CatalogParts, Lifecycle, Offer, Size, VmPrice},
    diag::Severity,
    live::{Answer, Live, SizeFact, UsageFact},
    plan::{Plan, Verdict},
    spec::{
        Budget, Eviction, OnExceed, Pool, Priority, SizeChoice, SizeConstraints, Spot, Stage,
        Workload, Zones,
    },
    units::{Region, SizeName},
};
use proptest::prelude::*;
use rust_decimal::Decimal;

use crate::support::{actions, applied, empty, options, planned_with, pool, spec};

/// Sizes with GPUs that every image of their row runs on, and one without.
const SIZES: [&str; 9] = [
    "Standard_ND96isr_H100_v5",
    "Standard_ND96amsr_A100_v4",
    "Standard_NC24ads_A100_v4",
    "Standard_NC48ads_A100_v4",
    "Standard_NC40ads_H100_v5",
    "Standard_NC80adis_H100_v5",
    "Standard_NC4as_T4_v3",
    "Standard_NV36ads_A10_v5",
    "Standard_F4als_v7",
];

/// What a random world says of one size.
#[derive(Clone, Debug)]
struct Told {
    offered: bool,
    zones: u8,
    spot: bool,
    cents: Option<u32>,
    stage: u8,
    restricted: bool,
    closed: u8,
    free: i64,
}

fn told() -> impl Strategy<Value = Told> {
    let often = |share: f64| proptest::bool::weighted(share);
    let offer = (often(0.8), 0u8..8, any::<bool>());
    let price = (proptest::option::weighted(0.9, 1u32..3_000), 0u8..8);
    let live = (often(0.2), 0u8..8, 0i64..200);
    (offer, price, live).prop_map(
        |((offered, zones, spot), (cents, stage), (restricted, closed, free))| Told {
            offered,
            zones,
            spot,
            cents,
            stage,
            restricted,
            closed,
            free,
        },
    )
}

/// What a random spec asks for.
#[derive(Clone, Debug)]
struct Demand {
    training: bool,
    count: u32,
    spot: bool,
    zones: u8,
    rdma: Option<bool>,
    memory: Option<u32>,
    most: Option<u32>,
    hourly: Option<u32>,
    live_known: bool,
}

fn demand() -> impl Strategy<Value = Demand> {
    let pool = (
        any::<bool>(),
        1u32..4,
        proptest::bool::weighted(0.3),
        0u8..8,
    );
    let size = (
        proptest::option::weighted(0.3, any::<bool>()),
        proptest::option::weighted(0.3, prop_oneof![Just(16u32), Just(80), Just(94)]),
        proptest::option::weighted(0.3, 1u32..30),
    );
    let rest = (proptest::option::weighted(0.3, 1u32..60), any::<bool>());
    (pool, size, rest).prop_map(
        |((training, count, spot, zones), (rdma, memory, most), (hourly, live_known))| Demand {
            training,
            count,
            spot,
            zones,
            rdma,
            memory,
            most,
            hourly,
            live_known,
        },
    )
}

fn names(mask: u8) -> BTreeSet<String> {
    let zones = (0..3).filter(|zone| mask & (1 << zone) != 0);
    zones.map(|zone| (zone + 1).to_string()).collect()
}

fn lifecycle(stage: u8) -> Lifecycle {
    match stage {
        0 => Lifecycle::Retired { since: None },
        1 => Lifecycle::EndOfLife {
            retires: "2026-11-30".to_owned(),
        },
        2 => Lifecycle::EndOfLife {
            retires: "2027-01-01".to_owned(),
        },
        _ => Lifecycle::Current,
    }
}

fn embedded(name: &str) -> Size {
    let size = Catalog::embedded().size(&SizeName::from(name));
    size.expect("an embedded size").clone()
}

fn catalogue(told: &[Told]) -> Catalog {
    let all = Catalog::embedded();
    let eastus = Region::new("eastus");
    let rows = || SIZES.iter().zip(told);
    let sizes = rows().map(|(name, told)| Size {
        lifecycle: lifecycle(told.stage),
        ..embedded(name)
    });
    let offers = rows().filter(|(_, told)| told.offered);
    let offers = offers.map(|(name, told)| Offer {
        size: SizeName::from(*name),
        zones: names(told.zones).into(),
        spot: told.spot,
        source: "made up".into(),
        as_of: "2026-11-30".into(),
    });
    let prices = rows().map(|(name, told)| {
        let price = told.cents.map(|cents| Decimal::new(i64::from(cents), 2));
        let row = VmPrice {
            linux: price,
            spot: price,
            windows: None,
            savings_plan_1y: None,
            source: "made up".into(),
            as_of: "2026-11-30".into(),
            flags: Vec::new(),
        };
        (SizeName::from(*name), row)
    });
    Catalog::of(CatalogParts {
        sizes: sizes.collect(),
        gpus: all.gpus().to_vec(),
        regions: all.regions().to_vec(),
        offers: BTreeMap::from([(eastus.clone(), offers.collect())]),
        vm_prices: BTreeMap::from([(eastus, prices.collect())]),
        images: all.images().to_vec(),
        image_fits: all.image_fits().to_vec(),
        image_families: all.image_families().to_vec(),
        quota_families: all.quota_families().to_vec(),
        ..CatalogParts::default()
    })
}

/// The family that live Azure names for a size: one of its own, so that quotas are apart.
fn family(name: &str) -> String {
    format!("family of {name}")
}

fn world(told: &[Told], demand: &Demand) -> Live {
    let mut live = empty();
    if !demand.live_known {
        return live;
    }
    let eastus = Region::new("eastus");
    let rows = SIZES.iter().zip(told).filter(|(_, told)| told.offered);
    let facts = rows.map(|(name, told)| {
        let fact = SizeFact {
            name: SizeName::from(*name),
            family: family(name),
            zones: names(told.zones),
            restricted: told.restricted.then(|| "QuotaId".to_owned()),
            restricted_zones: names(told.closed),
            capabilities: BTreeMap::new(),
        };
        (SizeName::from(*name), fact)
    });
    let facts = Answer::Known(facts.collect());
    live.facts.sizes.insert(eastus.clone(), facts);
    if let Some(Answer::Known(counters)) = live.facts.compute_quota.get_mut(&eastus) {
        counters.extend(SIZES.iter().zip(told).map(|(name, told)| UsageFact {
            name: family(name),
            display_name: family(name),
            limit: 1_000,
            used: 1_000 - told.free,
        }));
    }
    live
}

fn wanted(demand: &Demand) -> model::spec::Spec {
    let stage = if demand.training {
        Stage::Training
    } else {
        Stage::Inference
    };
    let mut spec = spec(Pool {
        count: Some(demand.count),
        size: SizeChoice::Constrained(SizeConstraints {
            family: Vec::new(),
            gpu: Vec::new(),
            min_gpu_memory_gb: demand.memory,
            rdma: demand.rdma,
            max_hourly: demand.most.map(Decimal::from),
        }),
        zones: match demand.zones {
            0 => Zones::Auto,
            mask => Zones::Listed(
                (1..=3)
                    .filter(|zone| mask & (1 << (zone - 1)) != 0)
                    .collect(),
            ),
        },
        priority: if demand.spot {
            Priority::Spot(Spot {
                max_price: None,
                eviction: Eviction::Delete,
                fallback_to_regular: false,
            })
        } else {
            Priority::Regular
        },
        ..pool(stage, Workload::Generative)
    });
    spec.budget = demand.hourly.map(|hourly| Budget {
        hourly: Some(Decimal::from(hourly)),
        monthly: None,
        currency: "USD".to_owned(),
        on_exceed: OnExceed::Error,
    });
    spec
}

/// The sizes that every rule keeps, stated again.
fn fitting<'a>(told: &'a [Told], demand: &Demand) -> BTreeSet<&'a str> {
    let sizes = SIZES
        .iter()
        .zip(told)
        .filter(|(name, told)| fits(name, told, demand));
    let Some(most) = demand.hourly else {
        return sizes.map(|(name, _)| *name).collect();
    };
    let (priced, unpriced): (Vec<_>, Vec<_>) = sizes.partition(|(_, told)| told.cents.is_some());
    // What is unknown is taken only where nothing is known of any.
    if priced.is_empty() {
        return unpriced.into_iter().map(|(name, _)| *name).collect();
    }
    let is_within = |told: &Told| {
        let total = told
            .cents
            .map(|cents| Decimal::new(i64::from(cents), 2) * Decimal::from(demand.count));
        total.is_some_and(|total| total <= Decimal::from(most))
    };
    let within = priced.into_iter().filter(|(_, told)| is_within(told));
    within.map(|(name, _)| *name).collect()
}

/// Every rule but that of the budget.
fn fits(name: &str, told: &Told, demand: &Demand) -> bool {
    let size = embedded(name);
    let Some(gpu) = &size.gpu else { return false };
    let open: BTreeSet<String> = if demand.live_known {
        names(told.zones & !told.closed)
    } else {
        names(told.zones)
    };
    let asked = names(demand.zones);
    let fabric = size.rdma && (demand.training || demand.rdma == Some(true));
    let zones = if fabric {
        asked.is_empty() || !asked.is_disjoint(&open)
    } else {
        asked.is_subset(&open)
    };
    let price = told.cents.map(|cents| Decimal::new(i64::from(cents), 2));
    let needed = i64::from(size.vcpus) * i64::from(demand.count);
    ["ND", "NC"].contains(&size.series.as_str())
        && told.stage > 1
        && told.offered
        && !(demand.live_known && told.restricted)
        && zones
        && !(fabric && demand.count > 1 && demand.spot && demand.rdma != Some(true))
        && (!demand.spot || told.spot)
        && (demand.spot || !demand.live_known || needed <= told.free)
        && demand.rdma.is_none_or(|rdma| size.rdma == rdma)
        && demand
            .memory
            .is_none_or(|most| gpu.memory_gb.is_some_and(|memory| memory >= most))
        && demand
            .most
            .is_none_or(|most| price.is_some_and(|price| price <= Decimal::from(most)))
}

fn is_live_of(plan: &Plan, count: u32) -> bool {
    let machines = plan.steps.iter().filter_map(|step| {
        let after = step.after.as_ref()?;
        let of_set = after.scale_set().map(|set| set.capacity);
        of_set.or_else(|| after.virtual_machine().map(|_| 1))
    });
    machines.sum::<u32>() == count
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_choice_passes_every_rule_and_a_refusal_means_that_none_does(
        told in proptest::collection::vec(told(), SIZES.len()),
        demand in demand(),
    ) {
        // Such a demand contradicts itself: it is refused whatever there is.
        prop_assume!(!(demand.count > 1 && demand.spot && demand.rdma == Some(true)));
        let expected = fitting(&told, &demand);
        let planned = planned_with(&wanted(&demand), &catalogue(&told), &world(&told, &demand), &options());
        let chosen = planned.explanation.pools.get("train");
        let refused = planned.explanation.refused.get("train");
        let candidates = chosen.map(|pool| &pool.candidates).or(refused.map(|pool| &pool.candidates));
        let kept: BTreeSet<&str> = candidates
            .into_iter()
            .flatten()
            .filter(|candidate| candidate.verdict == Verdict::Kept)
            .map(|candidate| candidate.size.as_str())
            .collect();
        prop_assert_eq!(&kept, &expected);
        // The budget is for everything that the stack costs: nodes alone may be within it.
        let over_budget = planned.diagnostics.iter().any(|finding| finding.code.as_str() == "COST002");
        if expected.is_empty() {
            prop_assert!(planned.diagnostics.has_errors(), "{:?}", planned.diagnostics);
        } else {
            let chosen = chosen.expect("a size is chosen");
            prop_assert!(expected.contains(chosen.size.as_str()));
            prop_assert!(over_budget || !planned.diagnostics.has_errors(), "{:?}", planned.diagnostics);
            let plan = planned.plan.as_ref().expect("a plan");
            prop_assert!(is_live_of(plan, demand.count));
        }
    }

    #[test]
    fn no_change_of_the_catalogue_moves_what_is_live(
        before in proptest::collection::vec(told(), SIZES.len()),
        after in proptest::collection::vec(told(), SIZES.len()),
        gone in proptest::collection::vec(any::<bool>(), SIZES.len()),
        (demand, images) in (demand(), 0usize..4),
    ) {
        let demand = Demand { live_known: false, hourly: None, ..demand };
        let spec = wanted(&demand);
        let first = planned_with(&spec, &catalogue(&before), &empty(), &options());
        prop_assume!(!first.diagnostics.has_errors());
        let live = applied(first.plan.as_ref().expect("a plan"), &empty());
        let changed = catalogue(&after);
        let keep = |size: &&Size| {
            SIZES.iter().zip(&gone).all(|(name, gone)| !gone || SizeName::from(*name) != size.name)
        };
        let eastus = Region::new("eastus");
        let changed = Catalog::of(CatalogParts {
            sizes: changed.sizes().iter().filter(keep).cloned().collect(),
            gpus: changed.gpus().to_vec(),
            regions: changed.regions().to_vec(),
            offers: BTreeMap::from([(
                eastus.clone(),
                changed.offers(&eastus).expect("offers").iter().cloned().collect(),
            )]),
            vm_prices: BTreeMap::from([(
                eastus.clone(),
                changed
                    .vm_prices(&eastus)
                    .expect("prices")
                    .iter()
                    .map(|(name, row)| (name.clone(), row.clone()))
                    .collect(),
            )]),
            images: changed.images().iter().skip(images).cloned().collect(),
            image_fits: changed.image_fits().to_vec(),
            image_families: changed.image_families().to_vec(),
            quota_families: changed.quota_families().to_vec(),
            ..CatalogParts::default()
        });
        let again = planned_with(&spec, &changed, &live, &options());
        prop_assert!(!again.diagnostics.has_errors(), "{:?}", again.diagnostics);
        let plan = again.plan.expect("a plan");
        prop_assert_eq!(actions(&plan), []);
        let worst = again.diagnostics.iter().map(|finding| finding.severity).min();
        prop_assert!(worst != Some(Severity::Error));
    }
}
