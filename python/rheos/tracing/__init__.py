"""Functions of Python that become functions of the graph: one for each kind of arguments."""
