"""Record a model of transformers from its configuration, without weights to download.

Run: python examples/transformers_model.py [folder]
"""

from __future__ import annotations

import os

from places import need, output

need("transformers", "transformers")

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402
from transformers import BertConfig, BertForSequenceClassification  # noqa: E402  (only where it is installed)

import trec  # noqa: E402


def main() -> None:
    """Draw BERT with its twelve layers folded into one, without views."""
    config = BertConfig(
        vocab_size=256, hidden_size=48, num_hidden_layers=12, num_attention_heads=4, intermediate_size=96
    )
    text = {"input_ids": torch.arange(16).view(1, 16), "attention_mask": torch.ones(1, 16, dtype=torch.int64)}
    graph = trec.capture(BertForSequenceClassification(config).eval(), kwargs=text)
    folded = graph.hide("is:view or is:dropout").fold()
    folded.collapse(depth=4).to_svg(output("transformers-bert.svg"))
    print(repr(graph))
    print(repr(folded))
    print(graph.repeats())


if __name__ == "__main__":
    main()
