//! Chooses for one pool: size, count, image, zones, disks, security.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::{Lifecycle, Size},
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    live::{LiveResource, Question},
    plan::{Candidate, PoolRefusal},
    resource::{ScaleSet, VirtualMachine},
    spec::{DiskType, EphemeralPlacement, ImageChoice},
};

use super::{
    Context, Findings, NodeChoice, Selection, Trial, aks, batch, choices, deadline, grouping,
    image::{self, Choice},
    proximity, reservation,
    role::{self, Role},
    security,
    size::{self, Chosen},
    spot_price, sticky, storage, zones,
};
use crate::sizing::estimate::Sizing;

/// The live nodes of a pool by index.
pub(super) type Nodes<'a> = BTreeMap<u32, (&'a LiveResource, &'a VirtualMachine)>;

/// Chooses for a pool, or says what was considered in vain; the findings say what is wrong.
pub fn select(context: Context<'_>) -> (Result<Selection, PoolRefusal>, Findings) {
    let mut findings = Findings::default();
    let set = grouping::live_set(context.live, context.name);
    let nodes = match &set {
        Some((live, set, machines)) => sticky::instances(live, set, machines),
        None => sticky::nodes(context.live, context.name),
    };
    let set = set.as_ref().map(|(_, set, _)| set.as_ref());
    let role = Role::of(context.pool.stage, context.pool.workload);
    image::ask_counterparts(context, &mut findings);
    let refused = |candidates| Err(refusal(context, role, candidates));
    let chosen = match size::choose(context, role, &nodes, &mut findings) {
        Ok(chosen) => chosen,
        Err(candidates) => return (refused(candidates), findings),
    };
    let choice = choose_image(context, &chosen, &nodes, &mut findings);
    let Some(choice) = choice.filter(|_| fits(context, &chosen, &mut findings)) else {
        return (refused(chosen.candidates), findings);
    };
    let size = &chosen.size;
    let placement = grouping::of(context, size, chosen.count);
    ask(context, &chosen, &mut findings);
    let indices = zones::indices(&nodes, chosen.count);
    let spread = zones::spread(&chosen.trial(context), &indices, &nodes, &mut findings);
    if !reservation::holds(&chosen.trial(context), &spread.places, &mut findings) {
        return (refused(chosen.candidates), findings);
    }
    let made = sticky::with_own_image(&indices, &nodes, set);
    let is_needed = is_image_needed(context, (&made, &choice, size), &nodes);
    let new_node = new_node(context, &chosen, (&choice, is_needed), &mut findings);
    let sizing = sizing(context, &chosen, &mut findings);
    let held = sticky::held(&spread.places, set, &nodes);
    let kept = sticky::kept(context, (&choice, &size.name), &new_node, &held, &nodes);
    let why = why(context, role, &chosen, &choice);
    let why = [why, reservation::why(&chosen.trial(context)), spread.why].concat();
    let selection = Selection {
        size: chosen.size.name.clone(),
        count: chosen.count,
        inter_node: batch::inter_node(context, size, chosen.count),
        aks: aks::choose(context, size, &mut findings),
        priority: context.pool.priority.clone(),
        others: Vec::new(),
        placement,
        image_kind: choice.kind.clone(),
        accelerated_networking: accelerated_networking(context, size, set, &mut findings),
        memory: sizing.as_ref().map(|sizing| sizing.memory.clone()),
        parallelism: sizing.as_ref().map(|sizing| sizing.parallelism.clone()),
        throughput: sizing.as_ref().and_then(|sizing| sizing.throughput.clone()),
        formulas: sizing.map(|sizing| sizing.formulas).unwrap_or_default(),
        rules: article_rows(context, role, &choice),
        why,
        choices: Vec::new(),
        candidates: chosen.candidates,
        terms: image::terms(context, new_node.plan.as_ref(), &mut findings),
        zones: zones::of_pool(context, placement, set, &held),
        places: spread.places,
        new_node,
        kept,
    };
    let explained = explained(context, (&choice, size, set), selection, &mut findings);
    (Ok(explained), findings)
}

/// Says of what was left open how it was decided.
fn explained(
    context: Context<'_>,
    (image, size, set): (&Choice, &Size, Option<&ScaleSet>),
    selection: Selection,
    findings: &mut Findings,
) -> Selection {
    let live = selection.kept.values().map(|node| &node.image);
    image::say_misfit(context, size, live, findings);
    // New instances of a set get the image of the set, new VMs the newest.
    if set.is_none() {
        let live = selection.kept.values().map(|node| &node.image);
        image::say_newer(context, image, live, findings);
    }
    let first = selection.kept.values().next();
    let choices = choices::all(choices::Decided {
        context,
        size,
        image,
        node: first.unwrap_or(&selection.new_node),
        accelerated_networking: selection.accelerated_networking,
        is_live: first.is_some(),
    });
    Selection {
        choices,
        ..selection
    }
}

/// Whether the spec allows so many nodes of the size, and its capacity reservation group has it.
fn fits(context: Context<'_>, chosen: &Chosen, findings: &mut Findings) -> bool {
    let (size, new_nodes) = (&chosen.size, chosen.new_nodes);
    spot_price::check(context, size, new_nodes, findings);
    proximity::ask(context, new_nodes, findings);
    grouping::check(context, size, chosen.count, findings)
        && proximity::check(context, size, chosen.count, findings)
        && reservation::check(context, size, new_nodes, findings)
}

/// What a node that is made gets.
fn new_node(
    context: Context<'_>,
    chosen: &Chosen,
    (choice, is_needed): (&Choice, bool),
    findings: &mut Findings,
) -> NodeChoice {
    let node = NodeChoice {
        image: image::resolve(context, choice, is_needed, findings),
        plan: image::fact(context, choice)
            .filter(|_| is_needed)
            .and_then(|fact| fact.plan.clone()),
        zone: None,
        os_disk_gb: os_disk_gb(context, choice, findings),
        os_disk_type: context
            .pool
            .disks
            .os_type
            .unwrap_or_else(|| os_disk_type(&chosen.size)),
        os_disk_name: None,
        ephemeral: ephemeral(context, &chosen.size),
        disk_controller: storage::controller(context, &chosen.size),
        security: security::choose(
            context,
            &chosen.size,
            image::fact(context, choice),
            findings,
        ),
    };
    batch::warn_of_pair(context, &node.image, findings);
    aks::warn_of_feature(context, &chosen.size, chosen.new_nodes, findings);
    check_disks(context, &chosen.size, findings);
    node
}

fn refusal(context: Context<'_>, role: Role, candidates: Vec<Candidate>) -> PoolRefusal {
    PoolRefusal {
        needs: role.words().to_owned(),
        rules: vec![role::article_row(context.pool.stage, context.pool.workload).to_owned()],
        candidates,
    }
}

/// Whether any node is made, or made again, from the image; AKS has images of its own.
fn is_image_needed(
    context: Context<'_>,
    (indices, choice, size): (&BTreeSet<u32>, &Choice, &Size),
    nodes: &Nodes<'_>,
) -> bool {
    let is_made = |index: &u32| {
        let live = nodes.get(index);
        live.is_none_or(|(_, vm)| !sticky::keeps_image(context, choice, &size.name, vm))
    };
    !aks::is_wanted(context) && indices.iter().any(is_made)
}

fn at(context: Context<'_>, key: &str) -> At {
    At::Value(SpecPath::pool(context.name, &[key]))
}

fn choose_image(
    context: Context<'_>,
    chosen: &Chosen,
    nodes: &Nodes<'_>,
    findings: &mut Findings,
) -> Option<Choice> {
    if !chosen.listed {
        let (_, (_, vm)) = nodes.first_key_value()?;
        return Some(image::of_live(&vm.image, vm.os_disk.size_gb));
    }
    match image::choose(context, &chosen.size) {
        Ok(choice) => Some(choice),
        // What runs stays, whatever the catalogue says of it by now.
        Err(reason) if may_keep_image(context, chosen) && !nodes.is_empty() => {
            let (_, (_, vm)) = nodes.first_key_value()?;
            let mut choice = image::of_live(&vm.image, vm.os_disk.size_gb);
            choice.notes = vec![format!("the image is that of the live nodes: {reason}")];
            Some(choice)
        }
        Err(reason) => {
            let message = format!(
                "no image that the spec allows runs on `{}`: {reason}",
                chosen.size.name
            );
            let help = "use `image: auto`, or a size that the image supports (`tensorform images` shows both)";
            findings.diagnostics.push(
                Diagnostic::new(Code::ImageDoesNotFit, at(context, "image"), message)
                    .with_help(help),
            );
            None
        }
    }
}

fn may_keep_image(context: Context<'_>, chosen: &Chosen) -> bool {
    context.pool.image == ImageChoice::Auto && !context.reselect && chosen.new_nodes == 0
}

/// New nodes depend on what the subscription may use and how much of it.
fn ask(context: Context<'_>, chosen: &Chosen, findings: &mut Findings) {
    reservation::ask(context, chosen.new_nodes, findings);
    if chosen.new_nodes == 0 {
        return;
    }
    let quota = Question::ComputeQuota(context.location.clone());
    for question in [
        Question::Sizes(context.location.clone()),
        batch::questions(context).unwrap_or(quota),
    ] {
        if !context.live.facts.has(&question) {
            findings.questions.insert(question);
        }
    }
}

fn os_disk_type(size: &Size) -> DiskType {
    if size.premium_disks == Some(true) {
        DiskType::Premium
    } else {
        DiskType::StandardSsd
    }
}

/// Where the OS disk stands on the node; sizes without a place for it were rejected.
fn ephemeral(context: Context<'_>, size: &Size) -> Option<EphemeralPlacement> {
    let needed = storage::os_disk_gb(context, size);
    let placed = storage::placement(context, size, needed);
    placed.ok().flatten()
}

fn os_disk_gb(context: Context<'_>, choice: &Choice, findings: &mut Findings) -> u32 {
    let Some(asked) = context.pool.disks.os_size_gb else {
        return choice.os_disk_gb;
    };
    if asked < choice.os_disk_floor_gb {
        let message = format!(
            "the image needs an OS disk of {} GiB, the spec asks for {asked}",
            choice.os_disk_floor_gb
        );
        let place = At::Value(SpecPath::pool(context.name, &["disks", "os", "size_gb"]));
        let help = format!("leave it out to get {} GiB", choice.os_disk_gb);
        findings
            .diagnostics
            .push(Diagnostic::new(Code::ImageDoesNotFit, place, message).with_help(help));
    }
    asked
}

fn check_disks(context: Context<'_>, size: &Size, findings: &mut Findings) {
    let disks = &context.pool.disks;
    let count = u32::try_from(disks.data.len()).unwrap_or(u32::MAX);
    if let Some(most) = size.max_data_disks.filter(|most| count > *most) {
        let message = format!(
            "`{}` takes {most} data disks, the spec has {count}",
            size.name
        );
        let help = "use fewer and larger disks, or a larger size";
        findings.diagnostics.push(
            Diagnostic::new(Code::DisksDoNotFit, at(context, "disks"), message).with_help(help),
        );
    }
    let premium = |kind: DiskType| {
        matches!(
            kind,
            DiskType::Premium | DiskType::PremiumV2 | DiskType::Ultra
        )
    };
    let asks_premium =
        disks.os_type.is_some_and(premium) || disks.data.iter().any(|disk| premium(disk.disk_type));
    if asks_premium && size.premium_disks == Some(false) {
        let message = format!("`{}` takes no premium disks", size.name);
        let help = "use `type: standard_ssd`, or a size with premium storage";
        findings.diagnostics.push(
            Diagnostic::new(Code::DisksDoNotFit, at(context, "disks"), message).with_help(help),
        );
    }
}

fn accelerated_networking(
    context: Context<'_>,
    size: &Size,
    set: Option<&ScaleSet>,
    findings: &mut Findings,
) -> bool {
    let asked = context.pool.accelerated_networking;
    // What `auto` chose for a live set stays, whatever is known of its size by now.
    if let (Some(set), None) = (set, asked) {
        return set.network.accelerated;
    }
    if asked == Some(true) && size.accelerated_networking == Some(false) {
        let message = format!("`{}` has no accelerated networking", size.name);
        let place = at(context, "accelerated_networking");
        findings
            .diagnostics
            .push(Diagnostic::new(Code::SizeLacks, place, message).with_help("use `auto`"));
    }
    asked.unwrap_or(size.accelerated_networking == Some(true))
}

/// What the model takes on the chosen nodes, and whether they are fast enough.
fn sizing(context: Context<'_>, chosen: &Chosen, findings: &mut Findings) -> Option<Sizing> {
    let (size, count) = (&chosen.size, chosen.count);
    if count == 0 {
        return None;
    }
    let sizing = context
        .need
        .and_then(|need| need.sizing(size, count, context.catalog));
    say_assumption(context, sizing.as_ref(), findings);
    let throughput = sizing
        .as_ref()
        .and_then(|sizing| sizing.throughput.as_ref());
    deadline::check(context, (size, count), throughput, findings);
    sizing
}

/// Says where the length of a sequence is assumed.
fn say_assumption(context: Context<'_>, sizing: Option<&Sizing>, findings: &mut Findings) {
    if let Some(message) = sizing.and_then(Sizing::assumption) {
        let at = At::Value(SpecPath::pool(context.name, &["model"]));
        let finding = Diagnostic::new(Code::MemoryIncomplete, at, message);
        findings
            .diagnostics
            .push(finding.with_help("give `sequence`"));
    }
}

fn article_rows(context: Context<'_>, role: Role, choice: &Choice) -> Vec<String> {
    let mut rows = vec![role::article_row(context.pool.stage, context.pool.workload)];
    rows.push(match choice.kind.as_str() {
        "hpc" => "A16",
        "dsvm" => "A10",
        _ => "A15",
    });
    rows.push("A18");
    rows.push(match role {
        Role::TrainingGpu => "A19",
        Role::InferenceGpu => "A20",
        Role::TrainingCpu | Role::InferenceCpu => "A17",
    });
    rows.into_iter().map(ToOwned::to_owned).collect()
}

fn why(context: Context<'_>, role: Role, chosen: &Chosen, choice: &Choice) -> Vec<String> {
    let row = role::article_row(context.pool.stage, context.pool.workload);
    let mut why = vec![format!("{row}: the article names {}", role.words())];
    why.extend(chosen.why.iter().cloned());
    if choice.kind == "dsvm" {
        why.push("A10: the Data Science VM is the image to start from".to_owned());
    }
    why.extend(choice.notes.iter().cloned());
    why
}

/// Warns of sizes whose end is announced.
pub(super) fn warn_of_retirement(context: Context<'_>, size: &Size, findings: &mut Findings) {
    if let Lifecycle::EndOfLife { retires } = &size.lifecycle {
        let message = format!("`{}` retires on {retires}", size.name);
        let help = "plan the move to a successor; `tensorform sizes` shows current ones";
        let finding =
            Diagnostic::new(Code::SizeRetires, at(context, "size"), message).with_help(help);
        findings
            .diagnostics
            .push(finding.with_severity(Severity::Warning));
    }
}

/// What a chosen size shows of the others.
pub(super) fn kept_count(candidates: &[Candidate]) -> usize {
    candidates
        .iter()
        .filter(|candidate| candidate.rank.is_some())
        .count()
}

impl Chosen {
    fn trial<'a>(&'a self, context: Context<'a>) -> Trial<'a> {
        Trial {
            context,
            role: self.role,
            size: &self.size,
            count: Some(self.count),
            new_nodes: self.new_nodes,
        }
    }
}
