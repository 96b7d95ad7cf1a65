"""Does a target keep what its catalogue entry promises? Pure checks, for any adapter, with any test runner.

A saga is as good as its targets: an idempotency key that is not remembered, or a status query that finds somebody else's
effect, cannot be made good later. A team describes its target once, as a `Bench`, and asks for each promise:

    @pytest.mark.parametrize("promise", promises_of(RESERVE_STOCK), ids=name_of)
    def test_reserve_stock_keeps(promise, bench):
        promise(bench)
"""

from functions.catalogues.conformance.bench import Bench, PromiseBroken
from functions.catalogues.conformance.promises import Promise, name_of, promises_of

__all__ = ["Bench", "Promise", "PromiseBroken", "name_of", "promises_of"]
