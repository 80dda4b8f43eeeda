//! Known models: what a row says must agree with what its shape counts.

use crate::catalog::Catalog;

/// How far a published count may be from the one of the shape, in thousandths: published ones
/// are rounded, and shapes leave out biases and positions.
const APART: u64 = 5;

/// The same for active parameters, of which cards leave out what they like.
const ACTIVE_APART: u64 = 170;

fn within(counted: u64, published: u64, thousandths: u64) -> bool {
    u128::from(counted.abs_diff(published)) * 1_000
        <= u128::from(published) * u128::from(thousandths)
}

#[test]
fn published_counts_are_those_of_the_shapes() {
    for known in Catalog::embedded().models() {
        let counted = known.transformer.parameters().expect("it fits");
        assert!(
            within(counted, known.parameters, APART),
            "{}: published {}, counted {counted}",
            known.name,
            known.parameters
        );
        let experts = known.transformer.experts;
        assert_eq!(
            experts.is_some(),
            known.active_parameters.is_some(),
            "{}",
            known.name
        );
        if let Some(published) = known.active_parameters {
            let counted = known.transformer.active_parameters().expect("it fits");
            assert!(
                within(counted, published, ACTIVE_APART),
                "{}: published {published} active, counted {counted}",
                known.name
            );
        }
    }
}

#[test]
fn names_are_found_in_any_case() {
    let catalog = Catalog::embedded();
    let known = catalog.model("LLaMA-3.1-70B").expect("the table has it");
    assert_eq!(known.repository, "meta-llama/Llama-3.1-70B");
    assert_eq!(catalog.model("meta-llama/llama-3.1-70b"), Some(known));
    assert_eq!(catalog.model("llama-3.1-71b"), None);
    for known in catalog.models() {
        assert_eq!(
            known.name,
            known.name.to_lowercase(),
            "names stand in lower case"
        );
        assert!(known.repository.contains('/'), "{}", known.name);
    }
}
