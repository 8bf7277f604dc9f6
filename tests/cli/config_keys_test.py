"""Every key of transformers' configuration classes, for each supported family, with values that
are not its default's: the answers are transformers', or the key is refused or warned of by name;
none is silent. Then keys of other families, which transformers passes over.
"""

import dataclasses
import json

import pytest
from cases import make_network
from reference import torch, transformers

DROP = object()  # the key is not in the file
PROMPTS, COUNT = (
    (
        [1, 5, 77, 300, 12],
        [9, 40, 3, 1000, 77, 12, 500, 8, 9, 40, 3, 1000, 7, 77, 2, 61, 5, 70, 900, 4],
    ),
    6,
)
FAMILIES = {
    "Cohere": {"head_dim": None, "pad_token_id": 0, "logit_scale": 0.5},
    "Cohere2": {"head_dim": None, "pad_token_id": 0, "logit_scale": 0.5},
    "Ernie4_5": {},
    "Falcon": {"head_dim": None, "hidden_act": None, "num_key_value_heads": None, "intermediate_size": None},
    "Gemma2": {"hidden_act": None, "query_pre_attn_scalar": 24},
    "Gemma3": {
        "model_type": "gemma3_text",
        "hidden_act": None,
        "query_pre_attn_scalar": 24,
        "sliding_window_pattern": 2,
    },
    "Glm": {"pad_token_id": 0},
    "Glm4": {"pad_token_id": 0},
    "GPT2": {
        **dict.fromkeys(
            ["hidden_size", "num_attention_heads", "max_position_embeddings", "intermediate_size",
             "num_key_value_heads", "head_dim", "hidden_act", "rms_norm_eps", "rope_theta"]
        ),
        "n_embd": 64,
        "n_head": 4,
        "n_positions": 4096,
    },
    "GPTNeoX": {"model_type": "gpt_neox", "head_dim": None, "num_key_value_heads": None,
                "hidden_act": "gelu"},
    "GptOss": {
        "model_type": "gpt_oss", "sliding_window": None, "num_local_experts": 4, "num_experts_per_tok": 2
    },
    "Granite": {
        "head_dim": None,
        "embedding_multiplier": 1.5,
        "residual_multiplier": 0.8,
        "attention_multiplier": 0.3,
        "logits_scaling": 2.0,
    },
    "Llama": {},
    "Mistral": {"sliding_window": None},
    "Mixtral": {"sliding_window": None, "num_local_experts": 4, "num_experts_per_tok": 2},
    "Olmo2": {"head_dim": None},
    "Olmoe": {
        "head_dim": None, "pad_token_id": 0, "num_experts": 4, "num_experts_per_tok": 2
    },
    "Phi": {"head_dim": None, "hidden_act": "gelu_new"},
    "Phi3": {"head_dim": None, "pad_token_id": 0},
    "Qwen2": {"head_dim": None},
    "Qwen2Moe": {
        "model_type": "qwen2_moe",
        "head_dim": None,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 48,
        "shared_expert_intermediate_size": 64,
        "mlp_only_layers": [1],
    },
    "Qwen3": {},
    "Qwen3Moe": {
        "model_type": "qwen3_moe",
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 48,
        "mlp_only_layers": [1],
    },
    "SmolLM3": {"head_dim": None, "pad_token_id": 0},
    "StableLm": {"head_dim": None},
    "Starcoder2": {"head_dim": None, "hidden_act": "gelu_pytorch_tanh"},
}
LAYERS = 3
FULL, SLIDES = "full_attention", "sliding_attention"
SHORT = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
LONG = {"short_factor": SHORT, "long_factor": [9.0] * 8}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}

# A network is made of these: sizes, and whether there are matrices.
MADE = {
    "vocab_size": [3000],
    "hidden_size": [32, 128],
    "intermediate_size": [96],
    "num_hidden_layers": [1, 4],
    "num_attention_heads": [2, 8],
    "num_key_value_heads": [1, 4],
    "head_dim": [8, 32],
    "tie_word_embeddings": [True],
    "attention_bias": [True, False],
    "mlp_bias": [True],
    "num_experts": [6],
    "num_local_experts": [],
    "moe_intermediate_size": [40],
    "mlp_only_layers": [[0]],
    "decoder_sparse_step": [2],
    "shared_expert_intermediate_size": [40],
    "qkv_bias": [True, False],
    "use_bias": [True, False],
    "use_qkv_bias": [True],
    "use_parallel_residual": [True],
}
ROPE = [
    {"rope_type": "default", "rope_theta": 50.0},
    {"rope_type": "default", "rope_theta": 1000000},
    {"rope_type": "default"},
    {"type": "default", "rope_theta": 77.0},
    {},
    {"rope_type": "linear", "factor": 8.0},
    {"rope_type": "linear", "factor": 3},
    {"rope_type": "linear", "factor": 0.5},
    {"type": "linear", "factor": 8.0, "rope_theta": 50.0},
    {"rope_type": "linear"},
    {"rope_type": "dynamic", "factor": 4.0},
    YARN,
    {**YARN, "beta_fast": 4.0, "beta_slow": 2.0},
    {**YARN, "beta_fast": None},
    {**YARN, "attention_factor": 3.0},
    {**YARN, "attention_factor": 2},
    {**YARN, "mscale": 2.0, "mscale_all_dim": 0.5},
    {**YARN, "mscale": 2.0},
    {**YARN, "truncate": False},
    {**YARN, "factor": None},
    {"rope_type": "yarn", "factor": 4.0},
    {**YARN, "beta_slow": 40, "beta_fast": 1},
    {**YARN, "finetuned": True},
    {**YARN, "extrapolation_factor": 2.0},
    {**YARN, "attn_factor": 2.0},
    {"rope_type": "yarn"},
    {"rope_type": "longrope", **LONG, "factor": 4.0, "original_max_position_embeddings": 64},
    {
        "rope_type": "longrope",
        **LONG,
        "attention_factor": 2.0,
        "original_max_position_embeddings": 64,
    },
    {"rope_type": "longrope", **LONG, "original_max_position_embeddings": 64},
    {"rope_type": "longrope", **LONG, "original_max_position_embeddings": 8, "factor": 2.0},
    {"type": "su", **LONG},
    {"rope_type": "longrope", **LONG, "short_mscale": 1.3, "long_mscale": 1.4},
    {"rope_type": "longrope", "short_factor": SHORT[:3], "long_factor": SHORT},
    LLAMA3,
    {**LLAMA3, "high_freq_factor": 1.5, "factor": 32.0},
    {**LLAMA3, "low_freq_factor": 4.0},
    {**LLAMA3, "original_max_position_embeddings": None},
    {**YARN, "original_max_position_embeddings": None},
    {"rope_type": "default", "rope_theta": None},
    {key: LLAMA3[key] for key in ("rope_type", "factor")},
    {"rope_type": "proportional", "partial_rotary_factor": 0.5},
    {"rope_type": "mrope", "mrope_section": [2, 3, 3]},
    {"rope_type": "default", "mrope_section": [2, 3, 3]},
    {"type": "mrope", "mrope_section": [2, 3, 3]},
    {"rope_type": "ntk", "factor": 2.0},
    {"rope_type": "default", "partial_rotary_factor": 0.5},
    {"rope_type": "linear", "factor": 2.0, "partial_rotary_factor": 0.5},
    {"rope_type": "default", "factor": 8.0},
    {
        "rope_type": "linear",
        "factor": 2.0,
        "rope_theta": 50.0,
        "original_max_position_embeddings": 8,
    },
    {FULL: {"rope_type": "linear", "factor": 8.0, "rope_theta": 10000.0}},
    {
        FULL: {"rope_type": "default", "rope_theta": 50.0},
        SLIDES: {"rope_type": "default", "rope_theta": 20.0},
    },
    "linear",
    ["linear", 2.0],
    4.0,
]
# Settings of generation that change the answers of a network.
OF_ANSWERS = {
    "repetition_penalty": lambda ids: 0.01,
    "no_repeat_ngram_size": lambda ids: 1,
    "min_length": lambda ids: 20,
    "suppress_tokens": lambda ids: [ids[0][2], ids[1][1]],
    "begin_suppress_tokens": lambda ids: [ids[0][0], ids[1][0]],
    "bad_words_ids": lambda ids: [[ids[0][1]], ids[1][1:3]],
    "forced_bos_token_id": lambda ids: 7,
    "forced_eos_token_id": lambda ids: 7,
    "sequence_bias": lambda ids: [[[ids[0][1]], -90.0], [[33], 5.0]],
    "min_new_tokens": lambda ids: 4,
}
BY_LAYER = {"layer_types": DROP}  # which otherwise says more
old = lambda rope: {"rope_parameters": DROP, "rope_theta": 10000.0, "rope_scaling": rope}
# These are written into a network's config.json: values of the key, or all that changes.
WRITTEN = {
    "hidden_act": ["gelu", "relu", "gelu_pytorch_tanh", "swish", "silu_and_mul", None, 3],
    "max_position_embeddings": [4096, 64, 22, 0, None, "64"],
    "hidden_activation": ["gelu", "silu", None],
    "num_experts": [{"num_experts": 4, "num_local_experts": DROP}, None],
    "num_local_experts": [None],
    "num_experts_per_tok": [1, 3, 4, 5, 0, None],
    "norm_topk_prob": [True, None],
    "decoder_sparse_step": [0, None],
    "mlp_only_layers": [[1, 9]],
    "moe_intermediate_size": [None],
    "shared_expert_intermediate_size": [0, None],
    "embedding_multiplier": [0.5, 12, 0, None, "2"],
    "residual_multiplier": [0.3, 2, 0, None, "2"],
    "attention_multiplier": [0.01, 3, 0, None, "2"],
    "logits_scaling": [0.5, 30, 0, None, "2"],
    "logit_scale": [0.25, 2.0, 0, None, "2"],
    "layer_norm_eps": [0.9, 3.0, 0.0, None, "1e-6", -0.5],
    "norm_epsilon": [0.9, 3.0, 0.0, None, "1e-6", -0.5],
    "qk_layernorm": [True, False, None],
    "use_qk_norm": [True, False, None],
    "use_parallel_residual": [None],
    "use_qkv_bias": [None],
    "clip_qkv": [0.1, 8, None],
    "no_rope_layers": [[1, 1, 1], [0, 1, 1], [1, 0, 1, 0], [0], None, "110"],
    "no_rope_layer_interval": [
        {"no_rope_layers": DROP, "no_rope_layer_interval": 2},
        {"no_rope_layers": DROP, "no_rope_layer_interval": 1},
        {"no_rope_layers": DROP, "no_rope_layer_interval": 0},
        2,
    ],
    "use_bias": [None],
    "qkv_bias": [None],
    "query_pre_attn_scalar": [1, 500, 0, None, "24", 2.5],
    "attn_logit_softcapping": [0.5, 3.0, None, 0, "3"],
    "final_logit_softcapping": [0.5, 3.0, None, 0, "3"],
    "sliding_window_pattern": [
        {**BY_LAYER, "sliding_window_pattern": 2, "sliding_window": 3},
        {**BY_LAYER, "sliding_window_pattern": 1},
        {**BY_LAYER, "sliding_window_pattern": 0},
        2,
    ],
    "rope_local_base_freq": [
        {"rope_parameters": DROP, "rope_local_base_freq": 50.0},
        {"rope_parameters": DROP, "rope_local_base_freq": None},
        50.0,
    ],
    "use_bidirectional_attention": [False, None],
    "rms_norm_eps": [0.9, 3.0, 0.0, None, "1e-6", -0.5],
    "pad_token_id": [5, 0, None, -1, 4095, 100000, "5"],
    "bos_token_id": [7, None, 5000, [1, 2]],
    "eos_token_id": [None, 5000],
    "tie_word_embeddings": [None, "true"],
    "attention_bias": [None, "true"],
    "mlp_bias": [None, 1],
    "rope_parameters": ROPE,
    "rope_scaling": (
        [old(rope) for rope in ROPE]
        + [
            {"rope_scaling": {"rope_type": "linear", "factor": 8.0}},
            {"rope_scaling": {"type": "linear", "factor": 8.0, "rope_theta": 50.0}},
        ]
    ),
    "rope_theta": (
        [
            {"rope_parameters": DROP, "rope_theta": theta}
            for theta in (50.0, 1000000, None, "1e4", -1.0, 0, DROP)
        ]
        + [50.0]
    ),
    "partial_rotary_factor": [
        0.5,
        1.0,
        0.0,
        0.3,
        {"rope_parameters": DROP, "rope_theta": 50.0, "partial_rotary_factor": 0.5},
    ],
    "original_max_position_embeddings": [
        8,
        {"original_max_position_embeddings": 8, "rope_parameters": YARN},
        {"original_max_position_embeddings": 128, "rope_parameters": LLAMA3},
        {
            "original_max_position_embeddings": 64,
            "rope_parameters": {"rope_type": "longrope", **LONG},
        },
        {"original_max_position_embeddings": 8, **old({"type": "yarn", "factor": 4.0})},
        {
            "original_max_position_embeddings": 8,
            "rope_parameters": {"rope_type": "linear", "factor": 8.0},
        },
    ],
    "sliding_window": [3, 1, 16, 4096, None, 0, -1, 2.5, "8"],
    "use_sliding_window": [
        {**BY_LAYER, "use_sliding_window": True},
        {**BY_LAYER, "use_sliding_window": True, "sliding_window": 3},
        {**BY_LAYER, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
        {**BY_LAYER, "use_sliding_window": False, "sliding_window": 3, "max_window_layers": 0},
        {**BY_LAYER, "use_sliding_window": True, "sliding_window": None, "max_window_layers": 0},
        None,
        "yes",
    ],
    "max_window_layers": [
        {**BY_LAYER, "max_window_layers": 0},
        {**BY_LAYER, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 0},
        {**BY_LAYER, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": -1},
        {**BY_LAYER, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 2.5},
    ],
    "layer_types": [
        [FULL] * 3,
        [FULL, SLIDES, FULL],
        [SLIDES] * 3,
        [FULL],
        ["chunked_attention"] * 3,
        ["linear_attention", FULL, FULL],
        ["full", FULL, FULL],
        ["attention"] * 3,
        None,
        FULL,
        {"layer_types": [FULL, SLIDES, FULL], "sliding_window": 3},
        {"layer_types": [FULL, SLIDES, FULL], "sliding_window": 3, "use_sliding_window": True},
        {"layer_types": [SLIDES] * 3, "sliding_window": 3, "use_sliding_window": True},
        {
            "layer_types": [FULL] * 3,
            "sliding_window": 3,
            "use_sliding_window": True,
            "max_window_layers": 0,
        },
    ],
    "num_key_value_heads": [
        {"num_key_value_heads": None},
        {"num_key_value_heads": DROP},
        {"num_key_value_heads": 3},
    ],
    "head_dim": [{"head_dim": None}, {"head_dim": 15}, {"head_dim": 0}],
    # PreTrainedConfig's own, and those of older releases.
    "return_dict": [False],
    "is_encoder_decoder": [True],
    "dtype": ["bfloat16", "float16", "float64", None, "auto", "int8", "unknown", 3],
    "torch_dtype": ["bfloat16", "torch.float16", "auto"],
    "architectures": [
        None,
        ["LlamaModel"],
        ["Qwen3ForSequenceClassification"],
        ["MyForCausalLM"],
        ["LlamaForCausalLM", "LlamaModel"],
        "LlamaForCausalLM",
    ],
    "model_type": [
        "dbrx", "gemma", "gpt_neox", "olmo", "llama4", "LLAMA", "", None, 3,
    ],
    "is_causal": [False, True],
    "kv_sharing_modes": [["reuse"] * 3],
    "per_layer_config": [
        {"1": {"intermediate_size": 64}},
        {"1": {"sliding_window": 4}},
        {"1": {"rms_norm_eps": 0.9}},
        {},
    ],
    "quantization_config": [
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        {"quant_method": "bitsandbytes", "load_in_8bit": True},
        {"quant_method": "fp8"},
        None,
        {},
    ],
    "attention_chunk_size": [4, None],
    "text_config": [{"hidden_size": 8}],
    # Of generation, which transformers takes from here where there is no generation_config.json.
    **{key: [lambda family, value=value: value(family.base)] for key, value in OF_ANSWERS.items()},
    "num_beams": [4],
    "max_length": [6],
    "max_new_tokens": [2],
    "do_sample": [True],
    "temperature": [0.1],
    "top_k": [1],
    "top_p": [0.1],
    "length_penalty": [3.0],
    "min_p": [0.9],
    "max_time": [0.0],
    "early_stopping": [True],
    "num_return_sequences": [2],
    "num_beam_groups": [2],
    "diversity_penalty": [1.0],
    "encoder_repetition_penalty": [1.5],
    "encoder_no_repeat_ngram_size": [2],
    "exponential_decay_length_penalty": [[1, 2.0]],
    "remove_invalid_values": [True],
    "typical_p": [0.2],
    "guidance_scale": [3.0],
    "penalty_alpha": [0.6],
    "stop_strings": [["a"]],
    "force_bos_token_to_be_generated": [True],
    "output_scores": [True],
    "return_dict_in_generate": [True],
}
GELUS = ["gelu_new", "relu", "gelu_pytorch_tanh", "gelu_fast", "silu", "gelu", None, 3]
EPSILONS = [0.9, 3.0, 0.0, None, "1e-6", -0.5]
# Keys that one class has under a name of its own: a network is made of these, or they are written.
MADE_IN = {
    "Falcon": {
        "num_kv_heads": [{"num_kv_heads": 2, "new_decoder_architecture": True}, 2],
        "ffn_hidden_size": [96],
        "n_embed": [32],
        "bias": [True],
        "new_decoder_architecture": [True],
        "multi_query": [False],
        "parallel_attn": [False],
        "num_ln_in_parallel_attn": [
            {"num_ln_in_parallel_attn": norms, "new_decoder_architecture": True} for norms in (1, 2)
        ],
        "alibi": [True],
    },
    "GPT2": {"n_embd": [32, 128], "n_layer": [1, 4], "n_head": [2, 8], "n_inner": [96], "n_positions": [64]},
    "GPTNeoX": {"use_parallel_residual": [False]},
}
WRITTEN_IN = {
    "Falcon": {
        "activation": GELUS,
        "layer_norm_epsilon": EPSILONS,
        "alibi": [True, None],
        "new_decoder_architecture": [True, None],
        "multi_query": [None, "true"],
        "parallel_attn": [False, None, 0],
        "bias": [None],
        "num_ln_in_parallel_attn": [1, 2, 3, 0],
        "num_kv_heads": [None, 1, 2, 3, 0],
        "ffn_hidden_size": [None, 0, "256"],
        "n_embed": [None, 64, 32, {"n_embed": 64, "hidden_size": DROP}],
        "n_head_kv": [1],
    },
    "GPT2": {
        "activation_function": GELUS,
        "layer_norm_epsilon": EPSILONS,
        "n_positions": [4096, 64, 22, 0, None, "64"],
        "n_ctx": [8],
        "n_inner": [None, 0, "128"],
        "n_embd": [None, {"n_embd": DROP, "hidden_size": 64}, {"n_embd": 64, "hidden_size": 32}],
        "scale_attn_weights": [False, None],
        "scale_attn_by_inverse_layer_idx": [True, None],
        "reorder_and_upcast_attn": [True, None],
        "add_cross_attention": [True, None],
        "attn_pdrop": [0.9],
        "summary_use_proj": [False],
        "summary_type": ["mean"],
    },
    "GPTNeoX": {
        "rotary_pct": [
            0.5,
            None,
            *(
                {"rope_parameters": DROP, "rotary_pct": share, "rope_theta": DROP}
                for share in (0.5, 1.0, 0.3, 0, None, DROP)
            ),
        ],
        "rotary_emb_base": [
            50.0,
            *(
                {"rope_parameters": DROP, "rotary_emb_base": theta, "rope_theta": DROP}
                for theta in (50.0, 1000000, None, "1e4", 0)
            ),
        ],
        "classifier_dropout": [0.9],
    },
    "GptOss": {
        "swiglu_limit": [0.5, 3.0, 0, None, "7"],
        "swiglu_alpha": [0.5, 3.0, 0, None, "2"],
        "initial_context_length": [8],
        "rope_scaling_factor": [2.0],
    },
}
# Of PreTrainedConfig, of older releases and of training: nothing for answers, so all are set at
# once; one by one where that changes ids.
INERT = {
    "use_cache": False,
    "pretraining_tp": 4,
    "attention_dropout": 0.9,
    "resid_pdrop": 0.9,
    "embd_pdrop": 0.9,
    "hidden_dropout": 0.9,
    "hidden_dropout_prob": 0.9,
    "initializer_range": 0.9,
    "output_hidden_states": True,
    "chunk_size_feed_forward": 2,
    "tie_last_hidden_states": False,
    "id2label": {"0": "a", "1": "b", "2": "c"},
    "label2id": {"a": 0},
    "num_labels": 3,
    "problem_type": "regression",
    "transformers_version": "4.1.0",
    "name_or_path": "elsewhere/model",
    "_name_or_path": "elsewhere/model",
    "attn_implementation": "eager",
    "_attn_implementation": "eager",
    "experts_implementation": "eager",
    "is_decoder": True,
    "add_cross_attention": True,
    "cross_attention_hidden_size": 32,
    "pruned_heads": {"0": [1]},
    "tie_encoder_decoder": True,
    "torchscript": True,
    "use_bfloat16": True,
    "tokenizer_class": "T5Tokenizer",
    "prefix": "Answer: ",
    "task_specific_params": {"a": {"max_length": 3}},
    "finetuning_task": "x",
    "decoder_start_token_id": 7,
    "sep_token_id": 7,
    "auto_map": {"AutoModelForCausalLM": "modeling_x.X"},
    "num_kv_shared_layers": 1,
    "compression_config": {"quant_method": "compressed-tensors", "format": "dense"},
    "quantization": {"group_size": 64, "bits": 4},
    "use_bidirectional_attention": True,
    "output_attentions": True,
}
# What the network means in another family of the same look.
SIBLINGS = {
    "Granite": {
        "embedding_multiplier": 12.0,
        "residual_multiplier": 0.2,
        "attention_multiplier": 0.01,
        "logits_scaling": 8.0,
    },
    "Gemma": {
        "final_logit_softcapping": 3.0,
        "attn_logit_softcapping": 5.0,
        "query_pre_attn_scalar": 4,
        "hidden_activation": "gelu_pytorch_tanh",
        "sliding_window_pattern": 2,
        "rope_local_base_freq": 100.0,
    },
    "Cohere": {"logit_scale": 0.1, "use_qk_norm": True, "layer_norm_eps": 0.5},
    "OLMo": {"clip_qkv": 0.1},
    "MiniCPM": {"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 8},
    "SmolLM3, Llama 4": {
        "no_rope_layers": [0, 1, 0],
        "no_rope_layer_interval": 2,
        "attn_temperature_tuning": True,
        "use_qk_norm": True,
        "floor_scale": 8,
        "attn_scale": 2.0,
        "interleave_moe_layer_step": 1,
    },
    "Mixtral, Qwen-MoE, DeepSeek": {
        "num_local_experts": 4,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
        "n_routed_experts": 4,
        "kv_lora_rank": 8,
        "q_lora_rank": 8,
        "first_k_dense_replace": 1,
        "mlp_only_layers": [0],
        "decoder_sparse_step": 1,
    },
    "GPT-NeoX, Phi, StableLM": {
        "use_parallel_residual": True,
        "rotary_pct": 0.25,
        "qk_layernorm": True,
        "layer_norm_epsilon": 0.5,
        "activation_function": "gelu",
    },
    "Falcon H1, Bamba": {
        "lm_head_multiplier": 0.1,
        "attention_in_multiplier": 0.5,
        "key_multiplier": 0.3,
        "mamba_d_state": 8,
        "attn_layer_indices": [0],
    },
    "GPT-OSS, EXAONE": {
        "swiglu_limit": 0.1,
        "attention_sinks": True,
        "activation": "gelu",
        "num_layers": 5,
    },
    "Nemotron, GLM": {
        "norm_eps": 0.5,
        "partial_rotary": 0.5,
        "rope_ratio": 8.0,
        "rope_interleave": True,
        "interleaved": True,
    },
    "GPT-2, Falcon": {
        "n_inner": 8,
        "n_embd": 8,
        "n_embed": 8,
        "n_head": 2,
        "n_layer": 1,
        "n_positions": 8,
        "ffn_hidden_size": 8,
        "num_kv_heads": 1,
        "scale_attn_by_inverse_layer_idx": True,
        "scale_attn_weights": False,
        "new_decoder_architecture": True,
        "parallel_attn": True,
        "rotary_emb_base": 50.0,
        "swiglu_alpha": 0.5,
    },
    "others": {
        "softmax_scale": 9.0,
        "norm_type": "layernorm",
        "norm_bias": True,
        "multi_query": True,
        "alibi": True,
        "use_mrope": True,
        "qkv_bias": True,
        "use_bias": True,
        "bias": True,
        "mup_scale": 3.0,
        "scale": 9.0,
        "logits_soft_cap": 2.0,
        "hidden_size_per_layer_input": 8,
        "num_nextn_predict_layers": 1,
        "mlp_layer_types": ["dense", "sparse", "dense"],
    },
}
# transformers 5 cannot load these, though they say nothing of the network: answers are those
# without.
LENIENT = {
    "return_dict": [False],
    "pad_token_id": [
        100000, "5", DROP,
    ],  # of Python's outputs, and of padding, which nothing is here
    "tie_word_embeddings": [None],
    "attention_bias": [None],
    "mlp_bias": [None],
    "qkv_bias": [None],
    "use_bias": [None],
    "use_qkv_bias": [None],
    "use_parallel_residual": [None],
    "qk_layernorm": [None],
    "norm_topk_prob": [None],
    "decoder_sparse_step": [None],
    "use_sliding_window": [None],  # which count as false in older releases
    "head_dim": [None],
    "model_type": ["", None, DROP],  # as if not there
    "rotary_pct": [None],  # as if not there
    "max_position_embeddings": [None],  # beside n_positions of GPT-2, which counts
    **dict.fromkeys(
        ["add_cross_attention", "scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn"],
        [None],
    ),
}
# GPT-2 rotates nothing, and transformers checks these keys all the same.
LENIENT_IN = {"GPT2": ["rope_parameters", "rope_scaling", "original_max_position_embeddings"]}
# Keys of which some value is read, not refused, and gives other ids than without.
BITES = [
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "tie_word_embeddings", "rope_parameters",
    "rope_scaling", "rope_theta", "original_max_position_embeddings", "repetition_penalty",
    "suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "forced_eos_token_id",
    "sequence_bias",
]
BITES_IN = {
    "Cohere": ["attention_bias"],
    "Cohere2": ["attention_bias", "layer_types", "sliding_window"],
    "Falcon": [
        "n_embed", "num_kv_heads", "ffn_hidden_size", "bias", "new_decoder_architecture",
        "multi_query", "parallel_attn", "num_ln_in_parallel_attn",
    ],
    "GPT2": ["n_embd", "n_layer", "n_head", "n_inner"],
    "GPTNeoX": [
        "attention_bias", "use_parallel_residual", "rotary_pct", "rotary_emb_base",
    ],
    "GptOss": [
        "attention_bias", "layer_types", "sliding_window", "num_experts_per_tok", "swiglu_limit",
        "swiglu_alpha",
    ],
    "Phi": ["partial_rotary_factor"],
    "StableLm": ["partial_rotary_factor", "use_qkv_bias", "use_parallel_residual"],
    "Starcoder2": ["use_bias", "sliding_window"],
    "Ernie4_5": ["use_bias"],
    "Glm": ["partial_rotary_factor", "attention_bias"],
    "Glm4": ["partial_rotary_factor", "attention_bias"],
    "Granite": [
        "attention_bias", "embedding_multiplier", "residual_multiplier", "attention_multiplier",
    ],
    "Mixtral": ["sliding_window", "num_experts_per_tok"],
    "Olmoe": ["attention_bias", "num_experts_per_tok", "norm_topk_prob"],
    "Qwen2Moe": ["qkv_bias", "num_experts_per_tok", "shared_expert_intermediate_size"],
    "SmolLM3": ["attention_bias", "no_rope_layers", "no_rope_layer_interval"],
    "Gemma2": ["attention_bias", "layer_types", "query_pre_attn_scalar", "attn_logit_softcapping"],
    "Gemma3": ["attention_bias", "layer_types", "query_pre_attn_scalar", "rope_local_base_freq"],
    "Llama": ["attention_bias", "mlp_bias"],
    "Olmo2": ["attention_bias"],
    "Qwen3Moe": ["attention_bias", "num_experts_per_tok", "norm_topk_prob"],
    "Qwen3": ["attention_bias", "layer_types", "use_sliding_window", "max_window_layers"],
    "Qwen2": ["layer_types", "use_sliding_window", "max_window_layers"],
    "Mistral": ["sliding_window"],
    "Phi3": ["sliding_window", "partial_rotary_factor"],
}
# Keys that transformers computes from others, and fails if a file has them.
COMPUTED = {"Falcon": ["head_dim"]}


EPS = {name: ["layer_norm_eps"] for name in ("Cohere", "Cohere2", "Phi", "StableLm")}
EPS["GPTNeoX"] = ["layer_norm_eps"]
EPS["Starcoder2"] = ["norm_epsilon"]
EPS["GPT2"] = EPS["Falcon"] = ["layer_norm_epsilon"]
# Keys of which no value gives other ids: Gemma 3 reads no rope_type that has an original length,
# a norm of OLMoE is as long as hidden_size, whatever head_dim says, and StableLM has no head_dim.
# Heads of GPT-2, GPT-NeoX and Falcon have no size of their own, and GPT-2 rotates nothing.
BITES_NOT = {
    "Olmoe": ["head_dim"],
    "StableLm": ["head_dim"],
    "Gemma3": ["original_max_position_embeddings"],
    "Falcon": ["head_dim", "intermediate_size", "num_key_value_heads"],
    "GPTNeoX": ["head_dim", "num_key_value_heads", "rope_theta"],  # it is rotary_emb_base
    "GPT2": [
        "head_dim", "intermediate_size", "num_key_value_heads", "rope_parameters", "rope_scaling",
        "rope_theta", "original_max_position_embeddings",
    ],
}


class Family:
    def __init__(self, pardec, name, more):
        self.pardec, self.name = pardec, name
        self.of_keys, self.of_groups = {}, {}
        self.more = {**more, "num_hidden_layers": LAYERS}
        self.folder = self.make("plain", {})
        self.plain = json.loads((self.folder / "config.json").read_text())
        self.base = self.theirs(self.folder)

    def make(self, name, changes):
        folder = make_network(
            self.pardec.folder / f"{self.name}-{name}", self.name, **{**self.more, **changes}
        )
        (folder / "generation_config.json").unlink(missing_ok=True)
        return folder

    def write(self, changes):
        folder = self.pardec.folder / f"{self.name}-written"
        folder.mkdir(exist_ok=True)
        for part in self.folder.iterdir():
            if part.name != "config.json" and not (folder / part.name).exists():
                (folder / part.name).symlink_to(part)
        config = {
            key: value for key, value in {**self.plain, **changes}.items() if value is not DROP
        }
        (folder / "config.json").write_text(json.dumps(config))
        return folder

    def theirs(self, folder):
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
        return [self.greedy(model, torch.tensor([prompt])) for prompt in PROMPTS]

    @staticmethod
    def greedy(model, ids):
        with torch.inference_mode():
            made = model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=COUNT,
                do_sample=False, eos_token_id=None, pad_token_id=0, return_dict_in_generate=True,
            )
        return made.sequences[0, ids.shape[1] :].tolist()

    def ours(self, folder):
        file = self.pardec.folder / "prompts.txt"
        file.write_text("".join(",".join(map(str, prompt)) + "\n" for prompt in PROMPTS))
        ran = self.pardec(
            "generate", "--model", folder, "--prompt-tokens", f"@{file}", "--max-new-tokens", COUNT,
            "--ignore-eos", "--format", "json", "--batch-size", len(PROMPTS),
        )
        said = "\n".join(
            line for line in ran.stderr.splitlines() if not line.startswith('{"speed"')
        )
        return (
            ran.returncode,
            (
                [json.loads(line)["answers"][0]["tokens"] for line in ran.stdout.splitlines()]
                if ran.returncode == 0
                else None
            ),
            said,
        )

    def as_read(self, folder, changes):
        """transformers 5 renames the older name of longrope too late, and fails: it is given the
        new one.
        """
        if not any(
            isinstance(value, dict) and value.get("type") == "su" for value in changes.values()
        ):
            return folder
        return self.write(
            {
                **changes,
                "rope_scaling": DROP,
                "rope_parameters": {
                    "rope_type": "longrope",
                    **LONG,
                    "original_max_position_embeddings": 4096,
                },
            }
        )

    def outcome(self, folder, key, changes):
        """("equal" | "neutral" | "refused" | "warned" | "lenient" | "silent", why)"""
        names = {
            *changes,
            *(["from the config", "which the config asks for"] if key in WITH_WEIGHTS else []),
            *(inner for value in changes.values() if isinstance(value, dict) for inner in value),
        }
        code, ids, said = self.ours(folder)
        if code in (2, 3):
            return (
                "refused"
                if any(name in said for name in names) and (code == 3 or said.count("\n") == 0)
                else "silent"
            ), f"exit {code}: {said}"
        if code != 0:
            return "silent", f"exit {code}: {said}"
        try:
            theirs = self.theirs(self.as_read(folder, changes))
        except Exception as error:  # noqa: BLE001: whatever transformers says
            lenient = ids == self.base and (
                changes.get(key) in LENIENT.get(key, []) or key in LENIENT_IN.get(self.name, [])
            )
            return (
                ("warned" if key in said else "lenient" if lenient else "silent"),
                (
                    f"transformers: {type(error).__name__}: {str(error)[:300]}; ids"
                    f" {'as without' if ids == self.base else 'others'}; {said}"
                ),
            )
        if (
            ids != theirs
            and "max_position_embeddings" in said
            and all(one == all_of[: len(one)] for one, all_of in zip(ids, theirs))
        ):
            return "warned", said
        if ids == theirs:
            return ("equal" if theirs != self.base else "neutral"), said
        return (
            "warned" if any(name in said for name in names) else "silent"
        ), f"{ids}, transformers {theirs}; {said}"

    def groups(self, key):
        """(what, the maker of its folder, all that changes) of each value of a key."""
        if key in COMPUTED.get(self.name, []):
            return
        # A dictionary that has the key is all that changes.
        changed = lambda value: (
            value if isinstance(value, dict) and key in value else {key: value}
        )
        for i, value in enumerate(MADE.get(key, []) + MADE_IN.get(self.name, {}).get(key, [])):
            changes = changed(value)
            yield (
                f"{show(value)}, made",
                lambda i=i, changes=changes: self.make(f"{key}-{i}", changes),
                changes,
            )
        if key in self.plain:
            yield "(absent)", lambda: self.write({key: DROP}), {key: DROP}
        for value in WRITTEN.get(key, []) + WRITTEN_IN.get(self.name, {}).get(key, []):
            value = value(self) if callable(value) else value
            changes = changed(value)
            yield show(value), lambda changes=changes: self.write(changes), changes

    def together(self, group):
        """The outcome of all keys of a group at once, which is made once."""
        if group not in self.of_groups:
            keys = IN_GROUPS[group]
            self.of_groups[group] = self.outcome(self.write(keys), group, keys)
        return self.of_groups[group]

    def tried(self, key):
        """[(what, result, why)] of a key, which is tried once."""
        if key not in self.of_keys:
            found = [
                (what, *self.outcome(made(), key, changes))
                for what, made, changes in self.groups(key)
            ]
            for group, keys in IN_GROUPS.items():
                if key in keys:
                    result, why = self.together(group)
                    if result not in ("equal", "neutral") or why:
                        result, why = self.outcome(
                            self.write({key: keys[key]}), key, {key: keys[key]}
                        )
                    found.append((f"{show(keys[key])}, as {group}", result, why))
            self.of_keys[key] = found
            for what, result, why in found:
                print(f"{self.name}: {key} = {what}: {result} {why if result != 'neutral' else ''}")
        return self.of_keys[key]


def show(value):
    return json.dumps(
        {k: "(absent)" if v is DROP else v for k, v in value.items()}
        if isinstance(value, dict)
        else value
    )[:160]


IN_GROUPS = {"nothing": INERT, **{f"what {other} has": keys for other, keys in SIBLINGS.items()}}
WITH_WEIGHTS = {*MADE, *(key for keys in MADE_IN.values() for key in keys)}
KEYS = sorted(
    {
        *WITH_WEIGHTS,
        *WRITTEN,
        *(key for keys in WRITTEN_IN.values() for key in keys),
        *(key for keys in IN_GROUPS.values() for key in keys),
    }
)


# Qwen2 has most keys of the others, and windows by layer.
IN_EVERY_SUITE = ("Qwen2",)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[] if name in IN_EVERY_SUITE else pytest.mark.whole)
        for name in FAMILIES
    ],
)
def family(request, pardec):
    return Family(pardec, request.param, FAMILIES[request.param])


@pytest.mark.parametrize("key", KEYS)
def test_no_value_of_a_key_is_silent(family, key):
    for what, result, why in family.tried(key):
        assert result != "silent", f"{key} = {what}: {why}"


def test_no_absent_key_of_a_written_config_is_silent(family):
    for key in family.plain:
        for what, result, why in family.tried(key):
            assert result != "silent", f"{key} = {what}: {why}"


def test_every_key_of_transformers_is_tried(family):
    kind = {"Gemma3": "Gemma3Text"}.get(family.name, family.name)
    fields = dataclasses.fields(getattr(transformers, f"{kind}Config"))
    assert {field.name for field in fields} <= {*KEYS, *family.plain}


def test_a_key_that_is_read_changes_ids(family):
    for key in BITES + EPS.get(family.name, ["rms_norm_eps"]) + BITES_IN.get(family.name, []):
        if key in BITES_NOT.get(family.name, []):
            continue
        results = [result for _, result, _ in family.tried(key)]
        assert "equal" in results, f"no value of {key} is read and changes ids"
