//! Hardware that is not there: which machines do without, and what they are told.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    demand::{self, Demand, Grouping, Placement},
    known,
    matching::Subject,
    pattern::Pattern,
    rules::{Action, Faults, Trigger},
};
use crate::{
    error::ArmError,
    routes::compute::machine::size,
    store::{
        entry::{Entry, Failure},
        world::World,
    },
};

/// The codes that missing hardware has, in the order of the documentation.
pub(super) const CODES: [&str; 5] = [
    SKU,
    "AllocationFailed",
    "ZonalAllocationFailed",
    "OverconstrainedAllocationRequest",
    "OverconstrainedZonalAllocationRequest",
];

/// The one that refuses a request at once.
const SKU: &str = "SkuNotAvailable";

/// Machines by what they stand on; what is left out fits everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hardware {
    pub(super) sizes: Vec<Pattern>,
    /// Short names of regions.
    pub(super) locations: BTreeSet<String>,
    pub(super) zones: BTreeSet<String>,
    /// Whether Spot or regular ones.
    pub(super) spot: Option<bool>,
    /// What they belong to, `None` in it for nothing at all.
    pub(super) groupings: BTreeSet<Option<Grouping>>,
}

impl Hardware {
    pub(super) fn fits(&self, placement: &Placement) -> bool {
        let Self {
            sizes,
            locations,
            zones,
            spot,
            groupings,
        } = self;
        let grouped = groupings.is_empty()
            || groupings.iter().any(|wanted| match wanted {
                None => placement.groupings.is_empty(),
                Some(grouping) => placement.groupings.contains(grouping),
            });
        let zone = placement.zone.as_ref();
        (sizes.is_empty() || sizes.iter().any(|size| size.fits(&placement.size)))
            && (locations.is_empty() || locations.contains(&placement.location))
            && (zones.is_empty() || zone.is_some_and(|zone| zones.contains(zone)))
            && spot.is_none_or(|spot| spot == placement.spot)
            && grouped
    }

    /// Whether a machine has its hardware by a reservation, which only a rule that says so takes.
    fn reserved(&self, placement: &Placement) -> bool {
        let reserved = Grouping::CapacityReservationGroup;
        placement.groupings.contains(&reserved) && !self.groupings.contains(&Some(reserved))
    }
}

/// How hardware is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shortage {
    /// The code; what Azure would say of the machine where there is none.
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    /// So many machines are still to be had.
    pub(super) available: u64,
}

impl Shortage {
    /// What Azure says of a machine that it has no place for.
    fn code(&self, demand: &Demand) -> &str {
        let placement = &demand.placement;
        if let Some(code) = &self.code {
            return code;
        }
        let grouped = [Grouping::AvailabilitySet, Grouping::ProximityPlacementGroup]
            .iter()
            .any(|grouping| placement.groupings.contains(grouping));
        // Reported: a write of a Spot machine is refused at once. A start is an operation.
        match (placement.spot, demand.starts, grouped, &placement.zone) {
            (true, false, _, _) => SKU,
            (true, true, _, None) | (false, _, true, None) => "OverconstrainedAllocationRequest",
            (true, true, _, Some(_)) | (false, _, true, Some(_)) => {
                "OverconstrainedZonalAllocationRequest"
            }
            (false, _, false, Some(_)) => "ZonalAllocationFailed",
            (false, _, false, None) => "AllocationFailed",
        }
    }

    fn failure(&self, demand: &Demand) -> Failure {
        let code = self.code(demand);
        let message = match &self.message {
            Some(message) => message.clone(),
            None if code.starts_with("Overconstrained") => constraints(code, &demand.placement),
            None => known::find(code)
                .map(|known| known.message.to_owned())
                .unwrap_or_default(),
        };
        Failure {
            code: code.to_owned(),
            message,
            allocated: false,
        }
    }

    fn refusal(&self, subscription: &str, demand: &Demand) -> ArmError {
        if let Some(message) = &self.message {
            return ArmError::new(409, SKU, message.clone());
        }
        let Placement {
            size,
            location,
            zone,
            spot,
            ..
        } = &demand.placement;
        let place = size::Place {
            subscription,
            location,
            name: &demand.name,
            spot: *spot,
        };
        let zones: Vec<&str> = zone.iter().map(String::as_str).collect();
        size::not_available(place, size, &zones)
    }
}

/// Reported: the message lists what the machine asked for.
fn constraints(code: &str, placement: &Placement) -> String {
    let zonal = code == "OverconstrainedZonalAllocationRequest";
    let listed = [
        (zonal, "Availability Zone"),
        (placement.ephemeral, "Differencing (Ephemeral) Disks"),
        (placement.spot, "Low Priority VMs"),
        (
            placement.accelerated,
            "Networking Constraints (such as Accelerated Networking or IPv6)",
        ),
        (true, "VM Size"),
    ];
    let listed: String = listed
        .into_iter()
        .filter(|(applies, _)| *applies)
        .flat_map(|(_, name)| ["  - ", name, "\n"])
        .collect();
    format!(
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the \
         condition is too restrictive. Please remove some constraints and try again. Constraints \
         applied are:\n{listed}"
    )
}

/// What rules say of machines.
#[derive(Default)]
struct Verdict {
    /// The refusal of everything that was asked for.
    refusal: Option<ArmError>,
    /// By place in the list of machines: those that find no hardware.
    failed: BTreeMap<usize, Failure>,
}

/// Lets the machines fail that were begun since and for which rules have no hardware, or refuses
/// the whole request; the names of those rules are added to the others.
pub(crate) fn check(
    world: &mut World,
    faults: &mut Faults,
    subject: Subject<'_>,
    mark: usize,
    acting: &mut Vec<String>,
) -> Result<(), ArmError> {
    let any = faults
        .rules
        .iter()
        .any(|rule| matches!(rule.action, Action::FailAllocation(_)));
    if !any {
        return Ok(());
    }
    let demands = demand::since(world, mark);
    if demands.is_empty() {
        return Ok(());
    }
    let subscription = crate::http::Path::parse(subject.path)
        .subscription
        .unwrap_or_default();
    let Verdict { refusal, failed } =
        judge(world, faults, subject, (&demands, &subscription), acting);
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    let mut operations: BTreeMap<String, (Failure, Vec<u64>)> = BTreeMap::new();
    let mut sets = BTreeSet::new();
    for (at, failure) in &failed {
        let Some(demand) = demands.get(*at) else {
            continue;
        };
        let (_, instances) = operations
            .entry(demand.operation.clone())
            .or_insert_with(|| (failure.clone(), Vec::new()));
        instances.extend(demand.instance);
        sets.extend(demand.set.clone());
    }
    let first = failed.values().next().cloned();
    for operation in demand::operations_on(world, mark, &sets).into_values() {
        if let Some(failure) = first.clone() {
            operations.entry(operation).or_insert((failure, Vec::new()));
        }
    }
    for (id, (failure, unplaced)) in operations {
        if let Some(mut operation) = world.operation(&id).cloned() {
            operation.failure = Some(failure);
            operation.unplaced = unplaced;
            world.put(Entry::Operation(Box::new(operation)));
        }
    }
    Ok(())
}

fn judge(
    world: &World,
    faults: &mut Faults,
    subject: Subject<'_>,
    (demands, subscription): (&[Demand], &str),
    acting: &mut Vec<String>,
) -> Verdict {
    let mut verdict = Verdict::default();
    let fired = faults.fired_by_name();
    for rule in &mut faults.rules {
        let (Trigger::Requests(matching), Action::FailAllocation(shortage)) =
            (&rule.trigger, &mut rule.action)
        else {
            continue;
        };
        let asks: Vec<(usize, &Demand)> = demands
            .iter()
            .enumerate()
            .filter(|(at, _)| !verdict.failed.contains_key(at))
            .filter(|(_, demand)| {
                matching.hardware.fits(&demand.placement)
                    && !matching.hardware.reserved(&demand.placement)
            })
            .collect();
        if asks.is_empty() || !matching.fits(subject, world.now(), &fired) {
            continue;
        }
        rule.seen += 1;
        if !matching.is_turn(rule.seen, rule.fired) {
            continue;
        }
        let left = without_hardware(shortage, asks);
        let Some((_, first)) = left.first() else {
            continue;
        };
        rule.fired += 1;
        acting.push(rule.name.clone());
        if shortage.code(first) == SKU {
            verdict.refusal = Some(shortage.refusal(subscription, first));
            return verdict;
        }
        for (at, demand) in left {
            verdict.failed.insert(at, shortage.failure(demand));
        }
    }
    verdict
}

/// Gives out what is left, and answers the machines that get nothing. A set in a single placement
/// group gets all that it asks for, or nothing; so does a request that is refused at once.
fn without_hardware<'a>(
    shortage: &mut Shortage,
    asks: Vec<(usize, &'a Demand)>,
) -> Vec<(usize, &'a Demand)> {
    let count = u64::try_from(asks.len()).unwrap_or(u64::MAX);
    if count <= shortage.available {
        shortage.available -= count;
        return Vec::new();
    }
    let whole = asks
        .iter()
        .any(|(_, demand)| demand.together || shortage.code(demand) == SKU);
    if whole {
        return asks;
    }
    let served = usize::try_from(shortage.available).unwrap_or(usize::MAX);
    shortage.available = 0;
    asks.into_iter().skip(served).collect()
}
