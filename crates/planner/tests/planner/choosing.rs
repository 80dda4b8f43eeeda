//! What a choice of size looks at beside the spec: quota, money, what the region offers, and
//! the day.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Catalog,
    diag::{Code, Severity},
    live::{Answer, Live, SizeFact, UsageFact},
    plan::{Candidate, Verdict},
    spec::{Budget, Eviction, OnExceed, Pool, Priority, SizeChoice, Spec, Spot, Stage, Workload},
    units::{Region, SizeName},
};
use rust_decimal::Decimal;
use tensorform_planner::Planned;

use crate::support::{
    actions, applied, codes, empty, good_plan, options, planned, planned_with, pool, spec, vm,
};

fn named(stage: Stage, workload: Workload, size: &str, count: u32) -> Pool {
    Pool {
        size: SizeChoice::Named(SizeName::from(size)),
        count: Some(count),
        ..pool(stage, workload)
    }
}

fn counter(name: &str, limit: i64, used: i64) -> UsageFact {
    UsageFact {
        name: name.to_owned(),
        display_name: name.to_owned(),
        limit,
        used,
    }
}

/// Adds a counter of a region.
fn set_quota(live: &mut Live, region: &str, name: &str, limit: i64, used: i64) {
    let answer = live.facts.compute_quota.get_mut(&Region::new(region));
    if let Some(Answer::Known(counters)) = answer {
        counters.retain(|counter| counter.name != name);
        counters.push(counter(name, limit, used));
    }
}

/// Lets a region have exactly these sizes.
fn set_sizes(live: &mut Live, region: &str, sizes: impl IntoIterator<Item = SizeFact>) {
    let sizes = sizes.into_iter().map(|fact| (fact.name.clone(), fact));
    let answer = Answer::Known(sizes.collect());
    live.facts.sizes.insert(Region::new(region), answer);
}

fn fact(name: &str, family: &str) -> SizeFact {
    SizeFact {
        name: SizeName::from(name),
        family: family.to_owned(),
        zones: BTreeSet::new(),
        restricted: None,
        restricted_zones: BTreeSet::new(),
        capabilities: BTreeMap::new(),
    }
}

fn messages(planned: &Planned, code: Code) -> Vec<&str> {
    let findings = planned.diagnostics.iter();
    let findings = findings.filter(|finding| finding.code == code);
    findings.map(|finding| finding.message.as_str()).collect()
}

fn candidate<'a>(planned: &'a Planned, pool: &str, size: &str) -> &'a Candidate {
    let explained = &planned.explanation;
    let chosen = explained.pools.get(pool).map(|pool| &pool.candidates);
    let refused = explained.refused.get(pool).map(|pool| &pool.candidates);
    let candidates = chosen.or(refused).expect("the pool is explained");
    let name = SizeName::from(size);
    let mut candidates = candidates.iter();
    candidates
        .find(|candidate| candidate.size == name)
        .expect("the size was considered")
}

fn reason<'a>(candidate: &'a Candidate, code: &str) -> Option<&'a str> {
    let mut reasons = candidate.reasons.iter();
    let reason = reasons.find(|reason| reason.code == code);
    reason.map(|reason| reason.message.as_str())
}

const F48: &str = "Standard_F48s_v2";
const F_FAMILY: &str = "standardFSv2Family";

fn in_two_regions(pools: impl IntoIterator<Item = (&'static str, Pool)>) -> Spec {
    let mut spec = spec(pool(Stage::Inference, Workload::Small));
    spec.locations = ["southcentralus", "eastus"].map(Region::new).to_vec();
    spec.pools = pools
        .into_iter()
        .map(|(name, pool)| (name.to_owned(), pool))
        .collect();
    spec
}

#[test]
fn a_region_without_quota_is_passed_over_and_nothing_is_written_there() {
    let f48 = named(Stage::Inference, Workload::Small, F48, 1);
    let spec = in_two_regions([("serve", f48)]);
    let mut live = empty();
    set_quota(&mut live, "southcentralus", F_FAMILY, 0, 0);
    set_quota(&mut live, "eastus", F_FAMILY, 96, 0);
    let planned = planned(&spec, &live);
    let plan = planned.plan.as_ref().expect("a plan");
    assert_eq!(plan.scope.location, Region::new("eastus"));
    assert_eq!(
        messages(&planned, Code::LocationPassedOver),
        ["southcentralus is passed over: quota 0 for `standardFSv2Family`, needed 48 vCPUs"]
    );
    let elsewhere = plan.steps.iter().filter(|step| {
        let after = step
            .after
            .as_ref()
            .map(model::resource::Resource::attributes);
        let location = after.and_then(|after| after.get("location").cloned());
        location.is_some_and(|location| location != "eastus")
    });
    assert_eq!(elsewhere.count(), 0);
    assert!(!planned.diagnostics.has_errors());
}

#[test]
fn the_quota_of_a_region_must_hold_all_pools_together() {
    let f48 = || named(Stage::Inference, Workload::Small, F48, 1);
    let spec = in_two_regions([("first", f48()), ("second", f48())]);
    let mut live = empty();
    set_quota(&mut live, "southcentralus", F_FAMILY, 100, 52);
    let planned_there = planned(&spec, &live);
    assert_eq!(
        messages(&planned_there, Code::LocationPassedOver),
        [
            "southcentralus is passed over: quota 100, of which 48 are free for `standardFSv2Family`, needed 96 vCPUs"
        ]
    );
    // Where no region holds them the first is planned, and its quota is the error.
    set_quota(&mut live, "eastus", F_FAMILY, 10, 0);
    let nowhere = planned(&spec, &live);
    let plan = nowhere.plan.as_ref().expect("a plan to look at");
    assert_eq!(plan.scope.location, Region::new("southcentralus"));
    let errors: Vec<&str> = nowhere
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(errors, ["QUOTA001"]);
    assert_eq!(
        messages(&nowhere, Code::LocationPassedOver),
        ["in eastus: quota 10, of which 10 are free for `standardFSv2Family`, needed 96 vCPUs"]
    );
}

#[test]
fn the_family_of_a_size_is_what_azure_says_and_no_table() {
    let small = spec(Pool {
        count: Some(1),
        ..pool(Stage::Inference, Workload::Small)
    });
    let mut live = empty();
    let two = [
        fact("Standard_F4als_v7", "standardBrandNewFamily"),
        fact("standard_F4AS_V6", "standardOlderFamily"),
    ];
    set_sizes(&mut live, "eastus", two);
    set_quota(&mut live, "eastus", "standardBrandNewFamily", 3, 0);
    let planned = planned(&small, &live);
    let newest = candidate(&planned, "train", "Standard_F4als_v7");
    assert_eq!(
        reason(newest, "quota"),
        Some("has 3 of 3 vCPUs of `standardBrandNewFamily` free in eastus, needed 4")
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.pools["train"].size, SizeName::from("Standard_F4as_v6"));
}

#[test]
fn the_quota_of_the_whole_region_counts_too() {
    let small = spec(pool(Stage::Training, Workload::Small));
    let mut live = empty();
    set_quota(&mut live, "eastus", "cores", 16, 12);
    let planned = planned(&small, &live);
    let refused = candidate(&planned, "train", "Standard_E8as_v7");
    assert_eq!(
        reason(refused, "quota"),
        Some("has 4 of 16 vCPUs of `cores` free in eastus, needed 8")
    );
    // The nearest size is planned, and the plan refused with what the quota lacks.
    let plan = planned.plan.as_ref().expect("a plan to look at");
    assert_eq!(plan.pools["train"].size.as_str(), "Standard_E8as_v7");
    let message = "quota `cores` (cores) in eastus: limit 16, used 12, needed 8, short by 4";
    assert_eq!(messages(&planned, Code::QuotaShort), [message]);
}

#[test]
fn whether_a_size_can_be_spot_is_what_azure_says() {
    let mut one = pool(Stage::Inference, Workload::Small);
    one.priority = Priority::Spot(Spot {
        max_price: None,
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    });
    let spot = spec(one);
    let check = |capable: &str, expected: &str| {
        let mut newest = fact("Standard_F4als_v7", "");
        let capable = ("LowPriorityCapable".to_owned(), capable.to_owned());
        newest.capabilities.extend([capable]);
        let mut live = empty();
        set_sizes(&mut live, "eastus", [newest, fact("Standard_F4as_v6", "")]);
        let plan = good_plan(&spot, &live);
        assert_eq!(plan.pools["train"].size.as_str(), expected);
    };
    check("True", "Standard_F4als_v7");
    check("False", "Standard_F4as_v6");
}

#[test]
fn a_size_is_retired_on_its_day_whatever_the_age_of_the_catalogue() {
    let size = "Standard_F4s_v2";
    let spec = spec(named(Stage::Inference, Workload::Small, size, 1));
    let on = |day: &str| {
        let mut options = options();
        options.now = format!("{day}T00:00:00Z").parse().expect("a time");
        planned_with(&spec, Catalog::embedded(), &empty(), &options)
    };
    let before = on("2028-11-14");
    assert!(codes(&before.diagnostics).contains(&"SIZE005"));
    assert!(before.plan.is_some());
    let after = on("2028-11-15");
    assert!(after.plan.is_none());
    let refused = messages(&after, Code::SizeRefused);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].contains("is retired since 2028-11-15"),
        "{refused:?}"
    );
}

fn budget(hourly: u32, on_exceed: OnExceed) -> Budget {
    Budget {
        hourly: Some(Decimal::from(hourly)),
        monthly: None,
        currency: "USD".to_owned(),
        on_exceed,
    }
}

#[test]
fn a_size_above_the_budget_is_not_chosen_where_a_cheaper_one_fits() {
    let mut spec = spec(pool(Stage::Training, Workload::Generative));
    let chosen = |spec: &Spec| {
        let plan = planned(spec, &empty()).plan.expect("a plan");
        plan.pools["train"].size.as_str().to_owned()
    };
    assert_eq!(chosen(&spec), "Standard_ND96isr_H100_v5");
    spec.budget = Some(budget(50, OnExceed::Error));
    assert_eq!(chosen(&spec), "Standard_ND96asr_v4");
    let planned = planned(&spec, &empty());
    assert!(!planned.diagnostics.has_errors(), "{planned:#?}");
    let dear = candidate(&planned, "train", "Standard_ND96isr_H100_v5");
    assert_eq!(
        reason(dear, "budget"),
        Some("costs 98.32 USD hourly, 48.32 more than the budget of 50")
    );
    spec.budget = Some(budget(50, OnExceed::Warn));
    assert_eq!(chosen(&spec), "Standard_ND96isr_H100_v5");
}

#[test]
fn live_nodes_of_a_size_that_azure_closes_stay_and_get_no_company() {
    let two = spec(pool(Stage::Training, Workload::Small));
    let mut live = applied(&good_plan(&two, &empty()), &empty());
    let mut closed = fact("Standard_E8as_v7", "");
    closed.restricted = Some("NotAvailableForSubscription".to_owned());
    set_sizes(&mut live, "eastus", [closed, fact("Standard_E8as_v6", "")]);
    assert_eq!(actions(&good_plan(&two, &live)), []);
    let mut more = two;
    more.pools.get_mut("train").expect("the pool").count = Some(3);
    let refused = planned(&more, &live);
    assert_eq!(
        messages(&refused, Code::SizeRefused),
        [
            "2 new nodes cannot be made beside the live ones: `Standard_E8as_v7` is closed to the \
             subscription in eastus (NotAvailableForSubscription)"
        ]
    );
}

#[test]
fn every_size_is_kept_or_rejected_with_a_code_of_a_rule() {
    let codes_of_rules = [
        "role",
        "lifecycle",
        "rack",
        "constraint",
        "max_hourly",
        "precision",
        "A19",
        "placement",
        "floor",
        "constrained_vcpus",
        "memory",
        "deadline",
        "image",
        "spot",
        "max_price",
        "offered",
        "restricted",
        "zones",
        "unlisted",
        "zonal_disks",
        "quota",
        "budget",
    ];
    for (stage, workload) in [
        (Stage::Training, Workload::Generative),
        (Stage::Training, Workload::Small),
        (Stage::Inference, Workload::Generative),
        (Stage::Inference, Workload::Small),
    ] {
        let planned = planned(&spec(pool(stage, workload)), &empty());
        for candidate in &planned.explanation.pools["train"].candidates {
            let kept = candidate.verdict == Verdict::Kept;
            assert_eq!(kept, candidate.reasons.is_empty(), "{candidate:?}");
            for reason in &candidate.reasons {
                assert!(
                    codes_of_rules.contains(&reason.code.as_str()),
                    "{candidate:?}"
                );
            }
        }
    }
}

#[test]
fn a_pool_that_lacks_quota_is_named_with_its_family_among_several() {
    let gpu = named(
        Stage::Inference,
        Workload::Generative,
        "Standard_NC40ads_H100_v5",
        2,
    );
    let mut spec = spec(named(Stage::Inference, Workload::Small, F48, 1));
    spec.pools.insert("serve".to_owned(), gpu);
    let mut live = empty();
    set_quota(&mut live, "eastus", F_FAMILY, 96, 0);
    set_quota(&mut live, "eastus", "StandardNCadsH100v5Family", 100, 40);
    let planned = planned(&spec, &live);
    let message = "quota `StandardNCadsH100v5Family` (StandardNCadsH100v5Family) in eastus: \
                   limit 100, used 40, needed 80, short by 20";
    assert_eq!(messages(&planned, Code::QuotaShort), [message]);
}

#[test]
fn a_full_quota_of_public_addresses_is_named() {
    let mut live = empty();
    let addresses = vec![counter("PublicIPAddresses", 100, 100)];
    let answer = Answer::Known(addresses);
    live.facts
        .network_quota
        .insert(Region::new("eastus"), answer);
    let planned = planned(&spec(pool(Stage::Training, Workload::Small)), &live);
    let message = "quota `PublicIPAddresses` (PublicIPAddresses) in eastus: limit 100, used 100, \
                   needed 1, short by 1";
    assert_eq!(messages(&planned, Code::QuotaShort), [message]);
}

#[test]
fn a_live_size_that_only_azure_knows_is_counted_by_what_azure_says() {
    let two = spec(Pool {
        count: Some(2),
        ..pool(Stage::Training, Workload::Small)
    });
    let mut live = applied(&good_plan(&two, &empty()), &empty());
    let future = "Standard_Future_v9";
    for index in 0..2 {
        let vm = vm(&mut live, index).resource.as_mut();
        let vm = vm.and_then(|resource| resource.virtual_machine_mut());
        vm.expect("a VM").size = SizeName::from(future);
    }
    let mut three = two;
    three.pools.get_mut("train").expect("the pool").count = Some(3);
    // Nobody knows it: the pool is planned, and what cannot be counted is said.
    let unknown = planned(&three, &live);
    assert!(!unknown.diagnostics.has_errors(), "{unknown:#?}");
    assert!(codes(&unknown.diagnostics).contains(&"SIZE007"));
    let message = "the catalogue does not know `Standard_Future_v9`, so its quota is not checked";
    assert_eq!(messages(&unknown, Code::QuotaUnknown), [message]);
    // Azure knows it: its vCPUs count for the family that Azure names.
    let mut known = fact(future, "standardFutureFamily");
    let vcpus = ("vCPUs".to_owned(), "7".to_owned());
    known.capabilities.extend([vcpus]);
    set_sizes(&mut live, "eastus", [known]);
    set_quota(&mut live, "eastus", "standardFutureFamily", 20, 14);
    let counted = planned(&three, &live);
    let message = "quota `standardFutureFamily` (standardFutureFamily) in eastus: limit 20, \
                   used 14, needed 7, short by 1";
    assert_eq!(messages(&counted, Code::QuotaShort), [message]);
}

#[test]
fn whether_a_size_has_gpus_is_not_read_from_a_capability_that_may_say_zero() {
    let size = "Standard_ND96isr_MI300X_v5";
    let amd = spec(named(Stage::Training, Workload::Generative, size, 1));
    let check = |gpus: Option<&str>| {
        let mut listed = fact(size, "standardNDISRMI300Xv5Family");
        let told = gpus.map(|gpus| ("GPUs".to_owned(), gpus.to_owned()));
        listed.capabilities.extend(told);
        let mut live = empty();
        set_sizes(&mut live, "eastus", [listed]);
        let plan = good_plan(&amd, &live);
        assert_eq!(plan.pools["train"].size.as_str(), size, "{gpus:?}");
    };
    check(None);
    check(Some("0"));
    check(Some("8"));
    check(Some("many"));
}

fn cpu_of(size: &str) -> Spec {
    spec(named(Stage::Inference, Workload::Small, size, 1))
}

#[test]
fn sizes_are_found_whatever_their_case_and_suggested_whatever_their_blanks() {
    let live = applied(&good_plan(&cpu_of("Standard_D4s_v5"), &empty()), &empty());
    let other_case = planned(&cpu_of("standard_d4S_V5"), &live);
    assert_eq!(actions(&other_case.plan.expect("a plan")), []);
    let check = |given: &str| {
        let refused = planned(&cpu_of(given), &empty());
        assert_eq!(codes(&refused.diagnostics), ["SIZE001"], "{given}");
        let finding = refused.diagnostics.iter().next().expect("a finding");
        let meant = "did you mean `Standard_ND96isr_H100_v5`?";
        assert_eq!(finding.help[0], meant, "{given}");
    };
    check("Standard ND96isr H100 v5");
    check(" standard_nd96ISR_h100_v5 ");
    check("nd96isr_h100_v5");
    check("ND96isr H100 v5");
}
