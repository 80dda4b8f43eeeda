//! What price books say, and what is refused.

use super::*;
use crate::catalog::Catalog;

const HEADER: &str = "applies_to,name,meter,region,discount,price\n";

fn read(lines: &str) -> Result<PriceBook, PriceBookError> {
    PriceBook::read("ea.csv", &format!("{HEADER}{lines}"), Catalog::embedded())
}

#[test]
fn the_most_specific_line_counts() {
    let book = read(
        "all,,,,1,\nmeter,linux.on_demand,,,2,\nfamily,ND,,,3,\nfamily,standardNDSH100v5Family,,,4,\n\
         size,ND96isr_H100_v5,,,5,\nsize,Standard_ND96isr_H100_v5,linux.on_demand,,6,\n\
         size,Standard_ND96isr_H100_v5,linux.on_demand,East US,,80.5\nmeter,nat_gateway.hour,,,,0.04\n",
    )
    .expect("a price book");
    let check = |size: Option<&str>, meter: &str, region: &str, line: Option<u64>| {
        let size = size.map(|name| Catalog::embedded().size(&SizeName::from(name)).expect(name));
        let region = Region::new(region);
        let found = book.rule(Priced {
            meter,
            region: &region,
            size,
        });
        assert_eq!(found.map(|rule| rule.line), line, "{meter} {region}");
    };
    let h100 = Some("Standard_ND96isr_H100_v5");
    check(h100, "linux.on_demand", "eastus", Some(8));
    check(h100, "linux.on_demand", "westus2", Some(7));
    check(h100, "windows.on_demand", "eastus", Some(6));
    // A line without a meter is about prices on demand.
    check(h100, "linux.spot", "eastus", None);
    check(h100, "linux.reservation_3y", "eastus", None);
    check(
        Some("Standard_ND96asr_v4"),
        "linux.on_demand",
        "eastus",
        Some(4),
    );
    check(
        Some("Standard_D2s_v5"),
        "linux.on_demand",
        "eastus",
        Some(3),
    );
    check(
        Some("Standard_D2s_v5"),
        "windows.on_demand",
        "eastus",
        Some(2),
    );
    check(None, "nat_gateway.hour", "eastus", Some(9));
    check(None, "disk.premium_ssd.P10.lrs", "eastus", Some(2));
}

#[test]
fn what_is_wrong_is_told_with_line_and_column() {
    let check = |lines: &str, expected: &str| {
        let error = read(lines).expect_err(lines);
        assert_eq!(error.to_string(), format!("`ea.csv` {expected}"));
    };
    check(
        "size,D2s_v5,,,-5,\n",
        "line 2, column 15: expected a discount in percent such as `12.5` that is not negative, found `-5`",
    );
    check(
        "meter,nat_gateway.hour,,,,-0.04\n",
        "line 2, column 27: expected a price in US dollars such as `98.32` that is not negative, found `-0.04`",
    );
    check(
        "all,,,,5,\nfamily,nd,,,3,\n\nfamily,ND,,,4,\n",
        "line 5, column 1: expected each thing once, found what line 3 is about",
    );
    check(
        "all,,,,101,\n",
        "line 2, column 8: expected a discount of at most 100 percent, found `101`",
    );
    check(
        "all,,,,,\n",
        "line 2, column 8: expected a `discount` or a `price`, found neither",
    );
    check(
        "all,,,,5,6\n",
        "line 2, column 10: expected a `discount` or a `price`, found both",
    );
    check(
        "all,,,,,6\n",
        "line 2, column 9: a price is for one meter: of a size with `meter`, or of a meter that is no size's; found several",
    );
    check(
        "size,Standard_D2s_v55,,,5,\n",
        "line 2, column 6: expected a size of the catalogue, found `Standard_D2s_v55`: did you mean `Standard_D2s_v5`?",
    );
    check(
        "meter,nat_gateway.hours,,,5,\n",
        "line 2, column 7: expected a meter of the catalogue, found `nat_gateway.hours`: did you mean `nat_gateway.hour`?",
    );
    check(
        "all,,,estus,5,\n",
        "line 2, column 7: expected a region of the catalogue, found `estus`: did you mean `eastus`?",
    );
    check(
        "alles,,,,5,\n",
        "line 2, column 1: expected `size`, `family`, `meter` or `all`, found `alles`",
    );
    check("all,,,,5\n", "line 2, column 8: expected 6 cells, found 5");
    check(
        "all,\"x,,,5,\n",
        "line 2, column 5: expected a closing double quote and then a comma, found something else",
    );
    check(
        "",
        "line 1, column 1: expected the header `applies_to,name,meter,region,discount,price` and lines below it, found none",
    );
    let error =
        PriceBook::read("ea.csv", "applies_to,names\n", Catalog::embedded()).expect_err("a header");
    assert_eq!((error.line, error.column), (1, 12));
}

#[test]
fn comments_quotes_and_percent_signs_are_read() {
    let book = read("# our agreement\n\"all\",,,,\"12.5 %\",\n").expect("a price book");
    let rule = book.rules.first().expect("a rule");
    assert_eq!(
        (rule.line, rule.change),
        (3, Change::Discount("12.5".parse().expect("a number")))
    );
}
