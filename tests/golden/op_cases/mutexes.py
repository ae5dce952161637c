"""Mutexes, and locks of them that are consumed or left."""
from .common import *  # noqa: F403


def cases():
    t = Table()
    for tag, attrs in (("own", {}), ("shared", {"shared_name": "a"}),
                       ("in_container", {"container": "b", "shared_name": "a"}),
                       ("of_container", {"container": "b"}), ("again", {"shared_name": "c"})):
        t.add("MutexV2", tag, fetched=False, **attrs)
        mutex = Node("MutexV2", **attrs)
        lock = Node("MutexLock", mutex)
        opened = Node("ConsumeMutexLock", lock)
        t.add("MutexLock", tag, mutex, fetched=False, runs=2)
        t.add("ConsumeMutexLock", tag, lock, runs=2)
        t.add("MutexLock", tag + "_after_another", mutex, waits=[opened], fetched=False)
        t.add("ConsumeMutexLock", tag + "_second", Node("MutexLock", mutex, waits=[opened]))
    variable = Handle(f(1))
    t.add("MutexLock", "bad_variable", variable, fetched=False)
    t.add("ConsumeMutexLock", "bad_kind", Node("OptionalNone"))
    return t.cases
