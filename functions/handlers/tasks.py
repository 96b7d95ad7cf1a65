"""The input of a machine's Task: strictly what the compiler puts there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from functions.usecases.errors import BadRequest
from functions.usecases.world import StepRef

SagaId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{2,39}$")]
Execution = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{2,60}-[0-9]+$")]


class Task(BaseModel):
    """One Task's input. `index` is the step's place in the plan; missing values are an error before any write."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    saga_id: SagaId
    execution: Execution
    index: Annotated[int, Field(ge=0, lt=50)] = 0
    operation: Literal["run", "settle"] = "run"
    direction: Literal["do", "undo"] = "do"
    token: Annotated[str, StringConstraints(max_length=4096)] | None = Field(None, repr=False)

    @model_validator(mode="after")
    def _of_its_own_saga(self) -> Self:
        """An execution drives the saga that it is named after, and no other."""
        if self.execution.rsplit("-", 1)[0] != self.saga_id:
            raise ValueError("the execution is another saga's")
        return self

    @property
    def ref(self) -> StepRef:
        """The step that it is about."""
        return StepRef(self.saga_id, self.index, self.execution)


def parsed(event: Mapping[str, Any], *needed: str) -> Task:
    """The Task, or BadRequest. `needed` are fields that this function can not do without."""
    missing = [name for name in needed if event.get(name) is None]
    if missing:
        raise BadRequest(f"the Task's input lacks {', '.join(missing)}")
    try:
        return Task.model_validate(event)
    except ValidationError as error:
        places = ", ".join(".".join(map(str, e["loc"])) for e in error.errors())
        raise BadRequest(f"the Task's input is malformed at {places}") from None
