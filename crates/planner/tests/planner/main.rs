//! The planner from outside: specs in, plans out, against the embedded catalogue and small ones.

mod support;

mod cells;

mod sticky;

mod explaining;

mod changes;

mod replacing;

mod images;

mod own_images;

mod rights;

mod windows;

mod spot;

mod costs;

mod previews;

mod states;

mod properties;

mod oracle;

mod reference;

mod sized;
