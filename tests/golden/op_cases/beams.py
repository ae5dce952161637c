"""The beams of a search: an op of contrib.seq2seq."""
from .common import *  # noqa: F403

TENSORFLOW = "1."


def cases():
    import tensorflow.contrib.seq2seq  # noqa: F401, which loads the op

    t = Table()
    ids = i([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]]])
    parents = i([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]]])
    end = i(10)
    t.add("GatherTree", "plain", ids, parents, i([3]), end)
    t.add("GatherTree", "short", ids, parents, i([2]), end)
    t.add("GatherTree", "long", ids, parents, i([9]), end)
    t.add("GatherTree", "no_length", ids, parents, i([0]), end)
    t.add("GatherTree", "negative_length", ids, parents, i([-1]), end)
    t.add("GatherTree", "ends_early", ids, parents, i([3]), i(5))
    t.add("GatherTree", "ends_at_once", ids, parents, i([3]), i(2))
    two = np.concatenate([ids, ids[:, :, ::-1]], 1), np.concatenate([parents, parents], 1)
    t.add("GatherTree", "batch", *two, i([3, 2]), end)
    t.add("GatherTree", "no_batch", empty(I32, (3, 0, 2)), empty(I32, (3, 0, 2)), empty(I32, (0,)),
          end)
    t.add("GatherTree", "no_time", empty(I32, (0, 1, 2)), empty(I32, (0, 1, 2)), i([3]), end)
    t.add("GatherTree", "bad_parent", ids, parents - 1, i([3]), end)
    t.add("GatherTree", "bad_parent_above", ids, parents + 4, i([3]), end)
    t.add("GatherTree", "bad_rank", ids[0], parents[0], i([3]), end)
    t.add("GatherTree", "bad_parents", ids, parents[:2], i([3]), end)
    t.add("GatherTree", "bad_lengths", ids, parents, i([3, 3]), end)
    t.add("GatherTree", "bad_end", ids, parents, i([3]), i([10]))
    return t.cases
