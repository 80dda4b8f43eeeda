//! Error codes whose status, message and after-effects are recorded or reported.

/// What is known of an error code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    code: &'static str,
    /// The status when a request is refused with it.
    pub(crate) status: Option<u16>,
    /// Whether hardware is there when an operation fails with it.
    pub(crate) allocated: bool,
    pub(crate) message: &'static str,
}

const fn refusal(code: &'static str, status: u16, message: &'static str) -> Known {
    Known {
        code,
        status: Some(status),
        allocated: false,
        message,
    }
}

const fn failure(code: &'static str, allocated: bool, message: &'static str) -> Known {
    Known {
        code,
        status: None,
        allocated,
        message,
    }
}

static KNOWN: &[Known] = &[
    refusal(
        "SkuNotAvailable",
        409,
        "The requested VM size is currently not available in this location. Please try another \
         size or deploy to a different location or different zone. See \
         https://aka.ms/azureskunotavailable for details.",
    ),
    refusal(
        "AuthorizationFailed",
        403,
        "The client does not have authorization to perform this action over this scope or the \
         scope is invalid. If access was recently granted, please refresh your credentials.",
    ),
    refusal(
        "RequestDisallowedByPolicy",
        403,
        "Resource was disallowed by policy. See error details for policy resource IDs.",
    ),
    refusal(
        "ScopeLocked",
        409,
        "The scope cannot perform delete operation because following scope(s) are locked. Please \
         remove the lock and try again.",
    ),
    refusal(
        "ResourcePurchaseValidationFailed",
        400,
        "User failed validation to purchase resources.",
    ),
    refusal(
        "ExpiredAuthenticationToken",
        401,
        "The access token expiry UTC time is earlier than current UTC time.",
    ),
    refusal("InternalServerError", 500, "An error occurred."),
    refusal(
        "BadGatewayConnection",
        502,
        "The network connectivity issue encountered for the provider.",
    ),
    refusal("ServiceUnavailable", 503, ""),
    refusal(
        "GatewayTimeout",
        504,
        "The gateway did not receive a response from the provider within the specified time period.",
    ),
    failure(
        "AllocationFailed",
        false,
        "Allocation failed. We do not have sufficient capacity for the requested VM size in this \
         region. Read more about improving likelihood of allocation success at \
         http://aka.ms/allocation-guidance",
    ),
    failure(
        "ZonalAllocationFailed",
        false,
        "Allocation failed. We do not have sufficient capacity for the requested VM size in this \
         zone. Read more about improving likelihood of allocation success at \
         http://aka.ms/allocation-guidance",
    ),
    failure(
        "OverconstrainedAllocationRequest",
        false,
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the \
         condition is too restrictive. Please remove some constraints and try again. Constraints \
         applied are:\n  - VM Size\n",
    ),
    failure(
        "OverconstrainedZonalAllocationRequest",
        false,
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the \
         condition is too restrictive. Please remove some constraints and try again. Constraints \
         applied are:\n  - Availability Zone\n  - VM Size\n",
    ),
    failure(
        "VMMarketplaceInvalidInput",
        false,
        "Creating a virtual machine from Marketplace image or a custom image sourced from a \
         Marketplace image requires Plan information in the request.",
    ),
    failure(
        "OSProvisioningTimedOut",
        true,
        "OS Provisioning for the VM did not finish in the allotted time. The VM may still finish \
         provisioning successfully. Please check provisioning state later.",
    ),
    failure(
        "VMExtensionProvisioningError",
        true,
        "VM has reported a failure when processing an extension.",
    ),
    failure(
        "OSProvisioningClientError",
        true,
        "OS provisioning for the VM failed. The guest reported an error of its own.",
    ),
    failure(
        "OSProvisioningInternalError",
        true,
        "OS provisioning failed for the VM due to an internal error.",
    ),
    failure(
        "VMExtensionProvisioningTimeout",
        true,
        "Provisioning of a VM extension has timed out.",
    ),
    failure(
        "VMAgentStatusCommunicationError",
        true,
        "VM has not reported status for VM agent or extensions. Verify that the OS is up and \
         healthy, the VM has a running VM agent, and that it can establish outbound connections \
         to Azure storage.",
    ),
    failure(
        "VMStartTimedOut",
        true,
        "The VM did not start in the allotted time. The VM may still start successfully. Please \
         check the power state later.",
    ),
    failure(
        "OperationPreempted",
        true,
        "Operation execution has been preempted by a more recent operation.",
    ),
];

/// Statuses of refusals that need no text of their own here: recorded or reported where they stand
/// without a mark in Microsoft's documents, documented otherwise.
static STATUSES: &[(u16, &[&str])] = &[
    (
        400,
        &[
            "BadRequest",
            "InUseNetworkSecurityGroupCannotBeDeleted",
            "InUseSubnetCannotBeDeleted",
            "InvalidAddressPrefixFormat",
            "InvalidParameter",
            "InvalidRequestContent",
            "InvalidRequestFormat",
            "InvalidResourceReference",
            "InvalidTemplate",
            "InvalidTemplateDeployment",
            "LocationNotAvailableForResourceGroup",
            "MarketplacePurchaseEligibilityFailed",
            "MultiPlacementGroupVMScaleSetCannotReferenceBasicLoadbalancer",
            "NicInUse",
            "NicReservedForAnotherVm",
            "NoRegisteredProviderFound",
            "PrincipalNotFound",
            "PublicIPAddressCannotBeDeleted",
            "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
            "VMSizeIsNotPermittedToEnableAcceleratedNetworkingForVmss",
            "VMSizeNotSupported",
        ],
    ),
    (
        401,
        &[
            "InvalidAuthenticationToken",
            "InvalidAuthenticationTokenTenant",
        ],
    ),
    (403, &["LinkedAuthorizationFailed"]),
    (
        404,
        &[
            "GalleryImageNotFound",
            "InvalidResourceType",
            "NotFound",
            "ParentResourceNotFound",
            "PlatformImageNotFound",
            "ResourceGroupNotFound",
            "ResourceNotFound",
            "SubscriptionNotFound",
        ],
    ),
    (
        409,
        &[
            "AnotherOperationInProgress",
            "CannotDeleteResource",
            "Conflict",
            "DeploymentQuotaExceeded",
            "InvalidResourceLocation",
            "MissingSubscriptionRegistration",
            "NotSupported",
            "OperationNotAllowed",
            "PropertyChangeNotAllowed",
            "ResourceGroupBeingDeleted",
            "RoleAssignmentExists",
        ],
    ),
    (412, &["PreconditionFailed"]),
    (
        429,
        &[
            "ResourceRequestsThrottled",
            "RetryableError",
            "SubscriptionRequestsThrottled",
            "TooManyRequests",
        ],
    ),
    (500, &["GetVnetError"]),
];

/// The status that a request is refused with by a code.
pub(crate) fn status(code: &str) -> Option<u16> {
    let listed = STATUSES
        .iter()
        .find(|(_, codes)| codes.contains(&code))
        .map(|(status, _)| *status);
    find(code).and_then(|known| known.status).or(listed)
}

/// What is known of a code.
pub(crate) fn find(code: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/sandbox.md");

    #[test]
    fn the_documentation_names_every_code() {
        for known in KNOWN {
            let name = match known.status {
                Some(status) => format!("`{}` ({status}", known.code),
                None => format!("`{}`", known.code),
            };
            assert!(PAGE.contains(&name), "{name}");
        }
        let (_, codes) = PAGE
            .split_once("Codes of operations:")
            .expect("the list of codes");
        let (without, with) = codes.split_once("; with hardware").expect("two lists");
        for known in KNOWN.iter().filter(|known| known.status.is_none()) {
            let list = if known.allocated { with } else { without };
            assert!(list.contains(known.code), "{}", known.code);
        }
    }

    #[test]
    fn statuses_are_documented_and_stand_once() {
        let mut seen = std::collections::BTreeSet::new();
        for (number, codes) in STATUSES {
            let row: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
            let row = format!("| {number} | {} |", row.join(", "));
            assert!(PAGE.contains(&row), "{row}");
            for code in *codes {
                assert!(
                    seen.insert(code) && find(code).is_none(),
                    "{code} stands twice"
                );
                assert_eq!(status(code), Some(*number));
            }
        }
        assert_eq!(status("SkuNotAvailable"), Some(409));
        assert_eq!(status("SubnetIsFull"), None);
    }
}
