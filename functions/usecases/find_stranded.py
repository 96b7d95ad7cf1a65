"""Before a deployment takes anything away: which open sagas would be stranded by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from functions.domain.ledger.head import DUE_SHARDS
from functions.domain.stranding import Offer, lacking
from functions.ports import Item, Store, Table
from functions.usecases.records import read_saga

SHARDS = tuple(f"open-{n}" for n in range(DUE_SHARDS))


@dataclass(frozen=True, slots=True)
class Stranded:
    """An open saga, and what it needs that would be gone."""

    saga_id: str
    lacks: tuple[str, ...]


def find_stranded(store: Store, offers: Mapping[str, Offer]) -> list[Stranded]:
    """Every open saga that needs what `offers` does not have, the oldest first within a shard.

    Sagas of a catalogue version that is offered as it is need nothing else, so only the others are read.
    """
    found = []
    for item in _open(store):
        offer = offers.get(item["catalogue"])
        if offer is not None and offer.version == item["catalogue_version"]:
            continue
        # The index may be a moment behind: what counts is the record.
        saga = read_saga(store, item["saga_id"])
        if saga is not None and saga.head.open is not None and (lacks := lacking(saga, offers)):
            found.append(Stranded(saga.head.saga_id, lacks))
    return found


def _open(store: Store) -> Iterator[Item]:
    for shard in SHARDS:
        start = None
        while True:
            page, start = store.index(Table.LEDGER, "open", shard, start=start)
            yield from page
            if start is None:
                break
