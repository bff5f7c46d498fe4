"""Record a module of Lightning: its forward pass, and the step that it trains with.

Run: python examples/lightning_module.py [folder]
"""

from __future__ import annotations

from places import need, output

need("lightning", "lightning")

import lightning  # noqa: E402  (only where it is installed)
import torch  # noqa: E402

import trec  # noqa: E402


class Autoencoder(lightning.LightningModule):
    """Squeezes 28 by 28 pixels into three numbers and back."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
        self.decoder = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.ReLU(), torch.nn.Linear(64, 784))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return the three numbers."""
        code: torch.Tensor = self.encoder(image.flatten(1))
        return code

    def training_step(self, batch: torch.Tensor, batch_index: int) -> torch.Tensor:
        """Return the loss of a batch."""
        image = batch.flatten(1)
        return torch.nn.functional.mse_loss(self.decoder(self.encoder(image)), image)


def main() -> None:
    """Draw both."""
    net, batch = Autoencoder(), torch.zeros(8, 1, 28, 28)
    forward = trec.capture(net, args=(batch,))
    step = trec.capture(net, args=(batch, 0), method="training_step")
    forward.to_svg(output("lightning-forward.svg"), rankdir="LR")
    step.to_svg(output("lightning-training-step.svg"))
    print(forward.collapse(depth=1))
    print(step.collapse(depth=1))


if __name__ == "__main__":
    main()
