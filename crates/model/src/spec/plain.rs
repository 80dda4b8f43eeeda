//! A pool of which only stage and workload are said.

use super::{
    parts::SecurityChoice,
    pool::{
        Capacity, Disks, Grouping, ImageChoice, OnPartial, OperatingSystem, Orchestrator, Pool,
        Priority, SizeChoice, Stage, Workload, Zones,
    },
};
use crate::units::Span;

impl Pool {
    /// A pool that leaves everything else at its default, as a spec does that does not name it.
    pub fn plain(stage: Stage, workload: Workload) -> Self {
        Self {
            stage,
            workload,
            model: None,
            deadline: None,
            count: None,
            grouping: Grouping::Auto,
            os: OperatingSystem::Linux,
            size: SizeChoice::Auto,
            fallback: Vec::new(),
            capacity: Capacity {
                wait: Span::from_seconds(0),
                min_count: None,
                on_partial: OnPartial::Keep,
            },
            image: ImageChoice::Auto,
            priority: Priority::Regular,
            zones: Zones::Auto,
            orchestrator: Orchestrator::Manual,
            batch: None,
            aks: None,
            scheduler: None,
            server: None,
            containers: None,
            disks: Disks::default(),
            mounts: Vec::new(),
            bootstrap: None,
            checkpoint: None,
            accelerated_networking: None,
            disk_controller: None,
            security: SecurityChoice::Auto,
            rollout: None,
            capacity_reservation: None,
            proximity_placement_group: None,
            allow_stop: false,
            protect: false,
        }
    }
}
