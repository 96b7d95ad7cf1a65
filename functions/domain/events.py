"""What other systems are told of a saga: ids and states, and where its plan came from. Nothing that anybody wrote."""

from __future__ import annotations

from typing import Any

from functions.domain.ledger.records import Saga

ENDED = "Saga ended"


def ended(saga: Saga) -> dict[str, Any]:
    """The event of a saga that is over. `noticed` names undos that have left a notice, for a person, in the saga.

    Seed one: run id, prompt version and source document go into every event that a saga emits; and what an undo meets is
    a business situation, of which an event is emitted rather than that it fails silently.
    """
    head = saga.head
    return {
        "saga_id": head.saga_id,
        "tenant": head.tenant,
        "request_id": head.request_id,
        "catalogue": head.catalogue,
        "catalogue_version": head.catalogue_version,
        "outcome": head.outcome,
        "ended_at": head.ended_at,
        "noticed": [s.undo.operation for s in saga.steps if s.undo and s.undo.notice],
        "actor_type": head.provenance.actor_type,
        "actor": head.provenance.actor,
        "run_id": head.provenance.run_id,
        "prompt_version": head.provenance.prompt_version,
        "source_document_id": head.provenance.source_document_id,
    }
