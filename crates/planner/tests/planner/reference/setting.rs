//! Models and GPUs of the points: those of the catalogue, and those that only points have.

use model::{
    catalog::{Catalog, Gpu},
    transformer::Transformer,
};
use tensorform_planner::sizing::{
    layout::Fixed,
    machine::Machine,
    split::{Recompute, Sharding},
    subject::Subject,
};

use super::points::Point;

/// The MPT models: layers, hidden size. All have 4·d, no gate, and the embedding twice over.
const MPT: &[(&str, u32, u32)] = &[
    ("mpt-125m", 12, 768),
    ("mpt-350m", 24, 1024),
    ("mpt-760m", 24, 1536),
    ("mpt-1b", 24, 2048),
    ("mpt-3b", 32, 2560),
    ("mpt-7b", 32, 4096),
    ("mpt-13b", 40, 5120),
    ("mpt-30b", 48, 7168),
    // Published as 64 layers; only 80 have the parameters that its own figures imply.
    ("mpt-70b", 80, 8192),
];

/// The model of a point.
pub(super) fn subject(point: &Point) -> Result<Subject, String> {
    let name = point.model.as_str();
    if let Some((_, layers, hidden)) = MPT.iter().find(|(mpt, ..)| *mpt == name) {
        let transformer = plain(*layers, *hidden, 50_432);
        return Subject::new(None, None, Some(&transformer)).ok_or_else(|| "no count".to_owned());
    }
    let subject = match name {
        "gpt-3-175b" => Subject::new(None, None, Some(&plain(96, 12_288, 50_257))),
        "t5-3b" => Subject::new(Some(2_851_000_000), None, None),
        "generic-7b" => Subject::new(Some(7_000_000_000), None, None),
        "generic-14b" => Subject::new(Some(14_000_000_000), None, None),
        "generic-30b" => Subject::new(Some(30_000_000_000), None, None),
        "generic-70b" => Subject::new(Some(70_000_000_000), None, None),
        _ => Catalog::embedded().model(name).and_then(|known| {
            Subject::new(
                Some(known.parameters),
                known.active_parameters,
                Some(&known.transformer),
            )
        }),
    };
    subject.ok_or_else(|| "the model's shape is not known, or it is no transformer".to_owned())
}

fn plain(layers: u32, hidden: u32, vocab: u32) -> Transformer {
    Transformer {
        layers,
        hidden,
        heads: hidden / 64,
        kv_heads: hidden / 64,
        head_dim: 64,
        vocab,
        intermediate: 4 * hidden,
        gated: false,
        tied: true,
        experts: None,
        latent: None,
    }
}

/// The VM of a point.
pub(super) fn machine(point: &Point) -> Result<Machine, String> {
    let catalog = Catalog::embedded();
    let gpu = |name: &str| catalog.gpu(name).expect("the catalogue has it").clone();
    let of = |gpu: &Gpu, gpus: u32| Machine::with(gpu, gpus, true);
    let changed = |name: &str, dense: f64, memory: f64, bandwidth: f64, matmul: Option<f64>| {
        let mut machine = of(&gpu(name), 8);
        (machine.dense, machine.memory) = (dense * 1e12, memory * 1e9);
        (machine.bandwidth, machine.matmul) = (bandwidth * 1e12, matmul);
        machine.fp8 = Some(2.0 * machine.dense);
        machine.gpu.clone_from(&point.gpu);
        machine
    };
    Ok(match point.gpu.as_str() {
        "B200" => changed("H200", 2_250.0, 180.0, 8.0, Some(0.78)),
        "B300" => changed("H200", 2_250.0, 288.0, 8.0, Some(0.79)),
        "L40S" => {
            let mut machine = changed("H100", 362.0, 48.0, 0.864, None);
            machine.link = 32e9;
            machine
        }
        // The rows say 500 W and HBM2e; that it computes as the 80 GB one is assumed.
        "H100-96" => {
            let mut machine = of(&gpu("H100"), 8);
            machine.memory = 96e9;
            machine.bandwidth = 2.4e12;
            machine
        }
        "GB200" | "GB300" => of(&gpu(&point.gpu), 4),
        "A6000" | "RTX-4090" => return Err("the GPU is not in the catalogue".to_owned()),
        "any" => {
            let mut machine = of(&gpu("H100"), 8);
            machine.memory = 1e15;
            machine
        }
        name => of(&gpu(name), point.gpus.clamp(1, 8)),
    })
}

/// What the point says of its split.
pub(super) fn fixed(point: &Point) -> Fixed {
    let mut fixed = Fixed::default();
    for word in point.layout.split_whitespace() {
        let number = |prefix: &str| word.strip_prefix(prefix)?.parse().ok();
        if let Some(tensor) = number("TP") {
            fixed.tensor = Some(tensor);
        } else if let Some(pipeline) = number("PP") {
            fixed.pipeline = Some(pipeline);
        } else if let Some(micro_batch) = number("MBS") {
            fixed.micro_batch = Some(micro_batch);
        }
        match word {
            "AC-full" => fixed.recompute = Some(Recompute::Full),
            "AC-selective" => fixed.recompute = Some(Recompute::Selective),
            "FSDP" => fixed.sharding = Some(Sharding::Fsdp),
            "ZERO1" => fixed.sharding = Some(Sharding::Zero1),
            "ZERO2" => fixed.sharding = Some(Sharding::Zero2),
            "DDP" => fixed.sharding = Some(Sharding::Ddp),
            _ => {}
        }
    }
    fixed
}
