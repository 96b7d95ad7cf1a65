"""Why each rule about catalogues is there, and what to do about it: for the person whose catalogue breaks one."""

from __future__ import annotations

from collections.abc import Mapping

WHY: Mapping[str, str] = {
    "alternate": (
        "An alternate is another principal for the same undo, which two people may choose in a case. Say who it is, name "
        "a credential of its own, or a role where the undo itself is made under one, and give its permissions to that role."
    ),
    "authority": (
        "Authority is declared once and becomes a role, the compensation record and what the tests compare with. Name "
        "the scope, each action, and the resources it is for."
    ),
    "budget": (
        "Every retry is counted in the ledger and ends: give 1 to 900 attempts, a positive interval, a longest pause "
        "that is not shorter than it, and a backoff of 1 or more."
    ),
    "circular_requirement": "A step runs after what it requires. Break the circle: one of them can do without the other.",
    "description": "An agent chooses a step by its description alone: say what it does, when to use it, and what not for.",
    "duplicate_name": "A plan names steps, and a record names undos: two of one name could be taken for each other.",
    "late_requirement": (
        "Compensable steps come before the pivot and retriable ones after it, so nothing can require what can only come "
        "later."
    ),
    "name": "Names become parts of functions, roles and states on AWS: lower case, digits and _, a letter first.",
    "no_steps": "A catalogue without steps allows no plan.",
    "no_undo": (
        "Compensable means that there is exactly one undo. Declare it; or make the step the pivot, if it cannot be undone."
    ),
    "open_arguments": (
        "An agent's text goes into arguments, so each has a limit: extra='forbid', strict=True, max_length for text, ge "
        "and le for integers, an amount for money."
    ),
    "other_action": (
        "Another action reaches a valid state where the undo cannot. Say what it does, name an adapter of its own, and "
        "give the undo's settles_after at least as long as its own: a saga's machine waits no longer than that."
    ),
    "owner": "Approvals and cases belong to somebody: name the two groups.",
    "reference": "Adapters and policies are named as package.module:function and imported where they run.",
    "repeatable": (
        "A call whose answer was lost may have to be repeated past the point of no return. The target has to recognise "
        "our key (keys_kept_for), or be able to make it unusable (tombstone); otherwise a person finds out "
        "(reconcile='person')."
    ),
    "retention": (
        "Records have to outlive the target's memory for keys: until then a late call can still arrive and must be known."
    ),
    "retired_requirement": "A retired step is in no new plan, so nothing that is can require it: retire both.",
    "sentence": (
        "The sentence is what a person decides by. It may use the step's arguments by their names, as {amount}, and "
        "nothing else."
    ),
    "timeout": (
        "A function makes a call, reads the credential again once, asks for the status and records: three calls' time and "
        "ten seconds, within Lambda's fifteen minutes."
    ),
    "undo_of_irreversible": (
        "After the pivot nothing is undone, and the pivot itself cannot be: an undo would never run, and would promise "
        "what does not hold. Remove it, or make the step compensable."
    ),
    "undo_order": (
        "undo_after and independent_of name other compensable steps, and their order must not lead back to its start."
    ),
    "unknown_fact": "A precondition reads a fact of this catalogue. Declare it in facts.",
    "unknown_precondition": "A step's preconditions are named in the catalogue's preconditions. Declare it there.",
    "unknown_requirement": "requires names steps of this catalogue.",
    "unobservable": (
        "An effect whose outcome nobody can learn cannot be compensated. Give the target's keys, a status query by our "
        "key, or a tombstone; for an undo also reconcile='person'."
    ),
    "version": "Sagas name the version they began with. Raise it whenever what a step means changes.",
    # Found on trying, not by the rules themselves:
    "import": "What cannot be imported here cannot be imported in a function either. Run this beside the package's folder.",
    "adapter": "The function is called with one argument: a Call, a FactCall for a fact, a Question for the policy.",
    "placeholder": (
        "A resource may use {partition}, {region}, {account} and the settings that the catalogue declares, and nothing "
        "else."
    ),
    "long_name": (
        "A step's function is called sagaplane-<stage>-<catalogue>-<step>-undo, at most 64 characters on AWS: shorten "
        "the catalogue's or the step's name."
    ),
}
