//! Tests of the ink: golden texts over hand-built plans, events and findings, and properties
//! over random input.

mod build;

mod parts;

mod plans;

mod golden;

mod plan_texts;

mod event_texts;

mod finding_texts;

mod table_texts;

mod properties;
