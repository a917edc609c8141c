"""Reports: a session as Markdown with pictures, in five lines, or as JSON."""

from __future__ import annotations

from .build import build
from .drafting import draft
from .gathering import material_of
from .material import Material, RunMaterial
from .options import Options, Report
from .writing import check_target, evidence_of, picture_folder, write

__all__ = [
    "Material",
    "Options",
    "Report",
    "RunMaterial",
    "build",
    "check_target",
    "draft",
    "evidence_of",
    "material_of",
    "picture_folder",
    "write",
]
