"""Random generators and switches of the process, before a recording and after."""

from __future__ import annotations

import random
import sys

import torch


class Process:
    """What they were when this was made.

    A global generator that another thread draws from meanwhile is put back all the same.
    """

    def __init__(self) -> None:
        self.torch = torch.get_rng_state()
        self.python = random.getstate()
        cuda = torch.cuda.is_available() and torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        self.cuda = torch.cuda.get_rng_state_all() if cuda else None
        numpy = sys.modules.get("numpy")
        self.numpy = numpy.random.get_state() if numpy is not None and hasattr(numpy, "random") else None
        self.grad = torch.is_grad_enabled()
        self.dtype = torch.get_default_dtype()

    def restore(self) -> None:
        """Put them back."""
        torch.set_rng_state(self.torch)
        random.setstate(self.python)
        if self.cuda is not None:
            torch.cuda.set_rng_state_all(self.cuda)
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)
        torch.set_grad_enabled(self.grad)
        if torch.get_default_dtype() != self.dtype:
            torch.set_default_dtype(self.dtype)
