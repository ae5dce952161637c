"""Handwritten digits."""

from rheos.v1.examples.tutorials.mnist import input_data
