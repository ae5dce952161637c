"""Arithmetic, statistics, signals, and checks of values."""
