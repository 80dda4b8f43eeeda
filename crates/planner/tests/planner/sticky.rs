//! Choices that stay.

use model::{
    diag::Code,
    live::{Answer, UsageFact},
    resource::{Properties, Resource},
    spec::{ImageChoice, SizeChoice, SizeConstraints, Spec, Stage, Workload, Zones},
    units::{Region, SizeName},
};

use crate::support::{
    NEWEST, actions, applied, codes, empty, good_plan, live_stack, options, planned, planned_with,
    pool, spec, vm,
};

fn set_size(live: &mut model::live::Live, index: u32, size: &str) {
    if let Some(Properties::VirtualMachine(vm)) = vm(live, index)
        .resource
        .as_mut()
        .map(|resource| &mut resource.properties)
    {
        vm.size = SizeName::from(size);
    }
}

#[test]
fn a_live_size_that_still_satisfies_the_spec_stays() {
    let spec = spec(pool(Stage::Training, Workload::Small));
    let mut live = live_stack(&spec);
    set_size(&mut live, 0, "Standard_E16as_v5");
    let planned = planned(&spec, &live);
    let plan = planned.plan.expect("a plan");
    assert_eq!(actions(&plan), []);
    assert_eq!(
        plan.pools["train"].size,
        SizeName::from("Standard_E16as_v5")
    );
    assert!(
        codes(&planned.diagnostics).contains(&"SIZE006"),
        "the better choice is a note"
    );
    assert!(planned.questions.is_empty(), "nothing needs to be asked");
}

#[test]
fn one_node_of_another_size_does_not_take_the_others_along() {
    let mut spec = spec(pool(Stage::Training, Workload::Small));
    let nodes = spec.pools.get_mut("train").expect("the pool");
    nodes.count = Some(3);
    nodes.allow_stop = true;
    let mut live = live_stack(&spec);
    for index in 0..3 {
        set_size(&mut live, index, "Standard_E16as_v5");
    }
    for resized in 0..3 {
        let mut live = live.clone();
        set_size(&mut live, resized, "Standard_E32as_v5");
        let plan = planned(&spec, &live).plan.expect("a plan");
        let usual = SizeName::from("Standard_E16as_v5");
        assert_eq!(plan.pools["train"].size, usual);
        let changed: Vec<String> = plan
            .changes()
            .map(|step| step.address.to_string())
            .collect();
        assert_eq!(changed, [format!("pool.train[{resized}].vm")]);
    }
}

#[test]
fn what_a_new_pool_would_get_is_judged_as_a_new_pool_is() {
    let spec = spec(pool(Stage::Training, Workload::Generative));
    let first = good_plan(&spec, &empty());
    let again = planned(&spec, &applied(&first, &empty()));
    assert!(
        !codes(&again.diagnostics).contains(&"SIZE006"),
        "what is not offered in the region is no better choice: {:?}",
        again.diagnostics
    );
    let verdicts = |plan: &model::plan::Plan| {
        let candidates = plan.pools["train"].candidates.clone();
        candidates
            .into_iter()
            .map(|candidate| (candidate.size, candidate.verdict))
            .collect::<Vec<_>>()
    };
    let again = again.plan.expect("a plan");
    assert_eq!(verdicts(&again), verdicts(&first));
}

#[test]
fn nodes_that_move_to_another_size_need_its_quota_and_its_offer() {
    let mut spec = spec(pool(Stage::Training, Workload::Small));
    let mut live = live_stack(&spec);
    set_size(&mut live, 0, "Standard_E16as_v5");
    let resized = |spec: &mut Spec, size: &str| {
        let pool = spec.pools.get_mut("train").expect("the pool");
        pool.size = SizeChoice::Named(SizeName::from(size));
        pool.allow_stop = true;
    };
    let family = "standardEASv4Family";
    let counters = live.facts.compute_quota.get_mut(&Region::new("eastus"));
    let Some(Answer::Known(counters)) = counters else {
        unreachable!("the counters are known");
    };
    counters.push(UsageFact {
        name: family.to_owned(),
        display_name: family.to_owned(),
        limit: 8,
        used: 0,
    });
    resized(&mut spec, "Standard_E16as_v4");
    let short = planned(&spec, &live);
    assert!(
        codes(&short.diagnostics).contains(&"QUOTA001"),
        "{:?}",
        short.diagnostics
    );
    resized(&mut spec, "Standard_ND96isr_MI300X_v5");
    let absent = planned(&spec, &live);
    let refused = absent
        .diagnostics
        .iter()
        .find(|finding| finding.code == Code::SizeRefused)
        .expect("a refusal");
    assert!(refused.message.contains("not offered in eastus"));
}

#[test]
fn a_node_that_gets_another_image_asks_for_its_version() {
    let mut spec = spec(pool(Stage::Training, Workload::Small));
    let live = live_stack(&spec);
    let pool = spec.pools.get_mut("train").expect("the pool");
    pool.image = ImageChoice::Hpc;
    pool.allow_stop = true;
    let plan = good_plan(&spec, &live);
    let step = plan.changes().next().expect("a change");
    assert_eq!(step.action, model::plan::Action::Replace);
    let after = step.after.as_ref().and_then(Resource::virtual_machine);
    assert_eq!(
        after.and_then(|vm| Some(vm.image.marketplace()?.version.as_str())),
        Some(NEWEST)
    );
}

#[test]
fn reselect_takes_the_better_choice_and_needs_permission_to_stop() {
    let spec = spec(pool(Stage::Training, Workload::Small));
    let mut live = live_stack(&spec);
    set_size(&mut live, 0, "Standard_E16as_v5");
    let mut options = options();
    options.reselect = true;
    let planned = planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options);
    assert!(codes(&planned.diagnostics).contains(&"CHANGE001"));
    options.permissions.allow_stop = true;
    let planned = planned_with(&spec, model::catalog::Catalog::embedded(), &live, &options);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:?}",
        planned.diagnostics
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(
        actions(&plan),
        [(
            "pool.train[0].vm".to_owned(),
            model::plan::Action::StopUpdate
        )]
    );
}

#[test]
fn a_live_size_that_the_spec_excludes_goes() {
    let mut spec = spec(pool(Stage::Training, Workload::Small));
    let live = live_stack(&spec);
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.size = SizeChoice::Constrained(SizeConstraints {
            family: vec!["M".to_owned()],
            ..SizeConstraints::default()
        });
        pool.allow_stop = true;
    }
    let plan = good_plan(&spec, &live);
    assert_eq!(plan.changes().count(), 1);
    assert!(
        plan.pools["train"].size.as_str().starts_with("Standard_M"),
        "{}",
        plan.pools["train"].size
    );
}

#[test]
fn nodes_keep_their_image_version_and_zone_and_new_ones_follow_the_size() {
    let mut spec = spec(pool(Stage::Training, Workload::Small));
    let mut live = live_stack(&spec);
    set_size(&mut live, 0, "Standard_E16as_v5");
    if let Some(Properties::VirtualMachine(vm)) = vm(&mut live, 0)
        .resource
        .as_mut()
        .map(|resource| &mut resource.properties)
    {
        let image = vm.image.marketplace_mut().expect("a marketplace image");
        "24.01.01".clone_into(&mut image.version);
        vm.zones = vec!["2".to_owned()];
        vm.os_disk.size_gb = 300;
    }
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.count = Some(2);
    }
    let plan = good_plan(&spec, &live);
    assert_eq!(
        actions(&plan),
        [("pool.train[1].vm".to_owned(), model::plan::Action::Create)]
    );
    let Some(Properties::VirtualMachine(new)) = plan
        .changes()
        .next()
        .and_then(|step| step.after.as_ref())
        .map(|resource| &resource.properties)
    else {
        unreachable!("the step makes a VM");
    };
    assert_eq!(new.size, SizeName::from("Standard_E16as_v5"));
    assert_eq!(
        new.image
            .marketplace()
            .expect("a marketplace image")
            .version,
        NEWEST,
        "new nodes get the newest version"
    );
}

#[test]
fn a_size_that_the_catalogue_does_not_know_stays_and_is_said() {
    let spec = spec(pool(Stage::Training, Workload::Small));
    let mut live = live_stack(&spec);
    set_size(&mut live, 0, "Standard_Future_v9");
    let planned = planned(&spec, &live);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:?}",
        planned.diagnostics
    );
    assert!(codes(&planned.diagnostics).contains(&"SIZE007"));
    let plan = planned.plan.expect("a plan");
    assert_eq!(actions(&plan), []);
    assert!(!plan.cost.complete, "its price is unknown");
}

#[test]
fn listed_zones_are_taken_in_turn_and_stay() {
    let mut pool = pool(Stage::Training, Workload::Small);
    pool.count = Some(5);
    pool.zones = Zones::Listed(vec![1, 2, 3]);
    let spec = spec(pool);
    let plan = good_plan(&spec, &empty());
    let zones: Vec<String> = plan
        .steps
        .iter()
        .filter_map(|step| {
            step.after
                .as_ref()?
                .virtual_machine()?
                .zones
                .first()
                .cloned()
        })
        .collect();
    assert_eq!(zones, ["1", "2", "3", "1", "2"]);
    assert_eq!(actions(&good_plan(&spec, &live_stack(&spec))), []);
}

#[test]
fn a_newer_version_changes_no_live_node_and_new_ones_get_it() {
    let of = |count: u32, version: &str| {
        let mut pool = pool(Stage::Training, Workload::Small);
        pool.size = SizeChoice::Named(SizeName::from("Standard_E8as_v5"));
        pool.count = Some(count);
        pool.image = ImageChoice::Urn {
            urn: format!("microsoft-dsvm:ubuntu-2204:2204-gen2:{version}")
                .parse()
                .expect("a URN"),
            accept_terms: false,
        };
        spec(pool)
    };
    let mut live = live_stack(&of(1, "1.0.0"));
    let notes = |spec: &Spec, live: &model::live::Live| {
        let planned = planned(spec, live);
        let notes = planned.diagnostics.iter();
        let notes = notes.filter(|finding| finding.code.as_str() == "IMAGE006");
        let notes: Vec<String> = notes.map(|finding| finding.message.clone()).collect();
        let plan = planned.plan.expect("a plan");
        (actions(&plan), notes.join("\n"))
    };
    // The catalogue has seen a newer one.
    let (changes, said) = notes(&of(1, "latest"), &live);
    assert_eq!(changes, Vec::new());
    assert!(said.contains("live nodes keep version `1.0.0`"), "{said}");
    // Azure says which one a new node gets.
    let (changes, said) = notes(&of(2, "latest"), &live);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!(
        said.ends_with(&format!("new nodes get `{NEWEST}`")),
        "{said}"
    );
    // A pinned version is the same for all.
    assert_eq!(notes(&of(2, "1.0.0"), &live).1, "");
    // Nothing is newer than the newest.
    let resource = vm(&mut live, 0).resource.as_mut().expect("a VM");
    let machine = resource.virtual_machine_mut().expect("a VM");
    let image = machine
        .image
        .marketplace_mut()
        .expect("a marketplace image");
    NEWEST.clone_into(&mut image.version);
    assert_eq!(notes(&of(2, "latest"), &live).1, "");
}
