"""The two queues that people drain. A notice is an id; whoever reads it asks the API for the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.ports import BadReceipt, Notice

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


class SqsCaseQueue:
    """The manual-resolution queue, for those who drain it."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def take(self, most: int, *, wait: int, hidden: int) -> list[Notice]:
        """Receive up to `most` messages, at most 10, by long polling."""
        found = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=most,
            WaitTimeSeconds=wait,
            VisibilityTimeout=hidden,
        )
        return [
            Notice(_named(message.get("Body", "")), message["ReceiptHandle"])
            for message in found.get("Messages", [])
        ]

    def hide(self, receipt: str, seconds: int) -> None:
        """Change how long it stays hidden."""
        with _of_this_queue():
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )

    def delete(self, receipt: str) -> None:
        """Delete it."""
        with _of_this_queue():
            self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt)


def _named(body: str) -> str | None:
    """The case that a message names; None where it is no notice of ours."""
    try:
        notice = json.loads(body)
    except ValueError:
        return None
    name = notice.get("case") if isinstance(notice, dict) else None
    return name if isinstance(name, str) else None


@contextmanager
def _of_this_queue() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] in _GONE:
            return
        if error.response["Error"]["Code"] in _NONE:
            raise BadReceipt("no receipt of this queue") from error
        raise


_NONE = {"ReceiptHandleIsInvalid", "InvalidParameterValue"}
_GONE = {"MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight"}
"""It has come back already, or is off the queue: somebody else sees to it."""
