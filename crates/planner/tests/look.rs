//! Look.
use std::collections::BTreeMap;
use model::{catalog::Catalog, live::{Live, Mode}, plan::SpecReference, spec::*, units::{Region, Timestamp}};
use planner::{Input, Options, plan};
fn pool(stage: Stage, workload: Workload) -> Pool {
    Pool { stage, workload, model: None, deadline: None, count: None, grouping: Grouping::Auto, os: OperatingSystem::Linux, size: SizeChoice::Auto,
        fallback: vec![], capacity: Capacity { wait: model::units::Span::from_seconds(0), min_count: None, on_partial: OnPartial::Keep }, image: ImageChoice::Auto,
        priority: Priority::Regular, zones: Zones::Auto, orchestrator: Orchestrator::Manual, scheduler: None, containers: None, disks: Disks::default(), mounts: vec![], bootstrap: None,
        checkpoint: None, accelerated_networking: None, security: SecurityChoice::Auto, capacity_reservation: None, allow_stop: false, protect: false }
}
#[test]
fn look() {
    for loc in ["eastus", "swedencentral", "westus2", "southcentralus", "francecentral", "japaneast"] {
    for stage in [Stage::Training, Stage::Inference] { for workload in [Workload::Generative, Workload::Complex, Workload::Small] {
        let spec = Spec { name: "demo".into(), locations: vec![Region::new(loc)], resource_group: "rg-demo".into(), subscription: None, tags: BTreeMap::new(), ignore_tags: vec![], budget: None, lifetime: None,
            network: Network::Own { address_space: Cidr { first: 0x0a28_0000, prefix: 16 }, outbound: Outbound::Nat }, access: Access { user: "azureuser".into(), ssh_keys: SshKeys::Generate, via: Via::None, ssh_from: vec![] },
            identity: Identity::None, pools: BTreeMap::from([("p".to_owned(), pool(stage, workload))]) };
        let options = Options { now: Timestamp::from_unix(0), mode: Mode::Offline, cloud: "public".into(), tool_version: "0".into(), spec: SpecReference { digest: String::new(), path: String::new() }, ssh_keys: None, destroy: false, reselect: false, permissions: Default::default() };
        let planned = plan(Input { spec: &spec, catalog: Catalog::embedded(), live: &Live::default(), options: &options });
        println!("=== {loc} {stage:?} {workload:?}");
        for d in planned.diagnostics.iter() { println!("   {} {} {:?}", d.code, d.message, d.help); }
        if let Some(plan) = planned.plan { let p = &plan.pools["p"]; println!("   {} x{} {} {:?} after {:?}", p.size, p.count, p.image.urn, p.why, plan.cost.after);
            for c in p.candidates.iter().take(4) { println!("      {} {:?} {:?} {:?}", c.size, c.rank, c.hourly_micros, c.reasons); }
            println!("   breaches {:?}", plan.breaches()); if loc=="eastus" && stage==Stage::Training && workload==Workload::Small { println!("{}", serde_json::to_string_pretty(&plan.steps).unwrap()); for l in &plan.cost.lines { println!("{l:?}"); } } }
    } } }
}
