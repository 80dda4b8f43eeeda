//! The closed list of diagnostic codes. A code without a page does not compile, and
//! `tests/acceptance` fails for a code that no test triggers.

use std::{fmt, str::FromStr};

use super::Severity;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal, $severity:ident;)+) => {
        /// A diagnostic code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// Every code, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is printed, such as `SPEC001`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// How much a finding of this code matters unless it says otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// The page that explains the code, in Markdown.
            pub fn page(self) -> &'static str {
                match self {
                    $(Self::$variant => include_str!(concat!("../../../../docs/diagnostics/", $text, ".md")),)+
                }
            }
        }
    };
}

codes! {
    /// The spec is no YAML.
    SpecSyntax = "SPEC001", Error;
    /// A key that the spec does not have.
    SpecUnknownKey = "SPEC002", Error;
    /// A key that stands twice.
    SpecDuplicateKey = "SPEC003", Error;
    /// A value of another type than the key takes.
    SpecWrongType = "SPEC004", Error;
    /// A required key is missing.
    SpecMissingKey = "SPEC005", Error;
    /// A value that is not one of those allowed, or outside its range or form.
    SpecInvalidValue = "SPEC006", Error;
    /// A feature of YAML that specs do not use: merge keys, tags, a second document, too many aliases.
    SpecForbiddenYaml = "SPEC007", Error;
    /// A key or value that this version understands and does not act on yet.
    SpecNotSupportedYet = "SPEC008", Error;
    /// Keys or values that contradict each other.
    SpecConflict = "SPEC009", Error;
    /// A `${…}` reference that leads nowhere, or a variable with a value that is not allowed.
    SpecVariable = "SPEC010", Error;
    /// The spec file cannot be read.
    SpecUnreadable = "SPEC011", Error;
    /// A secret that must not stand in a spec.
    SpecSecret = "SPEC012", Error;
    /// A valid value that is likely to cause trouble.
    SpecRisky = "SPEC013", Warning;
    /// A region that the catalogue does not have.
    LocationUnknown = "LOC001", Error;
    /// A region of the list in which some pool does not fit.
    LocationPassedOver = "LOC002", Note;
    /// A named size that the catalogue does not have.
    SizeUnknown = "SIZE001", Error;
    /// No size passes every rule.
    SizeNoneFits = "SIZE002", Error;
    /// A set-up script that cannot be used.
    ScriptUnusable = "BOOT001", Error;
    /// What a node is to run when it starts first is longer than Azure takes.
    BootstrapTooLong = "BOOT002", Error;
    /// Live nodes were set up otherwise than the spec says.
    BootstrapDiffers = "BOOT003", Warning;
    /// New nodes of a scale set are set up otherwise than those it has.
    BootstrapOfNewNodes = "BOOT004", Note;
    /// Local disks that a size is known not to have.
    ScratchImpossible = "BOOT005", Error;
    /// Local disks of which the catalogue says nothing.
    ScratchUnknown = "BOOT006", Warning;
    /// A node runs, but its bootstrap failed.
    NotReady = "BOOT007", Warning;
    /// A named size that cannot work.
    SizeRefused = "SIZE003", Error;
    /// A named size that works against advice.
    SizeAgainstAdvice = "SIZE004", Warning;
    /// A size whose retirement is announced.
    SizeRetires = "SIZE005", Warning;
    /// A new pool would get another size than the live nodes have.
    SizeBetter = "SIZE006", Note;
    /// Live nodes have a size that the catalogue does not know.
    SizeUnknownKept = "SIZE007", Warning;
    /// A size without a capability that the spec asks for.
    SizeLacks = "SIZE008", Error;
    /// Which sizes the subscription may use could not be read.
    SizesUnknown = "SIZE009", Warning;
    /// A size of `fallback` that is not tried.
    FallbackLeftOut = "SIZE011", Warning;
    /// A model that is not known by its name.
    ModelUnknown = "MODEL001", Error;
    /// A model's `config.json` that gives no shape.
    ConfigUnusable = "MODEL002", Error;
    /// A model that does not run on the GPUs.
    ModelNeverFits = "MODEL003", Error;
    /// Training tokens that do not get through in time.
    DeadlineMissed = "MODEL004", Error;
    /// A sum of memory without terms that are not known, or one that does not fit.
    MemoryIncomplete = "MODEL005", Warning;
    /// A number of parameters that the named model does not have.
    ModelContradicted = "MODEL006", Error;
    /// Spot capacity that costs more than the spec allows.
    SpotTooDear = "SPOT001", Error;
    /// Spot capacity whose price is not known and has a limit.
    SpotPriceUnknown = "SPOT002", Warning;
    /// Spot capacity that Azure holds to be unlikely.
    SpotUnlikely = "SPOT003", Warning;
    /// A capacity reservation group that the pool cannot draw from.
    ReservationUnfit = "RESERVE001", Error;
    /// A capacity reservation group that has too few places left.
    ReservationShort = "RESERVE002", Error;
    /// What a capacity reservation group has and could not be read.
    ReservationUnknown = "RESERVE003", Warning;
    /// A proximity placement group that the pool cannot be in.
    ProximityUnfit = "PROXIMITY001", Error;
    /// A proximity placement group that could not be read.
    ProximityUnknown = "PROXIMITY002", Warning;
    /// A change of size that a proximity placement group may stand in the way of.
    ProximityResize = "PROXIMITY003", Warning;
    /// A pool that cannot be the scale set that it is to be.
    ScaleSetRefused = "POOL001", Error;
    /// Disks that need a zone where the size has none.
    ZoneNeeded = "POOL002", Error;
    /// Disks that the size does not take.
    DisksDoNotFit = "POOL003", Error;
    /// A live pool that would have to become a scale set, or stop being one.
    GroupingFixed = "POOL004", Error;
    /// A pool of Azure Batch cannot be as the spec wants it.
    BatchRefused = "BATCH001", Error;
    /// Nodes of a pool of Azure Batch did not come.
    BatchNodesMissing = "BATCH002", Warning;
    /// Whether Azure Batch takes an image is not confirmed.
    BatchUnverified = "BATCH003", Warning;
    /// An agent pool of Azure Kubernetes Service cannot be as the spec wants it.
    AksRefused = "AKS001", Error;
    /// A feature that an agent pool needs and that nobody could check.
    AksFeatureUnchecked = "AKS002", Warning;
    /// A node array of Azure CycleCloud cannot be as the spec wants it.
    CycleCloudRefused = "CYCLE001", Error;
    /// Machines that a cluster of CycleCloud has made run while it is to go.
    CycleCloudNodesRun = "CYCLE002", Warning;
    /// A subnet that the nodes cannot be in.
    SubnetUnusable = "NET001", Error;
    /// A subnet that could not be checked.
    SubnetUnknown = "NET002", Warning;
    /// A network that cannot be another one while nodes are in it.
    NetworkFixed = "NET003", Error;
    /// An image that does not run on the size.
    ImageDoesNotFit = "IMAGE001", Error;
    /// An image or version that the region does not have.
    ImageNotFound = "IMAGE002", Error;
    /// An image whose version could not be checked.
    ImageUnverified = "IMAGE003", Warning;
    /// An image with a purchase plan.
    ImageNeedsTerms = "IMAGE004", Error;
    /// A release of an image that is known not to work.
    ImageKnownBad = "IMAGE005", Warning;
    /// New nodes get a newer version of the image than live ones keep.
    ImageNewer = "IMAGE006", Note;
    /// Live nodes whose image does not run on their size.
    ImageMisfitsLive = "IMAGE007", Warning;
    /// Quota that does not hold the plan.
    QuotaShort = "QUOTA001", Error;
    /// Quota that could not be checked.
    QuotaUnknown = "QUOTA002", Warning;
    /// A namespace that the subscription is not registered for.
    NamespaceNotRegistered = "RIGHT001", Error;
    /// An action that the credential may not do.
    PermissionMissing = "RIGHT002", Warning;
    /// What the subscription or the credential allows and could not be read.
    RightsUnknown = "RIGHT003", Warning;
    /// A role that the credential may not give.
    RoleNotGiven = "RIGHT005", Error;
    /// A policy that does not let nodes be made.
    PolicyDenies = "RIGHT004", Error;
    /// What an offline plan cannot know.
    OfflineUnknowns = "QUOTA003", Warning;
    /// Something without a price.
    PriceUnknown = "COST001", Warning;
    /// A cache of the catalogue that cannot be used.
    CacheUnusable = "CATALOG001", Warning;
    /// A list of prices or sizes that cannot be used.
    ListUnusable = "CATALOG002", Error;
    /// A stack that costs more than its budget.
    OverBudget = "COST002", Error;
    /// A budget that is met with spot prices.
    BudgetOnSpot = "COST003", Warning;
    /// A total without every price, where every price is required.
    PriceIncomplete = "COST004", Error;
    /// A budget that some lines without a price are not counted in.
    BudgetPartly = "COST005", Warning;
    /// A price that contradicts that of a sibling.
    PriceImplausible = "COST006", Warning;
    /// A price book that cannot be used.
    PriceBookUnusable = "COST007", Error;
    /// A resource of somebody else under a name that the stack needs.
    NameTaken = "OWN001", Error;
    /// A stack that would have to move.
    StackMoved = "OWN002", Error;
    /// A resource group that the tool did not make.
    GroupNotOurs = "OWN003", Note;
    /// A resource group that stays because of what others have in it.
    GroupKept = "OWN004", Warning;
    /// A resource of `--adopt` that is not taken over.
    AdoptRefused = "OWN005", Error;
    /// Resources that stay because something of others uses them.
    UsedByOthers = "OWN006", Warning;
    /// A resource of `--release` that stays in the stack.
    ReleaseRefused = "OWN007", Error;
    /// A data disk of others on a VM of the stack.
    ForeignDisk = "OWN008", Warning;
    /// An identity that nodes which stay go on using.
    IdentityKept = "OWN009", Note;
    /// A stack whose lifetime is over.
    LifetimeOver = "LIFE001", Warning;
    /// A VM that runs although its last operation failed.
    FailedButRuns = "STATE001", Warning;
    /// A resource whose creation failed.
    NeverMade = "STATE002", Warning;
    /// A resource that is being written.
    BeingWritten = "STATE003", Warning;
    /// A VM that is off and still billed.
    StoppedButBilled = "STATE004", Warning;
    /// Instances of a scale set that are not as its newest profile says.
    InstancesBehind = "STATE005", Note;
    /// Instances that go when a scale set gets smaller.
    InstancesGo = "STATE006", Note;
    /// Instances without hardware, which stay as they are.
    InstancesAway = "STATE007", Note;
    /// Nodes that run although `stop` stopped them.
    RunsThoughStopped = "STATE008", Warning;
    /// Nodes that fail an acceptance check.
    NodeFailsChecks = "VERIFY001", Error;
    /// Nodes that were to be checked and did not answer.
    NodeUnchecked = "VERIFY002", Error;
    /// Checks that found no node to check.
    NothingToCheck = "VERIFY003", Warning;
    /// A change that would deallocate or replace a node without permission.
    StopNotAllowed = "CHANGE001", Error;
    /// A change that would lose data or break what depends on it.
    ChangeRefused = "CHANGE002", Error;
    /// A difference that Azure cannot remove.
    CannotChange = "CHANGE003", Warning;
    /// A protected resource that would be deleted or replaced.
    Protected = "CHANGE004", Error;
    /// An address of `--replace` that the plan does not have.
    ReplaceUnknown = "CHANGE005", Error;
    /// A resource that `--replace` does not replace.
    ReplaceRefused = "CHANGE006", Error;
    /// A resize for which the node is made anew.
    ResizeReplaces = "CHANGE007", Note;
    /// A node that goes before the one in its place is made.
    ReplaceGoesFirst = "CHANGE008", Warning;
    /// A saved plan that does not hold any more.
    PlanStale = "PLAN001", Error;
    /// A plan for which something could not be read.
    PlanIncomplete = "PLAN002", Error;
    /// A plan about some pools alone.
    PlanPartial = "PLAN005", Warning;
    /// A pool of `--target` that neither the spec nor the stack has.
    TargetUnknown = "PLAN006", Error;
    /// No credential gives a token.
    NoCredential = "AUTH001", Error;
    /// Azure refuses the token, or none could be fetched.
    TokenRefused = "AUTH002", Error;
    /// A request to Azure failed.
    RequestFailed = "ARM001", Error;
    /// Azure, or another endpoint, cannot be reached.
    Unreachable = "ARM002", Error;
    /// The credential may not do what the command needs.
    Forbidden = "ARM003", Error;
    /// No subscription, several, or not the one that is named.
    SubscriptionNotFound = "ARM004", Error;
    /// A plan file that cannot be used.
    PlanUnreadable = "PLAN003", Error;
    /// A plan file for another stack or another world.
    PlanForOther = "PLAN004", Error;
    /// A command line that cannot be used.
    UsageWrong = "USAGE001", Error;
    /// A file that cannot be read or written.
    FileUnusable = "FILE001", Error;
    /// An SSH key that cannot be used.
    KeyUnusable = "KEY001", Error;
    /// A password that apply needs and cannot use.
    PasswordUnusable = "KEY002", Error;
    /// A sandbox that cannot be used.
    SandboxUnusable = "SANDBOX001", Error;
    /// An apply that nobody confirmed.
    NotConfirmed = "APPLY001", Error;
    /// An apply in which steps failed.
    StepsFailed = "APPLY002", Error;
    /// A world that is not as planned after an apply.
    NotAsPlanned = "APPLY003", Error;
    /// A journal that cannot be written.
    JournalUnwritable = "APPLY004", Error;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Code {
    type Err = String;

    /// Reads a code without regard to case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("no diagnostic has the code `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_read_back() {
        let texts: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(code.as_str().to_lowercase().parse(), Ok(*code));
        }
    }

    #[test]
    fn pages_have_the_same_parts() {
        for code in Code::ALL {
            let page = code.page();
            assert!(
                page.starts_with(&format!("# {code}: ")),
                "{code}: the page starts with its code and title"
            );
            for part in ["## What it means", "## Example", "## What to do"] {
                assert!(page.contains(part), "{code}: the page has `{part}`");
            }
        }
    }
}
