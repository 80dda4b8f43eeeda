//! Services that cost by the hour: what each is billed as.
//!
//! Batch itself costs nothing: its nodes are machines like others.

use model::{plan::CostKind, units::CaseInsensitive};

use super::{
    bill::{Bill, Thing},
    quote::Unit,
};

/// A service of the network or above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// A NAT gateway, without what passes it.
    NatGateway,
    /// A public address: Standard, static, IPv4.
    PublicIpAddress,
    /// Azure Bastion of a tier.
    Bastion(BastionTier),
    /// The first five rules of a Standard load balancer together.
    LoadBalancer,
    /// Each rule of a Standard load balancer after the first five.
    LoadBalancerRule,
    /// The control plane of a Kubernetes cluster.
    Kubernetes(KubernetesTier),
}

/// A tier of Azure Bastion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BastionTier {
    /// Basic.
    Basic,
    /// Standard, with its first two scale units.
    Standard,
    /// Premium, with its first two scale units.
    Premium,
}

/// A tier of the control plane of a Kubernetes cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KubernetesTier {
    /// With an agreement on its uptime.
    Standard,
    /// With long-term support too.
    Premium,
}

impl Service {
    /// A Bastion host of a tier; one that no meter is known of has no price.
    pub(super) fn of_bastion(tier: &CaseInsensitive) -> Thing {
        let tiers = [
            ("basic", BastionTier::Basic),
            ("standard", BastionTier::Standard),
            ("premium", BastionTier::Premium),
        ];
        let key = tier.key();
        let known = tiers.into_iter().find(|(word, _)| *word == key);
        known.map_or_else(
            || Thing::Software(format!("Bastion {tier}")),
            |(_, tier)| Thing::Service(Self::Bastion(tier)),
        )
    }

    /// What kind of line it is.
    pub(super) fn kind(self) -> CostKind {
        match self {
            Self::Kubernetes(_) => CostKind::Service,
            Self::NatGateway
            | Self::PublicIpAddress
            | Self::Bastion(_)
            | Self::LoadBalancer
            | Self::LoadBalancerRule => CostKind::Network,
        }
    }

    /// What it is billed as.
    pub(super) fn bill(self) -> Bill {
        let (item, meter) = match self {
            Self::NatGateway => ("NAT gateway", "nat_gateway.hour"),
            Self::PublicIpAddress => (
                "Standard public IP address",
                "public_ip.standard.static.hour",
            ),
            Self::Bastion(BastionTier::Basic) => ("Bastion Basic", "bastion.basic.hour"),
            Self::Bastion(BastionTier::Standard) => ("Bastion Standard", "bastion.standard.hour"),
            Self::Bastion(BastionTier::Premium) => ("Bastion Premium", "bastion.premium.hour"),
            Self::LoadBalancer => (
                "Load balancer, the first five rules",
                "load_balancer.standard.rules_hour",
            ),
            Self::LoadBalancerRule => (
                "Load balancer, one more rule",
                "load_balancer.standard.extra_rule_hour",
            ),
            Self::Kubernetes(KubernetesTier::Standard) => {
                ("Kubernetes control plane, Standard", "aks.standard.hour")
            }
            Self::Kubernetes(KubernetesTier::Premium) => {
                ("Kubernetes control plane, Premium", "aks.premium.hour")
            }
        };
        Bill {
            item: item.to_owned(),
            meter: meter.to_owned(),
            unit: Unit::Hour,
            amount: 1,
        }
    }
}
