//! Other sizes for live nodes: what Azure resizes, and what it makes anew.

use model::{
    diag::Code,
    plan::Action,
    spec::{Pool, SizeChoice, Spec, Stage, Workload},
    units::SizeName,
};

use crate::support::{actions, codes, empty, live_stack, planned, pool, spec};

fn named(size: &str, allow_stop: bool) -> Spec {
    spec(Pool {
        size: SizeChoice::Named(SizeName::from(size)),
        allow_stop,
        ..pool(Stage::Inference, Workload::Small)
    })
}

#[test]
fn a_resize_between_kinds_of_temporary_disks_is_a_replacement() {
    let check = |before: &str, after: &str, expected: Action| {
        let live = live_stack(&named(before, false));
        let plan = planned(&named(after, true), &live).plan.expect("a plan");
        let expected = ("pool.train[0].vm".to_owned(), expected);
        assert_eq!(actions(&plan), [expected], "{before} to {after}");
    };
    // SCSI to NVMe, none to SCSI, SCSI to none.
    check("Standard_D4s_v3", "Standard_D4ds_v6", Action::Replace);
    check("Standard_D4s_v5", "Standard_D4ds_v5", Action::Replace);
    check("Standard_D4ds_v5", "Standard_D4s_v5", Action::Replace);
    check("Standard_D4s_v5", "Standard_D8s_v5", Action::RestartUpdate);
    check("Standard_D4s_v3", "Standard_D4ds_v5", Action::StopUpdate);
    check(
        "Standard_D4ds_v6",
        "Standard_D8ds_v6",
        Action::RestartUpdate,
    );
}

#[test]
fn a_replacement_by_resize_names_the_rule_and_the_feature() {
    let live = live_stack(&named("Standard_D4s_v3", false));
    let planned = planned(&named("Standard_D4ds_v6", false), &live);
    let refused = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code == Code::StopNotAllowed)
        .expect("a refusal");
    assert_eq!(
        refused.help[0],
        "Azure does not resize from a SCSI temporary disk to an NVMe temporary disk unless the \
         subscription has the preview feature `VMTempDiskResizePreview`: the node would be made anew"
    );
}

#[test]
fn sizes_are_found_whatever_their_case_and_suggested_whatever_their_blanks() {
    let live = live_stack(&named("Standard_D4s_v5", false));
    let other_case = planned(&named("standard_d4S_V5", false), &live);
    assert_eq!(actions(&other_case.plan.expect("a plan")), []);
    let check = |given: &str| {
        let refused = planned(&named(given, false), &empty());
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
