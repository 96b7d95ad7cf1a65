"""What the environments catalogue acts on: a channel, a place for its undos' keys, a topic, and a few teams."""

from __future__ import annotations

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.acknowledge import acknowledge
from infra.settings import Settings

TEAMS = ("payments", "search")
_KEYS_KEPT = Duration.days(400)
"""Longer than the catalogue relies on them."""
_NO_TLS = "The emulator has no TLS to ask for."


class Environments(Construct):
    """`known` are the values of the catalogue's settings, by their placeholders in cdk.json."""

    def __init__(self, scope: Construct, id_: str, *, settings: Settings) -> None:
        super().__init__(scope, id_)
        self._settings = settings
        name = f"{settings.prefix}-{Aws.ACCOUNT_ID}"
        self.channel = self._bucket("Channel", f"{name}-channel")
        self.records = self._bucket("Records", f"{name}-records")
        self.records.add_lifecycle_rule(prefix="undone/", expiration=_KEYS_KEPT)
        self.topic = self._topic()
        # Buckets are named within one namespace for everybody: the account's number keeps ours apart.
        bucket_prefix = f"sp-{settings.stage}-{Aws.ACCOUNT_ID}-"
        self._teams(bucket_prefix)
        self.known = {
            "environments_bucket_prefix": bucket_prefix,
            "environments_channel_bucket": f"{name}-channel",
            "environments_records_bucket": f"{name}-records",
            "environments_team_role_prefix": f"{settings.prefix}-team-",
            "environments_registry": f"/sagaplane/{settings.stage}/environments",
            "environments_topic_arn": f"arn:{Aws.PARTITION}:sns:{Aws.REGION}:{Aws.ACCOUNT_ID}:{self._topic_name}",
        }

    def outputs(self) -> dict[str, str]:
        """The same for people, by the names of the stack's outputs."""
        named = {
            "".join(part.title() for part in name.split("_")): value
            for name, value in self.known.items()
        }
        return {**named, "EnvironmentsInboxUrl": self.inbox.queue_url}

    @property
    def _topic_name(self) -> str:
        return f"{self._settings.prefix}-environments.fifo"

    def _bucket(self, id_: str, name: str) -> s3.Bucket:
        local = self._settings.local
        bucket = s3.Bucket(
            self,
            id_,
            bucket_name=name,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=not local,
            removal_policy=RemovalPolicy.DESTROY if local else RemovalPolicy.RETAIN,
        )
        acknowledge(
            bucket,
            "AwsSolutions-S1",
            "What is written here is in the ledger and in CloudTrail; another bucket of access logs tells no more.",
        )
        if local:
            acknowledge(bucket, "AwsSolutions-S10", _NO_TLS)
        return bucket

    def _topic(self) -> sns.Topic:
        """FIFO, since only such a topic remembers a key; the inbox shows what was sent."""
        local = self._settings.local
        topic = sns.Topic(
            self, "Topic", topic_name=self._topic_name, fifo=True, enforce_ssl=not local
        )
        # Without a policy of its own a topic lets everybody in the account publish.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.AccountRootPrincipal()],
                actions=["sns:GetTopicAttributes"],
                resources=[topic.topic_arn],
            )
        )
        self.inbox = sqs.Queue(
            self,
            "Inbox",
            queue_name=f"{self._settings.prefix}-environments-inbox.fifo",
            fifo=True,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=not local,
            retention_period=Duration.days(14),
        )
        topic.add_subscription(subscriptions.SqsSubscription(self.inbox, raw_message_delivery=True))
        acknowledge(self.inbox, "AwsSolutions-SQS3", "Nothing consumes it: it is read by people.")
        if local:
            acknowledge(topic, "AwsSolutions-SNS3", _NO_TLS)
            acknowledge(self.inbox, "AwsSolutions-SQS4", _NO_TLS)
        return topic

    def _teams(self, bucket_prefix: str) -> None:
        """A team's role may do nothing by itself. The boundary is the most that all grants together can add up to."""
        buckets = f"arn:{Aws.PARTITION}:s3:::{bucket_prefix}*"
        boundary = iam.ManagedPolicy(
            self,
            "Boundary",
            managed_policy_name=f"{self._settings.prefix}-team-boundary",
            statements=[
                iam.PolicyStatement(
                    actions=["s3:ListBucket", "s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
                    resources=[buckets],
                )
            ],
        )
        acknowledge(
            boundary,
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::{bucket_prefix.replace(Aws.ACCOUNT_ID, '<AWS::AccountId>')}*]",
            "It is a boundary: it limits, and grants nothing.",
        )
        for team in TEAMS:
            iam.Role(
                self,
                f"Team-{team}",
                role_name=f"{self._settings.prefix}-team-{team}",
                assumed_by=iam.AccountPrincipal(Aws.ACCOUNT_ID),
                permissions_boundary=boundary,
            )
