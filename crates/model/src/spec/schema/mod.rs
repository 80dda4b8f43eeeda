//! What a spec may say: tables of keys, from which the validator, the JSON schema, the
//! reference and the starter are made.

pub(crate) mod kind;

pub(crate) mod words;

pub(crate) mod forms;

pub(crate) mod stack;

pub(crate) mod pool;

mod batch;

mod kubernetes;

mod cyclecloud;

pub(crate) mod lookup;
