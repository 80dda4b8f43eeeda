//! Reading again what may be old.

use std::{cell::Cell, time::Duration};

use super::{
    super::{LIST_LAG, LONGEST_WAIT, read_settled},
    scope, small_world,
};
use crate::testing::Server;

#[tokio::test]
async fn what_may_be_old_is_read_again_until_it_is_not() {
    let world = small_world();
    let server = Server::start(move |seen| world.answer(seen)).await;
    let (client, clock) = server.client().await;
    let readings = Cell::new(0);
    let live = read_settled(&client, &scope(), |_| {
        readings.set(readings.get() + 1);
        readings.get() < 4
    })
    .await
    .expect("a reading");
    assert!(!live.resources.is_empty());
    assert_eq!(readings.get(), 4);
    let waits: Vec<u128> = clock.waits().iter().map(Duration::as_millis).collect();
    assert_eq!(waits, [250, 500, 1_000]);
}

#[tokio::test]
async fn what_stays_old_is_believed_in_the_end() {
    let world = small_world();
    let server = Server::start(move |seen| world.answer(seen)).await;
    let (client, clock) = server.client().await;
    let read = read_settled(&client, &scope(), |_| true).await;
    assert!(read.is_ok());
    let waited: Duration = clock.waits().iter().sum();
    assert!(waited <= LIST_LAG, "{waited:?}");
    assert!(waited + LONGEST_WAIT > LIST_LAG, "{waited:?}");
}
