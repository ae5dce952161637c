"""Queues and their kin."""
