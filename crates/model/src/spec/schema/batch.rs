//! The tables of Azure Batch.

use super::{
    forms::{batch, quantities},
    kind::{Block, Key, Kind, Presence, Support},
    pool::MOST_NODES,
    stack::keys,
    words,
};

const NOW: Support = Support::Now;
const OPTIONAL: Presence = Presence::Optional;

const fn default(value: &'static str) -> Presence {
    Presence::Default(value)
}

/// Azure Batch.
pub(super) const BATCH: Block = Block {
    name: "batch",
    doc: "Settings of a pool of Azure Batch. The stack gets one Batch account, and each of its Batch pools a pool in it.",
    keys: keys! {
        "autoscale": Kind::block(&AUTOSCALE), OPTIONAL, NOW, "{min: 0}",
            "Lets Batch decide how many nodes there are; `count` is then the most that there may be, and what budgets count.";
        "inter_node": Kind::boolean().or_words(words::AUTO), default("auto"), NOW, "auto",
            "Whether nodes reach each other, for jobs of several nodes; `auto` for training on several InfiniBand nodes. Excludes `autoscale` and spot capacity.";
        "task_slots": Kind::integer(1, 256), default("1"), NOW, "1",
            "Tasks that run on one node at once: up to four for each vCPU.";
        "node_agent": Kind::text(&batch::NODE_AGENT), OPTIONAL, NOW, "batch.node.ubuntu 22.04",
            "Batch's program on the nodes, which must fit the image; needed where it is not known for the image.";
    },
};

const AUTOSCALE: Block = Block {
    name: "autoscale",
    doc: "What decides how many nodes there are, between `min` and the pool's `count`.",
    keys: keys! {
        "min": Kind::integer(0, MOST_NODES), default("0"), NOW, "0",
            "Fewest nodes.";
        "formula": Kind::text(&batch::FORMULA), OPTIONAL, NOW,
            "\"$TargetDedicatedNodes = $PendingTasks.GetSample(1);\"",
            "A formula of your own, in the language of Batch; its result is kept between `min` and `count`. Without it there is a node for each task that waits or runs.";
        "every": Kind::text(&quantities::SPAN), default("15m"), NOW, "15m",
            "Time between two evaluations: from `5m` to `7d`.";
    },
};
