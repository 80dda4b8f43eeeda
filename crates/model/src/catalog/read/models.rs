//! Models that are known by name.

use crate::{
    catalog::{
        rows::KnownModel,
        sources::{Citations, Sources},
        table::{Fields, Mismatch, Table, read_table},
    },
    transformer::{Experts, Latent, Transformer},
};

/// Reads `models.csv`.
pub(in crate::catalog) fn models(name: &str, text: &str, sources: &Sources) -> Table<KnownModel> {
    const COLUMNS: &[&str] = &[
        "name",
        "repository",
        "layers",
        "hidden",
        "heads",
        "kv_heads",
        "head_dim",
        "vocab",
        "intermediate",
        "gated",
        "tied",
        "experts",
        "active_experts",
        "shared_experts",
        "expert_intermediate",
        "dense_layers",
        "kv_rank",
        "query_rank",
        "rope_dim",
        "nope_dim",
        "value_dim",
        "parameters",
        "active_parameters",
        "notes",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(KnownModel {
            name: fields.required()?.to_owned(),
            repository: fields.required()?.to_owned(),
            transformer: transformer(fields)?,
            parameters: fields.number()?,
            active_parameters: fields.optional_number()?,
            notes: fields.text().to_owned(),
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.name.cmp(&b.name),
        |model| model.name.clone(),
    )
}

fn transformer(fields: &mut Fields<'_>) -> Result<Transformer, Mismatch> {
    Ok(Transformer {
        layers: fields.number()?,
        hidden: fields.number()?,
        heads: fields.number()?,
        kv_heads: fields.number()?,
        head_dim: fields.number()?,
        vocab: fields.number()?,
        intermediate: fields.number()?,
        gated: fields.yes_or_no()?,
        tied: fields.yes_or_no()?,
        experts: experts(fields)?,
        latent: latent(fields)?,
    })
}

/// Five columns that stand together or not at all.
fn experts(fields: &mut Fields<'_>) -> Result<Option<Experts>, Mismatch> {
    let cells = five(fields)?;
    Ok(cells.map(
        |[count, active, shared, intermediate, dense_layers]| Experts {
            count,
            active,
            shared,
            intermediate,
            dense_layers,
        },
    ))
}

fn latent(fields: &mut Fields<'_>) -> Result<Option<Latent>, Mismatch> {
    let cells = five(fields)?;
    Ok(cells.map(
        |[kv_rank, query_rank, rope_dim, nope_dim, value_dim]| Latent {
            kv_rank,
            query_rank,
            rope_dim,
            nope_dim,
            value_dim,
        },
    ))
}

fn five(fields: &mut Fields<'_>) -> Result<Option<[u32; 5]>, Mismatch> {
    let cells: [Option<u32>; 5] = [
        fields.optional_number()?,
        fields.optional_number()?,
        fields.optional_number()?,
        fields.optional_number()?,
        fields.optional_number()?,
    ];
    let given = cells.iter().flatten().count();
    match given {
        0 => Ok(None),
        5 => Ok(Some(cells.map(Option::unwrap_or_default))),
        _ => Err(Mismatch::new(
            "five numbers that stand together, or none",
            format!("{given} of them"),
        )),
    }
}
