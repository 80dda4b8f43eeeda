//! The planner from outside: specs in, plans out, against the embedded catalogue and small ones.

mod support;

mod bootstraps;

mod cells;

mod sticky;

mod zones;

mod checkpoints;
mod choosing;

mod decisions;

mod explaining;

mod changes;

mod replacing;
mod replacing_instances;

mod scale_sets;

mod access;

mod rolling;

mod set_limits;

mod targets;

mod identities;
mod images;
mod verifying;

mod own_images;

mod adopting;

mod aks;
mod batch;

mod fallbacks;

mod resizing;

mod reservations;

mod storage;

mod auto_choices;

mod hardware;

mod rights;

mod windows;

mod spot;

mod costs;

mod cyclecloud;
mod in_cluster;

mod node_arrays;

mod budgets;

mod previews;

mod states;

mod lifetimes;

mod memos;

mod neighbours;

mod power;

mod properties;

mod proximity;

mod oracle;

mod orchestrators;

mod small_world;

mod reference;

mod sized;
