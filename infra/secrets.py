"""One secret for each credential that a catalogue names. Values are put in by whoever owns the target, never by us."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import RemovalPolicy
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from functions.domain.catalogue import Catalogue
from infra.acknowledge import acknowledge
from infra.declared import credentials_of
from infra.settings import Settings


class Secrets(Construct):
    """Each is named `<prefix>/<catalogue>/<credential>`, and made with a random value that opens nothing."""

    def __init__(
        self, scope: Construct, id_: str, *, settings: Settings, catalogues: Iterable[Catalogue]
    ) -> None:
        super().__init__(scope, id_)
        self.names: list[str] = []
        for catalogue in catalogues:
            for credential in sorted(credentials_of(catalogue)):
                name = f"{settings.secret_prefix}/{catalogue.name}/{credential}"
                secret = secretsmanager.Secret(
                    self,
                    f"{catalogue.name}-{credential}",
                    secret_name=name,
                    description=f"{credential} credential of the {catalogue.name} catalogue",
                    generate_secret_string=secretsmanager.SecretStringGenerator(
                        password_length=40, exclude_punctuation=True
                    ),
                    removal_policy=RemovalPolicy.DESTROY
                    if settings.local
                    else RemovalPolicy.RETAIN,
                )
                self.names.append(name)
                acknowledge(
                    secret,
                    "AwsSolutions-SMG4",
                    "The target issues this credential, so its owner rotates it there and puts the new value here.",
                )
