"""From a name that a user gives (file, directory, glob) to runs and their files."""

from .locate import discover, explore
from .run_files import Discovery, Purpose, RunFile, RunFiles

__all__ = ["Discovery", "Purpose", "RunFile", "RunFiles", "discover", "explore"]
