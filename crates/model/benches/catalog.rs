//! How long a run waits for the catalogue: `cargo bench -p tensorform-model --bench catalog`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark has a clock and prints what it measured"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tensorform_model::{
    catalog::Catalog,
    units::{Region, SizeName},
};

macro_rules! table {
    ($name:literal) => {
        (
            $name.to_owned(),
            include_str!(concat!("../../../manifests/", $name)).to_owned(),
        )
    };
}

const ROUNDS: u32 = 200;

fn main() {
    let first = Instant::now();
    let region = Region::new("eastus");
    let size = SizeName::from("Standard_ND96isr_H100_v5");
    black_box(Catalog::embedded().size(&size));
    black_box(Catalog::embedded().offers(&region));
    black_box(Catalog::embedded().vm_price(&region, &size));
    println!("embedded, first use in this process: {:?}", first.elapsed());

    let sources = || table!("sources.csv");
    let parse = |tables: &[(String, String)]| {
        black_box(Catalog::from_tables(tables.to_vec()));
    };
    measure("sizes", || parse(&[sources(), table!("sizes.csv")]));
    measure("offers of eastus", || {
        parse(&[sources(), table!("offers/eastus.csv")]);
    });
    measure("prices of eastus", || {
        parse(&[sources(), table!("prices/vm/eastus.csv")]);
    });
    measure("the three together", || {
        parse(&[
            sources(),
            table!("sizes.csv"),
            table!("offers/eastus.csv"),
            table!("prices/vm/eastus.csv"),
        ]);
    });
    let catalog = Catalog::embedded();
    measure("a price of every size", || {
        for size in catalog.sizes() {
            black_box(catalog.vm_price(&region, &size.name));
        }
    });
    let all = Instant::now();
    black_box(catalog.errors());
    println!("every table, once: {:?}", all.elapsed());
}

fn measure(what: &str, run: impl Fn()) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let fastest = times.first().copied().unwrap_or_default();
    println!("{what}: median {median:?}, fastest {fastest:?}");
}
