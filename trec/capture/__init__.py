"""Recording: run a model once and write down what it does.

Nothing in this package imports torch before a model is recorded; `trec.capture` is the function of `trec.capture.api`.
"""
