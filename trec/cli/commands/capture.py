"""Record what a model does in one forward pass, and save the graph.

This runs the code of the model, as `python` would: record only models whose code you would run. The
model is made with random weights and put into eval mode; what it computes does not matter.

For example:

  trec capture torchvision.models:resnet50 --shape 1,3,224,224 -o resnet50.trec
  trec capture model.py:UNet --arg depth=4 --shape 1,3,64,64 -o unet.trec
  trec capture package.nets:encoder --shape 1,16:int64 --kwargs mask=1,16:bool -o encoder.json
  trec capture hf:./bert_folder -o bert.trec
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli import output, recording

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    parser.add_argument(
        "model", metavar="MODEL", help="package.module:factory, path/to/file.py:Class, or hf:FOLDER with a config.json"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="where to save: .trec or .json, each also .gz, or any format; - for standard output",
    )
    output.add_format(parser)
    recording.add_level(parser)
    recording.add(parser.add_argument_group("how the model is made and run"))


def run(options: Namespace) -> int:
    """Record the model and write the graph."""
    if options.output == output.STDOUT and options.format is None:
        options.format = "trec"
    target = output.target(options.output, options)
    output.write(recording.record(options.model, options), target)
    return 0
