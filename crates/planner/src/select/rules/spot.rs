//! R8: spot needs a size that can be spot in the region, at a price that the spec allows.

use model::spec::Priority;

use super::{Rule, Strength, availability::live_fact};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "spot",
    strength: Strength::Law,
    lasting: false,
    rejects,
};

/// Azure's name for whether a size can be spot.
const SPOT_CAPABILITY: &str = "LowPriorityCapable";

/// Azure refuses a VM whose price is above its limit. A price that is not known rejects nothing.
pub(super) const PRICE: Rule = Rule {
    id: "max_price",
    strength: Strength::Choice,
    lasting: false,
    rejects: rejects_price,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    if !matches!(trial.context.pool.priority, Priority::Spot(_)) || !trial.grows() {
        return None;
    }
    (can_be_spot(trial) == Some(false))
        .then(|| format!("cannot be spot in {}", trial.context.location))
}

/// What live Azure says, else the catalogue; `None` where neither knows.
fn can_be_spot(trial: &Trial<'_>) -> Option<bool> {
    let capable = live_fact(trial).and_then(|fact| fact.capabilities.get(SPOT_CAPABILITY));
    if let Some(capable) = capable {
        return Some(capable.eq_ignore_ascii_case("true"));
    }
    let offers = trial.context.catalog.offers(trial.context.location)?;
    offers.get(&trial.size.name).map(|offer| offer.spot)
}

fn rejects_price(trial: &Trial<'_>) -> Option<String> {
    if !trial.grows() {
        return None;
    }
    let most = trial.context.most_for_spot()?;
    let price = trial.context.hourly_price(trial.size)?;
    (price > most).then(|| {
        let (price, most) = (price.normalize(), most.normalize());
        format!("costs {price} USD an hour as spot, `max_price` allows {most}")
    })
}
