//! When a stack's time is over: told by live tags alone, so that everybody sees the same.

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, SpecPath},
    ids::ArmId,
    live::{Live, LiveResource, Owner},
    plan::{Lifetime, Plan},
    resource::{ResourceKind, tags},
    units::Timestamp,
};

use crate::{diff::index::Index, plan::Input};

/// The lifetime of a stack, and who remembers when it began.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// From when to when.
    pub(crate) lifetime: Lifetime,
    /// The resource that remembers, and that stays when all others go: the group, or the public
    /// key where the group is not ours.
    pub(crate) keeper: Address,
}

/// The stack's lifetime, where the spec limits it. It begins with the stack, or anew with
/// `renew`; a spec that names another span moves the end, not the beginning.
pub(crate) fn of(input: Input<'_>, index: &Index<'_>) -> Option<Term> {
    let span = input.spec.lifetime?;
    let now = input.options.now;
    let keeper = keeper(input.live, &input.spec.resource_group);
    let begun = index
        .at_address(&keeper)
        .filter(|_| !input.options.renew)
        .and_then(begun);
    let starts = begun.unwrap_or(now);
    let expires = starts.plus(span);
    Some(Term {
        lifetime: Lifetime {
            starts,
            expires,
            over: begun.is_some() && expires <= now,
        },
        keeper,
    })
}

fn keeper(live: &Live, group: &str) -> Address {
    let is_others = |resource: &&LiveResource| {
        resource.owner == Owner::Foreign
            && resource
                .arm_type
                .eq_ignore_ascii_case(ResourceKind::ResourceGroup.arm_type())
            && is_named(&resource.id, group)
    };
    if live.resources.iter().any(|resource| is_others(&resource)) {
        Address::ssh_key()
    } else {
        Address::resource_group()
    }
}

fn is_named(id: &ArmId, name: &str) -> bool {
    id.name().eq_ignore_ascii_case(name)
}

/// When the lifetime of a stack began: when it was made, where nobody has renewed it.
fn begun(keeper: &LiveResource) -> Option<Timestamp> {
    [tags::LIFETIME_START, tags::CREATED]
        .into_iter()
        .find_map(|tag| keeper.tags.get(tag)?.parse().ok())
}

/// What is said of a stack whose time is over.
pub(crate) fn finding(lifetime: &Lifetime) -> Diagnostic {
    let message = format!(
        "the stack's lifetime ended at {}: what it has is deleted, and nothing is made again",
        lifetime.expires
    );
    Diagnostic::new(
        Code::LifetimeOver,
        At::Value(SpecPath::of(&["lifetime"])),
        message,
    )
    .with_help("`tensorform apply --renew` starts it over, and makes what is missing")
    .with_help("a longer `lifetime` moves its end; without `lifetime` the stack has none")
}

/// Why a saved plan holds no more that makes something whose time has come since.
pub fn outlived(plan: &Plan, now: Timestamp) -> Option<Diagnostic> {
    let lifetime = plan.lifetime.filter(|lifetime| !lifetime.over)?;
    (lifetime.expires <= now && plan.has_changes).then(|| {
        let message = format!(
            "the lifetime that the plan gives the stack ended at {}",
            lifetime.expires
        );
        Diagnostic::new(Code::PlanStale, At::Nowhere, message)
            .with_help("make a new plan; with `--renew` the lifetime starts over")
    })
}
