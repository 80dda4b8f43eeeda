//! Texts that Azure Batch reads.

use super::form;
use crate::spec::schema::kind::{Refusal, TextForm};

/// The longest formula, in characters.
const LONGEST_FORMULA: usize = 8_000;

pub(crate) const NODE_AGENT: TextForm = form(
    "a node agent of Batch such as `batch.node.ubuntu 22.04`",
    "^batch\\.node\\.[a-z]+ [0-9.]+$",
    |text| {
        let sound = text
            .strip_prefix("batch.node.")
            .and_then(|rest| rest.split_once(' '))
            .is_some_and(|(system, version)| {
                !system.is_empty()
                    && system.bytes().all(|byte| byte.is_ascii_lowercase())
                    && !version.is_empty()
                    && version
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || byte == b'.')
            });
        if sound { Ok(()) } else { Err(Refusal::plain()) }
    },
);

/// A formula says how many nodes there are to be, or it is none.
pub(crate) const FORMULA: TextForm = form(
    "an autoscale formula of Batch, which sets `$TargetDedicatedNodes` or `$TargetLowPriorityNodes`",
    "^[\\s\\S]*\\$Target(Dedicated|LowPriority)Nodes[\\s\\S]*$",
    |text| {
        if text.len() > LONGEST_FORMULA {
            return Err(Refusal::because("it is longer than 8000 characters"));
        }
        let sets = ["$TargetDedicatedNodes", "$TargetLowPriorityNodes"];
        if sets.iter().any(|variable| text.contains(variable)) {
            Ok(())
        } else {
            Err(Refusal::plain())
        }
    },
);
