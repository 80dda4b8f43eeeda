//! Groups of Azure's that nodes are to be in together: for capacity, or to be near each other.

use super::Check;
use crate::{
    diag::SpecPath,
    spec::pool::{DataDisk, DiskType, Orchestrator, Pool, Priority, SizeChoice, Zones},
};

pub(super) fn check(check: &mut Check<'_>, name: &str, pool: &Pool) {
    let scope = Scope { name, pool };
    scope.reservation(check);
    scope.proximity(check);
}

struct Scope<'a> {
    name: &'a str,
    pool: &'a Pool,
}

impl Scope<'_> {
    fn path(&self, keys: &[&str]) -> SpecPath {
        SpecPath::pool(self.name, keys)
    }

    fn reservation(&self, check: &mut Check<'_>) {
        if self.pool.capacity_reservation.is_none() {
            return;
        }
        let path = self.path(&["capacity_reservation"]);
        if matches!(self.pool.priority, Priority::Spot(_)) {
            check.conflict(
                path.clone(),
                self.path(&["priority"]),
                "`capacity_reservation` cannot be used with spot capacity".to_owned(),
                "use `priority: regular`",
            );
        }
        let ultra = |disk: &DataDisk| disk.disk_type == DiskType::Ultra;
        if self.pool.disks.data.iter().any(ultra) {
            check.conflict(
                path.clone(),
                self.path(&["disks", "data"]),
                "`capacity_reservation` cannot be used with Ultra Disk".to_owned(),
                "use `type: premium_v2` for the data disks",
            );
        }
        let rdma =
            matches!(&self.pool.size, SizeChoice::Constrained(size) if size.rdma == Some(true));
        if rdma {
            check.conflict(
                path,
                self.path(&["size", "rdma"]),
                "`capacity_reservation` cannot be used with `rdma`: RDMA needs one placement group, reservations exclude it".to_owned(),
                "remove one of them",
            );
        }
    }

    fn proximity(&self, check: &mut Check<'_>) {
        if self.pool.proximity_placement_group.is_none() {
            return;
        }
        let path = self.path(&["proximity_placement_group"]);
        if self.pool.capacity_reservation.is_some() {
            check.conflict(
                path.clone(),
                self.path(&["capacity_reservation"]),
                "`proximity_placement_group` cannot be used with `capacity_reservation`: Azure refuses a VM in both"
                    .to_owned(),
                "remove one of them",
            );
        }
        if let Zones::Listed(zones) = &self.pool.zones
            && zones.len() > 1
        {
            check.conflict(
                path.clone(),
                self.path(&["zones"]),
                format!(
                    "`proximity_placement_group` cannot be used with {} zones: a group is in one datacentre",
                    zones.len()
                ),
                "list one zone, or write `zones: auto`",
            );
        }
        let service = match self.pool.orchestrator {
            Orchestrator::Batch => "batch",
            Orchestrator::Aks => "aks",
            Orchestrator::CycleCloud => "cyclecloud",
            Orchestrator::Manual | Orchestrator::Auto => return,
        };
        check.conflict(
            path,
            self.path(&["orchestrator"]),
            format!(
                "`proximity_placement_group` is not supported yet with `orchestrator: {service}`"
            ),
            "remove one of them",
        );
    }
}
