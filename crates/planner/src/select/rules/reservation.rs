//! R9: nodes in a capacity reservation group need a size that can be reserved, that the group
//! has, and enough places of it that nobody else has taken.

use std::collections::BTreeSet;

use model::live::ReservationGroupFact;

use super::{Rule, Strength};
use crate::{reservation, select::Trial};

/// For a named or live size another check says more.
pub(super) const RULE: Rule = Rule {
    id: "reservation",
    strength: Strength::Choice,
    lasting: false,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let context = trial.context;
    let id = context.pool.capacity_reservation.as_ref()?;
    if !trial.grows() {
        return None;
    }
    let never = !reservation::can_be_reserved(trial.size);
    // A group that is elsewhere or nowhere is no matter of the size.
    let group = reservation::group(context.live, id)
        .and_then(Option::as_ref)
        .filter(|group| group.location == *context.location);
    let Some(group) = group else {
        return never.then(|| "cannot be reserved, as all of its series".to_owned());
    };
    let ours = reservation::machines(context.live, Some(context.name));
    let places = reservation::places(group, &trial.size.name, &ours);
    if never || places.is_empty() {
        let word = if never { "cannot be" } else { "is not" };
        return Some(format!(
            "{word} reserved: the group `{}` has {}",
            id.name(),
            contents(group)
        ));
    }
    let count = trial.count.unwrap_or(1);
    let free: u32 = places.values().map(|places| places.free()).sum();
    let missing = count.saturating_sub(free);
    (missing > 0).then(|| {
        format!(
            "has {free} free places in the reservation group `{}`, needed {count}: {missing} too few",
            id.name()
        )
    })
}

/// The sizes that a group reserves.
fn contents(group: &ReservationGroupFact) -> String {
    let sizes = group.reservations.iter().map(|one| one.size.as_str());
    let sizes: BTreeSet<&str> = sizes.collect();
    if sizes.is_empty() {
        return "nothing".to_owned();
    }
    let sizes: Vec<&str> = sizes.into_iter().collect();
    format!("`{}`", sizes.join("`, `"))
}
