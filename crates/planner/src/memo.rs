//! The memo of a pool: what stands beside the decision in `explain`.
//!
//! What would change the answer is found by planning again with one thing changed, so that an
//! alternative passes the same rules as the decision did.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    cost::{PoolCost, SizeCost},
    live::Live,
    plan::{Alternative, AlternativeKind, Candidate, Plan, PoolMemo, PoolPlan, QuotaLine},
    spec::{
        Eviction, Method, Model, Pool, Precision, Priority, SizeChoice, Spec, Spot, Stage, Workload,
    },
};

use crate::{
    cost::{self, Limits, Prices, ReportInput},
    plan::{Input, Options},
    preflight,
};

/// Alternatives of one kind.
const MOST_OF_A_KIND: usize = 3;

/// The memo of each pool of a plan.
pub fn memos(input: Input<'_>, mut plan: Plan) -> BTreeMap<String, PoolMemo> {
    // There may be a thousand of them, and the plan is copied below.
    let candidates: BTreeMap<String, Vec<Candidate>> = plan
        .pools
        .iter_mut()
        .map(|(name, pool)| (name.clone(), std::mem::take(&mut pool.candidates)))
        .collect();
    let plan = &plan;
    // What lives would hold sizes and regions; what was answered still counts.
    let live = Live {
        subscription: input.live.subscription.clone(),
        facts: input.live.facts.clone(),
        ..Live::default()
    };
    let pools = plan.pools.iter().filter_map(|(name, chosen)| {
        let pool = input.spec.pools.get(name)?;
        let mut spec = input.spec.clone();
        spec.locations = vec![plan.scope.location.clone()];
        spec.pools.retain(|other, _| other == name);
        let memo = Memo {
            input: Input {
                live: &live,
                ..input
            },
            plan,
            spec,
            name,
            pool,
            chosen,
            candidates: candidates.get(name)?,
        };
        Some((name.clone(), memo.write()))
    });
    pools.collect()
}

/// What a memo is written from.
struct Memo<'a> {
    input: Input<'a>,
    plan: &'a Plan,
    /// The spec with this pool alone, in the region of the plan.
    spec: Spec,
    name: &'a str,
    pool: &'a Pool,
    chosen: &'a PoolPlan,
    /// Every size considered.
    candidates: &'a [Candidate],
}

impl Memo<'_> {
    fn write(&self) -> PoolMemo {
        let cost = cost::pool_cost(
            ReportInput {
                spec: self.input.spec,
                plan: self.plan,
                before: &[],
                prices: self.prices(),
                seconds: None,
            },
            self.name,
            self.pool,
            self.chosen,
        );
        let mut alternatives = self.regions(&cost.total);
        alternatives.extend(self.spot());
        alternatives.extend(self.fewer_nodes());
        alternatives.extend(self.sizes());
        PoolMemo {
            requirement: requirement(self.pool),
            total: cost.total,
            run: cost.run,
            price: self.price(&cost),
            choices: self.chosen.choices.clone(),
            quota: self.quota(),
            alternatives,
        }
    }

    fn prices(&self) -> Prices<'_> {
        Prices {
            catalog: self.input.catalog,
            book: self.input.options.price_book.as_ref(),
        }
    }

    /// The price of a node with its meter, day and source.
    fn price(&self, cost: &PoolCost) -> Option<String> {
        let way = cost.options.iter().find(|way| way.chosen)?;
        let price = way.unit_price.as_ref()?;
        let mut about = vec![way.meter.clone()];
        about.extend(way.as_of.iter().cloned());
        about.extend(way.source.iter().cloned());
        let currency = &self.plan.cost.currency;
        Some(format!("{price} {currency}/h ({})", about.join(", ")))
    }

    /// The counters that the pool draws from, with what the whole plan adds to them.
    fn quota(&self) -> Vec<QuotaLine> {
        let Input { catalog, live, .. } = self.input;
        let mut alone = self.plan.clone();
        let of_pool = |step: &model::plan::Step| step.address.pool_name() == Some(self.name);
        alone.steps.retain(of_pool);
        let drawn = preflight::report(&alone, catalog, live).lines;
        let drawn: BTreeSet<String> = drawn.into_iter().map(|line| line.name).collect();
        let mut lines = preflight::report(self.plan, catalog, live).lines;
        lines.retain(|line| drawn.contains(&line.name));
        lines
    }

    /// Regions where the same nodes cost less.
    fn regions(&self, here: &model::cost::Amount) -> Vec<Alternative> {
        let mut plan = self.plan.clone();
        plan.steps
            .retain(|step| step.address.pool_name() == Some(self.name));
        plan.pools.retain(|name, _| name == self.name);
        let ranked = cost::regions(&self.spec, &plan, self.prices()).ranked;
        let cheaper = ranked.into_iter().filter(|region| {
            let is_less = region.total.monthly_micros < here.monthly_micros;
            !region.planned && region.total.complete && (is_less || !here.complete)
        });
        let cheaper = cheaper.take(MOST_OF_A_KIND);
        let alternative = cheaper.map(|region| Alternative {
            kind: AlternativeKind::Region,
            what: format!("in {}", region.location),
            count: self.chosen.count,
            total: region.total,
            run: None,
        });
        alternative.collect()
    }

    /// The same nodes on spare capacity.
    fn spot(&self) -> Option<Alternative> {
        if self.pool.priority != Priority::Regular {
            return None;
        }
        let spot = Spot {
            max_price: None,
            eviction: Eviction::Delete,
            fallback_to_regular: false,
        };
        let cost = self.changed(|pool| {
            pool.size = SizeChoice::Named(self.chosen.size.clone());
            pool.priority = Priority::Spot(spot);
        })?;
        Some(Self::alternative(
            AlternativeKind::Spot,
            "spot capacity, which Azure may take back at any time".to_owned(),
            &cost,
        ))
    }

    /// The fewest nodes on which the model fits, where more are planned.
    fn fewer_nodes(&self) -> Option<Alternative> {
        let gpus = self.chosen.memory.as_ref()?.gpus_recommended?;
        let size = self.input.catalog.size(&self.chosen.size)?;
        let of_node = size.gpu.as_ref()?.share?.whole();
        let nodes = gpus.checked_div(of_node)?.max(1);
        if nodes >= self.chosen.count {
            return None;
        }
        let cost = self.changed(|pool| {
            pool.size = SizeChoice::Named(self.chosen.size.clone());
            pool.count = Some(nodes);
            pool.deadline = None;
        })?;
        let what = match nodes {
            1 => "1 node, the least that holds the model".to_owned(),
            nodes => format!("{nodes} nodes, the least that hold the model"),
        };
        Some(Self::alternative(AlternativeKind::FewerNodes, what, &cost))
    }

    /// The sizes that came next, with the nodes that they would need.
    fn sizes(&self) -> Vec<Alternative> {
        let mut next: Vec<_> = self
            .candidates
            .iter()
            .filter(|candidate| candidate.size != self.chosen.size)
            .filter_map(|candidate| Some((candidate.rank?, &candidate.size)))
            .collect();
        next.sort();
        let next = next.into_iter().take(MOST_OF_A_KIND);
        let alternatives = next.filter_map(|(_, size)| {
            let cost = self.changed(|pool| pool.size = SizeChoice::Named(size.clone()))?;
            let what = size.to_string();
            Some(Self::alternative(AlternativeKind::Size, what, &cost))
        });
        alternatives.collect()
    }

    fn alternative(kind: AlternativeKind, what: String, cost: &SizeCost) -> Alternative {
        Alternative {
            kind,
            what,
            count: cost.count,
            total: cost.total,
            run: cost.run,
        }
    }

    /// What the pool costs with one thing changed; `None` where the rules do not let it pass.
    fn changed(&self, change: impl FnOnce(&mut Pool)) -> Option<SizeCost> {
        let mut spec = self.spec.clone();
        spec.budget = None;
        change(spec.pools.get_mut(self.name)?);
        let options = Options {
            limits: Limits::default(),
            ..self.input.options.clone()
        };
        let planned = crate::plan(Input {
            spec: &spec,
            options: &options,
            ..self.input
        });
        let plan = planned.plan.filter(|_| !planned.diagnostics.has_errors())?;
        cost::of_pool(&spec, &plan, self.name, self.prices(), None)
    }
}

/// What was asked for, in words.
fn requirement(pool: &Pool) -> String {
    let stage = match pool.stage {
        Stage::Training => "training",
        Stage::Inference => "inference",
    };
    let workload = match pool.workload {
        Workload::Generative => "a generative model",
        Workload::Complex => "a complex model that is not generative",
        Workload::Small => "a small model",
    };
    let mut parts = vec![format!("{stage} of {workload}")];
    parts.extend(
        pool.model
            .iter()
            .flat_map(|model| of_model(model, pool.stage)),
    );
    parts.extend(pool.deadline.map(|deadline| format!("within {deadline}")));
    parts.extend(pool.count.map(|count| match count {
        1 => "1 node asked for".to_owned(),
        count => format!("{count} nodes asked for"),
    }));
    parts.join(", ")
}

fn of_model(model: &Model, stage: Stage) -> Vec<String> {
    let named = model.name.clone();
    let file = || model.config.as_ref().map(|path| format!("`{path}`"));
    let parameters = || Some(format!("{} parameters", short(model.parameters?)));
    let mut parts: Vec<String> = named
        .or_else(file)
        .or_else(parameters)
        .into_iter()
        .collect();
    if let Some(active) = model.active_parameters {
        parts.push(format!("{} of them active", short(active)));
    }
    parts.push(
        match model.precision {
            Precision::Fp32 => "fp32",
            Precision::Bf16 => "bf16",
            Precision::Fp16 => "fp16",
            Precision::Fp8 => "fp8",
            Precision::Int4 => "int4",
        }
        .to_owned(),
    );
    if stage == Stage::Training {
        let method = match model.method {
            Method::Full => "all weights trained",
            Method::Lora => "LoRA",
            Method::Qlora => "QLoRA",
        };
        parts.push(method.to_owned());
    }
    parts.extend(
        model
            .sequence
            .map(|tokens| format!("sequences of {tokens}")),
    );
    parts.extend(
        model
            .tokens
            .map(|tokens| format!("{} tokens", short(tokens))),
    );
    let at_once = model.concurrency;
    parts.extend(at_once.map(|count| format!("{count} sequences at once")));
    parts
}

/// A large number as specs write it, such as `70B`.
fn short(number: u64) -> String {
    let units = [
        (1_000_000_000_000, "T"),
        (1_000_000_000, "B"),
        (1_000_000, "M"),
        (1_000, "K"),
    ];
    for (unit, name) in units {
        if number >= unit {
            let (whole, tenths) = (number / unit, number % unit * 10 / unit);
            return match tenths {
                0 => format!("{whole}{name}"),
                tenths => format!("{whole}.{tenths}{name}"),
            };
        }
    }
    number.to_string()
}
