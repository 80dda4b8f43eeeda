//! The planner from outside: specs in, plans out, against the embedded catalogue and small ones.

mod support;

mod cells;

mod sticky;

mod zones;

mod choosing;

mod explaining;

mod changes;

mod replacing;

mod targets;

mod verifying;

mod resizing;

mod adopting;

mod fallbacks;

mod spot;

mod costs;

mod previews;

mod states;

mod lifetimes;

mod properties;

mod oracle;

mod small_world;

mod reference;

mod sized;
