"""The two queues that people drain. A notice is an id; whoever reads it asks the API for the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class SqsNotices:
    """Notices to the approvals queue and to the manual-resolution queue; None where this function has no such queue."""

    def __init__(self, client: SQSClient, *, approvals: str | None, cases: str | None) -> None:
        self._client = client
        self._approvals = approvals
        self._cases = cases

    def approval(self, approval_id: str) -> None:
        """Announce an approval."""
        self._send(self._approvals, {"approval": approval_id})

    def case(self, case_id: str) -> None:
        """Announce a case."""
        self._send(self._cases, {"case": case_id})

    def _send(self, queue: str | None, notice: dict[str, str]) -> None:
        if queue is None:
            raise PermissionError("this function may not send to that queue")
        self._client.send_message(QueueUrl=queue, MessageBody=json.dumps(notice))
