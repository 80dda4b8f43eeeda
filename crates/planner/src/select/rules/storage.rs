//! What the spec says of disks, against what a size has: the disk controller, and room for an OS
//! disk on the node.

use super::{Rule, Strength};
use crate::select::{Trial, storage};

/// What the size is decides: no image and no new row changes it.
pub(super) const CONTROLLER: Rule = Rule {
    id: "disk_controller",
    strength: Strength::Law,
    lasting: true,
    rejects: lacks_controller,
};

pub(super) const EPHEMERAL: Rule = Rule {
    id: "ephemeral_os_disk",
    strength: Strength::Law,
    lasting: true,
    rejects: lacks_place,
};

/// The image says how large the disk must be, and images change.
pub(super) const ROOM: Rule = Rule {
    id: "ephemeral_room",
    strength: Strength::Law,
    lasting: false,
    rejects: lacks_room,
};

fn lacks_controller(trial: &Trial<'_>) -> Option<String> {
    storage::lacks_controller(trial.context, trial.size)
}

fn lacks_place(trial: &Trial<'_>) -> Option<String> {
    let asked = trial.context.pool.disks.os_size_gb;
    storage::placement(trial.context, trial.size, asked).err()
}

fn lacks_room(trial: &Trial<'_>) -> Option<String> {
    if !trial.grows() || lacks_place(trial).is_some() {
        return None;
    }
    // Where the spec gives the size, the other rule has looked.
    trial
        .context
        .pool
        .disks
        .os_size_gb
        .is_none()
        .then_some(())?;
    let needed = storage::os_disk_gb(trial.context, trial.size);
    storage::placement(trial.context, trial.size, needed).err()
}
