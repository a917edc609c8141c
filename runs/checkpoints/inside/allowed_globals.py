"""Which globals a pickled checkpoint may name: what holds data, nothing that does things.

Ours is not the pickle module: even these are never called. A file that asks for others would run
code in `torch.load(weights_only=False)`, so people are told instead of shown a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import UnsafeCheckpoint

_ALLOWED = re.compile(
    r"""
      collections\.(?:OrderedDict|defaultdict|Counter|deque)
    | (?:builtins|__builtin__)\.(?:set|frozenset|complex|bytearray|bytes|int|float|str|list|dict|
        tuple|slice|range|bool|object|long|unicode)
    | _codecs\.encode | copy_reg\._reconstructor | copyreg\._reconstructor
    | torch\.(?:\w*Storage|Size|Tensor|device|dtype|float\w*|bfloat\w*|half|double|u?int\w*|long|
        short|bool|complex\w*|q\w+|strided|sparse_\w+|contiguous_format|channels_last(?:_3d)?|
        preserve_format|per_\w+_affine\w*)
    | torch\.cuda\.\w+(?:Storage|Tensor)
    | torch\._utils\._rebuild_\w+ | torch\._tensor\._rebuild_from_type\w*
    | torch\.storage\.(?:Untyped|Typed)Storage | torch\.nn\.parameter\.(?:Parameter|Buffer)
    | torch\.serialization\._get_layout
    | torch\.distributed\.(?:checkpoint\.metadata|checkpoint\.filesystem)\.\w+
    | torch\.distributed\._shard\.\w+(?:\.\w+)* | torch\.distributed\.tensor\.\w+(?:\.\w+)*
    | numpy\.(?:dtype|ndarray|dtypes\.\w+|float\w*|int\w*|uint\w*|bool_?)
    | numpy\.(?:_core|core)\.multiarray\.(?:scalar|_reconstruct)
    | numpy\.(?:_core|core)\.numeric\._frombuffer
    | argparse\.Namespace | types\.SimpleNamespace
    | pathlib\.(?:_local\.)?\w*Path | datetime\.\w+ | decimal\.Decimal | uuid\.UUID
    | typing\.\w+ | (?:omegaconf|ml_collections|easydict|addict|yacs)(?:\.\w+)+
    | (?:pytorch_lightning|lightning|lightning_fabric|lightning\.\w+)(?:\.\w+)*\.
        (?:AttributeDict|ModelCheckpoint|EarlyStopping|_?\w*Status\w*)
    | deepspeed\.runtime\.(?:fp16\.loss_scaler|zero\.config|config|zero\.offload_config)\.\w+
    | deepspeed\.utils\.tensor_fragment\.\w+
    | megatron(?:\.\w+)*\.enums\.\w+
    """,
    re.VERBOSE,
)
_SCRIPT = "__torch__."
"""How the names of compiled classes begin."""
_SHOWN = 8
_LONGEST = 200


def check_globals(names: Iterable[str], file: str) -> None:
    """Refuse a file that asks for anything else, by name."""
    strange = [name for name in names if len(name) > _LONGEST or not _ALLOWED.fullmatch(name)]
    if not strange:
        return
    listed = ", ".join(strange[:_SHOWN]) + (", ..." if len(strange) > _SHOWN else "")
    is_script = any(name.startswith(_SCRIPT) for name in strange)
    raise UnsafeCheckpoint(
        f"{file} cannot be loaded without running code: it asks for {listed}",
        hint="it is a program of TorchScript: if you trust it, save torch.jit.load(FILE)."
        "state_dict() with torch.save"
        if is_script
        else "if you trust it, load it once yourself and save model.state_dict() instead",
        names=strange,
    )
