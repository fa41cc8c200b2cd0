"""Calls each kernel of kernels.yaml once with valid arguments, which reaches its stub, and with
mistakes; prints each error."""

import numpy as np
from tried import _kernels as kernels

try:
    import torch
except ImportError:
    torch = None


def f32(*shape):
    return np.ones(shape, np.float32)


def f16(*shape):
    return np.ones(shape, np.float16)


def i32(*shape):
    return np.zeros(shape, np.int32)


def i64(*shape):
    return np.zeros(shape, np.int64)


def of_torch(name, *shape):
    return torch.ones(shape).to(getattr(torch, name))


def paged_attention(**changed):
    valid = {
        "out": f16(2, 4, 64), "query": f16(2, 4, 64), "key_cache": f16(8, 2, 8, 16, 8),
        "value_cache": f16(8, 2, 64, 16), "num_kv_heads": 2, "scale": 0.125, "block_tables": i32(2, 4),
        "seq_lens": i32(2), "block_size": 16, "max_seq_len": 64, "alibi_slopes": None, "kv_cache_dtype": "auto",
        "k_scale": 1.0, "v_scale": 1.0, "tp_rank": 0, "blocksparse_local_blocks": 0, "blocksparse_vert_stride": 0,
        "blocksparse_block_size": 64, "blocksparse_head_sliding_step": 0,
    }  # fmt: skip
    return valid | changed


def varlen():
    return {
        "q": f16(6, 4, 32), "k": f16(7, 2, 32), "v": f16(7, 2, 32), "cu_seqlens_q": i32(3), "cu_seqlens_k": i32(3),
        "seqused_k": i32(2), "leftpad_k": None, "alibi_slopes": None, "max_seqlen_q": 4, "max_seqlen_k": 4,
        "p_dropout": 0.0, "softmax_scale": 1.0, "zero_tensors": False, "is_causal": True, "window_size_left": -1,
        "window_size_right": -1, "softcap": 0.0, "philox_seed": 2**64 - 1, "philox_offset": 0,
    }  # fmt: skip


def deform():
    return {
        "input": f32(2, 4, 8, 8), "weight": f32(6, 2, 3, 3), "offset": f32(2, 18, 6, 6), "mask": None,
        "bias": f32(6), "stride_h": 1, "stride_w": 1, "pad_h": 0, "pad_w": 0, "dilation_h": 1, "dilation_w": 1,
        "groups": 2, "offset_groups": 1,
    }  # fmt: skip


def decode():
    return {
        "q": f16(8, 64), "k": f16(9, 2, 64), "v": f16(9, 2, 64), "tmp": aligned(256), "o": f16(8, 64), "layout": 0,
        "window_left": -1,
    }  # fmt: skip


def aligned(size):
    buffer = np.zeros(size + 16, np.uint8)
    start = -buffer.ctypes.data % 16
    return buffer[start : start + size]


def sampling():
    return {
        "probs": f32(3, 50), "output": i32(4), "maybe_indices": i32(4), "maybe_top_k_arr": None, "top_k_val": 5.0,
        "maybe_top_p_arr": None, "top_p_val": 0.9, "deterministic": True, "philox_seed": 1, "philox_offset": 0,
    }  # fmt: skip


query = f32(5, 4, 64).reshape(5, 256)
norm = {"input": f32(2, 3, 8), "normalized_shape": [8], "weight": f32(8), "bias": None, "eps": 1e-5,
        "out": f32(2, 3, 8), "mean_out": f32(2, 3, 1), "rstd_out": f32(2, 3, 1)}  # fmt: skip
rotary = {"positions": i64(5), "query": query, "key": f32(5, 128), "head_size": 64, "cos_sin_cache": f32(9, 32),
          "is_neox": True}  # fmt: skip
conv = {"x": f32(2, 8, 5), "weight": f32(8, 4), "bias": f32(8), "seq_idx": None, "initial_states": f32(2, 8, 3),
        "silu_activation": True}  # fmt: skip
small = {"query": f32(2, 5, 8), "key": f32(2, 6, 8), "value": f32(2, 6, 8), "compute_logsumexp": True,
         "attn_bias": None, "p": 0.0}  # fmt: skip
align = {"input": f32(2, 3, 8, 8), "rois": f32(4, 5), "spatial_scale": 1.0, "pooled_height": 7, "pooled_width": 7,
         "sampling_ratio": 2, "aligned": True}  # fmt: skip
select = {"input": f32(4, 5), "dim": 0, "index": i64(3), "out": f32(3, 5)}

# By kernel: a valid call, and the changed arguments of each wrong call.
CALLS = {
    "rms_norm": (
        {"out": f32(2, 8), "input": f32(2, 8), "weight": f32(8), "epsilon": 1e-6},
        [{"weight": f32(7)}, {"input": f16(2, 8)}, {"epsilon": "a"}],
    ),
    "rotary_embedding": (
        rotary,
        [{"head_size": 48}, {"key": query}, {"cos_sin_cache": f32(9, 33)}, {"head_size": 0}],
    ),
    "silu_and_mul": (
        {"out": f16(3, 4), "input": f16(3, 8)},
        [{"input": f16(3, 7)}, {"out": f16(2, 4)}, {"out": f32(3, 4)}],
    ),
    "paged_attention_v1": (
        paged_attention(),
        [
            {"kv_cache_dtype": "int4"},
            {"key_cache": f16(8, 2, 4, 16, 8)},
            {"num_kv_heads": 3},
            {"max_seq_len": 65},
            {"alibi_slopes": f32(3)},
        ],
    ),
    "single_decode_with_kv_cache": (
        decode(),
        [{"layout": 2}, {"k": f16(9, 3, 64), "v": f16(9, 3, 64)}, {"v": f16(9, 2, 32)}],
    ),
    "top_k_top_p_sampling_from_probs": (
        sampling(),
        [{"maybe_indices": i32(3)}, {"philox_seed": -1}, {"probs": f32(3, 0)}],
    ),
    "roi_align": (
        align,
        [{"rois": f32(4, 4)}, {"pooled_width": -1}, {"pooled_height": 2**62, "pooled_width": 2**62}],
    ),
    "deform_conv2d": (
        deform(),
        [
            {"offset": f32(2, 18, 5, 6)},
            {"groups": 0},
            {"mask": f32(2, 8, 6, 6)},
            {"stride_h": 0},
        ],
    ),
    "native_layer_norm": (
        norm,
        [{"normalized_shape": [7]}, {"normalized_shape": [3, 8]}, {"mean_out": f32(2, 3, 8)}],
    ),
    "index_select": (
        select,
        [{"index": f32(3)}, {"index": i64(3, 1)}, {"dim": 1.5}, {"out": f16(3, 5)}],
    ),
    "mha_varlen_fwd": (
        varlen(),
        [
            {"seqused_k": i32(3)},
            {"k": f16(7, 3, 32), "v": f16(7, 3, 32)},
            {"cu_seqlens_k": i32(4)},
            {"q": f16(6, 4, 36), "k": f16(7, 2, 36), "v": f16(7, 2, 36)},
        ],
    ),
    "causal_conv1d_fwd": (
        conv,
        [{"weight": f32(8, 5)}, {"initial_states": f32(2, 8, 4)}, {"bias": f16(8)}],
    ),
    "efficient_attention_forward_small_k": (
        small,
        [{"attn_bias": f32(2, 6, 5)}, {"value": f32(2, 6, 9)}, {"compute_logsumexp": 1.5}],
    ),
}
if torch:
    CALLS["static_scaled_fp8_quant"] = (
        {"out": of_torch("float8_e4m3fn", 2, 8), "input": of_torch("bfloat16", 2, 8), "scale": torch.ones(1)},
        [
            {"out": of_torch("float8_e5m2", 2, 8)},
            {"scale": torch.ones(2)},
            {"input": of_torch("bfloat16", 2, 7)},
        ],
    )
    CALLS["grouped_gemm"] = (
        {"a": of_torch("bfloat16", 5, 4), "b": of_torch("bfloat16", 2, 4, 3), "c": of_torch("bfloat16", 5, 3),
         "batch_sizes": torch.tensor([2, 3])},
        [
            {"batch_sizes": torch.tensor([5])},
            {"b": of_torch("bfloat16", 2, 3, 4)},
            {"a": torch.ones(5, 4)},
        ],
    )  # fmt: skip


def error_of(function, arguments):
    try:
        return f"returned {function(**arguments)}"
    except Exception as e:
        return f"{type(e).__name__}: {e}"


for name, (valid, mistakes) in CALLS.items():
    function = getattr(kernels, name)
    print(error_of(function, valid))
    for changed in mistakes:
        print("   ", error_of(function, valid | changed))
