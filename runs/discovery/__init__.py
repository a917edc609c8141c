"""From a name that a user gives (file, directory, glob) to runs and their files."""

from .locate import discover, explore, split_settings
from .run_files import Discovery, Purpose, RunFile, RunFiles

__all__ = ["Discovery", "Purpose", "RunFile", "RunFiles", "discover", "explore", "split_settings"]
