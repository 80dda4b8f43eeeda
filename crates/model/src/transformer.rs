//! The shape of a transformer: what its memory and its arithmetic follow from.

mod config;

pub use self::config::{ConfigError, of_config};

/// The largest number that any part of a shape may have; far above every model there is.
pub const LARGEST: u32 = 100_000_000;

/// A decoder-only transformer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transformer {
    /// Layers.
    pub layers: u32,
    /// Numbers that stand for a token between layers.
    pub hidden: u32,
    /// Query heads.
    pub heads: u32,
    /// Key and value heads.
    pub kv_heads: u32,
    /// Numbers of one head.
    pub head_dim: u32,
    /// Tokens of the vocabulary.
    pub vocab: u32,
    /// Inner width of the dense feed-forward blocks.
    pub intermediate: u32,
    /// Whether a feed-forward block has a gate, and so three matrices instead of two.
    pub gated: bool,
    /// Whether the output layer is the embedding.
    pub tied: bool,
    /// The experts, where it is a mixture.
    pub experts: Option<Experts>,
    /// The compressed cache, where attention is latent (MLA).
    pub latent: Option<Latent>,
}

/// The experts of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// How many each layer has.
    pub count: u32,
    /// How many each token takes.
    pub active: u32,
    /// How many take every token besides.
    pub shared: u32,
    /// Inner width of one.
    pub intermediate: u32,
    /// Layers that have a dense block instead.
    pub dense_layers: u32,
}

/// The ranks and widths of latent attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latent {
    /// Rank of the compressed keys and values.
    pub kv_rank: u32,
    /// Rank of the compressed queries; 0 where they are not compressed.
    pub query_rank: u32,
    /// Width of a key with its position.
    pub rope_dim: u32,
    /// Width of a key without.
    pub nope_dim: u32,
    /// Width of a value.
    pub value_dim: u32,
}

impl Transformer {
    /// All parameters; `None` where they do not fit.
    pub fn parameters(&self) -> Option<u64> {
        self.sum(|experts| experts.count)
    }

    /// Parameters that take part in one token; `None` where they do not fit.
    pub fn active_parameters(&self) -> Option<u64> {
        self.sum(|experts| experts.active)
    }

    /// Parameters of the input embedding.
    pub fn embedding(&self) -> u64 {
        u64::from(self.vocab).saturating_mul(u64::from(self.hidden))
    }

    /// Parameters of the largest part that is gathered at once: a layer or the embedding.
    pub fn largest_layer(&self) -> u64 {
        let experts = self.experts.map_or(0, |experts| experts.count);
        let layer = self
            .attention()
            .saturating_add(self.feed_forward(experts).max(self.dense_block()));
        u64::try_from(layer)
            .unwrap_or(u64::MAX)
            .max(self.embedding())
    }

    /// Numbers that the cache keeps of one token, in all layers.
    pub fn cache_per_token(&self) -> u64 {
        let layer = match self.latent {
            Some(latent) => u64::from(latent.kv_rank) + u64::from(latent.rope_dim),
            None => 2 * u64::from(self.kv_heads) * u64::from(self.head_dim),
        };
        u64::from(self.layers).saturating_mul(layer)
    }

    /// Width of the scores and values of attention: heads times the width of a head.
    pub fn attention_width(&self) -> u64 {
        let head = match self.latent {
            Some(latent) => {
                let keys = u64::from(latent.rope_dim) + u64::from(latent.nope_dim);
                keys.midpoint(u64::from(latent.value_dim))
            }
            None => u64::from(self.head_dim),
        };
        u64::from(self.heads).saturating_mul(head)
    }

    /// Inner width of the feed-forward blocks that one token meets in a layer.
    pub fn active_width(&self) -> u64 {
        match self.experts {
            Some(experts) => {
                (u64::from(experts.active) + u64::from(experts.shared))
                    * u64::from(experts.intermediate)
            }
            None => u64::from(self.intermediate),
        }
    }

    /// With the inner width that a number of parameters leaves for it, or 3.5 times the hidden
    /// size, as in Llama 3, where none is given or it leaves nothing.
    #[must_use]
    pub fn with_usual_width(mut self, parameters: Option<u64>) -> Self {
        self.intermediate = 0;
        let rest = parameters
            .zip(self.parameters())
            .and_then(|(all, others)| all.checked_sub(others));
        let each = u64::from(self.layers) * u64::from(self.hidden);
        let width = rest
            .zip(u64::try_from(self.matrices()).ok())
            .and_then(|(rest, matrices)| rest.checked_div(each)?.checked_div(matrices))
            .and_then(|width| u32::try_from(width).ok())
            .filter(|width| *width > 0);
        self.intermediate = width.unwrap_or(self.hidden.saturating_mul(7) / 2);
        self
    }

    fn matrices(&self) -> u128 {
        if self.gated { 3 } else { 2 }
    }

    fn attention(&self) -> u128 {
        let wide = |value: u32| u128::from(value);
        let (hidden, heads) = (wide(self.hidden), wide(self.heads));
        if let Some(latent) = self.latent {
            let keys = wide(latent.rope_dim) + wide(latent.nope_dim);
            let queries = match wide(latent.query_rank) {
                0 => hidden * heads * keys,
                rank => hidden * rank + rank * heads * keys,
            };
            let compressed = hidden * (wide(latent.kv_rank) + wide(latent.rope_dim));
            let spread =
                wide(latent.kv_rank) * heads * (wide(latent.nope_dim) + wide(latent.value_dim));
            return queries + compressed + spread + heads * wide(latent.value_dim) * hidden;
        }
        let head_dim = wide(self.head_dim);
        2 * hidden * heads * head_dim + 2 * hidden * wide(self.kv_heads) * head_dim
    }

    fn dense_block(&self) -> u128 {
        self.matrices() * u128::from(self.hidden) * u128::from(self.intermediate)
    }

    /// A layer's feed-forward block with this many of its experts, and their router.
    fn feed_forward(&self, counted: u32) -> u128 {
        let Some(experts) = self.experts else {
            return self.dense_block();
        };
        let hidden = u128::from(self.hidden);
        let one = self.matrices() * hidden * u128::from(experts.intermediate);
        one.saturating_mul(u128::from(counted) + u128::from(experts.shared))
            .saturating_add(hidden * u128::from(experts.count))
    }

    fn sum(&self, counted: fn(Experts) -> u32) -> Option<u64> {
        let layers = u128::from(self.layers);
        let norms = 2 * u128::from(self.hidden);
        let every = layers.checked_mul(self.attention() + norms)?;
        let blocks = match self.experts {
            Some(experts) => {
                let dense = u128::from(experts.dense_layers.min(self.layers));
                let sparse = layers - dense;
                let sparse = sparse.checked_mul(self.feed_forward(counted(experts)))?;
                sparse.checked_add(dense.checked_mul(self.dense_block())?)?
            }
            None => layers.checked_mul(self.dense_block())?,
        };
        let copies: u128 = if self.tied { 1 } else { 2 };
        let embeddings = copies * u128::from(self.embedding());
        let all = every
            .checked_add(blocks)?
            .checked_add(embeddings)?
            .checked_add(u128::from(self.hidden))?;
        u64::try_from(all).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn llama() -> Transformer {
        Transformer {
            layers: 80,
            hidden: 8192,
            heads: 64,
            kv_heads: 8,
            head_dim: 128,
            vocab: 128_256,
            intermediate: 28_672,
            gated: true,
            tied: false,
            experts: None,
            latent: None,
        }
    }

    #[test]
    fn a_dense_model_counts_as_its_card_says() {
        let llama = llama();
        assert_eq!(llama.parameters(), Some(70_553_706_496));
        assert_eq!(llama.active_parameters(), llama.parameters());
        assert_eq!(llama.embedding(), 1_050_673_152);
        assert_eq!(llama.cache_per_token() * 2, 327_680, "bytes in 16 bits");
    }

    #[test]
    fn a_mixture_counts_all_and_active_ones() {
        let mixtral = Transformer {
            layers: 32,
            hidden: 4096,
            heads: 32,
            kv_heads: 8,
            head_dim: 128,
            vocab: 32_000,
            intermediate: 14_336,
            gated: true,
            tied: false,
            experts: Some(Experts {
                count: 8,
                active: 2,
                shared: 0,
                intermediate: 14_336,
                dense_layers: 0,
            }),
            latent: None,
        };
        assert_eq!(mixtral.parameters(), Some(46_702_792_704));
        assert_eq!(mixtral.active_parameters(), Some(12_879_925_248));
    }

    #[test]
    fn absurd_shapes_are_unknown() {
        let mut absurd = llama();
        (absurd.layers, absurd.hidden) = (u32::MAX, u32::MAX);
        (absurd.heads, absurd.head_dim) = (u32::MAX, u32::MAX);
        absurd.experts = Some(Experts {
            count: u32::MAX,
            active: u32::MAX,
            shared: u32::MAX,
            intermediate: u32::MAX,
            dense_layers: 0,
        });
        assert_eq!(absurd.parameters(), None);
    }
}
