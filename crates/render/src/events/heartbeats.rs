//! Which events of waiting are worth a line: one per resource and interval, so that a
//! thousand VMs do not fill a log, and a long wait never looks like a hang.

use std::collections::BTreeMap;

use model::{address::Address, plan::Event};

/// Remembers when each resource was last heard of.
#[derive(Clone, Debug)]
pub struct Heartbeats {
    interval: f64,
    last: BTreeMap<Address, f64>,
}

impl Heartbeats {
    /// Lets one event of waiting through per resource and `interval` seconds.
    pub fn every(interval: f64) -> Self {
        Self {
            interval,
            last: BTreeMap::new(),
        }
    }

    /// Whether an event at `now` seconds is worth a line. Only waiting is ever held back.
    pub fn admits(&mut self, event: &Event, now: f64) -> bool {
        match event {
            Event::StepStarted { address, .. } => {
                self.last.insert(address.clone(), now);
                true
            }
            Event::StepFinished { address, .. } => {
                self.last.remove(address);
                true
            }
            Event::Waiting { address, .. } => {
                let due = self
                    .last
                    .get(address)
                    .is_none_or(|last| now - last >= self.interval);
                if due {
                    self.last.insert(address.clone(), now);
                }
                due
            }
            Event::RunStarted { .. }
            | Event::Write { .. }
            | Event::Accepted { .. }
            | Event::Moved { .. }
            | Event::Paused { .. }
            | Event::Interrupted
            | Event::RunFinished { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::plan::Action;

    use super::*;

    #[test]
    fn waiting_is_said_once_per_interval_for_as_long_as_it_lasts() {
        let address = Address::vm("train", 0);
        let started = Event::StepStarted {
            address: address.clone(),
            action: Action::Create,
        };
        let mut heartbeats = Heartbeats::every(30.0);
        assert!(heartbeats.admits(&started, 0.0));
        let said = (1..=240)
            .map(|poll| f64::from(poll) * 10.0)
            .filter(|now| {
                let waiting = Event::Waiting {
                    address: address.clone(),
                    state: "Creating".to_owned(),
                    seconds: *now,
                };
                heartbeats.admits(&waiting, *now)
            })
            .count();
        assert_eq!(said, 80, "40 minutes of polls each 10 s");
        assert!(heartbeats.admits(&Event::Interrupted, 0.0));
    }
}
