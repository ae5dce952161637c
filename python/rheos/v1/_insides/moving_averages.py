"""Averages over steps: tensorflow.python.training.moving_averages."""

from rheos.training.moving_averages import ExponentialMovingAverage, assign_moving_average
