//! What goes wrong, and that planning and applying again gets there.

use model::{plan::Ending, resource::tags};
use tensorform_azure::Interrupt;
use tokio::sync::watch;

use super::{
    rig::{Events, Rig},
    stack::{Wanted, change_machine, destruction, failures, is_done, node, plan, small},
};
use emulator::Faults;

/// Plans and applies until nothing is left to do; tells how often it took.
async fn converge(rig: &Rig, all: &[Wanted]) -> usize {
    for round in 0..6 {
        let steps = plan(&rig.read().await, all);
        if is_done(&steps) {
            return round;
        }
        rig.apply(&format!("again-{round}"), steps).await;
    }
    panic!("no convergence: {:#?}", plan(&rig.read().await, all));
}

#[tokio::test]
async fn a_dropped_answer_is_recognised_by_the_nonce() {
    let rule = "rules: [{match: {method: PUT, type: Microsoft.Compute/virtualMachines, nth: 1}, then: drop_after_acceptance}]";
    let rig = Rig::faulty(rule).await;
    let all = small();
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
    assert!(outcome.reached(), "{outcome:#?}");
    let live = rig.read().await;
    let machine = live
        .resources
        .iter()
        .find(|live| live.id == all[8].id)
        .expect("a machine");
    assert_eq!(machine.tags.get(tags::RUN), Some("nonce-1"));
    assert!(is_done(&plan(&live, &all)));
}

#[tokio::test]
async fn throttling_is_waited_out() {
    let rule = "rules: [{match: {method: PUT, count: 3}, then: {throttle: {retry_after: 30}}}]";
    let rig = Rig::faulty(rule).await;
    let begun = rig.clock.now();
    let outcome = rig
        .apply("nonce-1", plan(&rig.read().await, &small()))
        .await;
    assert!(outcome.reached(), "{outcome:#?}");
    assert!(rig.clock.now().since(begun).as_secs() >= 30);
}

#[tokio::test]
async fn a_failure_inside_the_operation_is_told_and_repaired() {
    let rule = "rules: [{match: {method: PUT, type: Microsoft.Compute/virtualMachines, nth: 1}, then: {fail_in_operation: {code: AllocationFailed}}}]";
    let rig = Rig::faulty(rule).await;
    let all = small();
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
    let failed = failures(&outcome);
    let [(_, failed)] = failed.as_slice() else {
        panic!("one failure: {outcome:#?}");
    };
    assert_eq!(
        (failed.code.as_str(), failed.kind.as_str()),
        ("AllocationFailed", "capacity")
    );
    assert!(
        failed.left_behind && failed.correlation_id.is_some(),
        "{failed:?}"
    );
    let live = rig.read().await;
    let machine = live
        .resources
        .iter()
        .find(|live| live.id == all[8].id)
        .expect("what was left");
    assert_eq!(machine.state.power, None, "it never had hardware");
    assert_eq!(converge(&rig, &all).await, 1);
}

#[tokio::test]
async fn a_machine_that_failed_and_runs_is_put_right_without_deleting_it() {
    let rule = "rules: [{match: {method: PUT, type: Microsoft.Compute/virtualMachines, nth: 1}, then: {fail_in_operation: {code: OSProvisioningTimedOut}}}]";
    let rig = Rig::faulty(rule).await;
    let all = small();
    rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
    let events = Events::default();
    let outcome = rig
        .apply_to("nonce-2", plan(&rig.read().await, &all), &events)
        .await;
    assert!(outcome.reached(), "{outcome:#?}");
    let text = format!("{:?}", events.all());
    assert!(
        text.contains("/reapply") && !text.contains("DELETE"),
        "{text}"
    );
    assert!(is_done(&plan(&rig.read().await, &all)));
}

#[tokio::test]
async fn an_interrupt_lets_things_finish_and_the_next_run_does_the_rest() {
    let rig = Rig::new().await;
    let all = small();
    let (ask, interrupt) = watch::channel(Interrupt::No);
    let steps = plan(&rig.read().await, &all);
    ask.send(Interrupt::No).expect("a listener");
    let events = Events::default();
    let running = rig.apply_until("nonce-1", steps, &events, interrupt);
    let asking = async {
        while !rig
            .client
            .requests()
            .by_kind
            .contains_key("natGateways/put")
        {
            tokio::task::yield_now().await;
        }
        ask.send(Interrupt::Graceful).expect("a listener");
    };
    let (outcome, ()) = tokio::join!(running, asking);
    assert!(outcome.interrupted);
    assert!(failures(&outcome).is_empty(), "{outcome:#?}");
    assert!(
        outcome
            .steps
            .iter()
            .any(|(_, _, ending)| *ending == Ending::NotStarted)
    );
    assert_eq!(converge(&rig, &all).await, 1);
}

#[tokio::test]
async fn somebody_elses_write_between_read_and_write_is_seen() {
    let rig = Rig::new().await;
    let mut all = small();
    rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
    change_machine(all.last_mut().expect("a machine"), |machine| {
        machine.size = "Standard_D4s_v5".into();
    });
    let steps = plan(&rig.read().await, &all);
    // The first PATCH meets a tag that was no longer true.
    rig.sandbox.set_faults(
        Faults::parse(
            "rules: [{match: {method: PATCH, type: Microsoft.Compute/virtualMachines, nth: 1}, then: {fail_at_begin: {status: 412, code: PreconditionFailed}}}]",
            "faults.yaml",
        )
        .expect("rules"),
    );
    let outcome = rig.apply("nonce-2", steps).await;
    assert!(outcome.reached(), "{outcome:#?}");
}

/// Makes and destroys the small stack with a fault at write `k`, for every `k`: planning and
/// applying again gets there each time, with nothing twice and nothing left.
async fn fails_at_each_write(then: &str) {
    for k in 1..=20 {
        let rule = format!(
            "rules: [{{match: {{method: [PUT, PATCH, POST, DELETE], nth: {k}}}, then: {then}}}]"
        );
        let rig = Rig::faulty(&rule).await;
        let all = small();
        rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
        converge(&rig, &all).await;
        let mut live = rig.read().await;
        let machines = live
            .resources
            .iter()
            .filter(|live| live.arm_type.ends_with("virtualMachines"));
        assert_eq!(machines.count(), 1, "fault at write {k}");
        for round in 0..4 {
            rig.apply(&format!("end-{round}"), destruction(&live, &all))
                .await;
            live = rig.read().await;
        }
        let left: Vec<_> = live.resources.iter().map(|live| &live.id).collect();
        assert!(left.is_empty(), "fault at write {k}: {left:?}");
    }
}

#[tokio::test]
async fn an_answer_lost_at_any_write_converges() {
    fails_at_each_write("drop_after_acceptance").await;
}

#[tokio::test]
async fn a_write_never_done_converges() {
    fails_at_each_write("drop_before").await;
}

#[tokio::test]
async fn a_refused_write_converges() {
    let refusal = "{fail_at_begin: {status: 409, code: OperationNotAllowed, message: no}}";
    fails_at_each_write(refusal).await;
}

#[tokio::test]
async fn a_failed_operation_converges() {
    let failure =
        "{fail_in_operation: {code: InternalExecutionError, message: no, allocated: false}}";
    fails_at_each_write(failure).await;
}

#[tokio::test]
async fn reads_that_fail_now_and_then_do_no_harm() {
    let rule = "rules: [{match: {method: GET, nth: [3, 7, 11, 20, 33, 50]}, then: {fail_at_begin: {status: 503, code: ServiceUnavailable, message: no}}}]";
    let rig = Rig::faulty(rule).await;
    let mut all = small();
    all.extend((1..4).map(node));
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
    assert!(outcome.reached(), "{outcome:#?}");
}
