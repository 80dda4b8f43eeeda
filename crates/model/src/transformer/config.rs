//! Reads the shape of a model from its `config.json` in the form of Hugging Face.

use serde_json::{Map, Value};
use thiserror::Error;

use super::{Experts, LARGEST, Latent, Transformer};

/// Families whose feed-forward blocks have no gate.
const UNGATED: &[&str] = &[
    "gpt2",
    "bloom",
    "gpt_neox",
    "gptj",
    "mpt",
    "opt",
    "falcon",
    "phi",
    "starcoder2",
    "gpt_bigcode",
    "nemotron",
];

/// Families whose output layer is the embedding unless the file says otherwise.
const TIED: &[&str] = &[
    "gpt2",
    "bloom",
    "mpt",
    "opt",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "gpt_bigcode",
    "starcoder2",
    "cohere",
    "cohere2",
];

/// Why a `config.json` gives no shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// It is no JSON object.
    #[error("expected a JSON object, found something else: {0}")]
    NotAnObject(String),
    /// A number that every shape needs is not there.
    #[error("expected `{0}`, found no such member")]
    Missing(&'static str),
    /// A number is none, or no sensible one.
    #[error("expected `{name}` to be a whole number from 1 to {LARGEST}, found `{found}`")]
    Wrong {
        /// The member.
        name: &'static str,
        /// What stands there.
        found: String,
    },
}

/// Reads a `config.json`.
///
/// # Errors
/// It is no JSON object, or does not say the shape.
pub fn of_config(text: &str) -> Result<Transformer, ConfigError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| ConfigError::NotAnObject(error.to_string()))?;
    let Some(outer) = value.as_object() else {
        return Err(ConfigError::NotAnObject("the top is no object".to_owned()));
    };
    // Models that also see or hear keep the language part by itself.
    let members = match outer.get("text_config").and_then(Value::as_object) {
        Some(inner) if inner.contains_key("hidden_size") => inner,
        _ => outer,
    };
    Config { members, outer }.transformer()
}

struct Config<'a> {
    members: &'a Map<String, Value>,
    outer: &'a Map<String, Value>,
}

impl Config<'_> {
    /// The first of several names that the file has, as a number from `least`.
    fn number_from(&self, least: u32, names: &[&'static str]) -> Result<Option<u32>, ConfigError> {
        for name in names {
            match self.members.get(*name) {
                None | Some(Value::Null) => {}
                Some(value) => {
                    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
                    let sensible = number.filter(|number| (least..=LARGEST).contains(number));
                    return sensible.map(Some).ok_or_else(|| ConfigError::Wrong {
                        name,
                        found: value.to_string(),
                    });
                }
            }
        }
        Ok(None)
    }

    fn number(&self, names: &[&'static str]) -> Result<Option<u32>, ConfigError> {
        self.number_from(1, names)
    }

    fn required(&self, names: &[&'static str]) -> Result<u32, ConfigError> {
        let first = names.first().copied().unwrap_or_default();
        self.number(names)?.ok_or(ConfigError::Missing(first))
    }

    fn model_type(&self) -> &str {
        self.members
            .get("model_type")
            .or_else(|| self.outer.get("model_type"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn transformer(&self) -> Result<Transformer, ConfigError> {
        let layers = self.required(&["num_hidden_layers", "n_layer", "n_layers"])?;
        let hidden = self.required(&["hidden_size", "n_embd", "d_model"])?;
        let heads = self.required(&["num_attention_heads", "n_head", "n_heads"])?;
        let kind = self.model_type();
        let tied = ["tie_word_embeddings"].into_iter().find_map(|name| {
            let own = self.members.get(name).and_then(Value::as_bool);
            own.or_else(|| self.outer.get(name).and_then(Value::as_bool))
        });
        let inner = self.number(&[
            "intermediate_size_mlp",
            "intermediate_size",
            "n_inner",
            "ffn_hidden_size",
            "ffn_dim",
        ])?;
        Ok(Transformer {
            layers,
            hidden,
            heads,
            kv_heads: self.number(&["num_key_value_heads"])?.unwrap_or(heads),
            head_dim: self
                .number(&["head_dim"])?
                .unwrap_or((hidden / heads).max(1)),
            vocab: self.required(&["vocab_size"])?,
            intermediate: inner.unwrap_or(hidden.saturating_mul(4)),
            gated: !UNGATED.contains(&kind),
            tied: tied.unwrap_or(TIED.contains(&kind)),
            experts: self.experts(layers)?,
            latent: self.latent()?,
        })
    }

    fn experts(&self, layers: u32) -> Result<Option<Experts>, ConfigError> {
        let names = ["num_local_experts", "num_experts", "n_routed_experts"];
        let Some(count) = self.number_from(0, &names)?.filter(|count| *count > 1) else {
            return Ok(None);
        };
        let active = self.required(&["num_experts_per_tok", "experts_per_token", "moe_topk"])?;
        // Llama 4 has a shared expert and does not say so.
        let usual = u32::from(self.model_type().starts_with("llama4"));
        let shared = self.number_from(0, &["n_shared_experts", "num_shared_experts"])?;
        let names = ["moe_intermediate_size", "intermediate_size"];
        let first = self
            .number_from(0, &["first_k_dense_replace"])?
            .unwrap_or(0);
        // Every n-th layer is a mixture, the others are dense.
        let step = self.number(&["interleave_moe_layer_step", "decoder_sparse_step"])?;
        let between = layers - layers / step.unwrap_or(1);
        Ok(Some(Experts {
            count,
            active: active.min(count),
            shared: shared.unwrap_or(usual),
            intermediate: self.required(&names)?,
            dense_layers: first.max(between).min(layers),
        }))
    }

    fn latent(&self) -> Result<Option<Latent>, ConfigError> {
        let Some(kv_rank) = self.number(&["kv_lora_rank"])? else {
            return Ok(None);
        };
        Ok(Some(Latent {
            kv_rank,
            query_rank: self.number_from(0, &["q_lora_rank"])?.unwrap_or(0),
            rope_dim: self.required(&["qk_rope_head_dim"])?,
            nope_dim: self.required(&["qk_nope_head_dim"])?,
            value_dim: self.required(&["v_head_dim"])?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_model_reads() {
        let text = r#"{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
            "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
            "intermediate_size": 14336, "tie_word_embeddings": false}"#;
        let transformer = of_config(text).expect("it says everything");
        assert_eq!(transformer.parameters(), Some(8_030_261_248));
        assert_eq!(transformer.head_dim, 128);
    }

    #[test]
    fn a_mixture_with_latent_attention_reads() {
        let text = r#"{"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
            "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280,
            "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
            "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3,
            "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
            "qk_nope_head_dim": 128, "v_head_dim": 128}"#;
        let transformer = of_config(text).expect("it says everything");
        let billions = |count: Option<u64>| count.map(|count| count / 1_000_000_000);
        assert_eq!(billions(transformer.parameters()), Some(671));
        assert_eq!(billions(transformer.active_parameters()), Some(37));
        assert_eq!(transformer.cache_per_token(), 61 * 576);
    }

    #[test]
    fn older_names_and_language_parts_read() {
        let text = r#"{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257}"#;
        let gpt2 = of_config(text).expect("it says everything");
        assert_eq!(
            (gpt2.gated, gpt2.tied, gpt2.intermediate),
            (false, true, 3072)
        );
        let text = r#"{"model_type": "x", "text_config": {"num_hidden_layers": 2, "hidden_size": 64,
            "num_attention_heads": 4, "vocab_size": 100, "intermediate_size": 128}}"#;
        assert_eq!(of_config(text).map(|inner| inner.layers), Ok(2));
    }

    #[test]
    fn what_is_missing_or_absurd_is_named() {
        let missing = of_config(r#"{"hidden_size": 1}"#);
        assert_eq!(missing, Err(ConfigError::Missing("num_hidden_layers")));
        let wrong = of_config(r#"{"num_hidden_layers": -1}"#);
        let found = "-1".to_owned();
        let name = "num_hidden_layers";
        assert_eq!(wrong, Err(ConfigError::Wrong { name, found }));
        assert!(of_config("[]").is_err());
        assert!(of_config("{").is_err());
    }
}
