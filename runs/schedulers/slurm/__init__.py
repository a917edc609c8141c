"""Slurm: its commands, its ways of printing, and what they say about jobs."""

from .slurm import Slurm

__all__ = ["Slurm"]
