//! `--replace`: what it takes, and what it says about everything else.

use model::{
    catalog::Catalog,
    diag::Severity,
    plan::Action,
    spec::{DataDisk, DiskType, Spec, Stage, Workload},
};
use tensorform_planner::Planned;

use crate::support::{actions, empty, live_stack, options, planned_with, pool, spec};

fn two_nodes() -> Spec {
    let mut pool = pool(Stage::Training, Workload::Small);
    pool.count = Some(2);
    pool.disks.data = vec![DataDisk {
        lun: 0,
        size_gb: 64,
        disk_type: DiskType::StandardSsd,
    }];
    spec(pool)
}

fn replacing(spec: &Spec, live: &model::live::Live, address: &str) -> Planned {
    let mut options = options();
    options.permissions.replace = vec![address.parse().expect("an address")];
    planned_with(spec, Catalog::embedded(), live, &options)
}

/// The finding about `--replace` on two live nodes, with its help.
fn check(address: &str, expected: (&str, Severity, &str, &[&str])) {
    let spec = two_nodes();
    let planned = replacing(&spec, &live_stack(&spec), address);
    let findings: Vec<_> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.code.as_str().starts_with("CHANGE"))
        .map(|finding| {
            let help: Vec<&str> = finding.help.iter().map(String::as_str).collect();
            (
                finding.code.as_str(),
                finding.severity,
                finding.message.as_str(),
                help,
            )
        })
        .collect();
    let (code, severity, message, help) = expected;
    assert_eq!(findings, [(code, severity, message, help.to_vec())]);
    assert_eq!(actions(&planned.plan.expect("a plan")), [], "{address}");
}

#[test]
fn an_address_that_names_nothing_is_refused_with_the_nearest() {
    let takes = "`--replace` takes VMs: `pool.train[0].vm`, `pool.train[1].vm`";
    check(
        "nonsense",
        (
            "CHANGE005",
            Severity::Error,
            "`--replace` names `nonsense`, and the plan has no such resource",
            &[takes],
        ),
    );
    check(
        "pool.trian[1].vm",
        (
            "CHANGE005",
            Severity::Error,
            "`--replace` names `pool.trian[1].vm`, and the plan has no such resource",
            &["did you mean `pool.train[1].vm`?"],
        ),
    );
    check(
        "pool.train[7].vm",
        (
            "CHANGE005",
            Severity::Error,
            "`--replace` names `pool.train[7].vm`, and the plan has no such resource",
            &[takes],
        ),
    );
}

#[test]
fn a_node_of_its_own_is_named_with_its_vm_or_without() {
    let spec = two_nodes();
    for address in ["pool.train[1]", "pool.train[1].vm"] {
        let planned = replacing(&spec, &live_stack(&spec), address);
        let errors = planned.diagnostics.has_errors();
        assert!(!errors, "{:#?}", planned.diagnostics);
        let replaced = actions(&planned.plan.expect("a plan"));
        let expected = ("pool.train[1].vm".to_owned(), Action::Replace);
        assert_eq!(replaced, [expected], "{address}");
    }
}

#[test]
fn what_is_no_vm_is_not_replaced() {
    check(
        "pool.train[0].data_disk[0]",
        (
            "CHANGE006",
            Severity::Error,
            "`--replace` names `pool.train[0].data_disk[0]`, and only VMs are replaced",
            &["`--replace` takes VMs: `pool.train[0].vm`, `pool.train[1].vm`"],
        ),
    );
}

#[test]
fn what_is_deleted_or_made_anyway_is_said() {
    let wide = two_nodes();
    let mut narrow = two_nodes();
    if let Some(pool) = narrow.pools.get_mut("train") {
        pool.count = Some(1);
    }
    let messages = |planned: &Planned| -> Vec<(Severity, String)> {
        let ours = planned
            .diagnostics
            .iter()
            .filter(|finding| finding.code.as_str() == "CHANGE006");
        ours.map(|finding| (finding.severity, finding.message.clone()))
            .collect()
    };
    let deleted = replacing(&narrow, &live_stack(&wide), "pool.train[1].vm");
    assert_eq!(
        messages(&deleted),
        [(
            Severity::Error,
            "`--replace` names `pool.train[1].vm`, which the spec does not have any more"
                .to_owned()
        )]
    );
    // A run that was killed after the deletion goes on with the same command.
    let made = replacing(&wide, &empty(), "pool.train[1].vm");
    assert_eq!(
        messages(&made),
        [(
            Severity::Note,
            "`pool.train[1].vm` does not exist: it is made, and nothing is replaced".to_owned()
        )]
    );
    assert!(!made.diagnostics.has_errors());
}

#[test]
fn a_live_vm_is_replaced() {
    let spec = two_nodes();
    let planned = replacing(&spec, &live_stack(&spec), "pool.train[1].vm");
    assert!(!planned.diagnostics.has_errors(), "{planned:#?}");
    let replaced = ("pool.train[1].vm".to_owned(), Action::Replace);
    assert_eq!(actions(&planned.plan.expect("a plan")), [replaced]);
}
