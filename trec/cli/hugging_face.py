"""Models of Hugging Face's transformers from their configuration: random weights, nothing is downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from trec.cli.tensors import Tensor
from trec.errors import DependencyError, OptionError, TrecError

TOKENS = 16
"""How many tokens a model is given unless the user says what it is given."""


def load(spec: str, arguments: dict[str, Any]) -> Any:
    """Return the model that a folder with a `config.json` describes.

    It is of the class that the configuration names first as its architecture, else what `AutoModel` makes of it.

    Args:
        spec: the folder, or the file itself.
        arguments: values of the configuration that are to be others.

    Raises:
        OptionError: there is no such file, or it describes no model that transformers knows.
        DependencyError: transformers is not installed.
    """
    place = Path(spec)
    file = place / "config.json" if place.is_dir() else place
    if not file.is_file():
        raise OptionError(
            f"there is no file {str(file)!r}; hf: takes a folder with a config.json, nothing is downloaded"
        )
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        import transformers
    except ImportError as error:
        raise DependencyError("hf: needs the package transformers: pip install transformers") from error
    try:
        config = transformers.AutoConfig.from_pretrained(
            str(file), local_files_only=True, trust_remote_code=False, **arguments
        )
        named = [getattr(transformers, name, None) for name in getattr(config, "architectures", None) or ()]
        known = [cls for cls in named if cls is not None]
        net = known[0](config) if known else transformers.AutoModel.from_config(config)
        kind = getattr(config, "dtype", None)
        return net if kind is None else net.to(kind)
    except Exception as error:
        raise TrecError(f"transformers makes no model of {str(file)!r}: {error} (--traceback shows where)") from error


def inputs(net: Any) -> dict[str, Tensor]:
    """Return what a model is given by default: one short text, one picture or one sound, as its configuration says."""
    config = net.config
    main = getattr(net, "main_input_name", "input_ids")
    found = {main: _main(main, config)}
    if getattr(config, "is_encoder_decoder", False):
        found["decoder_input_ids"] = Tensor((1, TOKENS), "int64")
    parts = [getattr(config, name, None) for name in ("text_config", "vision_config")]
    if None not in parts and getattr(config, "image_token_id", None) is None:
        found.setdefault("pixel_values", _picture(config))
    return found


def _main(name: str, config: Any) -> Tensor:
    if name == "pixel_values":
        return _picture(config)
    if name == "input_features":
        return Tensor((1, _first(config, "num_mel_bins", 80), 2 * _first(config, "max_source_positions", 500)))
    if name == "input_values":
        return Tensor((1, 16_000))
    return Tensor((1, TOKENS), "int64")


def _picture(config: Any) -> Tensor:
    size = _first(config, "image_size", 224)
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return Tensor((1, _first(config, "num_channels", 3), height, width))


def _first(config: Any, name: str, default: Any) -> Any:
    """Return a value of the configuration, or of the part of it that is about pictures."""
    for part in (config, getattr(config, "vision_config", None)):
        if getattr(part, name, None) is not None:
            return getattr(part, name)
    return default
