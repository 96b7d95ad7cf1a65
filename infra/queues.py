"""What people are told through: a notice of every approval and every case, each queue with its dead letters."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledge import acknowledge
from infra.settings import Settings

_RETENTION = Duration.days(14)
_DELIVERIES = 5
_DRAINED = 50
"""Deliveries of a case's notice: it also counts who was shown it and left it, and whose it was not."""


class Queues(Construct):
    """`approvals` and `cases` carry ids, never tokens; `unstarted` keeps what the starter could not take."""

    def __init__(self, scope: Construct, id_: str, *, settings: Settings) -> None:
        super().__init__(scope, id_)
        self._settings = settings
        self.approvals_dead = self._queue("ApprovalsDead")
        self.approvals = self._queue("Approvals", dead=self.approvals_dead)
        self.cases_dead = self._queue("ManualResolutionDead")
        self.cases = self._queue("ManualResolution", dead=self.cases_dead, deliveries=_DRAINED)
        self.unstarted = self._queue("Unstarted")
        acknowledge(
            self.unstarted, "AwsSolutions-SQS3", "It is the starter's dead-letter queue itself."
        )

    def _queue(
        self, id_: str, *, dead: sqs.Queue | None = None, deliveries: int = _DELIVERIES
    ) -> sqs.Queue:
        queue = sqs.Queue(
            self,
            id_,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            # The emulator speaks HTTP on this machine's loopback.
            enforce_ssl=not self._settings.local,
            retention_period=_RETENTION,
            visibility_timeout=Duration.minutes(1),
            dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=deliveries)
            if dead
            else None,
        )
        if self._settings.local:
            acknowledge(queue, "AwsSolutions-SQS4", "The emulator has no TLS to ask for.")
        return queue
