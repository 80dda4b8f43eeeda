//! The sandbox over its wire, with a clock that only moves by hand.

mod rig;

mod replay;

mod recordings;

mod samples;

mod gateway;

mod groups;

mod networks;

mod disks;

mod machines;

mod changes;
mod deployments;

mod limits;

mod faults;

mod throttling;
mod tls;

mod identity;

mod durability;

mod robust;
