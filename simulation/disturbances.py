"""Errors by which AWS itself disturbs a function."""

from __future__ import annotations


class AccessDenied(Exception):
    """The function's role may not do this, for now."""


class Unreachable(Exception):
    """No answer came from the service; what was asked may have been done."""
