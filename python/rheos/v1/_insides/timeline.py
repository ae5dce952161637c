"""Steps as a picture for chrome://tracing: tensorflow.python.client.timeline."""

from rheos.training.timeline import Timeline
