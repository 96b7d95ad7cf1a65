"""What people are told through: a notice of every approval and every case, each queue with its dead letters."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledge import acknowledge

_RETENTION = Duration.days(14)
_DELIVERIES = 5


class Queues(Construct):
    """`approvals` and `cases` carry ids, never tokens; `unstarted` keeps what the starter could not take."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.approvals_dead = _queue(self, "ApprovalsDead")
        self.approvals = _queue(self, "Approvals", dead=self.approvals_dead)
        self.cases_dead = _queue(self, "ManualResolutionDead")
        self.cases = _queue(self, "ManualResolution", dead=self.cases_dead)
        self.unstarted = _queue(self, "Unstarted")
        acknowledge(
            self.unstarted, "AwsSolutions-SQS3", "It is the starter's dead-letter queue itself."
        )


def _queue(scope: Construct, id_: str, *, dead: sqs.Queue | None = None) -> sqs.Queue:
    return sqs.Queue(
        scope,
        id_,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=_RETENTION,
        visibility_timeout=Duration.minutes(1),
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=_DELIVERIES)
        if dead
        else None,
    )
