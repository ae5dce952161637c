"""Evaluations of models: tensorflow.python.training.evaluation."""

from rheos.training.evaluation import (
    StopAfterNEvalsHook as _StopAfterNEvalsHook,
    evaluate_once as _evaluate_once,
    get_or_create_eval_step as _get_or_create_eval_step,
)
