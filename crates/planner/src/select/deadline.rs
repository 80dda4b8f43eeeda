//! What a deadline that is not met means for a pool.

use model::{
    catalog::Size,
    diag::{At, Code, Diagnostic, SpecPath},
    plan::{CandidateReason, Throughput},
};

use super::{
    Context, Findings, Trial,
    rules::{MISSES_DEADLINE, rejections},
};
use crate::sizing::{
    deadline::{Shortfall, vms},
    estimate::{MOST_WITH_INFINIBAND, Missed},
};

/// Says where the chosen nodes are too slow.
pub(super) fn check(
    context: Context<'_>,
    (size, count): (&Size, u32),
    throughput: Option<&Throughput>,
    findings: &mut Findings,
) {
    let Some((tokens, deadline)) = context.need.and_then(super::need::Need::goal) else {
        return;
    };
    let Some(seconds) = throughput.and_then(|speed| speed.seconds) else {
        return;
    };
    if seconds <= deadline {
        return;
    }
    let shortfall = Shortfall {
        limit: vms(count, size.name.as_str()),
        seconds,
        deadline,
        tokens,
    };
    let mut finding = missed(context, &shortfall);
    let answer = context
        .need
        .and_then(|need| need.answer(size, context.catalog));
    if let Some(Ok(vms)) = answer.and_then(|answer| answer.in_time) {
        finding = finding.with_help(format!("`count: {vms}` would do"));
    }
    findings.diagnostics.push(finding);
}

/// The finding for a pool for which every size that fits is too slow; `None` where something
/// else rejects them too.
pub(super) fn nothing_fast_enough(
    context: Context<'_>,
    rejected: &[(Trial<'_>, Vec<CandidateReason>)],
) -> Option<Diagnostic> {
    let only_slow =
        |reasons: &[CandidateReason]| matches!(reasons, [reason] if reason.code == MISSES_DEADLINE);
    let slow = rejected
        .iter()
        .filter(|(_, reasons)| only_slow(reasons))
        .map(|(trial, _)| *trial);
    let nearest = slow
        .clone()
        .filter_map(|trial| shortfall(&trial))
        .min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    let finding = missed(context, &nearest);
    let counts = slow.filter_map(|trial| Some((enough(trial)?, trial.size)));
    let fewest = counts.min_by_key(|(count, size)| (*count, size.name.key()));
    Some(match fewest {
        Some((count, size)) => {
            finding.with_help(format!("`count: {count}` of `{}` would do", size.name))
        }
        None => finding,
    })
}

/// How many nodes of a size would do, where the spec says a number that does not, and nothing
/// else speaks against that many.
fn enough(trial: Trial<'_>) -> Option<u32> {
    trial.context.count()?;
    let answer = trial
        .context
        .need?
        .answer(trial.size, trial.context.catalog)?;
    let count = answer.in_time?.ok()?;
    let more = Trial {
        count: Some(count),
        new_nodes: count,
        ..trial
    };
    let others = rejections(&more).into_iter();
    let mut others = others.filter(|(rule, _)| rule.id != MISSES_DEADLINE);
    others.next().is_none().then_some(count)
}

/// How far a size on trial misses the deadline; `None` where it does not.
pub(super) fn shortfall(trial: &Trial<'_>) -> Option<Shortfall> {
    let context = trial.context;
    let need = context.need?;
    let (tokens, deadline) = need.goal()?;
    let size = trial.size;
    if let Some(count) = context.count() {
        let speed = need.sizing(size, count, context.catalog)?.throughput?;
        let seconds = speed.seconds.filter(|seconds| *seconds > deadline)?;
        return Some(Shortfall {
            limit: vms(count, size.name.as_str()),
            seconds,
            deadline,
            tokens,
        });
    }
    let Err(Missed { most, seconds }) = need.answer(size, context.catalog)?.in_time? else {
        return None;
    };
    let why = if most == MOST_WITH_INFINIBAND {
        "the most that InfiniBand connects"
    } else {
        "the most of a pool"
    };
    Some(Shortfall {
        limit: format!("{}, {why},", vms(most, size.name.as_str())),
        seconds,
        deadline,
        tokens,
    })
}

fn missed(context: Context<'_>, shortfall: &Shortfall) -> Diagnostic {
    let at = At::Value(SpecPath::pool(context.name, &["deadline"]));
    let finding = Diagnostic::new(Code::DeadlineMissed, at, shortfall.message());
    shortfall
        .help()
        .into_iter()
        .fold(finding, Diagnostic::with_help)
}
