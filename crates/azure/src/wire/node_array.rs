//! A node array of CycleCloud as the command that has its server import it.
//!
//! The command brings the parts of the cluster's template. What the array is stands in it too, as
//! one line, so that whoever reads the command back knows the array whatever the template's text.

use model::{
    cyclecloud::{self, Sections},
    resource::NodeArray,
};
use serde_json::{Value, json};

use super::{
    DecodeError, EncodeError,
    fields::{required, unsupported},
};

const SCRIPT: &str = "/properties/source/script";

/// What stands before the array in its line.
const MARK: &str = "# tensorform-node-array ";

/// What ends the parts of the template.
const END: &str = "END_OF_TEMPLATE";

/// Seconds that an import may take, and the end of a whole cluster.
const IMPORT_SECONDS: u32 = 900;
const DROP_SECONDS: u32 = 3_600;

/// The body that makes the server import an array.
pub(super) fn encode(array: &NodeArray) -> Result<Value, EncodeError> {
    let Sections { head, arrays, tail } = cyclecloud::sections(&array.as_cluster());
    let section: String = arrays.into_iter().map(|(_, text)| text).collect();
    let start = if array.start { "yes" } else { "no" };
    let script = format!(
        "#!/bin/bash\n{}exec /opt/tensorform/bootstrap/arrays put {} {} {start} <<'{END}'\n{head}%%\n{section}%%\n{tail}{END}\n",
        line(array)?,
        array.cluster,
        array.name,
    );
    Ok(body(array, &script, IMPORT_SECONDS))
}

/// The body that makes the server end an array's nodes and forget it. It is one of no nodes then:
/// where the command itself stays behind, the next plan brings it back.
pub(crate) fn encode_drop(array: &NodeArray) -> Result<Value, EncodeError> {
    let none = NodeArray {
        nodes: 0,
        ..array.clone()
    };
    let script = format!(
        "#!/bin/bash\n{}exec /opt/tensorform/bootstrap/arrays drop {} {}\n",
        line(&none)?,
        array.cluster,
        array.name,
    );
    Ok(body(array, &script, DROP_SECONDS))
}

fn line(array: &NodeArray) -> Result<String, EncodeError> {
    let text = serde_json::to_string(array).map_err(|error| EncodeError::Invalid {
        member: "node array",
        found: error.to_string(),
    })?;
    Ok(format!("{MARK}{text}\n"))
}

fn body(array: &NodeArray, script: &str, seconds: u32) -> Value {
    json!({
        "location": array.location,
        "properties": {
            "source": { "script": script },
            "asyncExecution": false,
            "timeoutInSeconds": seconds,
            // Without it a command that failed would have succeeded in failing.
            "treatFailureAsDeploymentFailure": true,
        },
    })
}

/// Reads an array back.
pub(super) fn decode(body: &Value) -> Result<NodeArray, DecodeError> {
    let script = required(body, SCRIPT)?;
    let line = script.lines().find_map(|line| line.strip_prefix(MARK));
    let line = line.ok_or_else(|| unsupported(SCRIPT, "a command that imports no node array"))?;
    serde_json::from_str(line).map_err(|error| unsupported(SCRIPT, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use model::{
        resource::{ImageReference, InstanceOsDisk, MarketplaceImage, Security, VmPriority},
        spec::{DiskType, Scheduler},
        units::Region,
    };

    use super::*;

    fn array() -> NodeArray {
        NodeArray {
            location: Region::new("eastus"),
            name: "train".to_owned(),
            cluster: "llama".to_owned(),
            scheduler: Scheduler::Slurm,
            subnet: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/llama-vnet/subnets/nodes"
                .parse()
                .expect("an id"),
            size: "Standard_ND96isr_H100_v5".into(),
            nodes: 8,
            image: ImageReference::Marketplace(MarketplaceImage {
                publisher: "microsoft-dsvm".into(),
                offer: "ubuntu-hpc".into(),
                sku: "2204".into(),
                version: "22.04.1".to_owned(),
            }),
            priority: VmPriority::Regular,
            zones: vec!["1".to_owned()],
            coupled: true,
            os_disk: InstanceOsDisk {
                size_gb: 256,
                disk_type: DiskType::Premium,
                ephemeral: None,
            },
            data_disks: BTreeMap::new(),
            security: Security::Standard,
            identities: BTreeSet::new(),
            public_address: false,
            is_default: true,
            start: false,
        }
    }

    #[test]
    fn an_array_is_the_same_there_and_back() {
        let array = array();
        let body = encode(&array).expect("a body");
        assert_eq!(decode(&body), Ok(array));
        let script = body["properties"]["source"]["script"].as_str();
        let script = script.expect("a script");
        assert!(script.contains("arrays put llama train no"), "{script}");
        assert!(script.contains("[[nodearray train]]"), "{script}");
        assert!(script.contains("MaxCount = 8"), "{script}");
    }

    #[test]
    fn what_is_to_go_has_no_nodes_any_more() {
        let array = array();
        let body = encode_drop(&array).expect("a body");
        let found = decode(&body).expect("an array");
        assert_eq!((found.nodes, found.name.as_str()), (0, "train"));
        let script = body["properties"]["source"]["script"].as_str();
        assert!(script.is_some_and(|script| script.contains("arrays drop llama train")));
    }

    #[test]
    fn commands_of_others_are_no_arrays() {
        assert!(decode(&json!({"properties": {"source": {"script": "uptime"}}})).is_err());
        let odd = json!({"properties": {"source": {"script": format!("{MARK}{{}}")}}});
        assert!(decode(&odd).is_err());
        assert!(decode(&json!({})).is_err());
    }
}
