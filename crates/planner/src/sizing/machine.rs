//! The VM that a model runs on: figures of its GPUs, and what connects them.

use model::catalog::{Catalog, Gpu, GpuShare, Size};
use model::spec::Precision;

use super::number::{float, of_decimal};

/// Share of a GPU's nameplate memory that plans may fill: the rest is fragmentation, and what
/// the driver keeps for itself.
pub const USABLE: f64 = 0.9;

/// Memory of the host beside each byte that GPUs leave on it, for buffers and pinned copies:
/// the `additional_buffer_factor` of `DeepSpeed`'s own estimates.
pub const HOST_BUFFERS: f64 = 1.5;

/// Bytes a second of `PCIe` 4.0 with 16 lanes, where GPUs have no link of their own.
const PCIE: f64 = 32e9;

/// Bytes a second between VMs without InfiniBand: 80 Gb/s of accelerated networking.
const ETHERNET: f64 = 10e9;

/// A VM with its GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The exact name of its GPU.
    pub gpu: String,
    /// Order of the GPU's generation.
    pub generation: u32,
    /// Nameplate memory of one GPU in bytes.
    pub memory: f64,
    /// Dense 16-bit operations a second.
    pub dense: f64,
    /// Dense 8-bit operations a second, where it has them.
    pub fp8: Option<f64>,
    /// Share of `dense` that the best measured matrix multiplication reaches.
    pub matmul: Option<f64>,
    /// Bytes a second of its memory.
    pub bandwidth: f64,
    /// GPUs of one VM.
    pub gpus: u32,
    /// GPUs that fast links connect; a rack of GB200 or GB300 is one domain of 72.
    pub domain: u32,
    /// Bytes a second of a GPU's link, one direction.
    pub link: f64,
    /// Bytes a second of one GPU's part of the network between VMs.
    pub fabric: f64,
    /// Whether that network is InfiniBand.
    pub rdma: bool,
    /// Bytes of the VM's own memory; `None` where they are not known.
    pub host: Option<f64>,
}

impl Machine {
    /// A size's VM; `None` where it has no whole GPU whose figures are known.
    pub fn of(size: &Size, catalog: &Catalog) -> Option<Self> {
        let part = size.gpu.as_ref()?;
        let gpu = catalog.gpu(&part.model)?;
        let gpus = part.share?.whole().max(1);
        let mut machine = Self::with(gpu, gpus, size.rdma);
        if let GpuShare::Part(parts) = part.share? {
            // A part of a GPU has that part of its speed.
            let parts = float(u64::from(parts.max(1)));
            machine.dense /= parts;
            machine.bandwidth /= parts;
            machine.fp8 = machine.fp8.map(|fp8| fp8 / parts);
        }
        // The nameplate of the VM's own GPU: NC v3 had V100 with half the memory, and a part of
        // a GPU has less. Where a GPU has less usable, that counts.
        let own = float(u64::from(part.memory_gb?)) * 1e9;
        machine.memory = machine.memory.min(own);
        machine.host = host(size);
        let text = size.gpu_interconnect.as_deref().unwrap_or_default();
        if text.contains("pairs") || gpus > machine.domain {
            machine.link = machine.link.min(PCIE);
        }
        Some(machine)
    }

    /// A size's VM with GPUs of which only the memory is known; what has to do with speed means
    /// nothing. `None` where not even that is known.
    pub fn of_memory(size: &Size) -> Option<Self> {
        let part = size.gpu.as_ref()?;
        let gpus = part.share?.whole().max(1);
        Some(Self {
            gpu: part.model.clone(),
            generation: 0,
            memory: float(u64::from(part.memory_gb?)) * 1e9,
            dense: 1.0,
            fp8: None,
            matmul: None,
            bandwidth: 1.0,
            gpus,
            domain: gpus,
            link: 1.0,
            fabric: 1.0,
            rdma: size.rdma,
            host: host(size),
        })
    }

    /// A VM with a number of GPUs of a kind.
    pub fn with(gpu: &Gpu, gpus: u32, rdma: bool) -> Self {
        let fabric = gpu.fabric_gb_s.filter(|_| rdma).map(of_decimal);
        Self {
            gpu: gpu.name.clone(),
            generation: gpu.generation,
            memory: float(u64::from(gpu.memory_gb)) * 1e9,
            dense: of_decimal(gpu.dense_tflops) * 1e12,
            fp8: gpu.fp8_tflops.map(|tflops| of_decimal(tflops) * 1e12),
            matmul: gpu.matmul_share.map(of_decimal),
            bandwidth: of_decimal(gpu.bandwidth_tb_s) * 1e12,
            gpus: gpus.max(1),
            domain: if gpu.link_domain > 8 {
                gpu.link_domain
            } else {
                gpu.link_domain.min(gpus).max(1)
            },
            link: of_decimal(gpu.link_gb_s) * 1e9,
            fabric: fabric.map_or(ETHERNET / float(u64::from(gpus.max(1))), |gb| gb * 1e9),
            rdma,
            host: None,
        }
    }

    /// Bytes of one GPU that a plan may fill.
    pub fn usable(&self) -> f64 {
        self.memory * USABLE
    }

    /// Bytes that GPUs may leave in the memory of one VM, with what buffers take beside them;
    /// `None` where its memory is not known.
    pub fn usable_host(&self) -> Option<f64> {
        Some(self.host? * USABLE / HOST_BUFFERS)
    }

    /// GPUs over which one layer may be split: those of the VM, or of the rack.
    pub fn tensor_limit(&self) -> u32 {
        self.gpus.max(self.domain)
    }

    /// Whether its GPUs compute in a number format.
    pub fn computes(&self, precision: Precision) -> bool {
        match precision {
            Precision::Fp8 => self.fp8.is_some(),
            Precision::Bf16 => self.generation > 2,
            Precision::Fp16 | Precision::Fp32 | Precision::Int4 => true,
        }
    }
}

/// Bytes of a VM's own memory.
fn host(size: &Size) -> Option<f64> {
    let mebibytes = size.memory_mib?;
    Some(float(mebibytes) * 1_048_576.0)
}
