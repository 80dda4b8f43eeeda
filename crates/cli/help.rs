//! What `--help` and the reference of the commands say beyond the options: how to begin, exit
//! codes, variables of the environment.

use crate::exit::Exit;

/// Variables beside those that mirror options, and what each is for.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    (
        "TENSORFORM_ACCESS_TOKEN",
        "the token of `--credential token`",
    ),
    (
        "AZURE_SUBSCRIPTION_ID",
        "the subscription where neither `--subscription` nor the spec names one",
    ),
    (
        "AZURE_…",
        "credentials, as in the Azure SDKs; `docs/credentials.md` lists them",
    ),
    ("HTTPS_PROXY, NO_PROXY", "the way to Azure"),
    (
        "NO_COLOR",
        "no colour where it is set to anything, unless `--color always`",
    ),
    (
        "COLUMNS",
        "the width of pages and tables: 100 unless set, 60 at least",
    ),
    ("HOME", "what `~` in the paths of SSH keys stands for"),
    ("PATH", "where `az` and `azd` are looked for"),
];

/// What stands below the options of `-h`.
pub(crate) const SHORT: &str = "\
Try it without an account:
  tensorform init
  tensorform --sandbox plan
  tensorform --sandbox apply

A variable stands for each option: TENSORFORM_SUBSCRIPTION for --subscription.";

/// What stands below the options of `--help`.
pub(crate) fn long() -> String {
    let mut text = format!("{SHORT}\n\nOther variables:\n");
    text.extend(VARIABLES.iter().map(|(name, what)| {
        let what = what.replace('`', "");
        format!("  {name:<23}  {what}\n")
    }));
    text.push_str("\nExit codes:\n");
    text.extend(Exit::ALL.iter().map(|exit| {
        format!(
            "  {:>3}  {}\n",
            exit.number(),
            exit.meaning().replace('`', "")
        )
    }));
    text
}
