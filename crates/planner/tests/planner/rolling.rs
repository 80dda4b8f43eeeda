//! Instances of scale sets that are brought up to date.

use model::{
    live::Live,
    plan::{Action, Operation},
    spec::{Grouping, ImageChoice, Rollout, Share, Spec},
};

use crate::{
    scale_sets::{ethernet, fabric, live_set, messages, set, step, with_count},
    support::{applied, empty, good_plan, instance, live_stack, running, spec},
};

fn rolling(share: Share) -> Spec {
    let mut pool = fabric(4);
    pool.rollout = Some(Rollout {
        max_unavailable: share,
    });
    spec(pool)
}

/// The live stack of a spec, in which the first so many of four instances are behind.
fn behind(spec: &Spec, count: u32) -> Live {
    let mut live = applied(&good_plan(spec, &empty()), &empty());
    let instances = live.instances.values_mut().next().expect("the set");
    instances.clear();
    for index in 0..4 {
        let mut one = instance(index, running());
        one.latest_model = Some(index >= count);
        instances.push(one);
    }
    live
}

fn upgraded(ids: &[&str], at_once: u32) -> Operation {
    Operation::UpgradeInstances {
        instances: ids.iter().map(|id| (*id).to_owned()).collect(),
        at_once,
    }
}

#[test]
fn shares_are_one_at_least_and_all_at_most() {
    assert_eq!(Share::Percent(20).of(4), 1);
    assert_eq!(Share::Percent(50).of(5), 2);
    assert_eq!(Share::Percent(100).of(7), 7);
    assert_eq!(Share::Count(3).of(2), 2);
    assert_eq!(Share::Count(3).of(100), 3);
}

#[test]
fn instances_that_are_behind_are_brought_up_to_date_as_the_spec_says() {
    let spec = rolling(Share::Percent(50));
    let live = behind(&spec, 3);
    let plan = good_plan(&spec, &live);
    let step = step(&plan);
    assert_eq!(step.action, Action::Update);
    assert_eq!(step.operations, [upgraded(&["0", "1", "2"], 2)]);
    let found = messages(&spec, &live);
    let expected =
        "STATE005: 3 of 4 instances of `demo-train` are behind its newest profile: 0, 1, 2";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
    assert!(!good_plan(&spec, &behind(&spec, 0)).has_changes);
}

#[test]
fn without_a_rollout_instances_stay_as_they_are() {
    let spec = spec(fabric(4));
    assert!(!good_plan(&spec, &behind(&spec, 3)).has_changes);
}

#[test]
fn a_new_version_of_the_image_reaches_the_set_first_and_then_every_instance() {
    let spec = rolling(Share::Count(1));
    let mut live = behind(&spec, 0);
    for resource in &mut live.resources {
        let set = resource.resource.as_mut();
        let set = set.and_then(model::resource::Resource::scale_set_mut);
        let image = set.and_then(|set| set.image.marketplace_mut());
        if let Some(image) = image {
            "1.0.0".clone_into(&mut image.version);
        }
    }
    let mut pinned = spec.clone();
    let pool = pinned.pools.get_mut("train").expect("the pool");
    pool.image = ImageChoice::Urn {
        urn: "microsoft-dsvm:ubuntu-hpc:2404:2.0.0"
            .parse()
            .expect("a URN"),
        accept_terms: false,
    };
    let plan = good_plan(&pinned, &live);
    let attributes = vec!["image.version".to_owned()];
    let expected = [
        Operation::Patch { attributes },
        upgraded(&["0", "1", "2", "3"], 1),
    ];
    assert_eq!(step(&plan).operations, expected);
}

#[test]
fn a_rollout_is_for_sets_that_can_be_rolled() {
    let mut pool = ethernet(3);
    pool.grouping = Grouping::ScaleSet;
    let expected =
        "POOL001: `rollout` is for InfiniBand scale sets, and the pool is a Flexible scale set";
    let rollout = Some(Rollout {
        max_unavailable: Share::Count(1),
    });
    pool.rollout = rollout;
    let found = messages(&spec(pool), &empty());
    assert!(found.iter().any(|found| found == expected), "{found:?}");
    let mut single = ethernet(1);
    single.rollout = rollout;
    let found = messages(&spec(single), &empty());
    let expected = "POOL001: `rollout` is for InfiniBand scale sets, and the pool is single VMs";
    assert!(found.iter().any(|found| found == expected), "{found:?}");
}

/// Only a literal `latest` lets Azure upgrade the system of instances by itself, which somebody may
/// have turned on.
#[test]
fn a_set_that_azure_upgrades_keeps_its_literal_version() {
    for pool in [fabric(4), ethernet(20)] {
        let spec = spec(pool);
        let mut live = live_stack(&spec);
        let image = &mut live_set(&mut live).1.image;
        let image = image.marketplace_mut().expect("a marketplace image");
        "latest".clone_into(&mut image.version);
        assert!(!good_plan(&spec, &live).has_changes);
        let count = spec.pools["train"].count.expect("a count") + 1;
        let grown = good_plan(&with_count(&spec, count), &live);
        let image = match &set(&grown).image {
            model::resource::ImageReference::Marketplace(image) => image.version.as_str(),
            model::resource::ImageReference::Own(_) => "one of its own",
        };
        assert_eq!(image, "latest");
    }
}
