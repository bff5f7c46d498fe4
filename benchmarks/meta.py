"""Record models that are larger than the machine, by their shapes alone: `python benchmarks/meta.py [model]`.

The models have the dimensions of Llama 3.1 405B and of DeepSeek-V3 and lie on the meta device, so nothing is allocated
and nothing computed. Each is recorded in a process of its own. Printed are the nodes, the seconds of the recording,
the greatest memory that the process ever took, and how long the picture at each depth takes.

Without arithmetic no model can ask for the value of a tensor, so the mask of attention is given in its final form.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from time import perf_counter
from typing import TYPE_CHECKING

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

import trec

if TYPE_CHECKING:
    from collections.abc import Callable

TOKENS = 16
DEPTHS = range(1, 5)


def llama() -> torch.nn.Module:
    """Return a model of the shape of Llama 3.1 405B."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=128_256,
        hidden_size=16_384,
        intermediate_size=53_248,
        num_hidden_layers=126,
        num_attention_heads=128,
        num_key_value_heads=8,
        use_cache=False,
    )
    model: torch.nn.Module = LlamaForCausalLM(config)
    return model


def deepseek() -> torch.nn.Module:
    """Return a model of the shape of DeepSeek-V3: latent attention, 256 routed experts, 8 of them for each token."""
    from transformers import DeepseekV3Config, DeepseekV3ForCausalLM

    config = DeepseekV3Config(
        vocab_size=129_280,
        hidden_size=7168,
        intermediate_size=18_432,
        moe_intermediate_size=2048,
        num_hidden_layers=61,
        num_attention_heads=128,
        num_key_value_heads=128,
        n_shared_experts=1,
        n_routed_experts=256,
        num_experts_per_tok=8,
        n_group=8,
        topk_group=4,
        first_k_dense_replace=3,
        kv_lora_rank=512,
        q_lora_rank=1536,
        qk_rope_head_dim=64,
        qk_nope_head_dim=128,
        v_head_dim=128,
        use_cache=False,
    )
    model = DeepseekV3ForCausalLM(config)
    model.set_experts_implementation("batched_mm")  # PyTorch counts no operations for its grouped product
    found: torch.nn.Module = model
    return found


MODELS: dict[str, Callable[[], torch.nn.Module]] = {"llama": llama, "deepseek": deepseek}


def measure(name: str) -> None:
    """Print the figures of one model."""
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("meta"):
        net = MODELS[name]().eval()
        inputs = {
            "input_ids": torch.zeros(1, TOKENS, dtype=torch.int64),
            "attention_mask": torch.zeros(1, 1, TOKENS, TOKENS),
        }
    print(f"{name}: {sum([tensor.numel() for tensor in net.parameters()]) / 1e9:.1f} billion parameters")
    with torch.no_grad():
        for level in ("function", "aten"):
            start = perf_counter()
            graph = trec.capture(net, kwargs=inputs, level=level)
            print(f"  {level:8} {len(graph.nodes):7,} nodes {perf_counter() - start:6.2f} s")
        graph = trec.capture(net, kwargs=inputs, costs=True)
    print(f"  {(graph.costs().total.flops or 0) / 1e12:.2f} TFLOPs for {TOKENS} tokens, as PyTorch counts them")
    for depth in DEPTHS:
        start = perf_counter()
        collapsed = graph.collapse(depth=depth)
        text = collapsed.to_dot()
        seconds = perf_counter() - start
        print(f"  depth {depth}  {len(collapsed.nodes):7,} nodes {seconds:6.2f} s   {len(text) / 1024:8.1f} KiB of DOT")
    print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")  # Linux counts in KiB


def main() -> None:
    """Print the figures of one model, or of each in a process of its own."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    for name in MODELS:
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main()
