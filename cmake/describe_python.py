"""Prints, one a line, what building for this interpreter needs: see find_python.cmake."""

import sys
import sysconfig

import numpy


def site_dir(prefix):
    """Where packages of this interpreter live below `prefix`."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    in_venv = sys.prefix != sys.base_prefix
    if in_venv or "deb_system" not in sysconfig.get_scheme_names():
        return f"lib/{version}/site-packages"
    # Debian: its own packages in /usr, everybody else's elsewhere.
    return "lib/python3/dist-packages" if prefix == "/usr" else f"lib/{version}/dist-packages"


print(sysconfig.get_path("include"))
print(numpy.get_include())
print(sysconfig.get_config_var("EXT_SUFFIX"))
print(site_dir(sys.argv[1].rstrip("/")))
