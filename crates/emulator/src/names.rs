//! Which names resources may have.

use crate::error::ArmError;

/// The rule for the names of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRule {
    pub(crate) shortest: usize,
    pub(crate) longest: usize,
    pub(crate) letters: Letters,
}

/// Which characters a name may have, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letters {
    /// Unicode word characters, `.`, `-`, `(` and `)`; no period at the end.
    Group,
    /// Letters, digits, `.`, `_` and `-`; no underscore at the start, no `.` or `-` at the end.
    Machine,
    /// Letters, digits, `_` and `-`.
    Disk,
    /// Letters, digits, `.` and `_`; a letter or digit at both ends.
    Gallery,
    /// The same with `-`.
    GalleryImage,
    /// Three numbers of 32 bits: `1.0.0`.
    Version,
    /// Starts with a letter or digit, ends with one or with `_`; `.`, `_` and `-` between.
    Network,
    /// Lower-case letters and digits.
    Account,
    /// Lower-case letters and digits, a letter first.
    AgentPool,
    /// Letters, digits, `_` and `-`; a letter or digit at both ends.
    Cluster,
    /// Lower-case letters, digits and single `-`; a letter or digit at both ends.
    Container,
    /// Letters, digits, `_` and `-`; a letter or digit first.
    Identity,
    /// Anything but `<`, `>`, `%`, `&`, `:`, `\`, `?`, `/` and control characters.
    Lock,
}

impl NameRule {
    /// Refuses a name in the words of the type's provider.
    pub(crate) fn check(self, name: &str) -> Result<(), ArmError> {
        let length = name.chars().count();
        if self.fits(name) && (self.shortest..=self.longest).contains(&length) {
            return Ok(());
        }
        Err(match self.letters {
            Letters::Group => ArmError::gateway(
                400,
                "InvalidResourceGroup",
                format!(
                    "The provided resource group name '{name}' has invalid characters or length. \
                     It can have 1 to 90 word characters, hyphens, periods and parentheses, and \
                     cannot end with a period."
                ),
            ),
            Letters::Account
            | Letters::AgentPool
            | Letters::Cluster
            | Letters::Container
            | Letters::Identity
            | Letters::Lock => self.refuse(name),
            Letters::Machine
            | Letters::Disk
            | Letters::Gallery
            | Letters::GalleryImage
            | Letters::Version => ArmError::invalid_parameter(
                "resourceName",
                format!(
                    "The entity name 'resourceName' is invalid according to its validation rule: \
                     '{name}' should have {} to {} characters: {}.",
                    self.shortest,
                    self.longest,
                    self.letters.words()
                ),
            ),
            Letters::Network => ArmError::network(
                "InvalidResourceName",
                format!(
                    "Resource name {name} is invalid. The name can be up to {} characters long. \
                     It must begin with a word character, and it must end with a word character \
                     or with '_'. The name may contain word characters or '.', '-', '_'.",
                    self.longest
                ),
            ),
        })
    }

    /// The refusal of a name by one of the services beside Compute and Network.
    fn refuse(self, name: &str) -> ArmError {
        let Self {
            shortest,
            longest,
            letters,
        } = self;
        let message = if letters == Letters::Account {
            format!(
                "{name} is not a valid account name. Account names must be between {shortest} and \
                 {longest} characters in length and use numbers and lower-case letters only."
            )
        } else {
            format!(
                "The name '{name}' is not valid. It should have {shortest} to {longest} \
                 characters: {}.",
                letters.words()
            )
        };
        ArmError::new(400, letters.code(), message)
    }

    fn fits(self, name: &str) -> bool {
        let first = name.chars().next();
        let last = name.chars().next_back();
        let all = |allowed: fn(char) -> bool| name.chars().all(allowed);
        match self.letters {
            Letters::Group => {
                all(|c| c.is_alphanumeric() || "-_.()".contains(c)) && last != Some('.')
            }
            Letters::Machine => {
                all(|c| c.is_alphanumeric() || "-_.".contains(c))
                    && first.is_some_and(char::is_alphanumeric)
                    && last.is_some_and(|c| c.is_alphanumeric() || c == '_')
            }
            Letters::Disk => all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
            Letters::Gallery | Letters::GalleryImage => {
                all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
                    && (self.letters == Letters::GalleryImage || !name.contains('-'))
                    && first.is_some_and(|c| c.is_ascii_alphanumeric())
                    && last.is_some_and(|c| c.is_ascii_alphanumeric())
            }
            Letters::Version => {
                name.split('.').count() == 3
                    && name
                        .split('.')
                        .all(|part| part.parse::<u32>().is_ok() && !part.starts_with('+'))
            }
            Letters::Network => {
                all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
                    && first.is_some_and(|c| c.is_ascii_alphanumeric())
                    && last.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            }
            Letters::Account => all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()),
            Letters::AgentPool => {
                all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                    && first.is_some_and(|c| c.is_ascii_lowercase())
            }
            Letters::Cluster => {
                all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
                    && first.is_some_and(|c| c.is_ascii_alphanumeric())
                    && last.is_some_and(|c| c.is_ascii_alphanumeric())
            }
            Letters::Container => {
                all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
                    && first != Some('-')
                    && last != Some('-')
                    && !name.contains("--")
            }
            Letters::Identity => {
                all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
                    && first.is_some_and(|c| c.is_ascii_alphanumeric())
            }
            Letters::Lock => all(|c| !"<>%&:\\?/".contains(c) && !c.is_control()),
        }
    }
}

impl Letters {
    fn words(self) -> &'static str {
        match self {
            Self::Group => "word characters, '.', '-', '(' and ')'",
            Self::Machine => {
                "letters, digits, '.', '_' and '-', none of the latter at the start and no '.' or '-' at the end"
            }
            Self::Disk => "letters, digits, '_' and '-'",
            Self::Gallery => "letters, digits, '.' and '_', a letter or digit at both ends",
            Self::GalleryImage => {
                "letters, digits, '.', '_' and '-', a letter or digit at both ends"
            }
            Self::Version => "three numbers of 32 bits with periods between",
            Self::Network => "letters, digits, '.', '_' and '-'",
            Self::Account => "lower-case letters and digits",
            Self::AgentPool => "lower-case letters and digits, a letter first",
            Self::Cluster => "letters, digits, '_' and '-', a letter or digit at both ends",
            Self::Container => {
                "lower-case letters, digits and single '-', a letter or digit at both ends"
            }
            Self::Identity => "letters, digits, '_' and '-', a letter or digit first",
            Self::Lock => {
                "anything but '<', '>', '%', '&', ':', '\\', '?', '/' and control characters"
            }
        }
    }

    /// The code of the refusal where the provider's words are not known.
    fn code(self) -> &'static str {
        if self == Self::Account {
            "AccountNameInvalid"
        } else if matches!(self, Self::AgentPool | Self::Cluster) {
            "InvalidParameter"
        } else {
            "InvalidResourceName"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(shortest: usize, longest: usize, letters: Letters) -> NameRule {
        NameRule {
            shortest,
            longest,
            letters,
        }
    }

    #[test]
    fn names_are_judged_by_their_type() {
        let cases = [
            (rule(1, 90, Letters::Group), "rg-(é).x", true),
            (rule(1, 90, Letters::Group), "rg.", false),
            (rule(1, 64, Letters::Machine), "vm_000002", true),
            (rule(1, 64, Letters::Machine), "_vm", false),
            (rule(1, 64, Letters::Machine), "vm-", false),
            (rule(1, 80, Letters::Disk), "a-b_c", true),
            (rule(1, 80, Letters::Disk), "a.b", false),
            (rule(1, 80, Letters::Gallery), "g.1_a", true),
            (rule(1, 80, Letters::Gallery), "g-1", false),
            (rule(1, 80, Letters::GalleryImage), "g-1", true),
            (rule(1, 80, Letters::GalleryImage), "g-", false),
            (rule(5, 32, Letters::Version), "1.0.0", true),
            (rule(5, 32, Letters::Version), "1.0.4294967296", false),
            (rule(5, 32, Letters::Version), "1.0.0.0", false),
            (rule(2, 64, Letters::Network), "v", false),
            (rule(2, 64, Letters::Network), "v1_", true),
            (rule(2, 64, Letters::Network), "-v1", false),
        ];
        for (rule, name, good) in cases {
            assert_eq!(rule.check(name).is_ok(), good, "{name}");
        }
        assert!(rule(1, 80, Letters::Disk).check(&"a".repeat(81)).is_err());
    }
}
