//! What stands in a cluster of Azure Kubernetes Service above Azure's resources: what the nodes of
//! its pools have, and so what must be installed for pods to use it.

use crate::units::SizeName;

/// The nodes of a stack's cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InCluster {
    /// The stack.
    pub stack: String,
    /// The resource group of the cluster.
    pub group: String,
    /// The name of the cluster.
    pub cluster: String,
    /// Its agent pools, by their names in the spec.
    pub pools: Vec<NodePool>,
    /// What nothing that is installed can do.
    pub notes: Vec<NodeNote>,
}

/// An agent pool, as pods see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePool {
    /// Its name in the spec.
    pub name: String,
    /// Its name in the cluster, which is a label of its nodes.
    pub agent_pool: String,
    /// The size of its nodes.
    pub size: SizeName,
    /// How many nodes there are at most.
    pub nodes: u32,
    /// Whether the cluster decides how many there are.
    pub scales: bool,
    /// Taints of its nodes, those that AKS sets among them.
    pub taints: Vec<Taint>,
    /// Its GPUs.
    pub gpus: Option<NodeGpus>,
    /// Ports of InfiniBand of each node, where its nodes share a fabric.
    pub infiniband: Option<Ports>,
}

/// Ports of InfiniBand of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// This many.
    Known(u32),
    /// At least one: no table says how many.
    Some,
}

/// GPUs of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeGpus {
    /// Who makes them.
    pub vendor: GpuVendor,
    /// How many a node has.
    pub count: u32,
    /// Into how many instances each is cut.
    pub instances: Option<u32>,
    /// Whether AKS installs their driver.
    pub driver_by_aks: bool,
}

impl NodeGpus {
    /// How many of them pods of a node may ask for; an instance counts as one.
    pub fn schedulable(self) -> u32 {
        self.count.saturating_mul(self.instances.unwrap_or(1))
    }
}

/// Who makes GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuVendor {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
}

/// A taint of nodes, as `key=value:effect`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value, where it has one.
    pub value: Option<String>,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: String,
}

impl Taint {
    /// Reads one; `None` for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, effect) = text.rsplit_once(':')?;
        let (key, value) = match name.split_once('=') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (name, None),
        };
        Some(Self {
            key: key.to_owned(),
            value,
            effect: effect.to_owned(),
        })
    }
}

/// Something that nothing that is installed can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeNote {
    /// Of which pool.
    pub pool: String,
    /// What, and what to do about it.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::Taint;

    #[test]
    fn taints_are_read_with_and_without_a_value() {
        let read = |text: &str| {
            let taint = Taint::parse(text)?;
            Some((taint.key, taint.value, taint.effect))
        };
        let some = |key: &str, value: Option<&str>, effect: &str| {
            let value = value.map(ToOwned::to_owned);
            Some((key.to_owned(), value, effect.to_owned()))
        };
        assert_eq!(
            read("sku=gpu:NoSchedule"),
            some("sku", Some("gpu"), "NoSchedule")
        );
        assert_eq!(
            read("example.com/only:NoExecute"),
            some("example.com/only", None, "NoExecute")
        );
        assert_eq!(read("a=:NoSchedule"), some("a", Some(""), "NoSchedule"));
        assert_eq!(read("nothing"), None);
    }
}
