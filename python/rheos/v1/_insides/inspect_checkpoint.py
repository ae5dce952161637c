"""Prints what is in a checkpoint: tensorflow.python.tools.inspect_checkpoint."""

import re

from rheos.training.checkpoints import NewCheckpointReader


def print_tensors_in_checkpoint_file(
    file_name, tensor_name, all_tensors, all_tensor_names=False, count_exclude_pattern=""
):
    """Prints one tensor, all of them, their names alone, or what the checkpoint is.

    count_exclude_pattern: regular expressions, with commas between them, of tensors that are not
    counted.
    """
    reader = NewCheckpointReader(file_name)
    shapes = reader.get_variable_to_shape_map()
    if all_tensors or all_tensor_names:
        for name in sorted(shapes):
            print("tensor_name: ", name)
            if all_tensors:
                print(reader.get_tensor(name))
    elif tensor_name:
        print("tensor_name: ", tensor_name)
        print(reader.get_tensor(tensor_name))
    else:
        print(reader.debug_string().decode("utf-8", errors="ignore"))
    patterns = [pattern for pattern in count_exclude_pattern.split(",") if pattern]
    total = 0
    for name, shape in shapes.items():
        if not any(re.search(pattern, name) for pattern in patterns):
            size = 1
            for length in shape:
                size *= length
            total += size
    print(f"# Total number of params: {total}")
