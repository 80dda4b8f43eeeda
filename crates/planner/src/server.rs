//! The server that pools of CycleCloud need: a pool of one node, added to the spec before anything
//! is decided, so that it is chosen, paid for, checked and made as every other node is.

use std::borrow::Cow;

use model::{
    cyclecloud::SERVER_POOL,
    diag::{At, Code, Diagnostic, Segment, SpecPath},
    spec::{
        Grouping, ImageChoice, Orchestrator, Pool, SizeChoice, Spec, Stage, Urn, Workload,
        cyclecloud::{Server, ServerSetup},
    },
};

/// The image of the server.
const IMAGE: [&str; 3] = ["azurecyclecloud", "azure-cyclecloud", "cyclecloud8-gen2"];

/// A spec with the server that its pools of CycleCloud need, as the pool that it is then.
pub fn with_server(spec: &Spec) -> Cow<'_, Spec> {
    let mut spec = Cow::Borrowed(spec);
    add(&mut spec);
    spec
}

/// Adds the server to a spec with pools of CycleCloud.
pub(crate) fn add(spec: &mut Cow<'_, Spec>) {
    let is_cycle = |pool: &Pool| pool.orchestrator == Orchestrator::CycleCloud;
    if !spec.pools.values().any(is_cycle) {
        return;
    }
    if let Some(pool) = pool(spec) {
        let pools = &mut spec.to_mut().pools;
        pools.insert(SERVER_POOL.to_owned(), pool);
    }
}

fn pool(spec: &Spec) -> Option<Pool> {
    let Server {
        size,
        accept_terms,
        identity,
        locker,
        start: _,
    } = spec.cyclecloud.as_ref()?;
    let [publisher, offer, sku] = IMAGE;
    Some(Pool {
        count: Some(1),
        grouping: Grouping::Vms,
        size: SizeChoice::Named(size.clone()),
        image: ImageChoice::Urn {
            urn: Urn {
                publisher: publisher.into(),
                offer: offer.into(),
                sku: sku.into(),
                version: "latest".to_owned(),
            },
            accept_terms: *accept_terms,
        },
        server: Some(ServerSetup {
            user: spec.access.user.clone(),
            identity: identity.clone()?,
            locker: locker.clone()?,
        }),
        ..Pool::plain(Stage::Inference, Workload::Small)
    })
}

/// A finding with its place in the spec as it was written, which has no pool of the server's name.
/// What the article says of sizes is about models, and a server runs none.
pub(crate) fn placed(mut finding: Diagnostic) -> Option<Diagnostic> {
    let (At::Value(path) | At::Key(path)) = &finding.at else {
        return Some(finding);
    };
    if path.pool_name() == Some(SERVER_POOL) {
        if finding.code == Code::SizeAgainstAdvice {
            return None;
        }
        let asked = |name: &str| {
            let mut segments = path.segments().iter();
            segments.any(|segment| matches!(segment, Segment::Key(key) if key == name))
        };
        let keys: &[&str] = if asked("size") {
            &["cyclecloud", "size"]
        } else if asked("image") {
            &["cyclecloud", "accept_terms"]
        } else {
            &["cyclecloud"]
        };
        finding.at = At::Value(SpecPath::of(keys));
    }
    Some(finding)
}
