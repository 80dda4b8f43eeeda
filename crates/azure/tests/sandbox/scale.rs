//! Many machines.

use model::live::Power;

use super::{
    rig::Rig,
    stack::{is_done, network, node, plan},
};

const COUNT: usize = 300;

#[tokio::test]
async fn hundreds_of_machines_are_made_and_read_by_pages() {
    let mut rig = Rig::with(|options| options.throttling = false).await;
    rig.parallelism = COUNT;
    let mut all = network();
    all.extend((0..COUNT).map(node));
    let outcome = rig.apply("nonce-1", plan(&rig.read().await, &all)).await;
    assert!(
        outcome.reached(),
        "{:?}",
        outcome
            .steps
            .iter()
            .find(|(_, _, ending)| *ending != model::plan::Ending::Done)
    );
    let before = rig.client.requests();
    let live = rig.read().await;
    let after = rig.client.requests();
    let running = live
        .resources
        .iter()
        .filter(|live| live.state.power == Some(Power::Running));
    assert_eq!(running.count(), COUNT);
    assert!(is_done(&plan(&live, &all)));
    let sent = after.total - before.total;
    // Six pages of machines, six of their states, one of what is tagged, and seven other lists.
    assert_eq!(sent, 20, "{:?}", after.by_kind);
}
