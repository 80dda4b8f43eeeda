//! What a node of a size must show, from the catalogue.

use model::{
    catalog::{Acceptance, Catalog, GpuShare},
    units::SizeName,
};

/// Who makes the GPUs of a size, and with that whose tools tell about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// `nvidia-smi`.
    Nvidia,
    /// `rocm-smi`.
    Amd,
}

/// What a node of a size must show.
#[derive(Clone, Debug)]
pub struct Expectation<'a> {
    /// Whose GPUs it has; `None` for a size without any.
    pub vendor: Option<Vendor>,
    /// How many GPUs the guest sees; `None` where it is not known.
    pub gpus: Option<u32>,
    /// Whether it has InfiniBand.
    pub infiniband: bool,
    /// Figures that only some sizes have.
    pub row: Option<&'a Acceptance>,
}

impl<'a> Expectation<'a> {
    /// What the catalogue says of a size. Of one that it does not know nothing is expected, and
    /// everything is asked.
    pub fn of(catalog: &'a Catalog, name: &SizeName) -> Self {
        let row = catalog.acceptance(name);
        let Some(size) = catalog.size(name) else {
            return Self {
                vendor: Some(Vendor::Nvidia),
                gpus: None,
                infiniband: row.is_some_and(|row| row.infiniband_ports.is_some()),
                row,
            };
        };
        let vendor = size.gpu.as_ref().map(|gpu| {
            let made_by = catalog.gpu(&gpu.model).map(|gpu| gpu.vendor.as_str());
            match made_by {
                Some("AMD") => Vendor::Amd,
                Some(_) | None => Vendor::Nvidia,
            }
        });
        let share = size.gpu.as_ref().and_then(|gpu| gpu.share);
        Self {
            vendor,
            gpus: share.map(|share| match share {
                GpuShare::Whole(count) => count,
                GpuShare::Part(_) => 1,
            }),
            infiniband: size.rdma,
            row,
        }
    }

    /// Whether the fabric manager is asked for: where GPUs do not work without it.
    pub(super) fn needs_fabric_manager(&self) -> bool {
        self.row.and_then(|row| row.fabric_manager) == Some(true)
    }

    /// Whether several GPUs can add up something together.
    pub(super) fn can_reduce(&self) -> bool {
        self.vendor.is_some() && self.gpus.is_some_and(|gpus| gpus > 1)
    }
}
