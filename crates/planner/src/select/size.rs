//! The size of a pool: named by the spec, kept from live nodes, or the best of those that fit.

use std::{
    cell::RefCell,
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use model::{
    catalog::{Lifecycle, Size},
    diag::{At, Code, Diagnostic, SpecPath},
    plan::{Candidate, CandidateReason, Verdict},
    spec::{SizeChoice, Stage},
    units::{Micros, SizeName},
};
use rust_decimal::Decimal;

use super::{
    Context, Findings, Trial, deadline, grouping, impossible,
    pool::{Nodes, kept_count, warn_of_retirement},
    rank,
    role::Role,
    rules::{self, Strength},
    spot_price, sticky, zones,
};

/// What names of sizes begin with, and pages leave out.
const TIER: &str = "Standard_";

/// The size of a pool and the number of its nodes.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) size: Size,
    /// Whether the catalogue has the size; of one that it has not only the name counts.
    pub(super) listed: bool,
    pub(super) role: Role,
    pub(super) count: u32,
    pub(super) new_nodes: u32,
    pub(super) candidates: Vec<Candidate>,
    pub(super) why: Vec<String>,
}

/// Chooses; where nothing fits, gives every size considered, with what rejects it.
pub(super) fn choose(
    context: Context<'_>,
    role: Role,
    nodes: &Nodes<'_>,
    findings: &mut Findings,
) -> Result<Chosen, Vec<Candidate>> {
    match &context.pool.size {
        SizeChoice::Named(name) => named(context, role, nodes, name, findings),
        SizeChoice::Auto | SizeChoice::Constrained(_) => chosen(context, role, nodes, findings),
    }
}

fn at(context: Context<'_>) -> At {
    At::Value(SpecPath::pool(context.name, &["size"]))
}

fn named(
    context: Context<'_>,
    role: Role,
    nodes: &Nodes<'_>,
    name: &SizeName,
    findings: &mut Findings,
) -> Result<Chosen, Vec<Candidate>> {
    let Some(size) = context.catalog.size(name) else {
        findings.diagnostics.push(unknown(context, name));
        return Err(Vec::new());
    };
    let count = count(context, size);
    let present = Present::of(nodes);
    let if_any = count_if_any(context, size);
    let trial = Trial {
        context,
        role,
        size,
        count: Some(if_any),
        new_nodes: present.lack(if_any, size),
    };
    let rejections = rules::rejections(&trial).into_iter();
    let (refused, advised): (Vec<_>, Vec<_>) = rejections
        .filter(|(rule, _)| rule.strength != Strength::Choice)
        .partition(|(rule, _)| rule.strength == Strength::Law);
    let refused: Vec<CandidateReason> = refused.into_iter().map(|(_, reason)| reason).collect();
    if !refused.is_empty() {
        let finding = named_refused(&trial, nodes, &refused);
        findings.diagnostics.push(finding);
        return Err(vec![candidate(&trial, None, refused)]);
    }
    for (_, reason) in advised {
        let message = format!("`{}` {}", size.name, reason.message);
        let help = "the named size is used as it is; `size: auto` would choose another";
        findings
            .diagnostics
            .push(Diagnostic::new(Code::SizeAgainstAdvice, at(context), message).with_help(help));
    }
    warn_of_retirement(context, size, findings);
    Ok(Chosen {
        size: size.clone(),
        listed: true,
        role,
        count,
        new_nodes: present.lack(count, size),
        candidates: vec![candidate(&trial, Some(1), Vec::new())],
        why: vec!["the spec names the size".to_owned()],
    })
}

fn named_refused(trial: &Trial<'_>, nodes: &Nodes<'_>, refused: &[CandidateReason]) -> Diagnostic {
    let reasons: Vec<&str> = refused
        .iter()
        .map(|reason| reason.message.as_str())
        .collect();
    let message = format!("`{}` {}", trial.size.name, reasons.join("; "));
    let finding = Diagnostic::new(Code::SizeRefused, at(trial.context), message);
    let count = trial.count.unwrap_or(1);
    let is_torn = grouping::is_torn(trial.context, trial.size, count);
    if is_torn && trial.context.grouped.is_some() {
        return finding.with_help(
            "make a new pool of all the nodes beside the old one, and remove the old one: VMs do not move into a scale set",
        );
    }
    let ways = impossible::instead_of_named(trial, nodes);
    let finding = ways.into_iter().fold(finding, Diagnostic::with_help);
    finding.with_help("`tensorform sizes --location` shows what a region offers")
}

fn unknown(context: Context<'_>, name: &SizeName) -> Diagnostic {
    let message = format!("the catalogue has no size `{name}`");
    let mut finding = Diagnostic::new(Code::SizeUnknown, at(context), message);
    let sizes = context.catalog.sizes().iter();
    let names = sizes.map(|size| size.name.as_str());
    let full = format!("{TIER}{}", name.as_str().trim());
    let near = model::suggest::nearest(name.as_str(), names.clone())
        .or_else(|| model::suggest::nearest(&full, names));
    if let Some(near) = near {
        finding = finding.with_help(format!("did you mean `{near}`?"));
    }
    finding.with_help("`tensorform sizes` lists every size")
}

fn chosen(
    context: Context<'_>,
    role: Role,
    nodes: &Nodes<'_>,
    findings: &mut Findings,
) -> Result<Chosen, Vec<Candidate>> {
    let (kept, rejected) = tried(context, role, nodes);
    let candidates = document(&kept, &rejected);
    let best = kept.first().map(|trial| trial.size);
    // Where only quota lacks, the plan shows how much of it, and is refused for that.
    let lacking = rejected
        .iter()
        .find(|(_, reasons)| matches!(reasons.as_slice(), [one] if one.code == rules::QUOTA));
    let taken = best.or(lacking.map(|(trial, _)| trial.size));
    if let Some((live, listed)) = live_size(context, role, nodes, findings) {
        if listed {
            note_better(context, &live, best, findings);
        }
        let count = count(context, &live);
        let new_nodes = Present::of(nodes).lack(count, &live);
        if listed && new_nodes > 0 {
            let trial = Trial {
                context,
                role,
                size: &live,
                count: Some(count),
                new_nodes,
            };
            check_growth(&trial, findings);
        }
        let why = vec![format!(
            "live nodes have `{}`, which still satisfies the spec",
            live.name
        )];
        return Ok(Chosen {
            size: live,
            listed,
            role,
            count,
            new_nodes,
            candidates,
            why,
        });
    }
    let Some(size) = taken else {
        let finding = spot_price::nothing_cheap_enough(context, &rejected)
            .or_else(|| deadline::nothing_fast_enough(context, &rejected))
            .unwrap_or_else(|| impossible::nothing_fits(context, role, nodes, &rejected));
        findings.diagnostics.push(finding);
        return Err(candidates);
    };
    warn_of_retirement(context, size, findings);
    let count = count(context, size);
    let why = vec![reason_for(context, role, size, kept_count(&candidates))];
    Ok(Chosen {
        size: size.clone(),
        listed: true,
        role,
        count,
        new_nodes: Present::of(nodes).lack(count, size),
        candidates,
        why,
    })
}

type Kept<'a> = Vec<Trial<'a>>;
type Rejected<'a> = Vec<(Trial<'a>, Vec<CandidateReason>)>;

/// Tries every size of the role's families, and sorts those kept.
pub(super) fn tried<'a>(
    context: Context<'a>,
    role: Role,
    nodes: &Nodes<'_>,
) -> (Kept<'a>, Rejected<'a>) {
    let present = Present::of(nodes);
    let mut kept = Vec::new();
    let mut rejected = Vec::new();
    for size in context.catalog.sizes() {
        let trial = Trial {
            context,
            role,
            size,
            count: asked(context, size),
            new_nodes: present.lack(count_if_any(context, size), size),
        };
        if !rules::plays_role(&trial) {
            continue;
        }
        let reasons = rules::rejections(&trial);
        if reasons.is_empty() {
            kept.push(trial);
        } else {
            rejected.push((
                trial,
                reasons.into_iter().map(|(_, reason)| reason).collect(),
            ));
        }
    }
    rules::budget::reject_unpriced(&mut kept, &mut rejected);
    kept.sort_by_cached_key(rank::key);
    rejected.sort_by_cached_key(|(trial, reasons): &(Trial<'_>, Vec<CandidateReason>)| {
        (reasons.len(), rank::key(trial))
    });
    (kept, rejected)
}

fn document(kept: &Kept<'_>, rejected: &Rejected<'_>) -> Vec<Candidate> {
    let ranks = 1u32..;
    let kept = kept
        .iter()
        .zip(ranks)
        .map(|(trial, rank)| candidate(trial, Some(rank), Vec::new()));
    kept.chain(
        rejected
            .iter()
            .map(|(trial, reasons)| candidate(trial, None, reasons.clone())),
    )
    .collect()
}

fn candidate(trial: &Trial<'_>, rank: Option<u32>, reasons: Vec<CandidateReason>) -> Candidate {
    let price = trial.context.hourly_price(trial.size);
    Candidate {
        size: trial.size.name.clone(),
        verdict: if rank.is_some() {
            Verdict::Kept
        } else {
            Verdict::Rejected
        },
        rank,
        reasons,
        hourly_micros: price.and_then(|price| Micros::from_price(price, Decimal::ONE)),
    }
}

/// The nodes that the spec asks for, or that its model needs on this size: to be held, and to
/// get its tokens through in time.
pub(super) fn asked(context: Context<'_>, size: &Size) -> Option<u32> {
    context.count().or_else(|| {
        let need = context.need?;
        let answer = need.answer(size, context.catalog)?;
        match (answer.in_time, context.pool.stage) {
            (Some(Ok(vms)), _) => Some(vms),
            (Some(Err(missed)), _) => Some(missed.most),
            (None, Stage::Training) => Some(answer.vms),
            // A copy that one VM does not hold is no reason for more of them.
            (None, Stage::Inference) => Some(answer.vms.div_ceil(answer.vms_of_copy)),
        }
    })
}

fn count(context: Context<'_>, size: &Size) -> u32 {
    if context.pool.count == Some(0) {
        return 0;
    }
    count_if_any(context, size)
}

/// The nodes of a pool that has some: what decides about a pool of none too.
fn count_if_any(context: Context<'_>, size: &Size) -> u32 {
    asked(context, size).unwrap_or(1)
}

/// The sizes of live nodes.
struct Present<'a> {
    nodes: &'a Nodes<'a>,
    /// Indices by size, in order.
    by_size: BTreeMap<&'a SizeName, Vec<u32>>,
    /// The nodes that stay of a number; nearly every size asks for the same.
    staying: RefCell<(u32, BTreeSet<u32>)>,
}

impl<'a> Present<'a> {
    fn of(nodes: &'a Nodes<'a>) -> Self {
        let mut by_size: BTreeMap<&SizeName, Vec<u32>> = BTreeMap::new();
        for (index, (_, vm)) in nodes {
            by_size.entry(&vm.size).or_default().push(*index);
        }
        Self {
            nodes,
            by_size,
            staying: RefCell::default(),
        }
    }

    /// The size that most nodes have, of several the one whose first node comes first: one node
    /// that somebody resized does not take the others along.
    fn usual(&self) -> Option<&'a SizeName> {
        let most = self
            .by_size
            .iter()
            .max_by_key(|(_, indices)| (indices.len(), Reverse(indices.first())));
        most.map(|(size, _)| *size)
    }

    /// Nodes that need hardware of a size: those that do not exist, and those of another size.
    fn lack(&self, count: u32, size: &Size) -> u32 {
        let Some(indices) = self.by_size.get(&size.name) else {
            return count;
        };
        let mut staying = self.staying.borrow_mut();
        if staying.0 != count {
            *staying = (count, zones::staying(self.nodes, count));
        }
        let present = indices.iter().filter(|index| staying.1.contains(index));
        count.saturating_sub(u32::try_from(present.count()).unwrap_or(u32::MAX))
    }
}

/// The size of live nodes, where it stays, and whether the catalogue has it.
fn live_size(
    context: Context<'_>,
    role: Role,
    nodes: &Nodes<'_>,
    findings: &mut Findings,
) -> Option<(Size, bool)> {
    if context.reselect {
        return None;
    }
    let usual = Present::of(nodes).usual()?;
    let Some(size) = context.catalog.size(usual) else {
        let message =
            format!("live nodes have `{usual}`, which the catalogue does not know; it stays");
        findings
            .diagnostics
            .push(Diagnostic::new(Code::SizeUnknownKept, at(context), message));
        return Some((unlisted(usual), false));
    };
    sticky::still_fits(context, role, size, context.count()).then(|| (size.clone(), true))
}

/// A size of which nothing but the name is known.
fn unlisted(name: &SizeName) -> Size {
    Size {
        name: name.clone(),
        family: None,
        series: String::new(),
        version: None,
        vcpus: 0,
        memory_mib: None,
        max_data_disks: None,
        max_nics: None,
        architecture: None,
        generations: BTreeSet::new(),
        accelerated_networking: None,
        premium_disks: None,
        ephemeral_os_disk: None,
        encryption_at_host: None,
        gpu: None,
        rdma: false,
        gpu_interconnect: None,
        local_nvme: None,
        lifecycle: Lifecycle::Current,
        image_family: String::new(),
        notes: String::new(),
        source: "live".into(),
        as_of: "unknown".into(),
    }
}

/// A live size stays, and may be one of which Azure makes no more.
fn check_growth(trial: &Trial<'_>, findings: &mut Findings) {
    let (context, size) = (trial.context, trial.size);
    let reasons: Vec<String> = rules::rejections(trial)
        .into_iter()
        .filter(|(rule, _)| rule.strength == Strength::Law && !rule.lasting)
        .filter(|(rule, _)| rule.id != rules::IMAGE)
        .map(|(_, reason)| reason.message)
        .collect();
    if reasons.is_empty() {
        warn_of_retirement(context, size, findings);
        return;
    }
    let what = match trial.new_nodes {
        1 => "a new node".to_owned(),
        several => format!("{several} new nodes"),
    };
    let message = format!(
        "{what} cannot be made beside the live ones: `{}` {}",
        size.name,
        reasons.join("; ")
    );
    let finding = Diagnostic::new(Code::SizeRefused, at(context), message);
    findings.diagnostics.push(finding.with_help(
        "keep the number of nodes, or let `--reselect` choose a size anew for all of them",
    ));
}

fn note_better(context: Context<'_>, live: &Size, best: Option<&Size>, findings: &mut Findings) {
    let Some(best) = best.filter(|best| best.name != live.name) else {
        return;
    };
    let message = format!(
        "a new pool would get `{}`; live nodes keep `{}`",
        best.name, live.name
    );
    let help = "`--reselect` chooses anew, and shows what that changes before anything is done";
    findings
        .diagnostics
        .push(Diagnostic::new(Code::SizeBetter, at(context), message).with_help(help));
}

fn reason_for(context: Context<'_>, role: Role, size: &Size, kept: usize) -> String {
    if kept == 0 {
        return format!(
            "A17, A18: `{}` is the nearest: only its quota does not suffice",
            size.name
        );
    }
    let what = match role {
        Role::TrainingGpu if size.series == "ND" => "the newest ND generation",
        Role::TrainingGpu => "the smallest that holds the model on one node",
        Role::InferenceGpu if context.pool.model.is_some() => {
            "the smallest that holds the model, without InfiniBand"
        }
        Role::InferenceGpu => "the newest generation without InfiniBand",
        Role::TrainingCpu | Role::InferenceCpu => "the newest generation, smallest above the floor",
    };
    format!(
        "A17, A18: `{}` is first of {kept} that fit: {what}",
        size.name
    )
}
