//! Tests of the catalogue: that the embedded tables are sound and say what their sources say,
//! and that no other table can do harm.

mod cache;

mod embedded;

mod facts;

mod models;

mod reading;

mod retail;

mod retail_items;

mod small;
