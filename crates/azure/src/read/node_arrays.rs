//! Node arrays of CycleCloud: the commands of the stack's server, which are in no other list.

use model::{
    address::Address,
    cyclecloud::SERVER_POOL,
    resource::{ResourceKind, tags},
};
use serde_json::Value;

use super::lists::{Lists, Reader};
use crate::{error::ReadError, versions, wire};

impl Reader<'_> {
    /// Lists the commands of servers of ours; what others have had run there is theirs.
    pub(super) async fn node_arrays(&self, lists: &mut Lists) -> Result<(), ReadError> {
        let machines = lists.by_kind.get(&ResourceKind::VirtualMachine);
        let ours = machines.into_iter().flatten();
        let servers: Vec<String> = ours
            .filter(|body| self.is_ours(body) && is_server(body))
            .filter_map(|body| Some(body.get("id")?.as_str()?.to_owned()))
            .collect();
        for server in servers {
            let path = format!("{server}/runCommands");
            let query = [("api-version", versions::COMPUTE)];
            let commands = self.client.list(&path, &query).await;
            let name = server.rsplit('/').next().unwrap_or_default();
            let what = format!("the commands of the server `{name}`");
            let mut commands = self.said(&what, commands).await?;
            commands.retain(|body| self.is_ours(body));
            let arrays = lists.by_kind.entry(ResourceKind::NodeArray);
            arrays.or_default().extend(commands);
        }
        Ok(())
    }
}

/// Whether a machine is a server, by its address.
fn is_server(body: &Value) -> bool {
    let tags = wire::tags_of(body);
    let address = tags.get(tags::ADDRESS).and_then(|text| text.parse().ok());
    address.is_some_and(|address: Address| address.pool_name() == Some(SERVER_POOL))
}
