//! What the model of a pool needs of a size: the maths of [`crate::sizing`], asked for a pool.

use std::{cell::RefCell, collections::BTreeMap};

use model::{
    catalog::{Catalog, Size},
    diag::{At, Diagnostic, SpecPath},
    spec::{Pool, Stage},
    units::SizeName,
};

use crate::sizing::{
    estimate::{self, Missed, Sizing},
    layout::{self, Fixed},
    machine::Machine,
    serving::{self, Service},
    subject::Subject,
    training::Job,
};

/// The model of a pool with what is to be done with it.
#[derive(Debug)]
pub struct Need {
    subject: Subject,
    stage: Stage,
    job: Job,
    service: Service,
    tokens: Option<f64>,
    deadline: Option<f64>,
    /// The rules ask for each size several times; the answer takes thousands of sums.
    answers: RefCell<BTreeMap<SizeName, Option<Answer>>>,
}

/// What a size needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// GPUs at least.
    pub gpus: u32,
    /// VMs at least.
    pub vms: u32,
    /// VMs of one copy of a served model.
    pub vms_of_copy: u32,
    /// VMs that meet the deadline, where there is one.
    pub in_time: Option<Result<u32, Missed>>,
}

impl Need {
    /// Of a pool; `None` where nothing is known of its model.
    ///
    /// # Errors
    /// The catalogue has no model of this name.
    pub fn of(name: &str, pool: &Pool, catalog: &Catalog) -> Result<Option<Self>, Diagnostic> {
        let Some(model) = &pool.model else {
            return Ok(None);
        };
        let (parameters, active) = (model.parameters, model.active_parameters);
        let subject = match &model.name {
            Some(known) => {
                Subject::known(catalog, known, parameters, active).map_err(|mut finding| {
                    finding.at = At::Value(SpecPath::pool(name, &["model", "name"]));
                    finding
                })?
            }
            None => Subject::new(parameters, active, model.transformer.as_ref()),
        };
        let sequence = model.sequence.map(f64::from);
        Ok(subject.map(|subject| Self {
            subject,
            stage: pool.stage,
            job: Job {
                method: model.method,
                precision: model.precision,
                sequence,
            },
            service: Service {
                precision: model.precision,
                sequence,
                concurrency: model.concurrency.map(f64::from),
            },
            tokens: model.tokens.map(crate::sizing::float),
            deadline: pool
                .deadline
                .map(|span| crate::sizing::float(span.seconds())),
            answers: RefCell::default(),
        }))
    }

    /// What a size needs; `None` for one without GPUs, or whose GPUs never hold the model.
    pub fn answer(&self, size: &Size, catalog: &Catalog) -> Option<Answer> {
        if let Some(known) = self.answers.borrow().get(&size.name) {
            return *known;
        }
        let known = Machine::of(size, catalog);
        let answer = match &known {
            Some(machine) => self.compute(machine),
            // Memory can be compared even where nobody knows the speed.
            None => Machine::of_memory(size)
                .and_then(|machine| self.compute(&machine))
                .map(|answer| Answer {
                    in_time: None,
                    ..answer
                }),
        };
        self.answers.borrow_mut().insert(size.name.clone(), answer);
        answer
    }

    fn compute(&self, machine: &Machine) -> Option<Answer> {
        match self.stage {
            Stage::Training => {
                let fixed = Fixed::default();
                let (gpus, recommended) = estimate::needed(
                    &self.subject,
                    machine,
                    self.job.for_tokens(self.tokens),
                    fixed,
                )?;
                let vms = recommended.div_ceil(machine.gpus);
                let in_time = self.tokens.zip(self.deadline).map(|goal| {
                    let least = (vms, fixed);
                    estimate::vms_for_deadline(&self.subject, machine, self.job, goal, least)
                });
                Some(Answer {
                    gpus,
                    vms,
                    vms_of_copy: 1,
                    in_time,
                })
            }
            Stage::Inference => {
                let fixed = Fixed::default();
                let copies = layout::copies(&self.subject, machine, self.service, fixed)?;
                Some(Answer {
                    gpus: copies.gpus(),
                    vms: copies.gpus().div_ceil(machine.gpus),
                    vms_of_copy: copies.each().div_ceil(machine.gpus),
                    in_time: None,
                })
            }
        }
    }

    /// Memory, split and speed on a number of VMs; `None` for a size without GPUs, or whose GPUs
    /// never hold the model.
    pub fn sizing(&self, size: &Size, vms: u32, catalog: &Catalog) -> Option<Sizing> {
        let machine = Machine::of(size, catalog)?;
        let gpus = Some(vms.saturating_mul(machine.gpus));
        let (subject, fixed) = (&self.subject, Fixed::default());
        let goal = (gpus, self.tokens);
        match self.stage {
            Stage::Training => estimate::training(subject, &machine, self.job, fixed, goal).ok(),
            Stage::Inference => {
                estimate::service(subject, &machine, self.service, fixed, goal).ok()
            }
        }
    }

    /// Bytes of one copy of a served model: weights, their overhead, and the cache of one
    /// sequence where it is known.
    pub fn copy_bytes(&self) -> f64 {
        let (weights, overhead) = serving::weights(&self.subject, self.service.precision);
        let cache = serving::sequence_cache(&self.subject, self.service);
        weights + overhead + cache.unwrap_or(0.0)
    }

    /// Tokens and the seconds they must be through in, where both are given.
    pub fn goal(&self) -> Option<(f64, f64)> {
        self.tokens.zip(self.deadline)
    }
}
