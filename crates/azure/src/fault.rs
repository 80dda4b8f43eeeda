//! What an error of Azure means: its kind, how far it reaches, whether trying again helps, and
//! what to do. One table, one row a meaning.

use std::{fmt, time::Duration};

use model::plan::Failure;

use crate::error::ArmError;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A quota does not allow it.
    Quota,
    /// There is no room now.
    Capacity,
    /// The size is not sold to the subscription there.
    SkuUnavailable,
    /// Too many requests.
    Throttled,
    /// Something else is going on with the resource, or it is in another state.
    Conflict,
    /// No permission.
    Denied,
    /// An Azure Policy forbids it.
    Policy,
    /// Something that the request names does not exist.
    NotFound,
    /// The request cannot be right.
    Malformed,
    /// Terms of a marketplace image are not accepted.
    Terms,
    /// The machine runs, and its guest did not report well.
    Guest,
    /// The service failed.
    Service,
    /// Not in the table.
    Unknown,
}

impl FaultKind {
    /// The word in events and documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Capacity => "capacity",
            Self::SkuUnavailable => "sku_unavailable",
            Self::Throttled => "throttled",
            Self::Conflict => "conflict",
            Self::Denied => "denied",
            Self::Policy => "policy",
            Self::NotFound => "not_found",
            Self::Malformed => "malformed",
            Self::Terms => "terms",
            Self::Guest => "guest",
            Self::Service => "service",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How far a fault reaches: what else would fail in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultScope {
    /// This resource.
    Resource,
    /// The size in the zone.
    Zone,
    /// The size in the region.
    Size,
    /// All sizes of the quota family in the region.
    Family,
    /// The region.
    Region,
    /// The subscription.
    Subscription,
}

/// Whether trying again helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not without a change.
    Never,
    /// In seconds.
    Soon,
    /// Perhaps, in minutes or hours.
    Later,
    /// After the VM gave back its hardware.
    AfterDeallocate,
    /// Nothing is to be sent: the resource is to be read for a while.
    ReadAgain,
}

/// What an error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// How far it reaches.
    pub scope: FaultScope,
    /// Whether trying again helps.
    pub retry: Retry,
    /// How long it is to be believed.
    pub believe: Duration,
    /// What to do.
    pub advice: &'static str,
}

/// A row of the table.
struct Row {
    /// Azure's code.
    code: &'static str,
    /// A part of the message or target, in lower case, where the code alone means nothing.
    tells: &'static str,
    kind: FaultKind,
    scope: FaultScope,
    retry: Retry,
    advice: &'static str,
}

macro_rules! rows {
    ($($code:literal $(if $tells:literal)? => $kind:ident, $scope:ident, $retry:ident, $advice:literal;)+) => {
        const ROWS: &[Row] = &[$(Row {
            code: $code,
            tells: concat!($($tells)?),
            kind: FaultKind::$kind,
            scope: FaultScope::$scope,
            retry: Retry::$retry,
            advice: $advice,
        },)+];
    };
}

// Rows of one code go from the special to the general: the first that fits counts.
rows! {
    "SkuNotAvailable" => SkuUnavailable, Size, Never, "look at `tensorform sizes` for zones and sizes that the subscription may use, or ask for access to this one";
    "OperationNotAllowed" if "lowprioritycores" => Quota, Region, Never, "ask for a higher Spot quota, or let the pool fall back to the regular price";
    "OperationNotAllowed" if "regional cores quota" => Quota, Region, Never, "ask for a higher regional quota, use fewer nodes, or another region";
    "OperationNotAllowed" if "exceeding approved" => Quota, Family, Never, "ask for a higher quota of this family, use fewer nodes, another region, or Spot";
    "OperationNotAllowed" if "marked for deletion" => Conflict, Resource, Soon, "wait until the delete is over, then run again";
    "OperationNotAllowed" if "vmsize" => Conflict, Resource, AfterDeallocate, "allow the stop (`allow_stop`): the hardware under the VM does not have this size";
    "OperationNotAllowed" if "unable to resize" => Conflict, Resource, AfterDeallocate, "allow the stop (`allow_stop`): the hardware under the VM does not have this size";
    "OperationNotAllowed" if "toomanyrequests" => Throttled, Subscription, Later, "wait, or lower `--parallelism`";
    "OperationNotAllowed" if "resource disk" => Malformed, Resource, Never, "replace the VM: it cannot move between sizes with and without a temporary disk";
    "OperationNotAllowed" if "another operation" => Conflict, Resource, Soon, "run again when the other operation is over";
    "OperationNotAllowed" => Conflict, Resource, Never, "the VM's state does not allow this: the message says what does";
    "QuotaExceeded" => Quota, Family, Never, "ask for a higher quota, use fewer nodes, another region, or Spot";
    "AccountCoreQuotaReached" => Quota, Family, Never, "ask for more dedicated vCPUs on the page of the Batch account, or use fewer nodes";
    "AccountLowPriorityCoreQuotaReached" => Quota, Region, Never, "ask for more spot vCPUs on the page of the Batch account, or use fewer nodes";
    "AccountSpotCoreQuotaReached" => Quota, Region, Never, "ask for more spot vCPUs on the page of the Batch account, or use fewer nodes";
    "PoolQuotaReached" => Quota, Resource, Never, "ask for more pools on the page of the Batch account, or use fewer";
    "AccountAlreadyExists" => Conflict, Resource, Never, "the name of the Batch account is taken in the region: choose another `name`";
    "StorageAccountAlreadyTaken" => Conflict, Subscription, Never, "the name of the storage account is taken by somebody: choose another `name` for the stack";
    "StorageAccountAlreadyExists" => Conflict, Subscription, Never, "the name of the storage account is taken by somebody: choose another `name` for the stack";
    "StorageAccountOperationInProgress" => Conflict, Resource, Soon, "another operation on the storage account is going on";
    "PrincipalNotFound" => NotFound, Resource, Soon, "the identity was made only now, and the directory does not know it yet: run again";
    "RoleAssignmentExists" => Conflict, Resource, Never, "somebody has given the identity the same role there: take that away, and run again";
    "RoleAssignmentUpdateNotPermitted" => Conflict, Resource, Never, "a role assignment never changes whom it is for: delete it, and run again";
    "RoleAssignmentLimitExceeded" => Quota, Subscription, Never, "the subscription has as many role assignments as it may: delete old ones";
    "FailedIdentityOperation" => NotFound, Resource, Never, "an identity of the nodes is not there: the message names it";
    "PoolBeingResized" => Conflict, Resource, Soon, "nodes come or go: run again when that is over";
    "PublicIPCountLimitReached" => Quota, Region, Never, "ask for a higher quota of public addresses, or go out through a NAT gateway";
    "AllocationFailed" => Capacity, Size, Later, "try another size, zone or region, or later again";
    "ZonalAllocationFailed" => Capacity, Zone, Later, "try another zone first, then another size or region";
    "OverconstrainedAllocationRequest" => Capacity, Size, Never, "drop one of the constraints that the message lists";
    "OverconstrainedZonalAllocationRequest" => Capacity, Zone, Never, "change or drop the zone, or one of the other constraints that the message lists";
    "PropertyChangeNotAllowed" => Malformed, Resource, Never, "replace the resource: this property cannot be changed";
    "ResizeDiskError" => Malformed, Resource, Never, "deallocate the VM and resize the disk itself";
    "OperationPreempted" => Conflict, Resource, ReadAgain, "somebody else changed the VM meanwhile: plan again";
    "OSProvisioningTimedOut" => Guest, Resource, ReadAgain, "the VM may still come up: look at its state and its boot diagnostics before replacing it";
    "OSProvisioningClientError" => Guest, Resource, Never, "look at the boot diagnostics, then replace the VM";
    "OSProvisioningInternalError" => Guest, Resource, Later, "replace the VM";
    "VMStartTimedOut" => Guest, Resource, ReadAgain, "the VM may still start: look at its power state";
    "VMExtensionProvisioningError" if "dpkg/lock" => Guest, Resource, Later, "another program on the node had the lock of the package manager: apply again in a few minutes, which repairs the extension alone";
    "VMExtensionProvisioningError" if "could not get lock" => Guest, Resource, Later, "another program on the node had the lock of the package manager: apply again in a few minutes, which repairs the extension alone";
    "VMExtensionProvisioningError" => Guest, Resource, Later, "look at the extension's message; the VM itself may be well";
    "VMExtensionProvisioningTimeout" => Guest, Resource, Later, "look at the extension's instance view";
    "VMAgentStatusCommunicationError" => Guest, Resource, Later, "check that the VM gets out to the Internet, and that the image has a VM agent";
    "BadRequest" if "hypervisor generation" => Malformed, Size, Never, "take an image of the generation that the size boots";
    "BadRequest" if "trustedlaunch" => Malformed, Size, Never, "set `security: standard`, or take another image or size";
    "BadRequest" if "trusted launch" => Malformed, Size, Never, "set `security: standard`, or take another image or size";
    "BadRequest" if "could not find member" => Malformed, Resource, Never, "this is a fault of Tensorform: please report it";
    "BadRequest" => Malformed, Resource, Never, "the message says which part of the request is refused";
    "NotSupported" => Malformed, Size, Never, "the size or the resource does not have this feature";
    "VMSizeIsNotPermittedToEnableAcceleratedNetworking" => Malformed, Size, Never, "set `accelerated_networking: false` for this size";
    "PlatformImageNotFound" => NotFound, Region, Never, "take a version of the image that the region has";
    "GalleryImageNotFound" => NotFound, Region, Later, "wait until the image version is replicated to the region";
    "InvalidParameter" => Malformed, Resource, Never, "the target names the value that is refused";
    "InvalidRequestContent" => Malformed, Resource, Never, "this is a fault of Tensorform: please report it";
    "InvalidRequestFormat" => Malformed, Resource, Never, "this is a fault of Tensorform: please report it";
    "ResourcePurchaseValidationFailed" => Terms, Subscription, Never, "accept the image's terms with `accept_terms: true`";
    "MarketplacePurchaseEligibilityFailed" => Terms, Subscription, Never, "accept the image's terms with `accept_terms: true`; the message says if the offer is not sold to you";
    "VMMarketplaceInvalidInput" => Malformed, Resource, Never, "the image's purchase plan is missing or not its own";
    "SpotPriceGreaterThanProvidedMaxPrice" => Capacity, Size, Later, "raise `max_price`, or set it to -1";
    "MaxPriceValueInvalid" => Malformed, Resource, Never, "set `max_price` to -1 or to more than 0";
    "MaxPriceChangeNotAllowedForAllocatedVMs" => Conflict, Resource, AfterDeallocate, "allow the stop (`allow_stop`): the price changes only while the VM is deallocated";
    "EvictionPolicyCanBeSetOnlyOnAzureSpotVirtualMachines" => Malformed, Resource, Never, "an eviction policy is for spot VMs";
    "AzureSpotFeatureNotEnabledForSubscription" => Denied, Subscription, Never, "the subscription's offer has no Spot: use `priority: regular`";
    "AzureSpotIsNotSupportedForThisVMSize" => Malformed, Size, Never, "the size cannot be Spot: use `priority: regular`, or another size";
    "VMPriorityCannotBeApplied" => Malformed, Resource, Never, "replace the VM: its priority cannot be changed";
    "NicInUse" => Conflict, Resource, Soon, "the interface is freed when its VM is deleted";
    "NicReservedForAnotherVm" => Conflict, Resource, Soon, "the interface of a failed VM is reserved for three minutes";
    "InUseNetworkSecurityGroupCannotBeDeleted" => Conflict, Resource, Soon, "something still uses the security group: the message names it";
    "PublicIPAddressCannotBeDeleted" => Conflict, Resource, Soon, "something still uses the public address: the message names it";
    "InUseSubnetCannotBeDeleted" => Conflict, Resource, Soon, "something still uses the subnet: the message names it";
    "InUsePrefixCannotBeDeleted" => Conflict, Resource, Soon, "something still uses the address block: the message names it";
    "NatGatewayInUse" => Conflict, Resource, Soon, "a subnet still uses the NAT gateway: the message names it";
    "InvalidResourceReference" => NotFound, Resource, Never, "the message names a resource that does not exist or is in another region";
    "ReferencedResourceNotProvisioned" => Conflict, Resource, Soon, "a resource that this one needs is still being made";
    "RetryableErrorDueToAnotherOperation" => Conflict, Resource, Soon, "another operation changes the same network";
    "RetryableError" => Conflict, Resource, Soon, "run again";
    "AnotherOperationInProgress" => Conflict, Resource, Soon, "another operation changes the same network";
    "Conflict" if "attached" => Conflict, Resource, AfterDeallocate, "allow the stop (`allow_stop`): the disk changes only while the VM is deallocated";
    "Conflict" => Conflict, Resource, Soon, "another operation is going on";
    "SubnetIsFull" => Quota, Resource, Never, "the subnet has no free address: give the network more room";
    "PrivateIPAddressNotInSubnet" => Malformed, Resource, Never, "the address is outside the subnet";
    "InvalidAddressPrefixFormat" => Malformed, Resource, Never, "the address block is not in CIDR form";
    "ParentResourceNotFound" => NotFound, Resource, Never, "the resource around this one does not exist: plan again";
    "ResourceGroupNotFound" => NotFound, Resource, Never, "the resource group does not exist: plan again";
    "ResourceNotFound" => NotFound, Resource, Never, "the resource does not exist: plan again";
    "NotFound" => NotFound, Resource, Never, "the resource does not exist: plan again";
    "ResourceGroupBeingDeleted" => Conflict, Resource, Soon, "the resource group is being deleted: run again when it is gone";
    "LocationNotAvailableForResourceGroup" => Malformed, Region, Never, "the region does not exist";
    "InvalidResourceLocation" => Conflict, Resource, Never, "the same name exists in another region: delete it there or choose another name";
    "MissingSubscriptionRegistration" => Denied, Subscription, Never, "register the resource provider: `az provider register --namespace …`";
    "NoRegisteredProviderFound" => Malformed, Region, Never, "the region does not offer this type of resource";
    "InvalidResourceType" => Malformed, Region, Never, "the region does not offer this type of resource";
    "AuthorizationFailed" => Denied, Subscription, Never, "the credential has no right to this: the message names the action and the scope";
    "LinkedAuthorizationFailed" => Denied, Subscription, Never, "the credential has no right to a linked resource: the message names it";
    "ExpiredAuthenticationToken" => Denied, Subscription, Never, "log in again: the token has ended";
    "InvalidAuthenticationToken" => Denied, Subscription, Never, "log in again, to the subscription's tenant";
    "InvalidAuthenticationTokenTenant" => Denied, Subscription, Never, "log in to the subscription's tenant";
    "SubscriptionNotFound" => NotFound, Subscription, Never, "check the subscription's id, and that the credential sees it";
    "RequestDisallowedByPolicy" => Policy, Subscription, Never, "a policy forbids it: change the spec as the policy says, or ask its owner";
    "ScopeLocked" => Denied, Resource, Never, "a lock protects it: somebody with the right must remove the lock";
    "CannotDeleteResource" => Conflict, Resource, Soon, "other resources are inside it";
    "SubscriptionRequestsThrottled" => Throttled, Subscription, Later, "wait, or lower `--parallelism`";
    "ResourceRequestsThrottled" => Throttled, Subscription, Later, "wait, or lower `--parallelism`";
    "TooManyRequests" => Throttled, Subscription, Later, "wait, or lower `--parallelism`";
    "PreconditionFailed" => Conflict, Resource, ReadAgain, "the resource changed since it was read: plan again";
    "InternalServerError" => Service, Region, Later, "run again; give the correlation id to Azure support if it stays";
    "InternalExecutionError" => Service, Region, Later, "run again; give the correlation id to Azure support if it stays";
    "BadGatewayConnection" => Service, Region, Later, "run again";
    "ServiceUnavailable" => Service, Region, Later, "run again";
    "GatewayTimeout" => Service, Region, ReadAgain, "the write may have happened: plan again";
}

/// What an error means; for a spot VM `SkuNotAvailable` speaks of room, for any other of sales.
pub fn classify(error: &ArmError, spot: bool) -> Fault {
    let row = error.codes().find_map(|code| {
        ROWS.iter()
            .find(|row| row.code.eq_ignore_ascii_case(code) && row.fits(error))
    });
    let Some(row) = row else {
        return by_status(error.status);
    };
    if row.code == "SkuNotAvailable" && spot {
        return Fault::new(
            FaultKind::Capacity,
            FaultScope::Size,
            Retry::Later,
            "there is no spare capacity of this size now: try another size, zone or region, or the regular price",
        );
    }
    Fault::new(row.kind, row.scope, row.retry, row.advice)
}

impl Row {
    fn fits(&self, error: &ArmError) -> bool {
        if self.tells.is_empty() {
            return true;
        }
        let holds = |text: &str| text.to_lowercase().contains(self.tells);
        holds(&error.message)
            || error.target.as_deref().is_some_and(holds)
            || error
                .details
                .iter()
                .any(|detail| holds(&detail.message) || holds(&detail.code))
    }
}

impl Fault {
    fn new(kind: FaultKind, scope: FaultScope, retry: Retry, advice: &'static str) -> Self {
        let minutes = match kind {
            // Capacity comes and goes; what is sold and allowed changes by somebody's decision.
            FaultKind::Capacity => 10,
            FaultKind::Throttled | FaultKind::Conflict | FaultKind::Service => 1,
            FaultKind::Quota
            | FaultKind::SkuUnavailable
            | FaultKind::Denied
            | FaultKind::Policy
            | FaultKind::NotFound
            | FaultKind::Malformed
            | FaultKind::Terms
            | FaultKind::Guest
            | FaultKind::Unknown => 60,
        };
        Self {
            kind,
            scope,
            retry,
            believe: Duration::from_secs(minutes * 60),
            advice,
        }
    }
}

/// What a status means where the code is not in the table.
fn by_status(status: u16) -> Fault {
    let (kind, scope, retry) = match status {
        401 | 403 => (FaultKind::Denied, FaultScope::Subscription, Retry::Never),
        404 => (FaultKind::NotFound, FaultScope::Resource, Retry::Never),
        409 | 412 => (FaultKind::Conflict, FaultScope::Resource, Retry::Never),
        429 => (FaultKind::Throttled, FaultScope::Subscription, Retry::Later),
        400..=499 => (FaultKind::Malformed, FaultScope::Resource, Retry::Never),
        500..=599 => (FaultKind::Service, FaultScope::Region, Retry::Later),
        _ => (FaultKind::Unknown, FaultScope::Resource, Retry::Never),
    };
    Fault::new(
        kind,
        scope,
        retry,
        "the message is all that Azure says; give the correlation id to Azure support if it does not help",
    )
}

/// The numbers of a quota refusal, whose message has a fixed grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaRefusal {
    /// The quota's name, such as `standardNDSH100v5Family`, `Total Regional` or `LowPriority`.
    pub quota: String,
    /// The region.
    pub location: String,
    /// The limit.
    pub limit: u64,
    /// What is used.
    pub used: u64,
    /// What the request adds.
    pub required: u64,
    /// The least limit that would do.
    pub new_limit: u64,
}

/// Reads the numbers of a quota refusal.
pub fn quota_refusal(message: &str) -> Option<QuotaRefusal> {
    let (_, after) = message.split_once("exceeding approved ")?;
    let (quota, _) = after.split_once("ores quota")?;
    let quota = quota.trim_end_matches(['C', 'c']).trim_end();
    let word = |label: &str| {
        let (_, after) = message.split_once(label)?;
        after.split([',', '.', ' ']).find(|word| !word.is_empty())
    };
    let number = |label: &str| word(label)?.parse().ok();
    Some(QuotaRefusal {
        quota: quota.to_owned(),
        location: word("Location: ")?.to_owned(),
        limit: number("Current Limit: ")?,
        used: number("Current Usage: ")?,
        required: number("Additional Required: ")?,
        new_limit: number("New Limit Required: ")?,
    })
}

/// The failure of a step that this error ended.
pub(crate) fn failure(error: &ArmError, spot: bool) -> Failure {
    let fault = classify(error, spot);
    let (code, message) = error.innermost();
    let help = match quota_refusal(message) {
        Some(refusal) => format!(
            "{}: the quota `{}` in `{}` is {}, {} are used, this needs {} more, so at least {}",
            fault.advice,
            refusal.quota,
            refusal.location,
            refusal.limit,
            refusal.used,
            refusal.required,
            refusal.new_limit
        ),
        None => fault.advice.to_owned(),
    };
    let text = error.to_string();
    let prefix = format!("{code}: ");
    Failure {
        code: code.to_owned(),
        message: text.strip_prefix(&prefix).unwrap_or(&text).to_owned(),
        kind: fault.kind.to_string(),
        help: Some(help),
        status: Some(error.status),
        request_id: error.request_id.clone(),
        correlation_id: error.correlation_id.clone(),
        left_behind: false,
        made: None,
        unknown: false,
    }
}

#[cfg(test)]
mod tests;
