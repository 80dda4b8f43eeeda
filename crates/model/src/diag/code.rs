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
