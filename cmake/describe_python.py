"""What building and installing for this interpreter needs: see find_python.cmake and install.cmake.

describe_python.py              prints headers, NumPy's headers, the suffix of extensions, and where
                                packages go below a prefix: of the system, and of others; one a line
describe_python.py PREFIX       prints where packages go below PREFIX
"""

import sys
import sysconfig


def site_dir(prefix):
    """Where packages of this interpreter live below `prefix`."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    in_venv = sys.prefix != sys.base_prefix
    if in_venv or "deb_system" not in sysconfig.get_scheme_names():
        return f"lib/{version}/site-packages"
    # Debian: its own packages in /usr, everybody else's elsewhere.
    return "lib/python3/dist-packages" if prefix == "/usr" else f"lib/{version}/dist-packages"


def describe():
    import numpy

    print(sysconfig.get_path("include"))
    print(numpy.get_include())
    print(sysconfig.get_config_var("EXT_SUFFIX"))
    print(site_dir("/usr"))
    print(site_dir("/usr/local"))


if len(sys.argv) > 1:
    print(site_dir(sys.argv[1].rstrip("/")))
else:
    describe()
