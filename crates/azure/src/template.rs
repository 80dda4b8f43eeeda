//! The desired resources of a plan as a template of Azure Resource Manager. Pure.
//!
//! A template is deployed into a resource group, which is therefore not in it; nor are the terms
//! of an image, which belong to the subscription. What nobody but the one who deploys can know is
//! a parameter: a public key that is not made yet, passwords, and what nodes run when they start
//! first, which `tensorform bootstrap` prints.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    plan::{Plan, Step},
    resource::{Known, Properties, Resource, ResourceKind, Tags, tags},
};
use serde_json::{Map, Value, json};

use crate::{versions, wire};

const SCHEMA: &str =
    "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#";

/// Stands for the public key in bodies, until it becomes an expression.
const KEY: &str = "[parameters('sshPublicKey')]";

/// A resource that cannot be in a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{address}` cannot be written: {reason}")]
pub struct NotExportable {
    /// Its address.
    pub address: String,
    /// Why.
    pub reason: String,
}

/// The template of everything that a plan wants to exist in its resource group.
///
/// # Errors
/// A resource says something that cannot be written.
pub fn template(plan: &Plan) -> Result<Value, NotExportable> {
    let mut writer = Writer {
        plan,
        ids: BTreeMap::new(),
        parameters: BTreeMap::new(),
    };
    let steps: Vec<(&Step, &Resource)> = plan
        .steps
        .iter()
        .filter_map(|step| Some((step, step.after.as_ref()?)))
        .filter(|(step, _)| is_in_group(step.kind))
        .collect();
    for (step, _) in &steps {
        writer.ids.insert(&step.address, &step.id);
    }
    let mut resources = Vec::new();
    for (step, resource) in steps {
        resources.push(writer.resource(step, resource)?);
        resources.extend(readiness(step, resource));
    }
    Ok(json!({
        "$schema": SCHEMA,
        "contentVersion": "1.0.0.0",
        "parameters": writer.parameters,
        "resources": resources,
    }))
}

fn is_in_group(kind: ResourceKind) -> bool {
    !matches!(
        kind,
        ResourceKind::ResourceGroup | ResourceKind::MarketplaceTerms
    )
}

struct Writer<'a> {
    plan: &'a Plan,
    /// What is in the template.
    ids: BTreeMap<&'a Address, &'a ArmId>,
    parameters: BTreeMap<String, Value>,
}

impl Writer<'_> {
    fn resource(&mut self, step: &Step, resource: &Resource) -> Result<Value, NotExportable> {
        let refused = |reason: String| NotExportable {
            address: step.address.to_string(),
            reason,
        };
        let resource = with_principal(self.with_key(resource), step, self.plan);
        let mut body = wire::encode(&resource).map_err(|error| refused(error.to_string()))?;
        self.add_password(&resource, &mut body);
        if step.kind.takes_tags() {
            let mut own = Tags::default();
            own.set(tags::STACK, &self.plan.stack);
            own.set(tags::ADDRESS, step.address.to_string());
            wire::set_tags(&mut body, &own);
        }
        self.make_portable(&mut body);
        self.add_custom_data(step, &resource, &mut body);
        let mut written = Map::new();
        written.insert("type".to_owned(), json!(step.kind.arm_type()));
        let version = versions::of_type(step.kind.arm_type());
        written.insert("apiVersion".to_owned(), json!(version));
        written.insert("name".to_owned(), json!(names(&step.id).join("/")));
        if let Some(scope) = step.id.scope() {
            written.insert("scope".to_owned(), json!(expression(&scope)));
        }
        let mut needs: BTreeSet<String> = step
            .needs
            .iter()
            .filter_map(|need| self.ids.get(need).map(|id| expression(id)))
            .collect();
        if let Some(server) = step.id.parent().filter(|_| resource.node_array().is_some()) {
            needs.insert(expression(&wire::readiness::id_at(&server)));
        }
        if !needs.is_empty() {
            written.insert("dependsOn".to_owned(), json!(needs));
        }
        if let Value::Object(members) = body {
            written.extend(members);
        }
        Ok(Value::Object(written))
    }

    /// The resource with a parameter in the place of a key that is not made yet.
    fn with_key(&mut self, resource: &Resource) -> Resource {
        let mut resource = resource.clone();
        let mut is_open = false;
        if let Some(keys) = resource.ssh_keys_mut()
            && *keys == Known::AfterApply
        {
            *keys = Known::Value(BTreeSet::from([KEY.to_owned()]));
            is_open = true;
        }
        if let Properties::SshPublicKey(key) = &mut resource.properties
            && key.public_key == Known::AfterApply
        {
            key.public_key = Known::Value(KEY.to_owned());
            is_open = true;
        }
        if is_open {
            let about = "The public key of the administrator, in OpenSSH form.";
            self.parameters.insert(
                "sshPublicKey".to_owned(),
                json!({"type": "string", "metadata": {"description": about}}),
            );
        }
        resource
    }

    /// A password is always asked for: it stands in no document.
    fn add_password(&mut self, resource: &Resource, body: &mut Value) {
        let password = resource
            .virtual_machine()
            .and_then(|vm| vm.password.as_ref());
        let profile = body.pointer_mut("/properties/osProfile");
        if let (Some(_), Some(Value::Object(profile))) = (password, profile) {
            let parameter = "[parameters('adminPassword')]";
            profile.insert("adminPassword".to_owned(), json!(parameter));
            let about = "The password of the administrator on Windows nodes.";
            self.parameters.insert(
                "adminPassword".to_owned(),
                json!({"type": "secureString", "metadata": {"description": about}}),
            );
        }
    }

    /// What nodes of a pool run when they start first is asked for: no document has the script.
    fn add_custom_data(&mut self, step: &Step, resource: &Resource, body: &mut Value) {
        let Some(pool) = step.address.pool_name() else {
            return;
        };
        if resource.tags.get(tags::BOOTSTRAP).is_none() {
            return;
        }
        let name = format!("customData_{}", pool.replace('-', "_"));
        let data = format!("[base64(parameters('{name}'))]");
        for place in [
            "/properties/osProfile",
            "/properties/virtualMachineProfile/osProfile",
        ] {
            if let Some(Value::Object(profile)) = body.pointer_mut(place) {
                profile.insert("customData".to_owned(), json!(data));
            }
        }
        if resource.kind() == ResourceKind::BatchPool {
            body["properties"]["startTask"] = wire::batch::start_task(&data);
        }
        let about = format!("What `tensorform bootstrap {pool}` prints.");
        self.parameters.insert(
            name,
            json!({"type": "string", "metadata": {"description": about}}),
        );
    }

    /// Ids in the group become expressions, so that the template can be deployed into any group;
    /// other texts that look like expressions are kept as they are.
    fn make_portable(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if text == KEY
                    || text == "[parameters('adminPassword')]"
                    || text.starts_with(PRINCIPAL)
                {
                    return;
                }
                let id = text.parse::<ArmId>().ok();
                let own = id.filter(|id| self.ids.values().any(|known| *known == id));
                if let Some(id) = own {
                    *text = expression(&id);
                } else if text.starts_with('[') {
                    text.insert(0, '[');
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.make_portable(item)),
            Value::Object(members) => {
                // Identities of machines are named by their ids.
                let own = |name: &String| {
                    let id = name.parse::<ArmId>().ok();
                    id.filter(|id| self.ids.values().any(|known| *known == id))
                };
                let all = std::mem::take(members).into_iter();
                members.extend(all.map(|(name, mut member)| {
                    self.make_portable(&mut member);
                    (own(&name).map_or(name, |id| expression(&id)), member)
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The extension of a VM that tells how its bootstrap ended; that of a set is part of the set.
fn readiness(step: &Step, resource: &Resource) -> Option<Value> {
    let machine = resource.virtual_machine()?;
    let mut body = wire::readiness::body(machine.location.as_str(), "template");
    let id = wire::readiness::id_at(&step.id);
    let members = body.as_object_mut()?;
    let kind = id.resource_type();
    members.insert("type".to_owned(), json!(kind));
    members.insert("apiVersion".to_owned(), json!(versions::of_type(&kind)));
    members.insert("name".to_owned(), json!(names(&id).join("/")));
    members.insert("dependsOn".to_owned(), json!([expression(&step.id)]));
    machine.reports_readiness.then_some(body)
}

/// What the principal of an identity of the template begins with.
const PRINCIPAL: &str = "[reference(resourceId('Microsoft.ManagedIdentity/";

/// The resource with an expression in the place of the principal of an identity that is not made
/// yet.
fn with_principal(mut resource: Resource, step: &Step, plan: &Plan) -> Resource {
    if let Properties::RoleAssignment(role) = &mut resource.properties
        && role.principal == Known::AfterApply
    {
        let mut steps = plan.steps.iter();
        let identity = steps.find(|other| {
            other.kind == ResourceKind::ManagedIdentity && step.needs.contains(&other.address)
        });
        if let Some(identity) = identity {
            let id = expression(&identity.id);
            let id = id.trim_start_matches('[').trim_end_matches(']');
            let version = versions::IDENTITY;
            let text = format!("[reference({id}, '{version}').principalId]");
            role.principal = Known::Value(text);
        }
    }
    resource
}

/// The names of a resource and of what it is below, outermost first.
fn names(id: &ArmId) -> Vec<String> {
    let mut names = vec![id.name().to_owned()];
    let mut parent = id.parent();
    while let Some(id) = parent {
        names.push(id.name().to_owned());
        parent = id.parent();
    }
    names.reverse();
    names
}

fn expression(id: &ArmId) -> String {
    let names: Vec<String> = names(id).iter().map(|name| format!("'{name}'")).collect();
    format!(
        "[resourceId('{}', {})]",
        id.resource_type(),
        names.join(", ")
    )
}
