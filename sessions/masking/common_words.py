"""Words that are names of users or hosts only where the context says so, never elsewhere."""

from __future__ import annotations

import re

from .word_set import words

COMMON = words(
    # Accounts and folders that tell nothing about a person.
    "root user users admin administrator ubuntu ec2-user centos debian guest runner jovyan app "
    "nobody daemon www-data git service build jenkins docker vscode conda anaconda miniconda "
    "public default shared share common project projects group groups home homes scratch work "
    "workspace data dataset datasets tmp temp local global software opt apps tools code src "
    "repo repos lab labs team staff student students research cluster storage archive backup "
    # What a log of a training speaks about.
    "train training trainer val valid validation eval evaluation test tests model models loss "
    "run runs log logs out output outputs input results experiment experiments exp checkpoint "
    "checkpoints ckpt config configs step steps epoch epochs batch rank ranks worker workers "
    "node nodes host hosts gpu gpus cpu cuda device memory speed time date error warning info "
    "debug none null true false nan inf main master slave server client job jobs task tasks "
    "adam adamw adagrad sgd lion sam lamb ada max min mean std sum mark bert gpt llama opt bloom "
    "pascal volta turing ampere hopper grace blackwell titan falcon phoenix torch python keras "
    "jax flax numpy nccl gloo mpi slurm name names masked path file files line module import "
    "from with and the for not you all any new old end start stop set get key value self args "
    "kwargs localhost localdomain index version type dict list float int str bool weight bias "
    "layer layers block head attention encoder decoder embed norm random seed image images text "
    "label labels class classes token tokens word words sample samples world size lr optimizer "
    "scheduler system linux gnu unknown example connection key keys session"
)
_PSEUDONYM = re.compile(r"(?:user|host)-\d+")


def is_telling(name: str) -> bool:
    """True if a name is worth replacing wherever it stands."""
    return len(name) >= 3 and name.lower() not in COMMON and not name.isdecimal()


def is_pseudonym(name: str) -> bool:
    """True for what stands for a name already."""
    return _PSEUDONYM.fullmatch(name) is not None
