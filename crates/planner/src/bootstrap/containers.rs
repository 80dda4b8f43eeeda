//! Containers: a runtime, the NVIDIA Container Toolkit, and images that are pulled.

use model::{
    plan::{ContainerSetup, RegistrySetup},
    spec::ContainerRuntime,
};
use serde_json::Value;

use super::files::{File, PROGRAM, own};

/// Software that nodes get, in pinned versions, with the source and the day of each.
const SOFTWARE: &str = include_str!("../../../../manifests/node_software.json");

/// What the step is told.
pub(super) fn settings(setup: &ContainerSetup) -> Vec<(&'static str, String)> {
    let ContainerSetup {
        runtime,
        images,
        registry,
    } = setup;
    let images: Vec<String> = images.iter().map(|image| whole(image)).collect();
    let toolkit = version("nvidia-container-toolkit").unwrap_or_default();
    let mut settings = vec![
        ("CONTAINER_RUNTIME", word(*runtime).to_owned()),
        ("CONTAINER_IMAGES", images.join(" ")),
        ("TOOLKIT_VERSION", toolkit),
    ];
    if let Some(RegistrySetup { host, identity }) = registry {
        settings.push(("REGISTRY", host.clone()));
        settings.push(("REGISTRY_IDENTITY", identity.to_string()));
    }
    settings
}

/// What signs in to the registry of the plan, where there is one.
pub(super) fn helpers(setup: &ContainerSetup) -> Vec<File> {
    if setup.registry.is_none() {
        return Vec::new();
    }
    let token = include_str!("scripts/registry-token.sh");
    let helper = include_str!("scripts/docker-credential-tensorform.sh");
    vec![
        own("registry-token", PROGRAM, token),
        File {
            path: "/usr/local/bin/docker-credential-tensorform".to_owned(),
            permissions: PROGRAM,
            text: helper.to_owned(),
        },
    ]
}

fn word(runtime: ContainerRuntime) -> &'static str {
    match runtime {
        ContainerRuntime::None => "none",
        ContainerRuntime::Docker => "docker",
        ContainerRuntime::Containerd => "containerd",
        ContainerRuntime::Enroot => "enroot",
    }
}

/// The pinned version of a software; `None` where the table does not have it, which a test
/// excludes.
fn version(name: &str) -> Option<String> {
    let rows: Vec<Value> = serde_json::from_str(SOFTWARE).ok()?;
    let row = rows.into_iter().find(|row| row["name"] == name)?;
    row["version"].as_str().map(ToOwned::to_owned)
}

/// An image with its registry, which containerd does not guess, and its tag.
fn whole(image: &str) -> String {
    let first = image.split('/').next().unwrap_or_default();
    let has_registry = image.contains('/') && (first.contains(['.', ':']) || first == "localhost");
    let mut whole = match (has_registry, image.contains('/')) {
        (true, _) => image.to_owned(),
        (false, true) => format!("docker.io/{image}"),
        (false, false) => format!("docker.io/library/{image}"),
    };
    let name = whole.rsplit('/').next().unwrap_or_default();
    if !name.contains([':', '@']) {
        whole.push_str(":latest");
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_software_that_is_installed_has_a_version() {
        assert_eq!(
            version("nvidia-container-toolkit").as_deref(),
            Some("1.20.0")
        );
        assert_eq!(version("another"), None);
    }

    #[test]
    fn an_image_is_named_with_its_registry_and_its_tag() {
        let check = |image: &str, expected: &str| assert_eq!(whole(image), expected);
        check("ubuntu", "docker.io/library/ubuntu:latest");
        check("ubuntu:24.04", "docker.io/library/ubuntu:24.04");
        check("vllm/vllm-openai:v0.10", "docker.io/vllm/vllm-openai:v0.10");
        check(
            "nvcr.io/nvidia/pytorch:24.07-py3",
            "nvcr.io/nvidia/pytorch:24.07-py3",
        );
        check("localhost:5000/a", "localhost:5000/a:latest");
        check("ghcr.io/a/b@sha256:00", "ghcr.io/a/b@sha256:00");
    }
}
