"""What should wake somebody: work that nobody took, notices that nobody drained, drivers that fail."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.function import PublishedFunction
from infra.queues import Queues

_PATIENCE = Duration.hours(4)


class Alarms(Construct):
    """They have no action of their own: a team points them at its own channel."""

    def __init__(
        self, scope: Construct, id_: str, *, queues: Queues, drivers: Iterable[PublishedFunction]
    ) -> None:
        super().__init__(scope, id_)
        for name, queue in {
            "approvals-dead": queues.approvals_dead,
            "manual-resolution-dead": queues.cases_dead,
            "unstarted": queues.unstarted,
        }.items():
            visible = queue.metric_approximate_number_of_messages_visible(
                period=Duration.minutes(1), statistic="Maximum"
            )
            self._alarm(f"{name}-not-empty", visible, 1, "Messages that nobody could take.")
        for name, queue in {
            "approvals": queues.approvals,
            "manual-resolution": queues.cases,
        }.items():
            age = queue.metric_approximate_age_of_oldest_message(
                period=Duration.minutes(5), statistic="Maximum"
            )
            self._alarm(
                f"{name}-waiting", age, _PATIENCE.to_seconds(), "A person has not answered in time."
            )
        for driver in drivers:
            errors = driver.function.metric_errors(period=Duration.minutes(5), statistic="Sum")
            self._alarm(
                f"{driver.name}-errors", errors, 1, "Sagas may stand still until it succeeds."
            )

    def _alarm(
        self, name: str, metric: cloudwatch.Metric, threshold: float, description: str
    ) -> None:
        metric.create_alarm(
            self,
            name,
            alarm_description=description,
            threshold=threshold,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
