//! One function a table: the fields of a line, in the order of its header, to a row.

pub(super) mod sizes;

pub(super) mod regional;

pub(super) mod images;

pub(super) mod models;

pub(super) mod reference;
