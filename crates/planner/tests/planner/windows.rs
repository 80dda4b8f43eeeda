//! Windows nodes: the Windows edition of the Data Science VM, its prices and its names.

use model::{
    address::Address,
    plan::Action,
    resource::{PasswordSource, System, VirtualMachine},
    spec::{ImageChoice, OperatingSystem, Pool, SizeChoice, Spec, Stage, Workload},
    units::SizeName,
};

use crate::support::{actions, applied, empty, good_plan, planned, pool, spec};

fn windows(size: &str) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from(size));
    pool.os = OperatingSystem::Windows {
        password_from_env: Some("ADMIN_PASSWORD".to_owned()),
    };
    pool
}

fn machine(spec: &Spec) -> VirtualMachine {
    let plan = good_plan(spec, &empty());
    let mut machines = plan.steps.iter();
    machines
        .find_map(|step| step.after.as_ref()?.virtual_machine().cloned())
        .expect("a VM")
}

#[test]
fn windows_nodes_get_the_windows_edition_and_no_keys() {
    let spec = spec(windows("Standard_F8as_v6"));
    let plan = good_plan(&spec, &empty());
    let image = &plan.pools["train"].image;
    assert!(
        image.urn.starts_with("microsoft-dsvm:dsvm-win-2022:"),
        "{}",
        image.urn
    );
    let vm = machine(&spec);
    assert_eq!(vm.os, System::Windows);
    let from_env = "ADMIN_PASSWORD".to_owned();
    assert_eq!(vm.password, Some(PasswordSource { from_env }));
    assert_eq!(
        vm.ssh_keys.value().map(std::collections::BTreeSet::len),
        Some(0)
    );
    let key = Address::ssh_key();
    assert!(plan.steps.iter().all(|step| step.address != key));
    let mut lines = plan.cost.lines.iter();
    let line = lines.find(|line| line.item == "Standard_F8as_v6");
    assert_eq!(
        line.map(|line| line.meter.as_str()),
        Some("Windows, on demand")
    );
    let live = applied(&plan, &empty());
    assert_eq!(actions(&good_plan(&spec, &live)), Vec::new());
}

#[test]
fn an_edition_of_generation_1_is_for_sizes_that_boot_it() {
    // Generation 1 only: the older edition.
    let old = machine(&spec(windows("Standard_A8m_v2")));
    assert!(
        old.image.to_string().contains("dsvm-win-2019"),
        "{}",
        old.image
    );
    let mut named = windows("Standard_F8as_v6");
    named.image = ImageChoice::Urn {
        urn: "microsoft-dsvm:dsvm-win-2019:winserver-2019:latest"
            .parse()
            .expect("a URN"),
        accept_terms: false,
    };
    let planned = planned(&spec(named), &empty());
    assert!(planned.diagnostics.has_errors());
    let said = format!("{:?}", planned.diagnostics);
    assert!(said.contains("is of generation 1"), "{said}");
}

#[test]
fn sizes_that_windows_cannot_use_are_refused() {
    let planned = planned(&spec(windows("Standard_ND96isr_H100_v5")), &empty());
    let said = format!("{:?}", planned.diagnostics);
    assert!(said.contains("fabric manager"), "{said}");
    // Linux and Windows do not mix.
    let mut linux = windows("Standard_F8as_v6");
    linux.image = ImageChoice::Urn {
        urn: "microsoft-dsvm:ubuntu-2204:2204-gen2:latest"
            .parse()
            .expect("a URN"),
        accept_terms: false,
    };
    let planned = crate::support::planned(&spec(linux), &empty());
    let said = format!("{:?}", planned.diagnostics);
    assert!(said.contains("holds Linux"), "{said}");
}

#[test]
fn host_names_of_windows_are_short_and_distinct() {
    let mut pool = windows("Standard_F8as_v6");
    pool.count = Some(3);
    let mut spec = spec(pool);
    "a-long-name-of-a-stack".clone_into(&mut spec.name);
    let plan = good_plan(&spec, &empty());
    let machines = plan.steps.iter();
    let names: std::collections::BTreeSet<String> = machines
        .filter_map(|step| {
            Some(
                step.after
                    .as_ref()?
                    .virtual_machine()?
                    .computer_name
                    .clone(),
            )
        })
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(
        names
            .iter()
            .all(|name| name.len() <= 15 && name.starts_with("a-long-nam")),
        "{names:?}"
    );
    // The resource keeps its full name.
    let step = plan
        .steps
        .iter()
        .find(|step| step.address == Address::vm("train", 2));
    let step = step.expect("a VM");
    assert_eq!(step.id.name(), "a-long-name-of-a-stack-train-2");
    assert_eq!(step.action, Action::Create);
}
