//! What is refused, and what is not assumed.

use model::{catalog::Catalog, spec::Precision, units::SizeName};

use super::{full, known, machine};
use crate::sizing::{
    estimate::{self, Trouble},
    layout::{self, Fixed},
    machine::Machine,
    split::Offload,
    subject::Subject,
    training::Job,
};

#[test]
fn a_pipeline_has_no_more_stages_than_layers() {
    let h100 = machine("H100", 8);
    let job = full(Precision::Bf16);
    let known = known("llama-3.1-70b");
    let counted = Subject::new(Some(7_000_000_000), None, None).expect("it has a count");
    for (subject, layers) in [(&known, 80), (&counted, 38)] {
        let stages = |stages| Fixed {
            pipeline: Some(stages),
            ..Fixed::default()
        };
        let refused = estimate::training(subject, &h100, job, stages(layers + 1), (None, None));
        let expected = Trouble::TooManyStages {
            stages: layers + 1,
            layers,
        };
        assert_eq!(refused.map(|sizing| sizing.gpus), Err(expected));
        let taken = estimate::training(subject, &h100, job, stages(layers), (None, None));
        assert_eq!(taken.map(|sizing| sizing.parallelism.pipeline), Ok(layers));
    }
}

#[test]
fn a_host_takes_no_more_than_its_memory() {
    let subject = Subject::new(Some(3_000_000_000), None, None).expect("it has a count");
    let job = full(Precision::Fp16);
    let offload = |gibibytes: Option<f64>| {
        let machine = Machine {
            host: gibibytes.map(|it| it * 1_073_741_824.0),
            ..machine("T4", 1)
        };
        let layout = layout::choose(&subject, &machine, job, Fixed::default(), 1);
        layout.map(|layout| (layout.fits, layout.split.offload))
    };
    // All but 2 bytes of each parameter are 42 GB, 63 with their buffers: 70 GB of memory.
    assert_eq!(offload(None), Some((false, Offload::None)));
    assert_eq!(offload(Some(28.0)), Some((false, Offload::None)));
    assert_eq!(offload(Some(65.0)), Some((false, Offload::None)));
    assert_eq!(offload(Some(66.0)), Some((true, Offload::Optimizer)));
    let catalog = Catalog::embedded();
    let name = SizeName::new("Standard_NC4as_T4_v3");
    let size = catalog.size(&name).expect("the catalogue has it");
    let known = Machine::of(size, catalog).and_then(|machine| machine.host);
    assert_eq!(known, Some(28.0 * 1_073_741_824.0));
}

#[test]
fn hours_and_memory_go_by_the_same_sequence() {
    let h100 = machine("H100", 8);
    let subject = known("llama-3.1-70b");
    let sized = |sequence, tokens| {
        let job = Job {
            sequence,
            ..full(Precision::Bf16)
        };
        let goal = (None, tokens);
        estimate::training(&subject, &h100, job, Fixed::default(), goal).expect("H100 can")
    };
    let (assumed, given) = (sized(None, Some(1e12)), sized(Some(4_096.0), Some(1e12)));
    assert!(assumed.assumed_sequence && !given.assumed_sequence);
    assert_eq!(assumed.memory, given.memory);
    assert_eq!(assumed.throughput, given.throughput);
    let of_memory = sized(None, None);
    assert_eq!(of_memory.memory.activations_bytes, None);
    assert!(!of_memory.assumed_sequence);
}
