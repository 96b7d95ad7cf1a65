"""Where other systems learn of sagas: a bus of this deployment's own, for rules that its team attaches."""

from __future__ import annotations

from aws_cdk import aws_events as events
from constructs import Construct

from infra.settings import Settings


class Bus(Construct):
    """Starter, sweeper and rescue put events on it; nothing of ours listens."""

    def __init__(self, scope: Construct, id_: str, *, settings: Settings) -> None:
        super().__init__(scope, id_)
        self.bus = events.EventBus(self, "Bus", event_bus_name=settings.prefix)
