//! The memory that a model's weights and training states take.
//!
//! Only terms that follow from the parameter count alone are summed; activations and the KV
//! cache need the model's shape and are unknown (`null`), never zero.

use model::{
    catalog::Size,
    plan::Memory,
    spec::{Method, Model, Precision, Stage},
};

/// Share of a GPU's nameplate memory that plans may fill: the rest is CUDA context,
/// communication buffers and fragmentation.
const USABLE_PERCENT: u64 = 90;

/// Overhead of serving in percent of the weights: graphs, activations, allocator.
const SERVING_OVERHEAD_PERCENT: u64 = 15;

/// Quantisation constants and layers that stay unquantised, in percent of 4-bit weights.
const QUANTISED_EXTRA_PERCENT: u64 = 10;

const BYTES_PER_GB: u64 = 1_000_000_000;

/// The memory that a job takes over all its GPUs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    weights: u64,
    gradients: Option<u64>,
    optimizer: Option<u64>,
    overhead: Option<u64>,
}

impl Demand {
    /// Of a model, where its parameter count is known.
    pub fn of(model: &Model, stage: Stage) -> Option<Self> {
        let parameters = model.parameters?;
        let times = |bytes: u64| parameters.checked_mul(bytes);
        match (stage, model.method) {
            (Stage::Training, Method::Full) => Some(Self {
                weights: times(if model.precision == Precision::Fp32 {
                    4
                } else {
                    2
                })?,
                gradients: Some(times(if model.precision == Precision::Fp32 {
                    4
                } else {
                    2
                })?),
                // Adam: two moments in 32 bits, and 32-bit master weights beside narrower ones.
                optimizer: Some(times(if model.precision == Precision::Fp32 {
                    8
                } else {
                    12
                })?),
                overhead: None,
            }),
            (Stage::Training, Method::Lora) => Some(Self {
                weights: weights(parameters, model.precision)?,
                gradients: None,
                optimizer: None,
                overhead: None,
            }),
            (Stage::Training, Method::Qlora) => {
                let weights = percent(parameters / 2, 100 + QUANTISED_EXTRA_PERCENT)?;
                Some(Self {
                    weights,
                    gradients: None,
                    optimizer: None,
                    overhead: None,
                })
            }
            (Stage::Inference, _) => {
                let weights = weights(parameters, model.precision)?;
                let overhead = Some(percent(weights, SERVING_OVERHEAD_PERCENT)?);
                Some(Self {
                    weights,
                    gradients: None,
                    optimizer: None,
                    overhead,
                })
            }
        }
    }

    /// All known terms.
    pub fn bytes(self) -> u64 {
        let terms = [
            Some(self.weights),
            self.gradients,
            self.optimizer,
            self.overhead,
        ];
        terms.into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// The fewest whole GPUs of this nameplate memory that hold it.
    pub fn gpus(self, memory_gb: u32) -> u32 {
        let usable = usable_bytes(memory_gb).max(1);
        u32::try_from(self.bytes().div_ceil(usable))
            .unwrap_or(u32::MAX)
            .max(1)
    }

    /// The fewest VMs of a size that hold it; `None` for sizes without GPUs.
    pub fn nodes(self, size: &Size) -> Option<u32> {
        let (memory_gb, count) = gpus_of(size)?;
        Some(self.gpus(memory_gb).div_ceil(count))
    }

    /// The sum as a plan shows it, spread evenly over the GPUs of `nodes` VMs of a size.
    pub fn shared_by(self, size: &Size, nodes: u32) -> Option<Memory> {
        let (memory_gb, per_node) = gpus_of(size)?;
        let gpus = u64::from(per_node.saturating_mul(nodes).max(1));
        let minimum = self.gpus(memory_gb);
        let share = |bytes: Option<u64>| bytes.map(|bytes| bytes.div_ceil(gpus));
        Some(Memory {
            per_gpu_bytes: share(Some(self.bytes())),
            usable_per_gpu_bytes: Some(usable_bytes(memory_gb)),
            weights_bytes: share(Some(self.weights)),
            gradients_bytes: share(self.gradients),
            optimizer_bytes: share(self.optimizer),
            activations_bytes: None,
            kv_cache_bytes: None,
            overhead_bytes: share(self.overhead),
            gpus_minimum: Some(minimum),
            gpus_recommended: Some(minimum.div_ceil(per_node).saturating_mul(per_node)),
        })
    }
}

/// Nameplate memory in GB of one GPU of a VM, or of the part it has, and how many there are.
fn gpus_of(size: &Size) -> Option<(u32, u32)> {
    let gpu = size.gpu.as_ref()?;
    Some((gpu.memory_gb?, gpu.share?.whole().max(1)))
}

fn usable_bytes(memory_gb: u32) -> u64 {
    u64::from(memory_gb) * BYTES_PER_GB / 100 * USABLE_PERCENT
}

fn weights(parameters: u64, precision: Precision) -> Option<u64> {
    match precision {
        Precision::Fp32 => parameters.checked_mul(4),
        Precision::Bf16 | Precision::Fp16 => parameters.checked_mul(2),
        Precision::Fp8 => Some(parameters),
        Precision::Int4 => percent(parameters / 2, 100 + QUANTISED_EXTRA_PERCENT),
    }
}

fn percent(bytes: u64, percent: u64) -> Option<u64> {
    bytes.checked_mul(percent).map(|product| product / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(parameters: u64, stage: Stage, method: Method, precision: Precision) -> Demand {
        let model = Model {
            parameters: Some(parameters),
            active_parameters: None,
            name: None,
            config: None,
            precision,
            method,
            sequence: None,
            tokens: None,
            concurrency: None,
        };
        Demand::of(&model, stage).expect("parameters are known")
    }

    #[test]
    fn full_training_takes_sixteen_bytes_a_parameter() {
        for precision in [Precision::Bf16, Precision::Fp16, Precision::Fp32] {
            let demand = demand(70_600_000_000, Stage::Training, Method::Full, precision);
            assert_eq!(demand.bytes(), 16 * 70_600_000_000, "{precision:?}");
        }
        let demand = demand(
            70_600_000_000,
            Stage::Training,
            Method::Full,
            Precision::Bf16,
        );
        assert_eq!(
            demand.gpus(80),
            16,
            "16 H100 hold the states of 70.6B, without activations"
        );
    }

    #[test]
    fn serving_takes_weights_and_overhead() {
        let demand = demand(
            70_600_000_000,
            Stage::Inference,
            Method::Full,
            Precision::Fp8,
        );
        assert_eq!(demand.bytes(), 81_190_000_000);
        assert_eq!(demand.gpus(94), 1);
        assert_eq!(demand.gpus(80), 2);
    }

    #[test]
    fn absurd_counts_are_unknown_instead_of_wrong() {
        let model = Model {
            parameters: Some(u64::MAX),
            active_parameters: None,
            name: None,
            config: None,
            precision: Precision::Bf16,
            method: Method::Full,
            sequence: None,
            tokens: None,
            concurrency: None,
        };
        assert_eq!(Demand::of(&model, Stage::Training), None);
    }
}
