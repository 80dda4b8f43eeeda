//! Cost previews in every format, from catalogues of which price rows were taken out: what has no
//! price is unknown, and every total is "at least".

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use model::{
    catalog::Catalog,
    cost::CostReport,
    live::{Live, Mode},
    plan::SpecReference,
    price_book::PriceBook,
    spec::{Inputs, parse},
    units::Timestamp,
};
use planner::{
    Input, Options,
    cost::{self, Limits, Prices, ReportInput},
    diff::Permissions,
};
use render::{
    Style,
    preview::{self, text::Shown},
};
use serde_json::Value;

use crate::harness::root;

/// A stack with a line of every kind that there is.
const SPEC: &str = "version: 1
name: priced
location: eastus
budget: {hourly: 1000}
lifetime: 72h
pools:
  train:
    stage: training
    workload: generative
    size: Standard_NC48ads_A100_v4
    count: 2
    grouping: vms
    disks: {data: [{size_gb: 1024, type: premium, lun: 0}, {size_gb: 64, type: standard_ssd, lun: 1}]}
  serve:
    stage: inference
    workload: small
    size: Standard_F4s_v2
    priority: spot
    disks: {os: {size_gb: 128, type: standard_hdd}}
";

/// The tables that the stack needs.
const TABLES: [&str; 15] = [
    "sizes.csv",
    "gpus.csv",
    "regions.csv",
    "images.csv",
    "image_families.csv",
    "image_fit.csv",
    "quota_families.csv",
    "article.csv",
    "sources.csv",
    "info.csv",
    "offers/eastus.csv",
    "prices/vm/eastus.csv",
    "prices/items/eastus.csv",
    "prices/items/global.csv",
    "prices/vm/westus2.csv",
];

type Tables = BTreeMap<String, String>;

fn tables() -> Tables {
    let read = |name: &str| {
        let path = root().join("manifests").join(name);
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    TABLES.map(|name| (name.to_owned(), read(name))).into()
}

/// A table without the row that begins so, which must be there.
fn without(tables: &Tables, name: &str, beginning: &str) -> Tables {
    let mut tables = tables.clone();
    let text = tables.get_mut(name).expect("the table");
    let before = text.lines().count();
    *text = text
        .lines()
        .filter(|line| !line.starts_with(&format!("{beginning},")))
        .fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(
        text.lines().count(),
        before - 1,
        "{name} has {beginning} once"
    );
    tables
}

fn report(tables: Tables) -> CostReport {
    report_by(tables, None)
}

/// The preview by the prices of an agreement, where one is given.
fn report_by(tables: Tables, agreement: Option<&str>) -> CostReport {
    let (catalog, errors) = Catalog::from_tables(tables);
    assert!(errors.is_empty(), "{errors:?}");
    let book = agreement.map(|text| PriceBook::read("ea.csv", text, &catalog));
    let price_book = book.map(|book| book.expect("a price book"));
    let parsed = parse(SPEC, &Inputs::default());
    let spec = parsed.spec.expect("a spec");
    let options = Options {
        now: Timestamp::from_unix(1_796_040_000),
        mode: Mode::Offline,
        cloud: "public".to_owned(),
        tool_version: "0.0.0".to_owned(),
        spec: SpecReference {
            digest: String::new(),
            path: "tensorform.yaml".to_owned(),
        },
        ssh_keys: None,
        destroy: false,
        orphans: false,
        power: None,
        reselect: false,
        renew: false,
        targets: BTreeSet::new(),
        permissions: Permissions::default(),
        limits: Limits::default(),
        price_book: price_book.clone(),
    };
    let live = Live::default();
    let input = Input {
        spec: &spec,
        catalog: &catalog,
        live: &live,
        options: &options,
    };
    let planned = planner::plan(input);
    let plan = planned
        .plan
        .unwrap_or_else(|| panic!("{:?}", planned.diagnostics));
    assert_eq!(plan.breaches(), Vec::<String>::new());
    cost::report(ReportInput {
        spec: &spec,
        plan: &plan,
        before: &[],
        prices: Prices {
            catalog: &catalog,
            book: price_book.as_ref(),
        },
        seconds: Some(3_600),
    })
}

/// What a format says of completeness: its name, whether its total is "at least", and how many
/// lines are unknown.
type Told = (&'static str, bool, usize);

fn told(report: &CostReport) -> [Told; 7] {
    let [text, plan] = in_text(report);
    let [json, infracost] = in_json(report);
    [
        text,
        plan,
        json,
        infracost,
        in_markdown(report),
        in_html(report),
        in_csv(report),
    ]
}

fn in_text(report: &CostReport) -> [Told; 2] {
    let shown = Shown { changes: true };
    let text = preview::text::text(report, shown, Style::plain(200));
    // Tables of the other ways to pay come behind the lines.
    let head = text
        .split("What this change costs")
        .next()
        .unwrap_or_default();
    let plan = render::cost::text(&report.cost, Style::plain(200));
    [("text", head), ("plan", &plan)].map(|(format, text)| {
        let unknown = text
            .lines()
            .filter(|line| line.matches(" unknown").count() == 3);
        (format, text.contains("After, at least"), unknown.count())
    })
}

fn in_json(report: &CostReport) -> [Told; 2] {
    let read = |text: String| -> Value { serde_json::from_str(&text).expect("JSON") };
    let json = read(preview::json::document(report));
    let lines = json["cost"]["lines"].as_array().expect("lines");
    let unknown = lines.iter().filter(|line| line["known"] == false).count();
    let infracost = read(preview::infracost::document(report));
    let project = &infracost["projects"][0];
    let resources = project["breakdown"]["resources"]
        .as_array()
        .expect("resources");
    let components = resources
        .iter()
        .flat_map(|resource| resource["costComponents"].as_array().expect("components"));
    let not_found = components
        .filter(|component| {
            component["priceNotFound"] == true && component["monthlyCost"].is_null()
        })
        .count();
    let warnings = project["metadata"]["warnings"]
        .as_array()
        .expect("warnings");
    let warned = warnings.iter().filter(|warning| {
        warning["message"]
            .as_str()
            .is_some_and(|text| text.contains("at least"))
    });
    assert_eq!(
        warned.count(),
        not_found,
        "a warning for each line without a price"
    );
    let without = infracost["summary"]["totalNoPriceResources"].as_u64();
    let at_least = without.is_some_and(|count| count > 0);
    [
        ("json", json["cost"]["complete"] == false, unknown),
        ("infracost", at_least, not_found),
    ]
}

fn in_markdown(report: &CostReport) -> Told {
    let text = preview::markdown::comment(report);
    let lines = text.split("<details>").nth(1).expect("the lines");
    let unknown = lines.matches("| unknown | unknown | unknown |").count();
    ("markdown", text.contains("| After | **at least"), unknown)
}

fn in_html(report: &CostReport) -> Told {
    let text = preview::html::page(report);
    let lines = text.split("<h2>Lines</h2>").nth(1).expect("the lines");
    let lines = lines.split("<h2>").next().unwrap_or_default();
    let unknown = lines
        .matches(&"<td class=\"n u\">unknown</td>".repeat(3))
        .count();
    let at_least = text.contains("<td>After</td><td class=\"n\">at least");
    ("html", at_least, unknown)
}

fn in_csv(report: &CostReport) -> Told {
    let text = preview::csv::table(report);
    let rows = |section: &str, bound: &str| {
        let starts = format!("{section},");
        text.lines()
            .filter(|row| row.starts_with(&starts) && row.contains(&format!(",{bound},")))
            .count()
    };
    (
        "csv",
        rows("total", "at least") == 1,
        rows("line", "unknown"),
    )
}

#[test]
fn a_price_row_that_is_missing_makes_its_line_unknown_in_every_format() {
    let all = tables();
    let whole = report(all.clone());
    for (format, at_least, unknown) in told(&whole) {
        assert!(!at_least && unknown == 0, "{format} with every price");
    }
    let rows = [
        ("prices/vm/eastus.csv", "NC48ads_A100_v4"),
        ("prices/vm/eastus.csv", "F4s_v2"),
        ("prices/items/eastus.csv", "disk.premium_ssd.P15.lrs"),
        ("prices/items/eastus.csv", "disk.premium_ssd.P30.lrs"),
        ("prices/items/eastus.csv", "disk.standard_ssd.E6.lrs"),
        ("prices/items/eastus.csv", "disk.standard_hdd.S10.lrs"),
        ("prices/items/eastus.csv", "public_ip.standard.static.hour"),
        ("prices/items/global.csv", "nat_gateway.hour"),
    ];
    assert_eq!(rows.len(), whole.cost.lines.len(), "a row for each line");
    for (table, row) in rows {
        let partial = report(without(&all, table, row));
        for (format, at_least, unknown) in told(&partial) {
            assert!(at_least, "{format} without {row} says `at least`");
            assert_eq!(unknown, 1, "{format} without {row} has one unknown line");
        }
        assert!(
            partial.cost.after.monthly_micros < whole.cost.after.monthly_micros,
            "{row}"
        );
    }
}

#[test]
fn the_whole_stack_is_unknown_in_csv_where_no_pool_has_a_price() {
    let of_whole = |report: &CostReport| {
        let text = preview::csv::table(report);
        let mut rows = text.lines();
        let row = rows.find(|row| row.starts_with("option,,,whole stack,spot,"));
        row.expect("the whole stack on spot").to_owned()
    };
    let mut report = report(tables());
    assert!(!of_whole(&report).contains(",unknown,"));
    for option in &mut report.options {
        option.total = None;
    }
    let row = of_whole(&report);
    assert_eq!(row, "option,,,whole stack,spot,,,,,,,unknown,,,,,USD");
}

#[test]
fn amounts_are_the_same_in_every_format() {
    let report = report(tables());
    let total = report.cost.after;
    let exact = total.monthly_micros.to_decimal().normalize().to_string();
    let shown = total.monthly_micros.to_string();
    let text = preview::text::text(&report, Shown::default(), Style::plain(120));
    assert!(text.contains(&shown), "{text}");
    assert!(preview::markdown::comment(&report).contains(&format!("**{shown}**")));
    let page = preview::html::page(&report);
    assert!(page.contains(&format!("<td class=\"n\">{shown}</td>")));
    for word in ["<script", "http://", "https://", "src=", "url("] {
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        // Sources of prices are text, not links.
        assert!(!page.contains(word), "the page stands alone: {word}");
    }
    assert_eq!(
        page.matches("<svg").count(),
        4,
        "by pool, by option, over a month, until the end"
    );
    let lifetime = report.lifetime.as_ref().expect("the spec has one");
    let until = lifetime.micros.to_string();
    assert_eq!((lifetime.seconds, lifetime.complete), (72 * 3_600, true));
    let ends = format!("Lifetime: {until} in all, 3d00h until its lifetime ends at ");
    assert!(text.contains(&ends), "{text}");
    let comment = preview::markdown::comment(&report);
    assert!(comment.contains(&ends), "{comment}");
    assert!(page.contains(&format!("as it is bought: {until}<")));
    let csv = preview::csv::table(&report);
    let row = csv.lines().find(|row| row.starts_with("lifetime,"));
    let row = row.expect("a row for the lifetime");
    let until = lifetime.micros.to_decimal().normalize().to_string();
    assert!(row.contains(&format!(",{until},")), "{row}");
    let after = csv
        .lines()
        .find(|line| line.starts_with("total,,,after"))
        .expect("a total");
    assert!(after.contains(&format!(",{exact},")), "{after}");
    let cells = |row: &str| row.matches(',').count();
    let plain = csv.lines().filter(|row| !row.contains('"'));
    assert!(plain.clone().count() > 20);
    assert!(plain.clone().all(|row| cells(row) == 16), "{csv}");
    let infracost: Value =
        serde_json::from_str(&preview::infracost::document(&report)).expect("JSON");
    assert_eq!(infracost["version"], "0.2");
    assert_eq!(infracost["currency"], "USD");
    assert_eq!(infracost["totalMonthlyCost"], exact.as_str());
    assert_eq!(infracost["diffTotalMonthlyCost"], exact.as_str());
    assert_eq!(infracost["pastTotalMonthlyCost"], "0");
    let resources = infracost["projects"][0]["breakdown"]["resources"]
        .as_array()
        .expect("resources");
    let sum: f64 = resources
        .iter()
        .filter_map(|resource| resource["monthlyCost"].as_str()?.parse::<f64>().ok())
        .sum();
    assert!(
        (sum - exact.parse::<f64>().expect("a number")).abs() < 0.001,
        "{sum} {exact}"
    );
}

#[test]
fn prices_of_an_agreement_are_told_apart_in_every_format() {
    let text = "applies_to,name,meter,region,discount,price\nall,,,,10,\n";
    let listed = report(tables());
    let agreed = report_by(tables(), Some(text));
    assert!(agreed.cost.after.monthly_micros < listed.cost.after.monthly_micros);
    let all = |report: &CostReport| {
        let shown = Shown::default();
        [
            preview::text::text(report, shown, Style::plain(120)),
            render::cost::text(&report.cost, Style::plain(120)),
            preview::json::document(report),
            preview::markdown::comment(report),
            preview::html::page(report),
            preview::csv::table(report),
            preview::infracost::document(report),
            render::cost::now(&report.cost),
        ]
    };
    for (agreed, listed) in all(&agreed).iter().zip(all(&listed)) {
        assert!(agreed.contains("ea.csv"), "{agreed}");
        assert!(!listed.contains("ea.csv"), "{listed}");
    }
}

#[test]
fn what_names_say_stays_text() {
    let mut report = report(tables());
    report.stack = "<script>alert(1)</script>|*x*".to_owned();
    let page = preview::html::page(&report);
    assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"));
    let comment = preview::markdown::comment(&report);
    assert!(!comment.contains("<script>") && comment.contains("\\|\\*x\\*"));
}

/// Members of Infracost's objects, version 0.2: those that must be there, and those that may.
/// There may be no others.
const SHAPE: &[(&str, &str, &str)] = &[
    (
        "",
        "version metadata currency projects totalHourlyCost totalMonthlyCost pastTotalHourlyCost \
         pastTotalMonthlyCost diffTotalHourlyCost diffTotalMonthlyCost timeGenerated summary",
        "",
    ),
    (
        "/metadata",
        "infracostCommand vcsBranch vcsCommitSha vcsCommitAuthorName vcsCommitAuthorEmail \
         vcsCommitTimestamp vcsCommitMessage",
        "",
    ),
    (
        "/projects/0",
        "name displayName metadata pastBreakdown breakdown diff summary",
        "",
    ),
    ("/projects/0/metadata", "path type", "warnings"),
    (
        "/projects/0/metadata/warnings/0",
        "code message data isError",
        "",
    ),
    (
        "/projects/0/breakdown",
        "resources totalHourlyCost totalMonthlyCost totalMonthlyUsageCost",
        "",
    ),
    (
        "/projects/0/diff",
        "resources totalHourlyCost totalMonthlyCost totalMonthlyUsageCost",
        "",
    ),
    (
        "/projects/0/breakdown/resources/2",
        "name metadata",
        "resourceType tags hourlyCost monthlyCost costComponents",
    ),
    (
        "/projects/0/breakdown/resources/2/costComponents/0",
        "name unit hourlyQuantity monthlyQuantity price hourlyCost monthlyCost priceNotFound",
        "",
    ),
    (
        "/projects/0/diff/resources/2/costComponents/0",
        "name unit hourlyQuantity monthlyQuantity price hourlyCost monthlyCost priceNotFound",
        "",
    ),
    (
        "/summary",
        "",
        "totalDetectedResources totalSupportedResources totalUnsupportedResources \
         totalUsageBasedResources totalNoPriceResources unsupportedResourceCounts \
         noPriceResourceCounts",
    ),
];

#[test]
fn comment_tools_find_the_members_that_they_know() {
    let partial = report(without(&tables(), "prices/vm/eastus.csv", "F4s_v2"));
    let text = preview::infracost::document(&partial);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    for (place, required, optional) in SHAPE {
        let object = document.pointer(place).and_then(Value::as_object);
        let object = object.unwrap_or_else(|| panic!("{place} is an object"));
        for member in required.split_whitespace() {
            assert!(object.contains_key(member), "{place} has {member}");
        }
        let known: Vec<&str> = required
            .split_whitespace()
            .chain(optional.split_whitespace())
            .collect();
        for (member, value) in object {
            assert!(known.contains(&member.as_str()), "{place} has no {member}");
            let is_money = ["Cost", "Quantity", "price"]
                .iter()
                .any(|end| member.ends_with(end));
            assert!(
                !is_money || value.is_string() || value.is_null(),
                "{place} {member} {value}"
            );
        }
    }
}
