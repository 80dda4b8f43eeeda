//! Worked examples, and what must hold for every model.

use model::{
    catalog::Catalog,
    spec::{Method, Precision},
};
use proptest::prelude::*;

use super::{
    efficiency,
    estimate::{self, Trouble},
    flops,
    layout::{self, Fixed},
    machine::Machine,
    serving::{self, Copies, Service},
    split::{Offload, Recompute, Sharding, Split},
    subject::Subject,
    time,
    training::{self, Job},
};

mod limits;

fn machine(gpu: &str, gpus: u32) -> Machine {
    let gpu = Catalog::embedded().gpu(gpu).expect("the catalogue has it");
    Machine::with(gpu, gpus, true)
}

fn known(name: &str) -> Subject {
    let known = Catalog::embedded().model(name).expect("the table has it");
    Subject::new(
        Some(known.parameters),
        known.active_parameters,
        Some(&known.transformer),
    )
    .expect("it has a count")
}

fn full(precision: Precision) -> Job {
    Job {
        method: Method::Full,
        precision,
        sequence: Some(8_192.0),
    }
}

fn close(found: f64, expected: f64, within: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(error <= within, "expected about {expected}, found {found}");
}

fn sharded(data: u32, recompute: Recompute) -> Split {
    Split {
        tensor: 1,
        pipeline: 1,
        data,
        sharding: Sharding::Fsdp,
        recompute,
        offload: Offload::None,
        micro_batch: 1,
    }
}

#[test]
fn a_trillion_tokens_through_70b_take_26_days_on_512_h100() {
    let work = flops::training(&known("llama-3.1-70b"), Method::Full, 8_192.0);
    close(work, 4.495e11, 0.001);
    let rate = time::tokens_per_second(989e12, 0.40, work);
    close(rate, 880.0, 0.001);
    close(time::gpu_hours(1e12, rate), 315_600.0, 0.001);
    close(time::seconds(1e12, rate, 512) / 86_400.0, 25.7, 0.002);
}

#[test]
fn states_of_70b_shard_as_far_as_there_are_gpus() {
    let subject = known("llama-3.1-70b");
    let job = full(Precision::Bf16);
    let states = |gpus| {
        let terms = training::memory(&subject, job, &sharded(gpus, Recompute::Full));
        terms.weights + terms.gradients + terms.optimizer
    };
    close(states(512), 2.2e9, 0.01);
    close(states(16), 70.6e9, 0.001);
    let h100 = machine("H100", 8);
    let fits = |gpus| {
        layout::choose(&subject, &h100, job, Fixed::default(), gpus)
            .is_some_and(|layout| layout.fits && layout.split.offload == Offload::None)
    };
    assert!(!fits(16), "the states alone leave nothing for activations");
    assert!(fits(24), "three VMs do");
    let (minimum, recommended) =
        estimate::needed(&subject, &h100, job, Fixed::default()).expect("H100 can");
    assert!(minimum > 16 && minimum <= 24, "{minimum}");
    assert_eq!(recommended, 24);
}

#[test]
fn two_h100_nvl_serve_70b_in_8_bits_with_65_requests() {
    let subject = known("llama-3.1-70b");
    let machine = machine("H100-NVL", 2);
    let service = Service {
        precision: Precision::Fp8,
        sequence: Some(8_192.0),
        concurrency: Some(64.0),
    };
    let copies = Copies {
        tensor: 2,
        pipeline: 1,
        count: 1,
    };
    let (weights, overhead) = serving::weights(&subject, Precision::Fp8);
    close(2.0 * machine.usable() - weights - overhead, 88e9, 0.01);
    let one = serving::sequence_cache(&subject, service).expect("the shape is known");
    close(one / 8_192.0, 163_840.0, 1e-9);
    let room = serving::room(&subject, service, &machine, &copies);
    assert_eq!(room, Some(65.0));
    let sizing = estimate::service(&subject, &machine, service, Fixed::default(), (None, None));
    assert_eq!(
        sizing.map(|sizing| (sizing.gpus, sizing.fits)),
        Ok((2, true))
    );
}

#[test]
fn the_cache_of_a_token_is_what_the_shapes_say() {
    let bytes = |name: &str| {
        let service = Service {
            precision: Precision::Bf16,
            sequence: Some(1.0),
            concurrency: Some(1.0),
        };
        serving::sequence_cache(&known(name), service)
    };
    assert_eq!(bytes("llama-3.1-8b"), Some(131_072.0));
    assert_eq!(bytes("llama-3.1-70b"), Some(327_680.0));
    assert_eq!(bytes("llama-3.1-405b"), Some(516_096.0));
    assert_eq!(bytes("deepseek-v3"), Some(576.0 * 61.0 * 2.0));
}

#[test]
fn plans_for_70b_on_h100_come_to_two_fifths_of_peak() {
    let subject = known("llama-3.1-70b");
    let sizing = estimate::training(
        &subject,
        &machine("H100", 8),
        full(Precision::Bf16),
        Fixed::default(),
        (Some(512), Some(1e12)),
    )
    .expect("it can be split");
    let throughput = sizing.throughput.expect("it fits");
    assert!(
        (0.36..=0.44).contains(&throughput.mfu),
        "{}",
        throughput.mfu
    );
    assert_eq!(sizing.vms, 64);
    let memory = &sizing.memory;
    let terms = [
        memory.weights_bytes,
        memory.gradients_bytes,
        memory.optimizer_bytes,
        memory.activations_bytes,
        memory.overhead_bytes,
    ];
    let sum: u64 = terms.into_iter().flatten().sum();
    assert!(
        sum.abs_diff(memory.per_gpu_bytes.expect("known")) <= 5,
        "terms add up"
    );
}

#[test]
fn what_nobody_said_stays_unknown() {
    let subject = Subject::new(Some(70_000_000_000), None, None).expect("it has a count");
    let h100 = machine("H100", 8);
    let job = Job {
        sequence: None,
        ..full(Precision::Bf16)
    };
    let sizing = estimate::training(&subject, &h100, job, Fixed::default(), (None, None));
    let sizing = sizing.expect("H100 can");
    assert_eq!(sizing.memory.activations_bytes, None);
    assert_eq!(
        sizing.throughput.map(|it| (it.gpu_hours, it.seconds)),
        Some((None, None))
    );
    let service = Service {
        precision: Precision::Bf16,
        sequence: Some(8_192.0),
        concurrency: Some(64.0),
    };
    let served = estimate::service(&subject, &h100, service, Fixed::default(), (None, None));
    let served = served.expect("H100 can");
    assert_eq!(
        served.memory.kv_cache_bytes, None,
        "no shape says how many heads it keeps"
    );
}

#[test]
fn absurd_models_never_fit_and_never_panic() {
    let subject = Subject::new(Some(u64::MAX), None, None).expect("it has a count");
    let t4 = machine("T4", 1);
    let sizing = estimate::training(
        &subject,
        &t4,
        full(Precision::Fp16),
        Fixed::default(),
        (None, Some(1e300)),
    );
    assert_eq!(sizing.map(|sizing| sizing.gpus), Err(Trouble::NeverFits));
    let service = Service {
        precision: Precision::Fp32,
        sequence: Some(1e300),
        concurrency: Some(1e300),
    };
    let served = estimate::service(&subject, &t4, service, Fixed::default(), (None, None));
    assert_eq!(served.map(|sizing| sizing.gpus), Err(Trouble::NeverFits));
}

#[test]
fn a_deadline_gives_the_fewest_vms_that_meet_it() {
    let subject = known("llama-3.1-70b");
    let h100 = machine("H100", 8);
    let job = full(Precision::Bf16);
    let days = 86_400.0;
    let vms = estimate::vms_for_deadline(
        &subject,
        &h100,
        job,
        (1e12, 30.0 * days),
        (3, Fixed::default()),
    );
    let vms = vms.expect("fewer than a hundred VMs do");
    let seconds = |vms: u32| {
        let layout = layout::choose(&subject, &h100, job, Fixed::default(), vms * 8);
        let layout = layout.expect("it can be split");
        time::seconds(1e12, 1.0 / layout.pace.seconds, vms * 8)
    };
    assert!(seconds(vms) <= 30.0 * days);
    assert!(seconds(vms - 1) > 30.0 * days, "{vms} VMs are too many");
    let missed =
        estimate::vms_for_deadline(&subject, &h100, job, (1e12, days), (3, Fixed::default()));
    let missed = missed.expect_err("a day is too short");
    assert_eq!(missed.most, estimate::MOST_WITH_INFINIBAND);
    assert!(missed.seconds > 10.0 * days);
}

#[test]
fn links_and_networks_slow_what_crosses_them() {
    let subject = known("llama-3.1-8b");
    let job = full(Precision::Bf16);
    let split = sharded(16, Recompute::Selective);
    let fast = machine("H100", 8);
    let slow = Machine {
        rdma: false,
        fabric: 1.25e9,
        ..fast.clone()
    };
    let with = efficiency::pace(&subject, &fast, job, &split).seconds;
    let without = efficiency::pace(&subject, &slow, job, &split).seconds;
    assert!(without >= 2.0 * with * 0.99, "{without} and {with}");
    let pair = Split {
        tensor: 2,
        data: 8,
        ..split
    };
    assert!(efficiency::pace(&subject, &fast, job, &pair).tensor > 0.0);
}

#[test]
fn a_part_of_a_gpu_has_that_part_of_its_speed() {
    let catalog = Catalog::embedded();
    let of = |name: &str| {
        let size = catalog.size(&name.into()).expect("the catalogue has it");
        Machine::of(size, catalog).expect("its GPU has figures")
    };
    let (whole, sixth) = (of("Standard_NV36ads_A10_v5"), of("Standard_NV6ads_A10_v5"));
    assert_eq!((whole.memory, sixth.memory), (24e9, 4e9));
    close(whole.dense / sixth.dense, 6.0, 1e-9);
    close(whole.bandwidth / sixth.bandwidth, 6.0, 1e-9);
}

#[test]
fn a_mixture_computes_with_active_parameters_and_keeps_all() {
    let subject = known("mixtral-8x7b");
    let work = flops::training(&subject, Method::Full, 0.0);
    close(work, 6.0 * (12.9e9 - 131e6), 0.001);
    let terms = training::memory(
        &subject,
        full(Precision::Bf16),
        &sharded(8, Recompute::Full),
    );
    close(
        terms.weights + terms.gradients + terms.optimizer,
        16.0 * 46.7e9 / 8.0,
        0.001,
    );
}

proptest! {
    #[test]
    fn more_parameters_never_need_fewer_gpus(
        small in 1_000_000_u64..2_000_000_000_000,
        factor in 1.0_f64..4.0,
    ) {
        let job = full(Precision::Bf16);
        let h100 = machine("H100", 8);
        let least = |parameters: f64| {
            let parameters = super::number::whole(parameters);
            let subject = Subject::new(parameters, None, None)?;
            layout::minimum(&subject, &h100, job, Fixed::default())
        };
        let count = super::number::float(small);
        let (few, many) = (least(count), least(count * factor));
        prop_assert!(few.unwrap_or(u32::MAX) <= many.unwrap_or(u32::MAX));
    }

    #[test]
    fn a_longer_sequence_never_takes_less(short in 1.0_f64..100_000.0, factor in 1.0_f64..8.0) {
        let subject = known("llama-3.1-8b");
        for recompute in Recompute::ALL {
            let sum = |sequence| {
                let job = Job { sequence: Some(sequence), ..full(Precision::Bf16) };
                training::memory(&subject, job, &sharded(8, recompute)).sum()
            };
            prop_assert!(sum(short) <= sum(short * factor));
        }
        let cache = |sequence| serving::sequence_cache(&subject, Service {
            precision: Precision::Bf16, sequence: Some(sequence), concurrency: Some(1.0),
        });
        prop_assert!(cache(short) <= cache(short * factor));
    }

    #[test]
    fn sharding_more_never_takes_more(data in 2_u32..4_096, parameters in 1_000_000_000_u64..1_000_000_000_000) {
        let subject = Subject::new(Some(parameters), None, None).expect("it has a count");
        let sum = |sharding, data| {
            let split = Split { sharding, ..sharded(data, Recompute::Full) };
            let terms = training::memory(&subject, full(Precision::Bf16), &split);
            terms.weights + terms.gradients + terms.optimizer
        };
        for pair in Sharding::ALL.windows(2) {
            let [less, more] = pair else { continue };
            prop_assert!(sum(*more, data) <= sum(*less, data));
        }
        for sharding in Sharding::ALL {
            prop_assert!(sum(sharding, data + 1) <= sum(sharding, data));
        }
    }

    #[test]
    fn what_is_recommended_fits(parameters in 100_000_000_u64..2_000_000_000_000) {
        let subject = Subject::new(Some(parameters), None, None).expect("it has a count");
        let h100 = machine("H100", 8);
        let sizing = estimate::training(
            &subject, &h100, full(Precision::Bf16), Fixed::default(), (None, Some(1e12)),
        );
        let sizing = sizing.expect("H100 can");
        prop_assert!(sizing.fits);
        prop_assert_eq!(sizing.gpus % 8, 0);
        let split = &sizing.parallelism;
        prop_assert_eq!(split.tensor * split.pipeline * split.data, sizing.gpus);
        prop_assert!(split.tensor <= 8);
        let speed = sizing.throughput.expect("it fits");
        prop_assert!(speed.mfu > 0.0 && speed.mfu < 1.0);
    }
}

mod quotes {
    use model::{
        diag::Code,
        spec::Stage,
        units::{Micros, Region},
    };
    use rust_decimal::Decimal;

    use super::*;
    use crate::sizing::{number::whole, quote};

    fn request<'a>(subject: &'a Subject, location: &'a Region) -> quote::Request<'a> {
        quote::Request {
            subject,
            gpu: "H100",
            gpus: Some(512),
            stage: Stage::Training,
            method: Method::Full,
            precision: Precision::Bf16,
            sequence: Some(8_192),
            tokens: Some(1_000_000_000_000),
            concurrency: None,
            deadline: None,
            fixed: Fixed::default(),
            location,
        }
    }

    #[test]
    fn money_is_the_price_of_the_vms_for_the_seconds() {
        let (subject, location) = (known("llama-3.1-70b"), Region::new("eastus"));
        let catalog = Catalog::embedded();
        let quote = quote::quote(request(&subject, &location), catalog).expect("512 GPUs do");
        assert_eq!(quote.size.as_str(), "Standard_ND96isr_H100_v5");
        let price = catalog
            .vm_price(&location, &quote.size)
            .and_then(|row| row.linux);
        let price = price.expect("the region has a price");
        let hourly = Micros::from_price(price, Decimal::from(64));
        assert_eq!(quote.cost.lines[0].hourly_micros, hourly);
        assert_eq!(Some(quote.cost.after.hourly_micros), hourly);
        let speed = quote.sizing.throughput.expect("it fits");
        let seconds = whole(speed.seconds.expect("the tokens are known")).expect("it fits");
        let hours = Decimal::from(seconds) * Decimal::from(64) / Decimal::from(3_600);
        assert_eq!(quote.run, Micros::from_price(price, hours));
    }

    #[test]
    fn what_the_region_has_no_price_of_costs_something_unknown() {
        let (subject, location) = (known("llama-3.1-8b"), Region::new("eastus"));
        let request = quote::Request {
            gpu: "GB300",
            gpus: None,
            ..request(&subject, &location)
        };
        let quote = quote::quote(request, Catalog::embedded()).expect("GB300 do");
        assert!(!quote.cost.complete);
        assert_eq!((quote.run, quote.cost.lines[0].hourly_micros), (None, None));
    }

    #[test]
    fn a_late_deadline_names_a_gpu_that_would_do() {
        let (subject, location) = (known("llama-3.1-8b"), Region::new("eastus"));
        let late = |tokens, deadline: &str| {
            let request = quote::Request {
                gpu: "V100",
                gpus: None,
                precision: Precision::Fp16,
                tokens: Some(tokens),
                deadline: deadline.parse().ok(),
                ..request(&subject, &location)
            };
            quote::quote(request, Catalog::embedded())
        };
        let finding = late(1_000_000_000_000, "12d").expect_err("V100 are too slow");
        assert_eq!(finding.code, Code::DeadlineMissed);
        assert!(finding.message.contains("100 VMs"), "{}", finding.message);
        let other = finding.help.iter().find(|help| help.starts_with("`--gpu "));
        assert_eq!(other.map(String::as_str), Some("`--gpu A100-40` would do"));
        assert!(late(1_000_000, "12d").is_ok());
    }

    #[test]
    fn serving_stays_on_one_vm_and_without_infiniband_where_it_can() {
        let (subject, location) = (known("llama-3.1-8b"), Region::new("eastus"));
        let request = quote::Request {
            gpu: "A100-80",
            gpus: None,
            stage: Stage::Inference,
            tokens: None,
            concurrency: Some(16),
            ..request(&subject, &location)
        };
        let quote = quote::quote(request, Catalog::embedded()).expect("one A100 does");
        assert_eq!(quote.size.as_str(), "Standard_NC24ads_A100_v4");
        assert_eq!((quote.sizing.gpus, quote.sizing.vms), (1, 1));
    }
}
