"""Tests of the findings about the loss."""
