"""Tables of names: {namespace: {module: "name, or name=what the module calls it"}}."""


def sources(tables, namespace):
    """{name: (module, attribute)} of a namespace; what a later table says counts."""
    found = {}
    for table in tables:
        for module, words in table.get(namespace, {}).items():
            for word in words.split():
                name, _, attribute = word.partition("=")
                found[name] = module, attribute or name
    return found
