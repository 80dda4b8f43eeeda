//! Resizes: what stays in place, what stops, and what Azure does not do at all.

use model::{
    catalog::Catalog,
    diag::Diagnostics,
    live::{Live, Power},
    plan::{Action, Operation},
    spec::{SizeChoice, Spec, Stage, Workload},
    units::SizeName,
};

use crate::support::{codes, live_stack, options, planned_with, pool, spec, vm};

fn sized(size: &str) -> Spec {
    let mut pool = pool(Stage::Training, Workload::Small);
    pool.size = SizeChoice::Named(SizeName::from(size));
    spec(pool)
}

/// The action and operations of the only change, and the findings, where stops are allowed or not.
fn resized(live: &Live, to: &str, allow_stop: bool) -> (Action, Vec<Operation>, Diagnostics) {
    let mut options = options();
    options.permissions.allow_stop = allow_stop;
    let planned = planned_with(&sized(to), Catalog::embedded(), live, &options);
    let plan = planned.plan.expect("a plan");
    let mut changes = plan.changes();
    let step = changes.next().expect("a change");
    assert!(changes.next().is_none(), "one change");
    (step.action, step.operations.clone(), planned.diagnostics)
}

#[test]
fn a_size_with_another_kind_of_temporary_disk_takes_a_new_node() {
    let check = |from: &str, to: &str, words: Option<&str>| {
        let live = live_stack(&sized(from));
        let (action, _, findings) = resized(&live, to, false);
        let finding = findings
            .iter()
            .find(|finding| finding.code.as_str() == "CHANGE007");
        assert_eq!(
            finding.map(|finding| finding.message.as_str()),
            words,
            "{from} to {to}"
        );
        assert_eq!(action == Action::Replace, words.is_some(), "{from} to {to}");
        if let Some(finding) = finding {
            assert!(codes(&findings).contains(&"CHANGE001"), "{from} to {to}");
            let help = finding.help.join(" ");
            assert!(help.contains("VMTempDiskResizePreview"), "{help}");
        }
    };
    check(
        "Standard_D4s_v3",
        "Standard_D4ds_v6",
        Some(
            "Azure does not resize from a SCSI temporary disk to an NVMe temporary disk: the node is made anew",
        ),
    );
    check(
        "Standard_D4s_v3",
        "Standard_D4s_v5",
        Some(
            "Azure does not resize from a SCSI temporary disk to no temporary disk: the node is made anew",
        ),
    );
    check(
        "Standard_D4s_v5",
        "Standard_D4ds_v5",
        Some(
            "Azure does not resize from no temporary disk to a SCSI temporary disk: the node is made anew",
        ),
    );
    check("Standard_D4s_v5", "Standard_D8s_v5", None);
    check("Standard_D4s_v3", "Standard_D4ds_v5", None);
    check("Standard_D4ds_v6", "Standard_D8ds_v6", None);
}

#[test]
fn a_stop_keeps_the_power_state_that_there_was() {
    let live = live_stack(&sized("Standard_E8as_v5"));
    let patch = Operation::Patch {
        attributes: vec!["disk_controller".to_owned(), "size".to_owned()],
    };
    let check = |power: Power, expected: (Action, &[Operation])| {
        let mut live = live.clone();
        vm(&mut live, 0).state.power = Some(power);
        let (action, operations, _) = resized(&live, "Standard_E16as_v6", true);
        assert_eq!((action, operations.as_slice()), expected, "{power:?}");
    };
    let stopping = [Operation::Deallocate, patch.clone()];
    let around = [Operation::Deallocate, patch, Operation::Start];
    check(Power::Running, (Action::StopUpdate, &around));
    // Shut down from inside: it is not started behind its owner's back.
    check(Power::Stopped, (Action::StopUpdate, &stopping));
}
