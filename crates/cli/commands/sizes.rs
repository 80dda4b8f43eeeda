//! `sizes`: the catalogue's VM sizes.

use std::collections::BTreeSet;

use model::{
    catalog::{Catalog, Size, VmPrice},
    diag::Code,
    units::Region,
};
use render::sizes::{SizeRow, Unit};
use rust_decimal::Decimal;

use crate::{
    app::App,
    args::{self, SizeOrder},
    exit::Exit,
    stop::{Outcome, Stop},
};

/// Lists sizes.
pub(crate) fn run(app: &App, arguments: &args::Sizes) -> Outcome {
    let catalog = app.catalog(false);
    let location = region(catalog, &arguments.location)?;
    if let Some(gpu) = &arguments.gpu {
        check_gpu(gpu, catalog)?;
    }
    let most = arguments.max_hourly.as_deref().map(most).transpose()?;
    let offers = catalog.offers(&location);
    let mut rows: Vec<SizeRow<'_>> = catalog
        .sizes()
        .iter()
        .filter(|size| fits(size, arguments))
        .filter(|size| offers.is_none_or(|offers| offers.get(&size.name).is_some()))
        .map(|size| {
            let offer = offers.and_then(|offers| offers.get(&size.name));
            let price = catalog.vm_price(&location, &size.name);
            SizeRow {
                size,
                price,
                units: catalog.unit_prices(size, price.and_then(|price| price.linux)),
                zones: offer.map(|offer| offer.zones.as_ref()),
                spot: offer.map(|offer| offer.spot),
            }
        })
        .filter(|row| most.is_none_or(|most| linux(row).is_some_and(|price| price <= most)))
        .collect();
    sort(&mut rows, arguments.sort);
    let text = if app.output.is_json() {
        render::sizes::json(&rows, &location)
    } else {
        render::sizes::text(&rows, &location, unit(arguments.sort), app.output.stdout)
    };
    app.output.data(&text);
    app.say_below(&app.cache_findings());
    Ok(Exit::Done)
}

/// A region by its name.
///
/// # Errors
/// The catalogue does not have it.
pub(super) fn region(catalog: &Catalog, name: &str) -> Result<Region, Stop> {
    let location = Region::new(name);
    if catalog.region(&location).is_some() {
        return Ok(location);
    }
    let names = catalog.regions().iter().map(|region| region.name.as_str());
    let stop = Stop::because(
        Code::LocationUnknown,
        format!("the catalogue has no region `{location}`"),
    );
    Err(match model::suggest::nearest(location.as_str(), names) {
        Some(near) => stop.help(format!("did you mean `{near}`?")),
        None => stop,
    })
}

fn check_gpu(wanted: &str, catalog: &Catalog) -> Result<(), Stop> {
    let sizes = catalog.sizes().iter();
    let names: BTreeSet<&str> = sizes
        .filter_map(|size| Some(size.gpu.as_ref()?.model.as_str()))
        .collect();
    if names.iter().any(|name| name.eq_ignore_ascii_case(wanted)) {
        return Ok(());
    }
    let stop = Stop::usage(format!("--gpu: the catalogue has no GPU `{wanted}`"));
    if let Some(near) = model::suggest::nearest(wanted, names.iter().copied()) {
        return Err(stop.help(format!("did you mean `{near}`?")));
    }
    let names: Vec<&str> = names.into_iter().collect();
    Err(stop.help(format!("it has {}", names.join(", "))))
}

fn most(text: &str) -> Result<Decimal, Stop> {
    text.parse().map_err(|_| {
        let message =
            format!("--max-hourly: expected a price in US dollars such as `12.50`, found `{text}`");
        Stop::usage(message)
    })
}

fn fits(size: &Size, arguments: &args::Sizes) -> bool {
    let gpu = size.gpu.as_ref();
    let model = |wanted: &String| gpu.is_some_and(|gpu| gpu.model.eq_ignore_ascii_case(wanted));
    let memory = |wanted: u32| {
        gpu.and_then(|gpu| gpu.memory_gb)
            .is_some_and(|memory| memory >= wanted)
    };
    arguments.gpu.as_ref().is_none_or(model)
        && arguments.min_gpu_memory.is_none_or(memory)
        && (!arguments.rdma || size.rdma)
}

fn linux(row: &SizeRow<'_>) -> Option<Decimal> {
    row.price.and_then(|price: &VmPrice| price.linux)
}

/// Sizes whose order is not known come last, and equal ones by name.
fn sort(rows: &mut [SizeRow<'_>], order: SizeOrder) {
    let key = |row: &SizeRow<'_>| match order {
        SizeOrder::Name => None,
        SizeOrder::Price => linux(row),
        SizeOrder::PricePerGpu => row.units.gpu,
        SizeOrder::PricePerGib => row.units.gpu_gib,
        SizeOrder::PricePerTflops => row.units.tflops,
    };
    rows.sort_by_cached_key(|row| {
        let key = key(row);
        (key.is_none(), key, row.size.name.key())
    });
}

/// The unit price that is shown beside the price.
fn unit(order: SizeOrder) -> Option<Unit> {
    match order {
        SizeOrder::Name | SizeOrder::Price => None,
        SizeOrder::PricePerGpu => Some(Unit::Gpu),
        SizeOrder::PricePerGib => Some(Unit::GpuGib),
        SizeOrder::PricePerTflops => Some(Unit::Tflops),
    }
}
