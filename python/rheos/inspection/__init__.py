"""Looking into steps of sessions as tfdbg does, over the watches of `training/watches.py`."""
