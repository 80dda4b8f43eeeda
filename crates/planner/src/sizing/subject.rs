//! The model that is sized: its counts, and the shape they go with.

use model::{
    catalog::Catalog,
    diag::{At, Code, Diagnostic},
    transformer::Transformer,
};

use super::number::{cube_root, float};

/// Rank of the adapters of `LoRA`, on all linear layers: the usual middle of 8 to 64.
pub const ADAPTER_RANK: f64 = 16.0;

/// Hidden size over layers of a dense transformer whose shape nobody gave: published models lie
/// between 70 and 130 (Llama 3.1 70B: 102).
const ASPECT: f64 = 100.0;

/// Width of a head that nobody gave.
const HEAD_WIDTH: f64 = 128.0;

/// The part of a model's parameters by which a rounded count may differ: `8B` for 8.03 B.
const ROUNDING: u64 = 20;

/// A model to size.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// All parameters.
    pub parameters: f64,
    /// Parameters that take part in one token.
    pub active: f64,
    /// Parameters that only look up: the input embedding, unless it is the output layer too;
    /// 0 where it is not known.
    pub embedding: f64,
    /// Its shape.
    pub shape: Shape,
    /// Whether the shape is assumed from the count alone.
    pub assumed: bool,
}

/// What the maths needs of a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Layers.
    pub layers: f64,
    /// Numbers that stand for a token between layers.
    pub hidden: f64,
    /// Query heads.
    pub heads: f64,
    /// Heads that tensor parallelism must divide; `None` where nobody gave them.
    pub divisible: Option<u32>,
    /// Layers that pipeline parallelism divides; `None` where nobody gave them.
    pub stages: Option<u32>,
    /// Heads times the width of a head.
    pub attention_width: f64,
    /// Inner width of the feed-forward blocks that one token meets in a layer.
    pub active_width: f64,
    /// Whether the model is a mixture of experts.
    pub mixture: bool,
    /// Parts over which the cache of a token can be split; `None` where it is not known.
    pub cache_parts: Option<f64>,
    /// Numbers that the cache keeps of one token; `None` where they are not known.
    pub cache_per_token: Option<f64>,
    /// Tokens of the vocabulary; `None` where they are not known.
    pub vocab: Option<f64>,
    /// Parameters of the largest part that is gathered at once.
    pub largest_layer: f64,
    /// Parameters of its adapters.
    pub adapter: f64,
}

impl Subject {
    /// From what is known: counts, a shape, or both. A count that is given goes before the one
    /// that the shape has. `None` where neither says how many parameters there are.
    pub fn new(
        parameters: Option<u64>,
        active: Option<u64>,
        transformer: Option<&Transformer>,
    ) -> Option<Self> {
        let counted = transformer.and_then(Transformer::parameters);
        let total = float(parameters.or(counted)?).max(1.0);
        let is_dense = transformer.is_none_or(|transformer| transformer.experts.is_none());
        let counted = transformer.and_then(Transformer::active_parameters);
        let active = match (active, counted) {
            (Some(active), _) => float(active).clamp(1.0, total),
            // Of a dense model all parameters are active, however many are given.
            (None, Some(counted)) if !is_dense => float(counted).clamp(1.0, total),
            (None, _) => total,
        };
        Some(match transformer {
            Some(transformer) => Self {
                parameters: total,
                active,
                embedding: if transformer.tied {
                    0.0
                } else {
                    float(transformer.embedding()).min(active / 2.0)
                },
                shape: Shape::of(transformer),
                assumed: false,
            },
            None => Self {
                parameters: total,
                active,
                embedding: 0.0,
                shape: Shape::assumed(total, active),
                assumed: true,
            },
        })
    }

    /// A model of the catalogue, with counts that go before those published.
    ///
    /// # Errors
    /// The catalogue has no such model, or one with another number of parameters.
    pub fn known(
        catalog: &Catalog,
        name: &str,
        parameters: Option<u64>,
        active: Option<u64>,
    ) -> Result<Option<Self>, Diagnostic> {
        let Some(known) = catalog.model(name) else {
            let message = format!("no known model has the name `{name}`");
            let finding = Diagnostic::new(Code::ModelUnknown, At::Nowhere, message);
            let names = catalog.models().iter().map(|known| known.name.as_str());
            let near = model::suggest::nearest(&name.to_lowercase(), names);
            return Err(match near {
                Some(near) => finding.with_help(format!("did you mean `{near}`?")),
                None => {
                    finding.with_help("give the number of parameters, or the model's `config.json`")
                }
            });
        };
        if let Some(given) = parameters
            && given.abs_diff(known.parameters) > known.parameters / ROUNDING
        {
            let message = format!(
                "`{}` has {} parameters, and {given} are given",
                known.name, known.parameters
            );
            let finding = Diagnostic::new(Code::ModelContradicted, At::Nowhere, message);
            return Err(finding.with_help("give the name or the number of parameters alone"));
        }
        let active = active.or(known.active_parameters);
        let parameters = parameters.unwrap_or(known.parameters);
        Ok(Self::new(
            Some(parameters),
            active,
            Some(&known.transformer),
        ))
    }

    /// Whether only some parameters take part in a token.
    pub fn is_mixture(&self) -> bool {
        self.shape.mixture || self.active < self.parameters
    }
}

impl Shape {
    fn of(transformer: &Transformer) -> Self {
        let layers = float(u64::from(transformer.layers));
        let hidden = float(u64::from(transformer.hidden));
        let attention_width = float(transformer.attention_width());
        let active_width = float(transformer.active_width());
        let kv_width = float(u64::from(transformer.kv_heads) * u64::from(transformer.head_dim));
        let blocks = if transformer.gated { 3.0 } else { 2.0 };
        let ends = 2.0 * (hidden + attention_width)
            + 2.0 * (hidden + kv_width)
            + blocks * (hidden + active_width);
        Self {
            layers,
            hidden,
            heads: float(u64::from(transformer.heads)),
            divisible: Some(transformer.heads),
            stages: Some(transformer.layers),
            attention_width,
            active_width,
            mixture: transformer.experts.is_some(),
            // A compressed cache is no sum over heads: requests are spread instead of heads.
            cache_parts: Some(match transformer.latent {
                Some(_) => f64::INFINITY,
                None => float(u64::from(transformer.kv_heads)),
            }),
            cache_per_token: Some(float(transformer.cache_per_token())),
            vocab: Some(float(u64::from(transformer.vocab))),
            largest_layer: float(transformer.largest_layer()),
            adapter: ADAPTER_RANK * layers * ends,
        }
    }

    /// The shape that a dense transformer of this size usually has: `12·L·d²` parameters with
    /// `d = 100·L`. A mixture has the layers of a dense model of its active parameters.
    fn assumed(parameters: f64, active: f64) -> Self {
        let hidden = cube_root(ASPECT * active / 12.0).max(1.0);
        let layers = (hidden / ASPECT).max(1.0);
        Self {
            layers,
            hidden,
            heads: hidden / HEAD_WIDTH,
            divisible: None,
            stages: None,
            attention_width: hidden,
            active_width: 4.0 * hidden,
            mixture: active < parameters,
            cache_parts: None,
            cache_per_token: None,
            vocab: None,
            largest_layer: parameters / layers,
            adapter: ADAPTER_RANK * layers * 18.0 * hidden,
        }
    }
}
