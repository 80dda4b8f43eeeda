//! The settings of Azure CycleCloud.

use super::reader::Reader;
use crate::{
    spec::cyclecloud::{Locker, Server},
    units::SizeName,
};

pub(super) fn server(block: Reader<'_>) -> Option<Server> {
    block.is_there().then(|| Server {
        size: SizeName::new(block.text("size").unwrap_or_default()),
        accept_terms: block.boolean("accept_terms").unwrap_or(false),
        identity: block.read("identity", |text| text.parse().ok()),
        locker: block.read("locker", Locker::of_url),
        start: block.boolean("start").unwrap_or(false),
    })
}
