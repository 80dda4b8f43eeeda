//! No long-running call of the typed client is awaited: the SDK would send the write again
//! instead of polling, and end before the operation does.

use std::path::Path;

/// Accessors of the typed client, after which only `send` may be awaited.
const CLIENTS: &str = "_client()";

/// Places where a request builder of the typed client is awaited without `send`.
fn violations(source: &str) -> Vec<String> {
    // Comments may speak of it.
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join(" ");
    let mut found = Vec::new();
    let names = bound_to(&code, |value| {
        value.contains(CLIENTS) && !value.contains(".await")
    });
    let builders = bound_to(&code, |value| {
        let on_client = |name: &String| value.starts_with(&format!("{name}."));
        (value.contains(CLIENTS) || names.iter().any(on_client)) && !value.contains(".send()")
    });
    for statement in code.split([';', '{', '}']) {
        let statement: String = statement.split_whitespace().collect();
        let speaks_of_builder = statement.contains(CLIENTS)
            || names
                .iter()
                .any(|name| statement.contains(&format!("{name}.")))
            || builders
                .iter()
                .any(|name| statement.contains(&format!("{name}.")));
        let awaited = statement.contains(".await") || statement.contains(".into_future()");
        if speaks_of_builder && awaited && !statement.contains(".send().await") {
            found.push(statement);
        }
    }
    found
}

/// Names that are bound to a value for which `holds`.
fn bound_to(code: &str, holds: impl Fn(&str) -> bool) -> Vec<String> {
    let statements = code.split([';', '{', '}']);
    statements
        .filter_map(|statement| {
            let (name, value) = statement.trim().strip_prefix("let ")?.split_once('=')?;
            let value: String = value.split_whitespace().collect();
            holds(&value).then(|| name.trim().trim_start_matches("mut ").to_owned())
        })
        .collect()
}

fn rust_files(folder: &Path, into: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn the_source_awaits_no_builder() {
    let mut files = Vec::new();
    rust_files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut files,
    );
    assert!(files.len() > 30, "the source was found");
    let mut uses = 0;
    for file in files {
        let source = std::fs::read_to_string(&file).expect("a file");
        uses += source.matches(CLIENTS).count();
        let found = violations(&source);
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
    assert!(uses > 0, "the typed client is used somewhere");
}

#[test]
fn a_planted_violation_is_found() {
    for planted in [
        "client.virtual_machines_client().create_or_update(g, n, vm, s).await?;",
        "let machines = compute.virtual_machines_client(); machines.start(g, n, s).await?;",
        "let request = compute.disks_client()\n    .delete(g, n, s);\nrequest.await?;",
        "let request = compute.disks_client().delete(g, n, s); request.into_future().await",
        "let request = compute.disks_client().delete(g, n, s); let x = f(request.await);",
    ] {
        assert!(!violations(planted).is_empty(), "{planted}");
    }
    for fine in [
        "let machines = compute.virtual_machines_client(); machines.start(g, n, s).send().await?.into_raw_response();",
        "let request = machines.start(g, n, s);\n request.send().await.map(|sent| sent.into_raw_response())",
        "// compute.virtual_machines_client().start(g, n, s).await",
        "client.get(&id).await?;",
    ] {
        assert!(violations(fine).is_empty(), "{fine}");
    }
}
