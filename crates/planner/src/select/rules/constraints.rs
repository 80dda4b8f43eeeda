//! What the spec demands of a size: `size: {family, gpu, min_gpu_memory, rdma, max_hourly}`.

use model::spec::{SizeChoice, SizeConstraints};

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "constraint",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

/// A price can change without the spec, so it counts only when a size is chosen.
pub(super) const PRICE: Rule = Rule {
    id: "max_hourly",
    strength: Strength::Law,
    lasting: false,
    rejects: rejects_price,
};

fn constraints<'a>(trial: &Trial<'a>) -> Option<&'a SizeConstraints> {
    match &trial.context.pool.size {
        SizeChoice::Constrained(constraints) => Some(constraints),
        SizeChoice::Auto | SizeChoice::Named(_) => None,
    }
}

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let constraints = constraints(trial)?;
    let size = trial.size;
    let gpu = size.gpu.as_ref();
    if !constraints.family.is_empty()
        && !constraints
            .family
            .iter()
            .any(|family| family.eq_ignore_ascii_case(&size.series))
    {
        return Some(format!(
            "is of the {} series, `family` asks for {}",
            size.series,
            constraints.family.join(" or ")
        ));
    }
    if !constraints.gpu.is_empty() {
        let found = gpu.map_or("none", |gpu| gpu.model.as_str());
        if !constraints
            .gpu
            .iter()
            .any(|wanted| wanted.eq_ignore_ascii_case(found))
        {
            return Some(format!(
                "has GPU {found}, `gpu` asks for {}",
                constraints.gpu.join(" or ")
            ));
        }
    }
    if let Some(wanted) = constraints.min_gpu_memory_gb {
        match gpu.map(|gpu| gpu.memory_gb) {
            Some(Some(found)) if found >= wanted => {}
            Some(Some(found)) => {
                return Some(format!(
                    "has {found} GB a GPU, `min_gpu_memory` asks for {wanted} GB"
                ));
            }
            Some(None) => {
                return Some(
                    "has GPUs whose memory is not known, and `min_gpu_memory` asks for some"
                        .to_owned(),
                );
            }
            None => return Some("has no GPU, and `min_gpu_memory` asks for some".to_owned()),
        }
    }
    match constraints.rdma {
        Some(true) if !size.rdma => Some("has no RDMA, `rdma: true` asks for it".to_owned()),
        Some(false) if size.rdma => Some("has RDMA, `rdma: false` excludes it".to_owned()),
        _ => None,
    }
}

fn rejects_price(trial: &Trial<'_>) -> Option<String> {
    let most = constraints(trial)?.max_hourly?;
    match trial.context.hourly_price(trial.size) {
        Some(price) if price > most => Some(format!(
            "costs {price} USD an hour, `max_hourly` allows {most}"
        )),
        Some(_) => None,
        None => Some(format!(
            "has no known price here, `max_hourly` allows {most} USD"
        )),
    }
}
