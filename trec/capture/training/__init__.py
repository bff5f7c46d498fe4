"""Backward passes and steps of optimizers, joined to the forward pass that they belong to."""
