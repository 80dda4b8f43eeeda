//! What a spot price above its limit, or one that is not known, means for a pool.

use model::{
    catalog::Size,
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    plan::CandidateReason,
};
use rust_decimal::Decimal;

use super::{Context, Findings, Trial, rules::ABOVE_MAX_PRICE};

/// Says where the chosen size is too dear, or its price is not known.
pub(super) fn check(context: Context<'_>, size: &Size, new_nodes: u32, findings: &mut Findings) {
    let Some(most) = context.most_for_spot() else {
        return;
    };
    let location = context.location;
    let finding = match context.hourly_price(size) {
        Some(price) if price > most => {
            let message = format!(
                "`{}` costs {} USD an hour as spot in {location}, {} more than `max_price: {}`",
                size.name,
                price.normalize(),
                (price - most).normalize(),
                most.normalize()
            );
            let finding = Diagnostic::new(Code::SpotTooDear, at(context), message);
            if new_nodes > 0 {
                finding.with_help(way_out(context, size, price))
            } else {
                finding.with_severity(Severity::Warning).with_help(
                    "live nodes stay as they are; Azure may evict them, and starts none again at this price",
                )
            }
        }
        None if new_nodes > 0 => {
            let message = format!(
                "the spot price of `{}` in {location} is unknown: whether `max_price: {}` allows it cannot be checked",
                size.name,
                most.normalize()
            );
            Diagnostic::new(Code::SpotPriceUnknown, at(context), message).with_help(
                "Azure refuses the VM at apply if its price is higher; without `max_price` it may cost up to the regular price",
            )
        }
        Some(_) | None => return,
    };
    findings.diagnostics.push(finding);
}

/// The finding for a pool for which every size that fits is too dear; `None` where something
/// else rejects them too.
pub(super) fn nothing_cheap_enough(
    context: Context<'_>,
    rejected: &[(Trial<'_>, Vec<CandidateReason>)],
) -> Option<Diagnostic> {
    let most = context.most_for_spot()?;
    let only_dear =
        |reasons: &[CandidateReason]| matches!(reasons, [reason] if reason.code == ABOVE_MAX_PRICE);
    let prices = rejected
        .iter()
        .filter(|(_, reasons)| only_dear(reasons))
        .filter_map(|(trial, _)| Some((context.hourly_price(trial.size)?, trial.size)));
    let (price, size) = prices.min_by_key(|(price, size)| (*price, size.name.key()))?;
    let message = format!(
        "no size that fits is as cheap as `max_price: {}`: the nearest is `{}`, which costs {} USD an hour as spot in {}, {} more",
        most.normalize(),
        size.name,
        price.normalize(),
        context.location,
        (price - most).normalize()
    );
    let finding = Diagnostic::new(Code::SpotTooDear, at(context), message);
    Some(finding.with_help(way_out(context, size, price)))
}

fn at(context: Context<'_>) -> At {
    At::Value(SpecPath::pool(
        context.name,
        &["priority", "spot", "max_price"],
    ))
}

fn way_out(context: Context<'_>, size: &Size, price: Decimal) -> String {
    let row = context.catalog.vm_price(context.location, &size.name);
    let as_of = row.map_or_else(String::new, |row| format!(", as of {}", row.as_of));
    format!(
        "set `max_price` to {} or more, or to -1 for up to the regular price; spot prices change, and this one is the catalogue's{as_of}",
        price.normalize()
    )
}
