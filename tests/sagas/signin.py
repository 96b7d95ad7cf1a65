"""The user pool of a deployment: whoever calls with a person's token is in it, with the groups of that token."""

from __future__ import annotations

from collections.abc import Mapping

from tests.sagas.clients import AWS


class UserPool:
    """People come in when they first call; from then on they are what the test makes of them."""

    def __init__(self) -> None:
        self._client = AWS.client("cognito-idp")
        self.id = self._client.create_user_pool(PoolName="people")["UserPool"]["Id"]
        self._known: set[str] = set()
        self._groups: set[str] = set()

    def enrol(self, claims: Mapping[str, str]) -> None:
        """Whom these claims are about; an agent is nobody here."""
        name = claims.get("username")
        if name is None or name in self._known:
            return
        self._known.add(name)
        self._client.admin_create_user(UserPoolId=self.id, Username=name)
        for group in claims.get("cognito:groups", "").strip("[]").split():
            if group not in self._groups:
                self._groups.add(group)
                self._client.create_group(UserPoolId=self.id, GroupName=group)
            self._client.admin_add_user_to_group(UserPoolId=self.id, Username=name, GroupName=group)

    def revoke(self, name: str, group: str) -> None:
        """An administrator takes somebody out of a group; their token stays what it is."""
        self._client.admin_remove_user_from_group(
            UserPoolId=self.id, Username=name, GroupName=group
        )

    def disable(self, name: str) -> None:
        """Somebody has left."""
        self._client.admin_disable_user(UserPoolId=self.id, Username=name)
