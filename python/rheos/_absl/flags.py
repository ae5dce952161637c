"""absl.flags."""

from rheos.framework.flags import *  # noqa: F403
