//! What a GPU, its memory and its speed cost in a size: comparable between sizes.

use rust_decimal::Decimal;

use super::{Catalog, GpuShare, Size};

/// Decimal places that a unit price is rounded to.
const PLACES: u32 = 6;

/// Prices per hour of what a size has; `None` where the price or the unit is not known, or the
/// size has no GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitPrices {
    /// Of one whole GPU.
    pub gpu: Option<Decimal>,
    /// Of one GiB of GPU memory, by its nameplate.
    pub gpu_gib: Option<Decimal>,
    /// Of one TFLOPS in dense bf16, or in fp16 where the GPU has no bf16.
    pub tflops: Option<Decimal>,
}

impl Catalog {
    /// The unit prices of a size whose VM costs this much per hour.
    pub fn unit_prices(&self, size: &Size, hourly: Option<Decimal>) -> UnitPrices {
        let (Some(gpu), Some(hourly)) = (&size.gpu, hourly) else {
            return UnitPrices::default();
        };
        let round = |price: Decimal| price.round_dp(PLACES).normalize();
        // A part of a GPU costs as much as the whole divided by its parts.
        let per_gpu = gpu.share.and_then(|share| match share {
            GpuShare::Whole(count) => hourly.checked_div(Decimal::from(count)),
            GpuShare::Part(parts) => hourly.checked_mul(Decimal::from(parts)),
        });
        let memory = gpu.total_memory_gb().map(Decimal::from);
        let tflops = self.gpu(&gpu.model).map(|gpu| gpu.dense_tflops);
        UnitPrices {
            gpu: per_gpu.map(round),
            gpu_gib: memory
                .and_then(|memory| hourly.checked_div(memory))
                .map(round),
            tflops: per_gpu
                .zip(tflops)
                .and_then(|(price, tflops)| price.checked_div(tflops))
                .map(round),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SizeName;

    #[test]
    fn a_part_of_a_gpu_is_priced_as_its_share_of_the_whole() {
        let catalog = Catalog::embedded();
        let check = |size: &str, hourly: &str, expected: [Option<&str>; 3]| {
            let size = catalog.size(&SizeName::from(size)).expect("a size");
            let decimal = |text: &str| text.parse::<Decimal>().expect("a decimal");
            let found = catalog.unit_prices(size, Some(decimal(hourly)));
            let [gpu, gpu_gib, tflops] = expected.map(|price| price.map(decimal));
            let expected = UnitPrices {
                gpu,
                gpu_gib,
                tflops,
            };
            assert_eq!(found, expected, "{}", size.name);
            assert_eq!(catalog.unit_prices(size, None), UnitPrices::default());
        };
        check(
            "Standard_ND96isr_H100_v5",
            "98.32",
            [Some("12.29"), Some("0.153625"), Some("0.012427")],
        );
        check(
            "Standard_NV6ads_A10_v5",
            "0.5",
            [Some("3"), Some("0.125"), Some("0.024")],
        );
        check("Standard_D2s_v5", "1", [None, None, None]);
    }
}
