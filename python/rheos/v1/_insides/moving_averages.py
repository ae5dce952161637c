"""Averages over steps: tensorflow.python.training.moving_averages."""

from rheos.v1._moving_averages import ExponentialMovingAverage, assign_moving_average
