"""Every stable code that an agent or a person can meet, with its HTTP status, its summary and one line that documents it.

A code is a promise: its name and its meaning never change, only new ones are added. Documentation and OpenAPI are
made from this list. Preconditions of a catalogue bring codes of their own beside these; they answer as
`precondition_failed` does.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Code(StrEnum):
    """One member for each code: its value is the code itself, `status`, `summary` and `doc` say the rest."""

    status: int
    summary: str
    doc: str

    def __new__(cls, value: str, status: int, summary: str, doc: str) -> Self:
        """Makes the member a plain string that carries its entry."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.status, member.summary, member.doc = status, summary, doc
        return member

    # fmt: off
    # One code a line, as in the table that it is.

    # What arrived is not acceptable JSON.
    TOO_LARGE = "too_large", 413, "Body too large", "The body is over 65,536 bytes."
    INVALID_UTF8 = "invalid_utf8", 400, "Not UTF-8", "The body is not UTF-8, or begins with a byte order mark."
    INVALID_JSON = "invalid_json", 400, "Not JSON", "The body is not one JSON value."
    TOO_DEEP = "too_deep", 400, "Nested too deeply", "Objects and arrays are nested more than 20 levels deep."
    DUPLICATE_KEY = "duplicate_key", 400, "Repeated key", "An object names the same key twice, so its meaning is ambiguous."
    LONE_SURROGATE = "lone_surrogate", 400, "Broken text", "A text holds half of a surrogate pair, which no UTF-8 can carry."
    NOT_FINITE_NUMBER = "not_finite_number", 422, "Not a finite number", "NaN, Infinity, or a number too large to be one."
    UNSAFE_INTEGER = "unsafe_integer", 422, "Integer too large", "An integer beyond 2^53 - 1 changes silently on the way; send it as text."

    # The JSON is not the object that is expected.
    MISSING_FIELD = "missing_field", 422, "Field missing", "A required field is not there."
    UNKNOWN_FIELD = "unknown_field", 422, "Unknown field", "A field that this object does not have."
    WRONG_TYPE = "wrong_type", 422, "Wrong type", "The value is of another JSON type than the one asked for; nothing is converted."
    TOO_LONG = "too_long", 422, "Too long", "A text, list or object is over its limit."
    TOO_SHORT = "too_short", 422, "Too short", "A text, list or object is under its least size."
    OUT_OF_RANGE = "out_of_range", 422, "Out of range", "A number is outside its limits."
    BAD_FORMAT = "bad_format", 422, "Wrong format", "A text does not have the form that is asked for."
    NOT_ONE_OF = "not_one_of", 422, "Not an allowed value", "The value is not one of those listed in `allowed`."
    BAD_VALUE = "bad_value", 422, "Value refused", "The value breaks a rule of its field; the message says which."
    AMOUNT_NOT_EXACT = "amount_not_exact", 422, "Not an exact amount", "Money is an exact decimal in a text: no float, sign or exponent."
    AMOUNT_DECIMALS = "amount_decimals", 422, "Wrong decimals", "An amount is written with exactly the decimals of its currency."

    # The plan as such.
    NO_STEPS = "no_steps", 422, "No steps", "A plan has at least one step."
    TOO_MANY_STEPS = "too_many_steps", 422, "Too many steps", "A plan has at most 50 steps."
    REPEATED_STEP_ID = "repeated_step_id", 422, "Step id used twice", "Each step's id is unique within its plan."
    NAME_NOT_ASCII = "name_not_ascii", 422, "Step name is not plain ASCII", "A letter that only looks like the right one makes another name."
    TOO_MANY_PROBLEMS = "too_many_problems", 422, "Further problems", "More problems were found than are listed."

    # The plan against its catalogue.
    PLAN_REJECTED = "plan_rejected", 422, "Plan rejected", "Several different problems; each is listed under `problems`."
    UNKNOWN_CATALOGUE = "unknown_catalogue", 422, "Unknown catalogue", "There is no catalogue of this name."
    UNKNOWN_STEP = "unknown_step", 422, "Unknown step", "The catalogue has no such step, or it has been retired."
    MISSING_ARGUMENT = "missing_argument", 422, "Argument missing", "The step needs this argument."
    UNKNOWN_ARGUMENT = "unknown_argument", 422, "Unknown argument", "The step has no such argument."
    KIND_ORDER = "kind_order", 422, "Wrong order of kinds", "Compensable steps come first, then the pivot, then retriable steps."
    SECOND_PIVOT = "second_pivot", 422, "More than one pivot", "A plan crosses the point of no return at most once."
    HISTORY_TOO_LONG = "history_too_long", 422, "Too much to retry", "With every attempt of every step one execution could outgrow its history."
    MISSING_REQUIREMENT = "missing_requirement", 422, "Requirement missing", "The step needs the result of a step that is not in the plan."
    REQUIREMENT_AFTER_USE = "requirement_after_use", 422, "Requirement comes too late", "The step whose result is needed comes later in the plan."
    AMBIGUOUS_RESULT = "ambiguous_result", 422, "Ambiguous result", "Several earlier steps could give the result; `uses` must name one."
    UNKNOWN_RESULT = "unknown_result", 422, "Unknown result", "`uses` names a result that is not there to be used."
    PRECONDITION_FAILED = "precondition_failed", 422, "Precondition does not hold", "Something that must be true before the step is not true now."
    FORBIDDEN_BY_POLICY = "forbidden_by_policy", 422, "Forbidden by policy", "The catalogue's policy lets nobody approve this step."
    FACTS_UNAVAILABLE = "facts_unavailable", 503, "Facts unavailable", "A fact that decides could not be read; nothing was decided or counted, so ask again."

    # The request.
    PLAN_CONFLICT = "plan_conflict", 409, "Another plan was admitted", "The request has a saga already, admitted for another plan."
    ATTEMPTS_SPENT = "attempts_spent", 409, "No attempts left", "The request used its last attempt and is now handed to a person."
    REQUEST_ESCALATED = "request_escalated", 409, "Request is with a person", "The request was handed to a person; no further plan is accepted."

    # People.
    UNAUTHENTICATED = "unauthenticated", 401, "Not signed in", "The call carries no valid token."
    FORBIDDEN = "forbidden", 403, "Not allowed", "The token does not give the right to this."
    NOT_FOUND = "not_found", 404, "Not found", "There is no such thing, or it is not yours to see."
    INVALID_PARAMETER = "invalid_parameter", 400, "Invalid parameter", "A parameter of the path or the query is not usable."
    ALREADY_DECIDED = "already_decided", 409, "Already decided", "The approval was decided before; the first decision stands."
    ALREADY_APPROVED_BY_YOU = "already_approved_by_you", 409, "You have approved already", "You cannot take it back; somebody else may still reject."
    APPROVAL_EXPIRED = "approval_expired", 410, "Approval expired", "The time to decide is over; the saga goes on without it."
    APPROVAL_CHANGED = "approval_changed", 409, "Not what you were shown", "What would run is no longer what the decision is about."
    NOT_CLAIMED = "not_claimed", 409, "Case not claimed", "A case is claimed before it is resolved."
    CLAIM_CONFLICT = "claim_conflict", 409, "Claimed by someone else", "Another person works on this case."
    CASE_CLOSED = "case_closed", 409, "Case closed", "The case has been resolved."
    CASE_OPEN = "case_open", 409, "Case still open", "The notice of a case stays on its queue until the case is settled."
    RESOLUTION_NOT_ALLOWED = "resolution_not_allowed", 409, "Resolution not allowed", "This case cannot be resolved in this way; `allowed` lists the ways."
    ANOTHER_PERSON_NEEDED = "another_person_needed", 409, "Another person is needed", "Two people agree to this: one proposes, and another one of the group confirms."
    PROPOSAL_OPEN = "proposal_open", 409, "A proposal is waiting", "The case has a proposal that nobody has answered yet."
    NO_PROPOSAL = "no_proposal", 409, "No such proposal", "The proposal was answered, withdrawn, or taken off the case."
    NOT_YOUR_PROPOSAL = "not_your_proposal", 409, "Not your proposal", "A proposal is withdrawn by whoever made it; others may refuse it."
    PROPOSAL_VOID = "proposal_void", 409, "Proposal void", "What is owed has changed since it was proposed; it has been taken off the case."
    NOT_A_MEMBER = "not_a_member", 422, "Not a member", "A case is handed over to another member of the group that owns it."
    CASE_FULL = "case_full", 409, "History full", "The history of the case takes no more notes and proposals."
    ATTEMPT_ALIVE = "attempt_alive", 409, "An attempt is still running", "A call may still be under way; resolve the case when it has ended."
    CANNOT_CANCEL = "cannot_cancel", 409, "Too late to cancel", "The saga has ended, is compensating, or has passed its point of no return."

    # The service.
    WRITE_CONFLICT = "write_conflict", 409, "Changed meanwhile", "Someone else changed the same thing at the same moment; read it and ask again."
    TOO_MANY_REQUESTS = "too_many_requests", 429, "Too many requests", "Ask again more slowly."
    UNAVAILABLE = "unavailable", 503, "Unavailable", "The service cannot answer just now; ask again."
    INTERNAL_ERROR = "internal_error", 500, "Internal error", "A fault of ours. Nothing is known to have been done; ask again with the same request id."
    # fmt: on


_BY_VALUE = {code.value: code for code in Code}


def entry_of(code: str) -> Code:
    """The entry that answers for a code: its own, or for a catalogue's own code that of `precondition_failed`."""
    return _BY_VALUE.get(code, Code.PRECONDITION_FAILED)
