//! The sandbox over its wire, with a clock that only moves by hand.

mod rig;

mod evidence;

mod replay;

mod recordings;

mod samples;

mod service_recordings;

mod services;

mod batch;

mod clusters;

mod compute_world;

mod compute_samples;

mod compute_recordings;

mod gateway;

mod groups;

mod networks;

mod disks;

mod node_disks;

mod machines;

mod changes;
mod deployments;

mod exchanges;

mod schema_fit;

mod templates;

mod scale_sets;

mod scale_set_rules;

mod flexible;

mod placement;

mod own_images;

mod guests;

mod limits;

mod faults;

mod transcript;

mod document;

mod capacity;

mod throttling;
mod tls;

mod identity;

mod durability;

mod robust;
