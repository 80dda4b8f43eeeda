//! What a credential may do, by the grants that Azure lists.

/// What a credential may do in a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// One for each role that was assigned.
    pub grants: Vec<Grant>,
}

/// What one role gives: actions with `*` for anything, and what it takes out of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// What is allowed.
    pub actions: Vec<String>,
    /// What this role does not give after all.
    pub not_actions: Vec<String>,
}

impl Permissions {
    /// Whether an action such as `Microsoft.Compute/virtualMachines/write` is allowed: by one
    /// role that does not exclude it itself.
    pub fn allow(&self, action: &str) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| covers(pattern, action));
        self.grants
            .iter()
            .any(|grant| fits(&grant.actions) && !fits(&grant.not_actions))
    }
}

/// Whether a pattern in which `*` stands for anything covers a text, without regard to case.
fn covers(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_stars_stand_for() {
        for (pattern, action, covered) in [
            ("*", "Microsoft.Compute/virtualMachines/write", true),
            ("*/read", "Microsoft.Compute/virtualMachines/read", true),
            ("*/read", "Microsoft.Compute/virtualMachines/write", false),
            ("microsoft.compute/*", "Microsoft.Compute/disks/write", true),
            (
                "Microsoft.Compute/*/write",
                "Microsoft.Compute/disks/write",
                true,
            ),
            (
                "Microsoft.Compute/*/write",
                "Microsoft.Network/disks/write",
                false,
            ),
            (
                "Microsoft.Compute/disks/write",
                "Microsoft.Compute/disks/write",
                true,
            ),
            (
                "Microsoft.Compute/disks",
                "Microsoft.Compute/disks/write",
                false,
            ),
            ("a*b*b", "ab", false),
            ("a*b*b", "aXbYb", true),
        ] {
            assert_eq!(covers(pattern, action), covered, "{pattern} {action}");
        }
    }

    #[test]
    fn a_role_that_excludes_does_not_stop_another_that_allows() {
        let grant = |actions: &[&str], not_actions: &[&str]| Grant {
            actions: actions.iter().map(ToString::to_string).collect(),
            not_actions: not_actions.iter().map(ToString::to_string).collect(),
        };
        let contributor = grant(&["*"], &["Microsoft.Authorization/*/Write"]);
        let reader = grant(&["*/read"], &[]);
        let owner = grant(&["*"], &[]);
        let allowed = |grants: &[Grant], action: &str| {
            let grants = grants.to_vec();
            Permissions { grants }.allow(action)
        };
        let write = "Microsoft.Authorization/roleAssignments/write";
        assert!(!allowed(&[contributor.clone(), reader.clone()], write));
        assert!(allowed(&[contributor.clone(), owner], write));
        assert!(allowed(&[contributor], "Microsoft.Compute/disks/write"));
        assert!(!allowed(&[reader], "Microsoft.Compute/disks/write"));
        assert!(!allowed(&[], "Microsoft.Compute/disks/read"));
    }
}
