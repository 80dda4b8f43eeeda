//! Reads a price book, and says where it is wrong.

use rust_decimal::Decimal;

use super::{COMPUTE_METERS, Change, PriceBook, Rule, Subject, cells, cells::Cell, is_of};
use crate::{
    catalog::Catalog,
    suggest,
    units::{Region, SizeName},
};

/// The header.
const COLUMNS: [&str; 6] = ["applies_to", "name", "meter", "region", "discount", "price"];

/// What is wrong with a price book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{file}` line {line}, column {column}: {problem}")]
pub struct PriceBookError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
}

/// A problem at a column.
type Problem = (usize, String);

impl PriceBook {
    /// Reads a price book; names are those of a catalogue.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn read(file: &str, text: &str, catalog: &Catalog) -> Result<Self, PriceBookError> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut has_header = false;
        let content = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, number) in content.lines().zip(1..) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |(column, problem): Problem| PriceBookError {
                file: file.to_owned(),
                line: number,
                column,
                problem,
            };
            let cells = cells::of_line(line).map_err(|column| {
                at((
                    column,
                    "expected a closing double quote and then a comma, found something else"
                        .to_owned(),
                ))
            })?;
            if !has_header {
                check_header(&cells).map_err(at)?;
                has_header = true;
                continue;
            }
            let rule = rule(&cells, number, catalog).map_err(at)?;
            if let Some(earlier) = rules.iter().find(|other| other.is_about_the_same(&rule)) {
                let problem = format!(
                    "expected each thing once, found what line {} is about",
                    earlier.line
                );
                return Err(at((1, problem)));
            }
            rules.push(rule);
        }
        if rules.is_empty() {
            return Err(PriceBookError {
                file: file.to_owned(),
                line: 1,
                column: 1,
                problem: format!(
                    "expected the header `{}` and lines below it, found none",
                    COLUMNS.join(",")
                ),
            });
        }
        Ok(Self::of(file, text, rules))
    }
}

fn check_header(cells: &[Cell]) -> Result<(), Problem> {
    if cells.iter().map(|cell| cell.text.as_str()).eq(COLUMNS) {
        return Ok(());
    }
    let different = cells
        .iter()
        .zip(COLUMNS)
        .find(|(cell, expected)| cell.text != *expected);
    let column = different.map_or(1, |(cell, _)| cell.column);
    Err((
        column,
        format!("expected the header `{}`", COLUMNS.join(",")),
    ))
}

fn rule(cells: &[Cell], line: u64, catalog: &Catalog) -> Result<Rule, Problem> {
    let [applies_to, name, meter, region, discount, price] = cells else {
        let column = cells.last().map_or(1, |cell| cell.column);
        return Err((
            column,
            format!("expected {} cells, found {}", COLUMNS.len(), cells.len()),
        ));
    };
    let (subject, meter) = subject(applies_to, name, meter, catalog)?;
    let is_compute = meter
        .as_deref()
        .is_none_or(|meter| COMPUTE_METERS.contains(&meter));
    let change = change(discount, price)?;
    let has_one_price = match &subject {
        Subject::Size(_) => meter.is_some(),
        Subject::Meter => !is_compute,
        Subject::Family(_) | Subject::All => false,
    };
    if matches!(change, Change::Price(_)) && !has_one_price {
        let problem = "a price is for one meter: of a size with `meter`, or of a meter that is no size's; found several";
        return Err((price.column, problem.to_owned()));
    }
    Ok(Rule {
        subject,
        meter,
        region: known_region(region, catalog)?,
        change,
        line,
    })
}

fn subject(
    applies_to: &Cell,
    name: &Cell,
    meter: &Cell,
    catalog: &Catalog,
) -> Result<(Subject, Option<String>), Problem> {
    let of_size = |subject: Subject| {
        let known = (!meter.text.is_empty())
            .then(|| known_meter(meter, &COMPUTE_METERS))
            .transpose()?;
        Ok((subject, known))
    };
    match applies_to.text.as_str() {
        "size" => of_size(Subject::Size(size(name, catalog)?)),
        "family" => of_size(Subject::Family(family(name, catalog)?)),
        "meter" => {
            nothing(meter, "the meter stands in `name`")?;
            let items = items(catalog);
            let all: Vec<&str> = COMPUTE_METERS.into_iter().chain(items).collect();
            Ok((Subject::Meter, Some(known_meter(name, &all)?)))
        }
        "all" => {
            nothing(name, "`all` has no name")?;
            nothing(meter, "one meter is `meter` with its name")?;
            Ok((Subject::All, None))
        }
        other => Err((
            applies_to.column,
            format!("expected `size`, `family`, `meter` or `all`, found `{other}`"),
        )),
    }
}

fn nothing(cell: &Cell, why: &str) -> Result<(), Problem> {
    if cell.text.is_empty() {
        return Ok(());
    }
    Err((
        cell.column,
        format!("expected nothing, because {why}, found `{}`", cell.text),
    ))
}

/// Meters of everything but virtual machines.
fn items(catalog: &Catalog) -> Vec<&str> {
    let mut names: Vec<&str> = catalog
        .regions_with_item_prices()
        .filter_map(|region| catalog.item_prices(region))
        .flatten()
        .map(|row| row.item.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn known_meter(cell: &Cell, known: &[&str]) -> Result<String, Problem> {
    if known.contains(&cell.text.as_str()) {
        return Ok(cell.text.clone());
    }
    Err(unknown(cell, "a meter", known.iter().copied()))
}

fn unknown<'a>(cell: &Cell, what: &str, known: impl Iterator<Item = &'a str>) -> Problem {
    let near = suggest::nearest(&cell.text, known)
        .map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
    (
        cell.column,
        format!(
            "expected {what} of the catalogue, found `{}`{near}",
            cell.text
        ),
    )
}

fn size(cell: &Cell, catalog: &Catalog) -> Result<SizeName, Problem> {
    let find = |name: &str| catalog.size(&SizeName::from(name));
    find(&cell.text)
        .or_else(|| find(&format!("Standard_{}", cell.text)))
        .map(|size| size.name.clone())
        .ok_or_else(|| {
            let names = catalog.sizes().iter().map(|size| size.name.as_str());
            unknown(cell, "a size", names)
        })
}

fn family(cell: &Cell, catalog: &Catalog) -> Result<String, Problem> {
    if catalog.sizes().iter().any(|size| is_of(size, &cell.text)) {
        return Ok(cell.text.clone());
    }
    let quota = |size: &'_ crate::catalog::Size| size.family.clone();
    let names: Vec<String> = catalog
        .sizes()
        .iter()
        .flat_map(|size| {
            [
                Some(size.series.clone()),
                quota(size).map(|family| family.to_string()),
            ]
        })
        .flatten()
        .collect();
    Err(unknown(
        cell,
        "a family of sizes",
        names.iter().map(String::as_str),
    ))
}

fn known_region(cell: &Cell, catalog: &Catalog) -> Result<Option<Region>, Problem> {
    if cell.text.is_empty() {
        return Ok(None);
    }
    let region = Region::new(&cell.text);
    if catalog.region(&region).is_some() {
        return Ok(Some(region));
    }
    let names = catalog.regions().iter().map(|region| region.name.as_str());
    Err(unknown(cell, "a region", names))
}

fn change(discount: &Cell, price: &Cell) -> Result<Change, Problem> {
    match (discount.text.as_str(), price.text.as_str()) {
        ("", "") => Err((
            discount.column,
            "expected a `discount` or a `price`, found neither".to_owned(),
        )),
        (_, "") => {
            let text = discount.text.trim_end_matches('%').trim_end();
            let percent = decimal(discount, text, "a discount in percent such as `12.5`")?;
            if percent > Decimal::ONE_HUNDRED {
                let problem = format!(
                    "expected a discount of at most 100 percent, found `{}`",
                    discount.text
                );
                return Err((discount.column, problem));
            }
            Ok(Change::Discount(percent))
        }
        ("", text) => {
            decimal(price, text, "a price in US dollars such as `98.32`").map(Change::Price)
        }
        (_, _) => Err((
            price.column,
            "expected a `discount` or a `price`, found both".to_owned(),
        )),
    }
}

fn decimal(cell: &Cell, text: &str, expected: &str) -> Result<Decimal, Problem> {
    Decimal::from_str_exact(text)
        .ok()
        .filter(|number| {
            !number.is_sign_negative()
                && number.scale() <= 12
                && *number < Decimal::from(1_000_000_000)
        })
        .ok_or_else(|| {
            (
                cell.column,
                format!(
                    "expected {expected} that is not negative, found `{}`",
                    cell.text
                ),
            )
        })
}
