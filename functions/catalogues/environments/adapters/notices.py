"""Messages to teams: a FIFO topic, which remembers a deduplication id for five minutes and answers no question about it."""

from __future__ import annotations

from functions.catalogues.aws import answered, client
from functions.catalogues.environments.arguments import NotifyTeam
from functions.catalogues.environments.names import TOPIC, as_name, given, setting
from functions.domain.calls import Call
from functions.domain.keys import canonical
from functions.domain.outcome import Applied, Outcome, Receipt


def send(call: Call) -> Outcome:
    """Publish once for our key. The receipt names the key, since a repeat may be given another message id."""
    return answered(lambda: _send(call))


def _send(call: Call) -> Outcome:
    arguments = given(call, NotifyTeam)
    environment = call.results["create_environment"].resource
    body = {"message": arguments.message, "environment": environment}
    sent = client("sns", call.timeout).publish(
        TopicArn=setting(TOPIC),
        Message=canonical(body),
        MessageGroupId=environment,
        MessageDeduplicationId=as_name(call.key),
    )
    return Applied(
        receipt=Receipt(
            resource=f"{setting(TOPIC)}#{as_name(call.key)}",
            details={"message_id": sent["MessageId"]},
        )
    )
