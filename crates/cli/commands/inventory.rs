//! `inventory`: the nodes that run, for the tools that work on them.

use model::{
    diag::Diagnostics,
    resource::{Resource, ResourceKind},
    spec::{Spec, SshKeys, is_literal_key},
};

use crate::{
    app::App,
    args::{Inventory, InventoryFormat},
    errors,
    exit::Exit,
    keys, planning,
    stop::Outcome,
    world::{self, World},
};

/// Shows the inventory.
pub(crate) fn run(app: &App, arguments: &Inventory) -> Outcome {
    let spec = app.source()?.spec()?;
    let subscription = world::subscription(app, Some(spec))?;
    let world = World::open(app, false, subscription)?;
    let live = planning::read(
        &world,
        &planning::scope_of_spec(spec, planning::now(), false),
    )?;
    let addresses = match world.client() {
        None => planner::Addresses::default(),
        Some(client) => world
            .read(azure::addresses(client, &live))?
            .map_err(|error| errors::read(&error))?,
    };
    let file = key_file(app, spec);
    let inventory = planner::inventory(spec, &live, &addresses, app.catalog(false), file);
    let text = if app.output.is_json() {
        render::inventory::json(&inventory, &app.documents(&Diagnostics::default()))
    } else {
        match arguments.format {
            InventoryFormat::Ssh => render::inventory::ssh(&inventory),
            InventoryFormat::Ansible => render::inventory::ansible(&inventory),
            InventoryFormat::Hostfile => render::inventory::hostfile(&inventory),
            InventoryFormat::Slurm => render::inventory::slurm(&inventory),
        }
    };
    app.output.data(&text);
    let of_batch = live.resources.iter().filter(|live| {
        let resource = live.resource.as_ref();
        resource.and_then(Resource::batch_pool).is_some()
    });
    for pool in of_batch {
        app.output.note(&format!(
            "The nodes of `{}` belong to Azure Batch, which knows their addresses.\n",
            pool.id.name()
        ));
    }
    let of_aks = live.resources.iter().filter(|live| {
        let resource = live.resource.as_ref();
        resource.is_some_and(|resource| resource.kind() == ResourceKind::AgentPool)
    });
    for pool in of_aks {
        app.output.note(&format!(
            "The nodes of `{}` are of AKS: `kubectl get nodes` shows them, `kubectl debug node/NAME` opens a shell.\n",
            pool.id.name()
        ));
    }
    let arrays = live
        .resources
        .iter()
        .filter_map(|live| live.resource.as_ref()?.node_array());
    for array in arrays {
        app.output.note(&format!(
            "The nodes of `{}` are of CycleCloud: `sinfo` on the scheduler's node shows them, `cyclecloud show_nodes -c {}` on the server.\n",
            array.name, array.cluster
        ));
    }
    Ok(Exit::Done)
}

/// The file of the private key: of the pair that the tool made, or beside the public key's file.
fn key_file(app: &App, spec: &Spec) -> Option<String> {
    let path = match &spec.access.ssh_keys {
        SshKeys::Generate => keys::private_file(&spec.name),
        SshKeys::Given(given) => {
            let file = given.iter().find(|key| !is_literal_key(key))?;
            keys::expand(app, file.strip_suffix(".pub")?)
        }
    };
    let path = std::path::absolute(path).ok()?;
    path.exists().then(|| path.display().to_string())
}
