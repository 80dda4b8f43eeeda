//! `doctor`: whether credential, subscription, permissions, clock and endpoints let anybody work.

use std::collections::BTreeMap;

use azure::{Client, Examination, PriceList, RequestError, SubscriptionState};
use model::permissions::Permissions;
use render::doctor::{Check, CheckVerdict};

use crate::{
    app::App,
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
    world::{self, World},
};

/// Seconds by which clocks may differ before tokens count as not yet valid or as expired.
const MOST_SKEW: i64 = 300;

/// Namespaces that every stack needs.
const NAMESPACES: [&str; 2] = ["Microsoft.Compute", "Microsoft.Network"];

/// What planning reads.
const READS: [&str; 4] = [
    "Microsoft.Resources/subscriptions/resourceGroups/read",
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/skus/read",
    "Microsoft.Network/virtualNetworks/read",
];

/// What applying writes.
const WRITES: [&str; 10] = [
    "Microsoft.Resources/subscriptions/resourceGroups/write",
    "Microsoft.Resources/tags/write",
    "Microsoft.Compute/virtualMachines/write",
    "Microsoft.Compute/virtualMachines/delete",
    "Microsoft.Compute/disks/write",
    "Microsoft.Compute/sshPublicKeys/write",
    "Microsoft.Network/virtualNetworks/write",
    "Microsoft.Network/virtualNetworks/subnets/join/action",
    "Microsoft.Network/networkSecurityGroups/write",
    "Microsoft.Network/natGateways/write",
];

/// Checks.
pub(crate) fn run(app: &App) -> Outcome {
    let mut checks = Vec::new();
    match World::open(app, false, world::subscription(app, None)?) {
        Ok(world) => {
            if let Some(client) = world.client() {
                let found = world.wait(azure::examine(client));
                checks.extend(of_client(client, &found));
            }
            checks.push(price_list(app, &world)?);
        }
        Err(stop) => checks.push(no_world(&stop)),
    }
    let text = if app.output.is_json() {
        render::doctor::json(&checks)
    } else {
        render::doctor::text(&checks, app.output.stdout)
    };
    app.output.data(&text);
    let fails = |check: &Check| check.verdict == CheckVerdict::Fail;
    Ok(if checks.iter().any(fails) {
        Exit::Error
    } else {
        Exit::Done
    })
}

fn check(name: &'static str, verdict: CheckVerdict, found: impl Into<String>) -> Check {
    Check {
        name,
        verdict,
        found: found.into(),
        fixes: Vec::new(),
    }
}

fn fixed_by(check: Check, fix: impl Into<String>) -> Check {
    Check {
        fixes: vec![fix.into()],
        ..check
    }
}

/// Nobody lets us in, or nothing can be reached.
fn no_world(stop: &Stop) -> Check {
    let findings = || stop.diagnostics.iter();
    let found: Vec<&str> = findings().map(|finding| finding.message.as_str()).collect();
    let fixes = findings().flat_map(|finding| finding.help.iter().cloned());
    Check {
        fixes: fixes.collect(),
        ..check("credential", CheckVerdict::Fail, found.join("; "))
    }
}

fn of_client(client: &Client, found: &Examination) -> [Check; 6] {
    let who = format!("`{}` gives tokens", client.credential_name());
    [
        check("credential", CheckVerdict::Pass, who),
        subscription(client.subscription(), found.subscription.as_ref()),
        namespaces(found.namespaces.as_ref()),
        permissions("may read", "Reader", &READS, found.permissions.as_ref()),
        permissions(
            "may write",
            "Contributor",
            &WRITES,
            found.permissions.as_ref(),
        ),
        clock(found.azure_time, planning::now().unix()),
    ]
}

fn unreadable(name: &'static str, error: &RequestError) -> Check {
    check(
        name,
        CheckVerdict::Unknown,
        format!("it could not be read: {}", error.reason()),
    )
}

fn subscription(id: &str, found: Result<&SubscriptionState, &RequestError>) -> Check {
    const NAME: &str = "subscription";
    let state = match found {
        Ok(state) => state,
        Err(error) => {
            let failed = check(
                NAME,
                CheckVerdict::Fail,
                format!("`{id}`: {}", error.reason()),
            );
            return fixed_by(
                failed,
                "name one that the credential sees, with `--subscription`",
            );
        }
    };
    let text = format!("`{id}` ({}) is {}", state.name, state.state);
    match state.state.as_str() {
        "" => check(
            NAME,
            CheckVerdict::Unknown,
            format!("the answer does not describe `{id}`"),
        ),
        "Enabled" => check(NAME, CheckVerdict::Pass, text),
        "Warned" | "PastDue" => {
            let warned = check(NAME, CheckVerdict::Warn, text);
            fixed_by(warned, "settle its payment before Azure disables it")
        }
        _ => {
            let failed = check(NAME, CheckVerdict::Fail, text);
            fixed_by(
                failed,
                "enable it in the Azure portal: nothing can be written to it",
            )
        }
    }
}

fn namespaces(found: Result<&BTreeMap<String, String>, &RequestError>) -> Check {
    const NAME: &str = "providers";
    let states = match found {
        Ok(states) => states,
        Err(error) => return unreadable(NAME, error),
    };
    let state = |namespace: &str| {
        let mut states = states.iter();
        let found = states.find(|(name, _)| name.eq_ignore_ascii_case(namespace));
        found.map_or("not listed", |(_, state)| state.as_str())
    };
    let missing: Vec<&str> = NAMESPACES
        .into_iter()
        .filter(|namespace| !state(namespace).eq_ignore_ascii_case("Registered"))
        .collect();
    if missing.is_empty() {
        let text = format!("{} are registered", NAMESPACES.join(" and "));
        return check(NAME, CheckVerdict::Pass, text);
    }
    let told: Vec<String> = missing
        .iter()
        .map(|name| format!("{name} is {}", state(name)))
        .collect();
    let fixes: Vec<String> = missing
        .iter()
        .map(|name| format!("`az provider register --namespace {name}`"))
        .collect();
    fixed_by(
        check(NAME, CheckVerdict::Fail, told.join(", ")),
        fixes.join(" and "),
    )
}

fn permissions(
    name: &'static str,
    role: &str,
    wanted: &[&str],
    found: Result<&Permissions, &RequestError>,
) -> Check {
    let permissions = match found {
        Ok(permissions) => permissions,
        Err(error) => return unreadable(name, error),
    };
    let missing: Vec<String> = wanted
        .iter()
        .filter(|action| !permissions.allow(action))
        .map(|action| format!("`{action}`"))
        .collect();
    if missing.is_empty() {
        return check(
            name,
            CheckVerdict::Pass,
            format!("all of {} actions", wanted.len()),
        );
    }
    let verdict = if name == "may read" {
        CheckVerdict::Fail
    } else {
        CheckVerdict::Warn
    };
    let text = format!("not allowed: {}", render::words::listed(&missing, 4));
    fixed_by(
        check(name, verdict, text),
        format!("give the credential the role {role} on the subscription or on the stack's group"),
    )
}

fn clock(azure: Option<i64>, here: i64) -> Check {
    const NAME: &str = "clock";
    let Some(azure) = azure else {
        return check(NAME, CheckVerdict::Unknown, "no answer told Azure's time");
    };
    let skew = here.saturating_sub(azure);
    let side = if skew < 0 { "behind" } else { "before" };
    let text = format!("{} s {side} Azure's", skew.unsigned_abs());
    if skew.abs() <= MOST_SKEW {
        return check(NAME, CheckVerdict::Pass, text);
    }
    let failed = check(NAME, CheckVerdict::Fail, text);
    fixed_by(
        failed,
        "set this machine's clock: tokens of another time are refused",
    )
}

/// Only `catalog refresh` needs the price list.
fn price_list(app: &App, world: &World) -> Result<Check, Stop> {
    const NAME: &str = "price list";
    let mut settings = world::settings(app)?;
    if app.global.sandbox.is_some() {
        settings.endpoint = world.client().map(|client| client.endpoint().to_owned());
    }
    let list = match PriceList::new(&settings) {
        Ok(list) => list,
        Err(error) => return Ok(check(NAME, CheckVerdict::Warn, azure::chain(&error))),
    };
    Ok(match world.wait(list.sample()) {
        Ok(items) if !items.is_empty() => check(
            NAME,
            CheckVerdict::Pass,
            format!("{} answers", list.endpoint()),
        ),
        Ok(_) => check(
            NAME,
            CheckVerdict::Warn,
            format!("{} has no prices", list.endpoint()),
        ),
        Err(error) => {
            let warned = check(NAME, CheckVerdict::Warn, error.reason());
            fixed_by(
                warned,
                "only `catalog refresh` needs it; embedded prices are used without",
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_by_five_minutes() {
        let told = |azure, here| {
            let found = clock(azure, here);
            (found.verdict, found.found)
        };
        assert_eq!(
            told(Some(1_000), 1_300),
            (CheckVerdict::Pass, "300 s before Azure's".to_owned())
        );
        assert_eq!(
            told(Some(1_301), 1_000),
            (CheckVerdict::Fail, "301 s behind Azure's".to_owned())
        );
        assert_eq!(told(None, 1_000).0, CheckVerdict::Unknown);
    }
}
