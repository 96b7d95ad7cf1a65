"""Credentials by reference, in Secrets Manager. A value stays in the memory of the function that uses it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.ports import CredentialLost

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

KEPT_FOR = 300.0
_LOST = {"AccessDeniedException", "ResourceNotFoundException", "InvalidRequestException"}


class SecretsManagerCredentials:
    """The credential `<catalogue>/<name>` is the secret `<prefix>/<catalogue>/<name>`; kept for five minutes."""

    def __init__(self, client: SecretsManagerClient, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._kept: dict[str, tuple[float, str]] = {}

    def read(self, reference: str, *, fresh: bool) -> str:
        """The value, or CredentialLost where this function may not read it or it is gone."""
        kept = self._kept.get(reference)
        if kept is not None and not fresh and time.monotonic() - kept[0] < KEPT_FOR:
            return kept[1]
        try:
            found = self._client.get_secret_value(SecretId=f"{self._prefix}/{reference}")
        except ClientError as error:
            if error.response["Error"]["Code"] in _LOST:
                self._kept.pop(reference, None)
                raise CredentialLost(reference) from error
            raise
        value = found["SecretString"]
        self._kept[reference] = (time.monotonic(), value)
        return value
