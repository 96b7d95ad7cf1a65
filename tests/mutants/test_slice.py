"""A slice of the crash matrix, for checks that the kernel's own tests would not miss."""

from __future__ import annotations

from tests.simulation.matrix import single_faults, walked

EVERY = 29


def test_a_slice_of_the_crash_matrix_loses_nothing_and_does_nothing_twice() -> None:
    slice_ = [(number, run) for number, run in enumerate(single_faults()) if number % EVERY == 0]
    assert walked(slice_).failed == []
