//! How likely Azure holds it that the spot nodes of a plan are to be had.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic, SpecPath},
    live::{Answer, Live, Mode, PlacementQuestion, Question},
    plan::{Operation, Step},
    resource::{Resource, VmPriority},
    units::{Region, SizeName},
};

use crate::select::Findings;

/// What Azure says of the spot nodes that a plan makes. The role that may ask is rare, so that
/// nothing is said where it lacks.
pub(crate) fn placement(steps: &[Step], live: &Live, mode: Mode) -> Findings {
    let mut findings = Findings::default();
    if mode == Mode::Offline {
        return findings;
    }
    for ((pool, size, location), count) in spot_nodes(steps) {
        let question = PlacementQuestion {
            location,
            size,
            count,
        };
        match live.facts.placements.get(&question) {
            None => {
                findings.questions.insert(Question::SpotPlacement(question));
            }
            Some(Answer::Known(Some(score))) if is_poor(score) => {
                let message = format!(
                    "Azure rates the chance of {count} spot `{}` in {} as `{score}`",
                    question.size, question.location
                );
                let at = At::Value(SpecPath::pool(&pool, &["priority"]));
                findings.diagnostics.push(
                    Diagnostic::new(Code::SpotUnlikely, at, message)
                        .with_help("use another size or location, or `priority: regular`"),
                );
            }
            Some(Answer::Known(_) | Answer::Unknown { .. }) => {}
        }
    }
    findings
}

fn is_poor(score: &str) -> bool {
    ["low", "restrictedskunotavailable"].contains(&score.to_lowercase().as_str())
}

/// New spot nodes by pool, size and region.
fn spot_nodes(steps: &[Step]) -> BTreeMap<(String, SizeName, Region), u32> {
    let mut nodes = BTreeMap::new();
    for step in steps {
        let vm = step.after.as_ref().and_then(Resource::virtual_machine);
        if let (Some(vm), Some(pool)) = (vm, step.address.pool_name())
            && step.operations.contains(&Operation::Create)
            && matches!(vm.priority, VmPriority::Spot { .. })
        {
            let key = (pool.to_owned(), vm.size.clone(), vm.location.clone());
            let count: &mut u32 = nodes.entry(key).or_default();
            *count = count.saturating_add(1);
        }
    }
    nodes
}
