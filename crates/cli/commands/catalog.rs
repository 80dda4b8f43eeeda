//! `catalog`: what the catalogue holds, and how it is brought up to date.

use std::collections::BTreeMap;

use azure::{Client, PriceList, RequestError, Settings};
use model::{
    catalog::{
        Catalog, EVERYWHERE, ItemChange, RegionOffers, RetailError, RetailItems, RetailPrices,
        SOURCE, VmPrices,
    },
    diag::Code,
    live::{Answer, Facts, Question, SizeFact},
    units::{Region, SizeName},
};
use render::catalog::{CatalogState, Refreshed, RefreshedRegion};
use serde_json::Value;

use crate::{
    app::App,
    args::{self, CatalogCommand, Refresh},
    cache::{Cache, SOURCES, Unfinished},
    commands::sizes,
    errors,
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
    world::{self, World},
};

/// The folders of price tables.
const PRICES: [&str; 3] = ["prices/items", "prices/commitments", "prices/vm"];

/// Runs `catalog info` or `catalog refresh`.
pub(crate) fn run(app: &App, arguments: &args::Catalog) -> Outcome {
    match &arguments.command {
        CatalogCommand::Info => Ok(info(app)),
        CatalogCommand::Refresh(arguments) => refresh(app, arguments),
    }
}

fn info(app: &App) -> Exit {
    let catalog = app.catalog(false);
    let cache = Cache::of(app);
    let cached = cache.as_ref().map(Cache::days).unwrap_or_default();
    let folder = cache.map(|cache| cache.folder().display().to_string());
    let state = CatalogState {
        tables: catalog.info(),
        digest: catalog.digest(),
        folder: folder.as_deref(),
        cached: &cached,
        unusable: app.is_cache_unusable(),
    };
    let text = if app.output.is_json() {
        render::catalog::info_json(&state)
    } else {
        render::catalog::info_text(&state, app.output.stdout)
    };
    app.output.data(&text);
    app.say_below(&app.cache_findings());
    Exit::Done
}

/// Where a refresh reads.
struct Lists {
    world: World,
    prices: Option<PriceList>,
    reads_offers: bool,
}

impl Lists {
    /// Prices need nobody to sign in, so that no world is opened for them alone.
    fn open(app: &App, arguments: &Refresh) -> Result<Self, Stop> {
        let reads_offers = !arguments.prices;
        let is_sandbox = app.global.sandbox.is_some();
        let needs_world = reads_offers || is_sandbox;
        let world = World::open(app, !needs_world, world::subscription(app, None)?)?;
        let mut settings = world::settings(app)?;
        if is_sandbox {
            settings.endpoint = world.client().map(|client| client.endpoint().to_owned());
        }
        let prices = (!arguments.offers)
            .then(|| price_list(&settings))
            .transpose()?;
        Ok(Self {
            world,
            prices,
            reads_offers,
        })
    }

    fn requests(&self) -> usize {
        let prices = self
            .prices
            .as_ref()
            .map_or(0, |prices| prices.requests().total);
        let other = self
            .world
            .client()
            .map_or(0, |client| client.requests().total);
        usize::try_from(prices.saturating_add(other)).unwrap_or(usize::MAX)
    }
}

fn price_list(settings: &Settings) -> Result<PriceList, Stop> {
    PriceList::new(settings).map_err(|error| errors::connect(&error))
}

/// Sources of what is read today.
struct Today {
    day: String,
    prices: String,
    offers: String,
    /// Who is asked, where it is not Azure itself.
    other: Option<String>,
}

impl Today {
    fn new(app: &App) -> Self {
        let now = planning::now().to_string();
        let day = now.get(..10).unwrap_or(&now).to_owned();
        let sandbox = app.global.sandbox.as_ref();
        let sandbox = sandbox.map(|_| "the sandbox".to_owned());
        let endpoint = || Some(app.global.endpoint.as_ref()?.replace(',', "%2C"));
        Self {
            other: sandbox.or_else(endpoint),
            prices: format!("RETAIL-{day}"),
            offers: format!("SKUS-{day}"),
            day,
        }
    }

    /// The lines that these sources have in the table of sources.
    fn lines(&self) -> Vec<String> {
        let Self {
            day,
            prices,
            offers,
            other,
        } = self;
        let list = other.as_deref().unwrap_or(SOURCE);
        let manager = other.as_deref().unwrap_or("Azure Resource Manager");
        vec![
            format!("{prices},{list},,/api/retail/prices,{day},facts only"),
            format!("{offers},{manager},,Microsoft.Compute/skus,{day},facts only"),
        ]
    }

    fn sources(&self) -> (String, String) {
        let lines = self.lines().join("\n");
        let text = format!("code,repository,commit,path,as_of,licence\n{lines}\n");
        (SOURCES.to_owned(), text)
    }
}

fn refresh(app: &App, arguments: &Refresh) -> Outcome {
    let Some(cache) = Cache::of(app) else {
        let message = "there is no place for a cache: neither `XDG_CACHE_HOME` nor `HOME` is set";
        return Err(Stop::because(Code::FileUnusable, message).help("set one of them"));
    };
    let catalog = app.catalog(false);
    let regions = regions(catalog, &arguments.location)?;
    let today = Today::new(app);
    let lists = Lists::open(app, arguments)?;
    let unfinished = Unfinished::begin(cache.clone(), &today.day)?;
    let mut reading = Reading {
        app,
        catalog,
        lists: &lists,
        today: &today,
        unfinished: &unfinished,
        tables: BTreeMap::new(),
    };
    let everywhere = reading
        .everywhere()
        .map_err(|stop| stop.help(kept(0, regions.len())))?;
    let mut read = BTreeMap::new();
    for region in &regions {
        let found = reading
            .region(region)
            .map_err(|stop| stop.help(kept(read.len(), regions.len())))?;
        read.insert(region.clone(), found);
    }
    let tables = reading.tables;
    let generation = planning::now().to_string().replace(':', "-");
    unfinished.finish(&generation.replace(['.', '+'], "-"), tables, &today.lines())?;
    let endpoint = lists.prices.as_ref().map(PriceList::endpoint);
    print(
        app,
        &Refreshed {
            day: &today.day,
            source: endpoint
                .or_else(|| lists.world.client().map(Client::endpoint))
                .unwrap_or_default(),
            folder: &cache.folder().display().to_string(),
            regions: &read,
            everywhere: everywhere.as_ref(),
            requests: lists.requests(),
        },
    );
    Ok(Exit::Done)
}

/// What a refresh that breaks off leaves behind.
fn kept(done: usize, all: usize) -> String {
    let cache = "the cache is as it was";
    if done == 0 {
        return cache.to_owned();
    }
    format!(
        "{cache}; {done} of {all} regions were read, and `catalog refresh` goes on behind them today"
    )
}

fn regions(catalog: &Catalog, named: &[String]) -> Result<Vec<Region>, Stop> {
    if named.is_empty() {
        let all = catalog.regions().iter();
        return Ok(all.map(|row| row.name.clone()).collect());
    }
    named
        .iter()
        .map(|name| sizes::region(catalog, name))
        .collect()
}

fn print(app: &App, refreshed: &Refreshed<'_>) {
    let text = if app.output.is_json() {
        render::catalog::refreshed_json(refreshed)
    } else {
        render::catalog::refreshed_text(refreshed, app.output.stdout)
    };
    app.output.data(&text);
    app.say_below(&app.cache_findings());
}

/// A refresh that is under way.
struct Reading<'a> {
    app: &'a App,
    catalog: &'a Catalog,
    lists: &'a Lists,
    today: &'a Today,
    unfinished: &'a Unfinished,
    tables: BTreeMap<String, String>,
}

impl Reading<'_> {
    /// Reads the lists of one region, or takes what a run that broke off has read of it today.
    fn region(&mut self, region: &Region) -> Result<RefreshedRegion, Stop> {
        let mut read = RefreshedRegion::default();
        // Offers first: prices of sizes that a region does not offer are flagged.
        if self.lists.reads_offers {
            self.offers(region, &mut read)?;
        }
        if let Some(prices) = &self.lists.prices {
            self.prices(prices, region, &mut read)?;
        }
        let count = |count: Option<usize>, what: &str| {
            count
                .map(|count| format!(", {count} {what}"))
                .unwrap_or_default()
        };
        self.app.output.note(&format!(
            "{region}{}{}\n",
            count(read.offers, "sizes offered"),
            count(read.prices, "sizes priced")
        ));
        Ok(read)
    }

    fn offers(&mut self, region: &Region, read: &mut RefreshedRegion) -> Result<(), Stop> {
        let name = name("offers", region);
        if let Some(text) = self.unfinished.table(&name) {
            read.resumed = true;
            read.offers = Some(text.lines().count().saturating_sub(1));
            self.tables.insert(name, text);
            return Ok(());
        }
        let Some(client) = self.lists.world.client() else {
            return Ok(());
        };
        let question = Question::Sizes(region.clone());
        let mut facts = Facts::default();
        let answered = azure::answer(client, std::slice::from_ref(&question), &mut facts);
        self.lists
            .world
            .wait(answered)
            .map_err(|error| errors::read(&error))?;
        let sizes = match facts.sizes.remove(region) {
            Some(Answer::Known(sizes)) => sizes,
            Some(Answer::Unknown { reason }) => {
                let message = format!("the sizes of {region} could not be read: {reason}");
                return Err(Stop::because(Code::ListUnusable, message));
            }
            None => BTreeMap::new(),
        };
        let text = offers_table(&sizes, &self.today.offers);
        let count = text.lines().count().saturating_sub(1);
        let known = self.catalog.offers(region).map_or(0, RegionOffers::len);
        if count == 0 && known > 0 {
            return Err(empty(region, "sizes that it offers", known));
        }
        read.offers = Some(count);
        if count > 0 {
            self.keep("offers", region, text)?;
        }
        Ok(())
    }

    fn prices(
        &mut self,
        prices: &PriceList,
        region: &Region,
        read: &mut RefreshedRegion,
    ) -> Result<(), Stop> {
        // Prices of machines are written last: with them all of the region is there.
        if self.unfinished.table(&name("prices/vm", region)).is_some() {
            read.resumed = true;
            for folder in PRICES {
                let name = name(folder, region);
                if let Some(text) = self.unfinished.table(&name) {
                    self.tables.insert(name, text);
                }
            }
        } else {
            let items = self.lists.world.wait_or_start(prices.items(region))?;
            self.items(items, region, read)?;
            self.machines(prices, region, read)?;
        }
        self.compare(region, read);
        Ok(())
    }

    /// Prices that hold in every region; `None` where prices are not read.
    fn everywhere(&mut self) -> Result<Option<RefreshedRegion>, Stop> {
        let Some(prices) = &self.lists.prices else {
            return Ok(None);
        };
        let region = Region::new(EVERYWHERE);
        let mut read = RefreshedRegion::default();
        let name = name("prices/items", &region);
        if let Some(text) = self.unfinished.table(&name) {
            read.resumed = true;
            self.tables.insert(name, text);
        } else {
            let items = self.lists.world.wait_or_start(prices.items_everywhere())?;
            self.items(items, &region, &mut read)?;
        }
        self.compare_items(&region, &mut read);
        Ok(Some(read))
    }

    /// Prices of disks, addresses and services.
    fn items(
        &mut self,
        items: Result<Vec<Value>, RequestError>,
        region: &Region,
        read: &mut RefreshedRegion,
    ) -> Result<(), Stop> {
        let items = items.map_err(|error| errors::price_list(region, &error))?;
        let found = RetailItems::read(&items, region, &self.today.day)
            .map_err(|error| not_believed(&error))?;
        read.contradicted.clone_from(&found.contradicted);
        if found.rows.is_empty() {
            return Ok(());
        }
        self.keep("prices/items", region, found.table(&self.today.prices))
    }

    /// Prices of machines, and of what one can commit to.
    fn machines(
        &mut self,
        prices: &PriceList,
        region: &Region,
        read: &mut RefreshedRegion,
    ) -> Result<(), Stop> {
        let items = self.lists.world.wait_or_start(prices.machines(region))?;
        let items = items.map_err(|error| errors::price_list(region, &error))?;
        let offers = self.table_of(region, "offers");
        let offers = offers.as_ref().unwrap_or(self.catalog).offers(region);
        let day = &self.today.day;
        let mut found = RetailPrices::read(&items, region, offers, day)
            .map_err(|error| not_believed(&error))?;
        let known = self.catalog.vm_prices(region);
        let known_count = known.map_or(0, VmPrices::len);
        if found.rows.is_empty() && known_count > 0 {
            return Err(empty(region, "sizes with a price", known_count));
        }
        let reasons = found.left_out.iter();
        read.left_out = reasons
            .map(|(reason, count)| (reason.to_string(), *count))
            .collect();
        let unclear = found.contradicted.iter();
        let unclear = unclear.map(|(size, column)| format!("{size} {column}"));
        read.contradicted.extend(unclear);
        found.close(known, day);
        if found.rows.is_empty() {
            return Ok(());
        }
        if !found.commitments.is_empty() {
            let table = found.commitments_table(&self.today.prices, day);
            self.keep("prices/commitments", region, table)?;
        }
        self.keep("prices/vm", region, found.table(&self.today.prices))
    }

    fn keep(&mut self, folder: &str, region: &Region, text: String) -> Result<(), Stop> {
        let name = name(folder, region);
        self.unfinished.write(&name, &text)?;
        self.tables.insert(name, text);
        Ok(())
    }

    /// What the new tables of a region change.
    fn compare(&self, region: &Region, read: &mut RefreshedRegion) {
        self.compare_items(region, read);
        read.commitments = Some(self.lines(region, "prices/commitments"));
        read.prices = Some(0);
        if let Some(table) = self.table_of(region, "prices/vm") {
            let rows = table.vm_prices(region);
            let priced = rows.into_iter().flat_map(VmPrices::iter);
            let priced = priced.filter(|(_, row)| row.linux.is_some() || row.windows.is_some());
            read.prices = Some(priced.count());
            let known = self.catalog.vm_prices(region);
            read.changes = RetailPrices::of_rows(rows).changes(known);
        }
    }

    fn compare_items(&self, region: &Region, read: &mut RefreshedRegion) {
        read.items = Some(self.lines(region, "prices/items"));
        if let Some(table) = self.table_of(region, "prices/items") {
            let known = self.catalog.item_prices(region).unwrap_or_default();
            let rows = table.item_prices(region).unwrap_or_default();
            read.item_changes = ItemChange::between(known, rows);
        }
    }

    /// Rows of a table that was read just now.
    fn lines(&self, region: &Region, folder: &str) -> usize {
        let table = self.tables.get(&name(folder, region));
        table.map_or(0, |text| text.lines().count().saturating_sub(1))
    }

    /// A catalogue of one table that was read just now.
    fn table_of(&self, region: &Region, folder: &str) -> Option<Catalog> {
        let name = name(folder, region);
        let text = self.tables.get(&name)?.clone();
        let (catalog, _) = Catalog::from_tables([(name, text), self.today.sources()]);
        Some(catalog)
    }
}

/// The name of a region's table.
fn name(folder: &str, region: &Region) -> String {
    format!("{folder}/{region}.csv")
}

fn not_believed(error: &RetailError) -> Stop {
    Stop::because(Code::ListUnusable, error.to_string())
}

fn empty(region: &Region, what: &str, known: usize) -> Stop {
    let message =
        format!("the list of {region} is empty, expected about {known} {what}: it is not believed");
    Stop::because(Code::ListUnusable, message)
}

/// What a region offers, as the table of the catalogue; what keeps one subscription from it is
/// none of it.
fn offers_table(sizes: &BTreeMap<SizeName, SizeFact>, source: &str) -> String {
    let mut text = "size,zones,spot,source\n".to_owned();
    for (name, fact) in sizes {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let short = name.as_str().strip_prefix("Standard_");
        let Some(short) = short.filter(|short| short.bytes().all(is_plain)) else {
            continue;
        };
        let zones: Vec<&str> = fact.zones.iter().map(String::as_str).collect();
        let spot = fact.capabilities.get("LowPriorityCapable");
        let spot = spot.is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let spot = if spot { "yes" } else { "no" };
        let zones = zones.join(" ");
        text.extend([short, ",", &zones, ",", spot, ",", source, "\n"]);
    }
    text
}
