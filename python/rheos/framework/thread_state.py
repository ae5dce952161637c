"""What each thread has of its own, for threads that do a part of another one's work.

A module that keeps attributes for each thread registers the object that has them. A thread then
takes over what they are in another thread: lists and dicts as copies, other values themselves.
"""

import weakref

_states = weakref.WeakSet()


def inherited(state):
    """Registers a threading.local object; gives it."""
    _states.add(state)
    return state


def _copy(attributes):
    return {k: v.copy() if type(v) in (list, dict) else v for k, v in attributes.items()}


def capture():
    """What the registered attributes are in this thread, for adopt()."""
    return [(state, _copy(state.__dict__)) for state in _states]


def adopt(captured):
    """Makes the registered attributes of this thread what they were where capture() was called."""
    for state, attributes in captured:
        state.__dict__.update(_copy(attributes))
