------------------------------- MODULE saga -------------------------------
(***************************************************************************)
(* One saga of sagaplane: what its ledger holds, who may change it, and    *)
(* what its targets see.                                                   *)
(*                                                                         *)
(* A record's write is conditional on the version that was read, so that   *)
(* reading, deciding and writing one record, or several in a transaction,  *)
(* is one action here.  A call is not: the claim, the call, and the record *)
(* of its answer are three, and anything may happen between them.          *)
(*                                                                         *)
(* Each action names the file that it models.  The rules that hold all of  *)
(* it up stand alone, under "The rules", so that breaks.tla can take each  *)
(* of them away and show what goes wrong without it.                       *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS
  Kinds,        \* the plan: a sequence of "compensable", "pivot", "retriable"
  Workers,      \* processes of functions that may hold a claim at the same time
  Drivers,      \* how many executions automation may start
  Budget,       \* attempts of each command
  Asks,         \* how often a machine asks what became of a command's calls
  Rounds,       \* how often people are asked to approve
  Resolutions,  \* how many cases people settle
  Keys,         \* commands whose target recognises our key
  Status,       \* commands whose target can be asked by our key
  Tombstone,    \* commands whose target can make our key unusable
  Prompt,       \* no call is sent after its lease, none lands after settles_after
  Also          \* what else may happen: see Trouble

Step == 0 .. Len(Kinds) - 1
Kind(i) == Kinds[i + 1]
Compensable == {i \in Step : Kind(i) = "compensable"}
Last == Len(Kinds) - 1
Boundary == \* the pivot, or else the first retriable step, or else none
  LET from == {i \in Step : Kind(i) # "compensable"}
  IN IF from = {} THEN Len(Kinds) ELSE CHOOSE i \in from : \A j \in from : i <= j
HasBoundary == Boundary \in Step

Do(i) == <<i, "do">>
Undo(i) == <<i, "undo">>
Command == {Do(i) : i \in Step} \cup {Undo(i) : i \in Compensable}
Driver == 1 .. Drivers

VARIABLES
  head,    \* the saga's own record
  step,    \* of each step: bar, receipt, open case, mark of a late effect
  cmd,     \* of each command: state, unsettled, attempts and asks left, lease, settles_after passed
  appr,    \* the latest approval: its state, and whether it is for what would run now
  target,  \* of each command: effects, tombstone, a call still under way
  drv,     \* where each execution of the machine stands
  wrk,     \* the claim that each worker holds
  people,  \* how many cases people may still settle
  hist     \* what happened, for the invariants alone

vars == <<head, step, cmd, appr, target, drv, wrk, people, hist>>
ledger == <<head, step, cmd>>

---------------------------------------------------------------------------
(* Readings of the records: functions/domain/ledger/{forward,undo,head,recovery}.py *)

Running(c) == cmd[c].st \in {"started", "running"}
Unsettled(c) == cmd[c].uns \/ Running(c)                 \* forward.is_unsettled
Completed(i) == cmd[Do(i)].st = "completed"
NeverHappened(i) == ~Completed(i) /\ ~Unsettled(Do(i))   \* forward.never_happened
Over == {"succeeded", "not_needed", "resolved"}          \* undo.SETTLED
Settled(i) == cmd[Undo(i)].st \in Over
LedOn(i) == Completed(i) /\ ~step[i].bar                 \* run_step: under its bar it leads nowhere
MayCross ==                                              \* head.may_cross
  head.out = "none" /\ head.dir = "forward" /\ head.pivot = "ahead" /\ head.att = "none"
AllSettled == \A i \in Compensable : Settled(i)
Unmet(i) == {j \in Compensable : j > i /\ ~Settled(j)}   \* undo.unmet, in strict reverse order
HasCase(i) == step[i].case # "none"

CanBeDriven ==                                           \* recovery.can_be_driven
  /\ head.att # "manual"
  /\ IF head.dir # "compensating"
     THEN head.out = "none" /\ ~\E i \in Step : HasCase(i)
     ELSE IF AllSettled THEN head.out = "none"
     ELSE \E i \in Compensable : ~Settled(i) /\ ~HasCase(i) /\ Unmet(i) = {}

Current(d) == d = head.epoch
Here(d, where) == drv[d][1] = where
At(d) == drv[d][2]
Off == <<"off", 0>>
Move(d, where, i) == drv' = [drv EXCEPT ![d] = <<where, i>>]
End(d) == drv' = [drv EXCEPT ![d] = Off]
Onward(d, i) == IF i = Last THEN End(d) ELSE Move(d, "run", i + 1)
EnterUndo(d, i) ==                                       \* statemachines/backward.py
  LET below == {j \in Compensable : j <= i}
  IN IF below = {} THEN Move(d, "finish", 0)
     ELSE Move(d, "undo", CHOOSE j \in below : \A k \in below : k <= j)
NextUndo(d, i) == IF i = 0 THEN Move(d, "finish", 0) ELSE EnterUndo(d, i - 1)

---------------------------------------------------------------------------
(* The rules *)

Fenced == TRUE                               \* negative knowledge counts under the current fence
AppliedCounts(w) == TRUE                     \* an Applied for our key counts, whoever reports it
Barred(i) == step[i].bar                     \* a barred step never starts again
KeepsUnsettled(c) == cmd[c].uns              \* a refusal does not account for an earlier call
AbsenceCounts(c) == cmd[c].quiet             \* "not there" counts past settles_after
JudgedWhenAsked == TRUE                      \* by when the question was sent, not by its record
SilenceIsUnknown == TRUE                     \* no answer is never "it did not happen"
BackJob(c) == IF c \in Tombstone THEN "kill" ELSE "ask"
CrossesWithClaim == TRUE                     \* the head crosses in the transaction of the first claim
MayTurn == head.out = "none" /\ head.dir = "forward" /\ head.pivot \in {"none", "ahead"}
Permits(a) == a.st = "approved" /\ a.match   \* approvals.permits: for exactly what runs
Consumed(a) == [a EXCEPT !.st = "consumed"]  \* one use, in the transaction that starts the pivot
SettledFirst(i) == ~Unsettled(Do(i))         \* before an undo is found not to be needed
BackWithRecord == TRUE                       \* crossing -> ahead is one write with the settled record
KeepsReceipt(i) == Completed(i)              \* a receipt never changes
CountsAtClaim == TRUE                        \* a process that dies costs an attempt
TooEarlyToSay(c) == Unsettled(c) /\ ~cmd[c].quiet        \* people wait for settles_after as well
InOrder(i) == Unmet(i) = {}
LateWaits(i) == step[i].late = "late"        \* an effect that came too late is a person's at once

---------------------------------------------------------------------------
Init ==
  /\ head = [dir |-> "forward", pivot |-> IF HasBoundary THEN "ahead" ELSE "none",
             out |-> "none", att |-> "none", want |-> "resume", epoch |-> 0, saga |-> FALSE]
  /\ step = [i \in Step |-> [bar |-> FALSE, receipt |-> "none", case |-> "none", late |-> "no"]]
  /\ cmd = [c \in Command |->
              [st |-> IF c[2] = "do" THEN "prepared" ELSE "pending", uns |-> FALSE,
               left |-> Budget, asks |-> Asks, lease |-> FALSE, quiet |-> FALSE]]
  /\ appr = [st |-> "none", match |-> TRUE, round |-> 0]
  /\ target = [c \in Command |-> [eff |-> 0, hand |-> FALSE, dead |-> FALSE, fly |-> FALSE]]
  /\ drv = [d \in Driver |-> Off]
  /\ wrk = [w \in Workers |-> [on |-> <<>>, job |-> "none", cur |-> FALSE, ans |-> "none"]]
  /\ people = Resolutions
  /\ hist = [starts |-> 0, wrong |-> FALSE, told |-> {}, calls |-> [c \in Command |-> 0]]

---------------------------------------------------------------------------
(* Claims *)

Idle == [on |-> <<>>, job |-> "none", cur |-> FALSE, ans |-> "none"]
FenceHolds(w) == wrk[w].cur \/ ~Fenced

(* A new fence: who holds an older one has nothing to say any more, but that it was applied. *)
Outdated(c) == [w \in Workers |->
  IF wrk[w].on # c THEN wrk[w]
  ELSE IF Fenced /\ wrk[w].ans \in {"refused", "not_applied"} THEN Idle
  ELSE [wrk[w] EXCEPT !.cur = FALSE]]

Claimed(c, state, job) == \E w \in Workers :
  /\ wrk[w] = Idle
  /\ wrk' = [Outdated(c) EXCEPT ![w] = [on |-> c, job |-> job, cur |-> TRUE, ans |-> "none"]]
  /\ cmd' = [cmd EXCEPT ![c] =
       [@ EXCEPT !.st = state, !.uns = Unsettled(c), !.lease = TRUE,
                 !.quiet = @ /\ job # "call",
                 !.left = IF job = "call" /\ CountsAtClaim THEN @ - 1 ELSE @,
                 !.asks = IF job = "call" THEN @ ELSE @ - 1]]

Claimable(i) == LET c == Do(i) IN                        \* forward.claim
  /\ ~Barred(i) /\ ~HasCase(i)
  /\ cmd[c].st \notin {"completed", "refused"}
  /\ ~(cmd[c].st = "started" /\ cmd[c].lease)
  /\ Unsettled(c) => c \in Keys                          \* safe to repeat under our key, or settle first
  /\ cmd[c].left > 0

FirstStart(i) == i = Boundary /\ head.pivot = "ahead"

(* functions/usecases/forward_intent.py, with boundary.py for the boundary's first start *)
Claim(d) == LET i == At(d) IN
  /\ Here(d, "run") /\ Claimable(i)
  /\ IF FirstStart(i)
     THEN /\ MayCross
          /\ Kind(i) = "pivot" => Permits(appr)
          /\ head' = IF CrossesWithClaim THEN [head EXCEPT !.pivot = "crossing"] ELSE head
          /\ appr' = IF Kind(i) = "pivot" THEN Consumed(appr) ELSE appr
          /\ hist' = [hist EXCEPT !.starts = @ + 1,
                        !.wrong = @ \/ (Kind(i) = "pivot" /\ ~(appr.st = "approved" /\ appr.match))]
     ELSE UNCHANGED <<head, appr, hist>>
  /\ Claimed(Do(i), "started", "call")
  /\ UNCHANGED <<step, target, drv, people>>

(* functions/usecases/boundary.py: people have to agree before the pivot; an old question is closed *)
ApprovalRequired(d) == LET i == At(d) IN
  /\ Here(d, "run") /\ FirstStart(i) /\ Kind(i) = "pivot" /\ Claimable(i) /\ MayCross
  /\ \/ appr.st = "open" /\ appr.match /\ UNCHANGED appr
     \/ /\ appr.st \in {"none", "closed", "consumed"} \/ (appr.st \in {"open", "approved"} /\ ~appr.match)
        /\ appr.round < Rounds
        /\ appr' = [st |-> "open", match |-> TRUE, round |-> appr.round + 1]
  /\ Move(d, "gate", i)
  /\ UNCHANGED <<head, step, cmd, target, wrk, people, hist>>

(* functions/usecases/boundary.py: a precondition no longer holds, or people said no *)
RefusedBeforeCall(d) == LET i == At(d) IN
  /\ Here(d, "run") /\ FirstStart(i) /\ Claimable(i) /\ MayCross
  /\ cmd' = [cmd EXCEPT ![Do(i)].st = "refused"]
  /\ UNCHANGED <<head, step, appr, target, drv, wrk, people, hist>>

(* Still too early to believe "not there": asking again would only use up how often one may ask. *)
WorthAsking(c, job) ==
  /\ cmd[c].asks > 0 /\ ~cmd[c].lease
  /\ job = "kill" \/ cmd[c].asks = Asks \/ cmd[c].quiet \/ c \in Keys

(* functions/usecases/settle_step.py, going forward: the target's status *)
AskForward(d) == LET i == At(d) c == Do(i) IN
  /\ Here(d, "run") /\ ~Barred(i) /\ ~HasCase(i) /\ ~Completed(i)
  /\ Unsettled(c) /\ c \in Status /\ WorthAsking(c, "ask")
  /\ Claimed(c, "unknown", "ask")
  /\ UNCHANGED <<head, step, appr, target, drv, people, hist>>

(* functions/usecases/settle_step.py, going back: the tombstone first, where there is one *)
AskBack(d) == LET i == At(d) c == Do(i) IN
  /\ \/ Here(d, "settle") /\ Current(d)
     \/ Here(d, "undo") /\ head.dir = "compensating" /\ ~Settled(i)
  /\ ~Completed(i) /\ ~HasCase(i) /\ Unsettled(c)
  /\ c \in Tombstone \cup Status
  /\ WorthAsking(c, BackJob(c))
  /\ Claimed(c, "unknown", BackJob(c))
  /\ UNCHANGED <<head, step, appr, target, drv, people, hist>>

UndoClaimable(d, i) ==                                   \* undo.claim
  /\ Here(d, "undo") /\ head.dir = "compensating" /\ ~Settled(i) /\ ~HasCase(i)
  /\ Completed(i) /\ ~LateWaits(i) /\ InOrder(i)
  /\ ~cmd[Undo(i)].lease /\ cmd[Undo(i)].st # "blocked"

(* functions/usecases/undo_intent.py *)
UndoClaim(d) == LET i == At(d) c == Undo(i) IN
  /\ UndoClaimable(d, i)
  /\ Unsettled(c) => c \in Keys
  /\ cmd[c].left > 0
  /\ Claimed(c, "running", "call")
  /\ UNCHANGED <<head, step, appr, target, drv, people, hist>>

(* functions/usecases/undo_intent.py: what became of an earlier call of the undo *)
UndoAsk(d) == LET i == At(d) c == Undo(i) IN
  /\ UndoClaimable(d, i)
  /\ Unsettled(c) /\ c \in Status /\ WorthAsking(c, "ask")
  /\ Claimed(c, "unknown", "ask")
  /\ UNCHANGED <<head, step, appr, target, drv, people, hist>>

(* functions/domain/ledger/undo.py: there was never an effect *)
UndoNotNeeded(d) == LET i == At(d) IN
  /\ Here(d, "undo") /\ head.dir = "compensating" /\ ~HasCase(i)
  /\ ~Completed(i) /\ ~cmd[Do(i)].lease /\ SettledFirst(i)
  /\ cmd[Undo(i)].st = "pending"
  /\ cmd' = [cmd EXCEPT ![Undo(i)].st = "not_needed"]
  /\ UNCHANGED <<head, step, appr, target, drv, wrk, people, hist>>

---------------------------------------------------------------------------
(* What an answer makes of the records: functions/usecases/conclusion.py *)

MayComplete == head.out = "none" /\ ((head.dir = "forward" /\ head.pivot = "none") \/ head.dir = "finishing")
MayBeCrossed == head.out = "none" /\ head.dir = "forward" /\ head.pivot \in {"ahead", "crossing"}
Complete(h) == [h EXCEPT !.out = "completed", !.att = "none", !.want = "no"]
Crossed(h, last) == LET over == [h EXCEPT !.pivot = "crossed", !.dir = "finishing"]
                    IN IF last THEN Complete(over) ELSE over
AnsweredFor(i) == i \in Compensable /\ cmd[Undo(i)].st \in {"not_needed", "resolved"}
IsLate(i) == AnsweredFor(i) \/ (i = Boundary /\ head.dir = "compensating")
Ended(c, state) == [cmd EXCEPT ![c] =
  [st |-> state, uns |-> FALSE, left |-> 0, asks |-> 0, lease |-> FALSE, quiet |-> FALSE]]

(* The receipt is durable, with what it means for the head. *)
DoApplied(i) ==
  IF KeepsReceipt(i)
  THEN IF step[i].receipt = "target" \/ step[i].late # "no" THEN UNCHANGED ledger
       ELSE /\ step' = [step EXCEPT ![i].late = "second"] \* another effect than the one that is known
            /\ head' = [head EXCEPT !.want = "case"]
            /\ UNCHANGED cmd
  ELSE /\ cmd' = LET done == Ended(Do(i), "completed")
                 IN IF AnsweredFor(i) THEN [done EXCEPT ![Undo(i)].st = "pending"] ELSE done
       /\ step' = [step EXCEPT ![i] = [@ EXCEPT !.receipt = "target", !.late = IF IsLate(i) THEN "late" ELSE @]]
       /\ head' = LET h == IF i = Boundary /\ MayBeCrossed THEN Crossed(head, i = Last)
                           ELSE IF i # Boundary /\ i = Last /\ MayComplete THEN Complete(head)
                           ELSE head
                  IN IF IsLate(i) THEN [h EXCEPT !.want = "case"] ELSE h

UndoApplied(i) ==
  /\ cmd' = IF Settled(i) THEN cmd ELSE Ended(Undo(i), "succeeded")
  /\ UNCHANGED <<head, step>>

Applied(c) == IF c[2] = "do" THEN DoApplied(c[1]) ELSE UndoApplied(c[1])

Released(c) == IF c[2] = "do" THEN "released" ELSE "pending"
Negative(c, ans) ==
  IF KeepsUnsettled(c) THEN "unknown"
  ELSE IF ans = "not_applied" THEN Released(c)
  ELSE IF c[2] = "do" THEN "refused" ELSE "blocked"

(* Refused or not applied: only under the current fence, and not while an earlier call is unaccounted for *)
Negated(w, ans) == LET c == wrk[w].on IN
  IF FenceHolds(w) /\ Running(c)
  THEN /\ cmd' = [cmd EXCEPT ![c] =
            [@ EXCEPT !.st = Negative(c, ans), !.lease = FALSE, !.uns = KeepsUnsettled(c),
                      !.quiet = @ /\ KeepsUnsettled(c),
                      !.left = IF CountsAtClaim THEN @ ELSE @ - 1]]
       /\ head' = IF c = Do(Boundary) /\ head.pivot = "crossing" /\ Negative(c, ans) = "refused"
                  THEN [head EXCEPT !.pivot = "ahead"] ELSE head
       /\ UNCHANGED step
  ELSE UNCHANGED ledger

(* functions/usecases/settle_step.py, undo_intent.py: there is no effect, and there will be none *)
FoundAbsent(w) == LET c == wrk[w].on IN
  /\ cmd' = IF FenceHolds(w) /\ cmd[c].st = "unknown"
            THEN [cmd EXCEPT ![c] =
                    [@ EXCEPT !.st = Released(c), !.uns = FALSE, !.lease = FALSE, !.quiet = FALSE]]
            ELSE cmd
  /\ UNCHANGED <<head, step>>

Unclear(w) == LET c == wrk[w].on IN
  /\ cmd' = IF FenceHolds(w) /\ cmd[c].st = "unknown" THEN [cmd EXCEPT ![c].lease = FALSE] ELSE cmd
  /\ UNCHANGED <<head, step>>

---------------------------------------------------------------------------
(* Calls: functions/usecases/targets.py, and the targets themselves *)

Known(c) == c \in Keys /\ target[c].eff > 0
Effect(c) == \* a target that knows the key makes no second one, whatever is still under way
  [target EXCEPT ![c] = [@ EXCEPT !.eff = IF Known(c) THEN @ ELSE @ + 1,
                                  !.fly = IF c \in Keys THEN FALSE ELSE @]]
Free(w) == wrk' = [wrk EXCEPT ![w] = Idle]
Called(c) == IF "counting" \in Also THEN [hist EXCEPT !.calls[c] = @ + 1] ELSE hist

(* It took effect, and its answer came, to a worker that may record it, soon or late, or die. *)
CallApplied(w) == LET c == wrk[w].on IN
  /\ wrk[w].job = "call" /\ wrk[w].ans = "none" /\ ~target[c].dead
  /\ target' = Effect(c)
  /\ wrk' = [wrk EXCEPT ![w].ans = "applied"]
  /\ hist' = Called(c)
  /\ UNCHANGED <<head, step, cmd, appr, drv, people>>

(* It was decided against, or not taken; recorded at once, or else see Lapse. *)
CallNegative(w) == LET c == wrk[w].on IN
  /\ wrk[w].job = "call" /\ wrk[w].ans = "none" /\ ~Known(c)
  /\ \E ans \in {"refused", "not_applied"} :
       /\ ans = "not_applied" => ~target[c].dead
       /\ Negated(w, ans)
  /\ Free(w)
  /\ hist' = Called(c)
  /\ UNCHANGED <<appr, target, drv, people>>

(* No answer: it is still under way, or lost; the worker says that it does not know, or dies. *)
CallUnknown(w) == LET c == wrk[w].on IN
  /\ wrk[w].job = "call" /\ wrk[w].ans = "none"
  /\ target' = IF Known(c) \/ target[c].dead THEN target ELSE [target EXCEPT ![c].fly = TRUE]
  /\ \/ /\ FenceHolds(w) /\ Running(c)
        /\ cmd' = [cmd EXCEPT ![c] =
             [@ EXCEPT !.st = IF SilenceIsUnknown THEN "unknown" ELSE Released(c),
                       !.uns = SilenceIsUnknown, !.lease = FALSE,
                       !.left = IF CountsAtClaim THEN @ ELSE @ - 1]]
     \/ "counting" \in Also /\ UNCHANGED cmd
  /\ Free(w)
  /\ hist' = Called(c)
  /\ UNCHANGED <<head, step, appr, drv, people>>

(* A call that was under way lands after all. *)
Land(c) ==
  /\ target[c].fly
  /\ target' = [Effect(c) EXCEPT ![c].fly = FALSE]
  /\ UNCHANGED <<head, step, cmd, appr, drv, wrk, people, hist>>

RecordApplied(w) == LET c == wrk[w].on IN
  /\ wrk[w].ans = "applied"
  /\ IF AppliedCounts(w) THEN Applied(c) ELSE UNCHANGED ledger
  /\ Free(w)
  /\ hist' = [hist EXCEPT !.told = @ \cup {c}]
  /\ UNCHANGED <<appr, target, drv, people>>

RecordNegative(w) ==
  /\ wrk[w].ans \in {"refused", "not_applied"}
  /\ Negated(w, wrk[w].ans)
  /\ Free(w)
  /\ UNCHANGED <<appr, target, drv, people, hist>>

(* functions/usecases/settle_step.py: a status query by our key, or a tombstone on it *)
Inquire(w) == LET c == wrk[w].on IN
  /\ wrk[w].job \in {"ask", "kill"} /\ wrk[w].ans = "none"
  /\ IF target[c].eff > 0 THEN Applied(c) /\ Free(w) /\ UNCHANGED target
     ELSE IF target[c].dead \/ wrk[w].job = "kill"
     THEN /\ target' = [target EXCEPT ![c] = [@ EXCEPT !.dead = TRUE, !.fly = FALSE]]
          /\ Free(w)
          /\ FoundAbsent(w) \/ (~target[c].dead /\ UNCHANGED ledger)  \* recorded, or the worker died
     ELSE IF JudgedWhenAsked
     THEN /\ IF AbsenceCounts(c) THEN FoundAbsent(w) ELSE Unclear(w)
          /\ Free(w) /\ UNCHANGED target
     ELSE wrk' = [wrk EXCEPT ![w].ans = "not_found"] /\ UNCHANGED <<head, step, cmd, target>>
  /\ UNCHANGED <<appr, drv, people, hist>>

RecordFinding(w) ==
  /\ wrk[w].ans = "not_found"
  /\ IF AbsenceCounts(wrk[w].on) THEN FoundAbsent(w) ELSE Unclear(w)
  /\ Free(w)
  /\ UNCHANGED <<appr, target, drv, people, hist>>

---------------------------------------------------------------------------
(* Time, and death *)

(* The lease lapses. Who had not called by then never will, if functions are ended in time: it died before its call, *)
(* or holds an answer that it has not recorded. *)
Lapse(c) ==
  /\ cmd[c].lease
  /\ cmd' = [cmd EXCEPT ![c].lease = FALSE]
  /\ \E late \in {"died"} \cup (IF cmd[c].st \in {"started", "running"} /\ ~Known(c) THEN {"refused"} ELSE {}) :
       wrk' = [w \in Workers |->
         IF wrk[w].on # c \/ wrk[w].ans # "none" \/ ~Prompt THEN wrk[w]
         ELSE IF late = "died" \/ wrk[w].job # "call" THEN Idle ELSE [wrk[w] EXCEPT !.ans = late]]
  /\ UNCHANGED <<head, step, appr, target, drv, people, hist>>

Unsent(c) == \E w \in Workers : wrk[w].on = c /\ wrk[w].job = "call" /\ wrk[w].ans = "none"

(* settles_after past the last call's deadline: what has not landed by then never will. *)
Elapse(c) ==
  /\ Unsettled(c) /\ ~cmd[c].quiet
  /\ ~(Running(c) /\ cmd[c].lease) /\ (Prompt => ~Unsent(c))
  /\ cmd' = [cmd EXCEPT ![c].quiet = TRUE]
  /\ target' = IF Prompt THEN [target EXCEPT ![c].fly = FALSE] ELSE target
  /\ UNCHANGED <<head, step, appr, drv, wrk, people, hist>>

(* A process dies with the answer in its hands, or, where nobody ends it in time, at last before its call. *)
Crash(w) ==
  /\ wrk[w].ans # "none" \/ (~Prompt /\ wrk[w].job # "none" /\ ~(wrk[w].cur /\ cmd[wrk[w].on].lease))
  /\ Free(w)
  /\ UNCHANGED <<head, step, cmd, appr, target, drv, people, hist>>

(* StopExecution, States.Runtime. One that stands still for ever is as good as stopped, except for the last. *)
Stop(d) ==
  /\ drv[d] # Off /\ d = Drivers
  /\ End(d)
  /\ UNCHANGED <<head, step, cmd, appr, target, wrk, people, hist>>

---------------------------------------------------------------------------
(* The machine: statemachines/forward.py and backward.py *)

(* functions/usecases/start_saga.py, sweep.py, rescue.py. A driver may be taken for dead that is not. *)
Start ==
  /\ head.epoch < Drivers
  /\ head.want = "resume" \/ CanBeDriven
  /\ "overlap" \in Also \/ \A d \in Driver : drv[d] = Off
  /\ head' = [head EXCEPT !.epoch = @ + 1, !.want = "no"]
  /\ drv' = [drv EXCEPT ![head.epoch + 1] = <<"run", 0>>]
  /\ UNCHANGED <<step, cmd, appr, target, wrk, people, hist>>

(* functions/usecases/open_case.py: automation could not bring it to an end. *)
SagaCase ==
  /\ head.epoch = Drivers /\ ~head.saga
  /\ \A d \in Driver : drv[d] = Off
  /\ head.want = "resume" \/ CanBeDriven
  /\ head' = [head EXCEPT !.saga = TRUE, !.att = "manual", !.want = "no"]
  /\ UNCHANGED <<step, cmd, appr, target, drv, wrk, people, hist>>

(* functions/usecases/run_step.py: the step is answered from the ledger. *)
Advance(d) ==
  /\ Here(d, "run") /\ LedOn(At(d))
  /\ Onward(d, At(d))
  /\ UNCHANGED <<head, step, cmd, appr, target, wrk, people, hist>>

(* functions/usecases/begin_compensation.py: one transaction over head, steps and approval *)
Turned ==
  /\ head' = [head EXCEPT !.dir = "compensating"]
  /\ step' = [i \in Step |-> IF Completed(i) THEN step[i] ELSE [step[i] EXCEPT !.bar = TRUE]]
  /\ cmd' = [c \in Command |->
               IF c[2] = "undo" /\ cmd[c].st = "pending" /\ NeverHappened(c[1])
               THEN [cmd[c] EXCEPT !.st = "not_needed"] ELSE cmd[c]]
  /\ appr' = IF appr.st \in {"open", "approved"} THEN [appr EXCEPT !.st = "closed"] ELSE appr

Begin(d) ==
  /\ IF Current(d) /\ MayTurn THEN Turned ELSE UNCHANGED <<head, step, cmd, appr>>
  /\ IF Current(d) /\ (MayTurn \/ head.dir = "compensating") THEN EnterUndo(d, At(d))
     ELSE End(d)                                         \* superseded, or at the boundary
  /\ UNCHANGED <<target, wrk, people, hist>>

(* A Task gave up, whatever its function still does: before the boundary begin, at it settle. *)
RunGivesUp(d) ==
  /\ Here(d, "run")
  /\ \/ At(d) < Boundary /\ Begin(d)
     \/ /\ At(d) = Boundary
        /\ IF Current(d) THEN Move(d, "settle", At(d)) ELSE End(d)
        /\ UNCHANGED <<head, step, cmd, appr, target, wrk, people, hist>>

(* functions/usecases/request_approval.py: back to the pivot; or denied, closed, out of time, superseded *)
Gate(d) ==
  /\ Here(d, "gate")
  /\ \/ /\ appr.st \in {"approved", "consumed"}
        /\ Move(d, "run", At(d))
        /\ UNCHANGED <<head, step, cmd, appr, target, wrk, people, hist>>
     \/ Begin(d)

Absent(i) == NeverHappened(i) /\ ~cmd[Do(i)].lease /\ ~HasCase(i)
SteppedBack == IF head.pivot = "crossing" THEN [head EXCEPT !.pivot = "ahead"] ELSE head

(* functions/usecases/settle_step.py: settle_boundary. Stepping back is one write with the settled record. *)
SettledBoundary(d) == LET i == At(d) IN
  /\ Here(d, "settle") /\ Current(d)
  /\ \/ LedOn(i) /\ Onward(d, i) /\ UNCHANGED head
     \/ Completed(i) /\ ~LedOn(i) /\ Move(d, "begin", i) /\ UNCHANGED head
     \/ /\ Absent(i)
        /\ IF BackWithRecord THEN Move(d, "begin", i) /\ head' = SteppedBack
           ELSE Move(d, "back", i) /\ UNCHANGED head
  /\ UNCHANGED <<step, cmd, appr, target, wrk, people, hist>>

StepBackAlone(d) ==
  /\ Here(d, "back")
  /\ Move(d, "begin", At(d)) /\ head' = SteppedBack
  /\ UNCHANGED <<step, cmd, appr, target, wrk, people, hist>>

Turn(d) == Here(d, "begin") /\ Begin(d)

(* functions/usecases/cancel_saga.py: a person, whoever drives it *)
Cancel ==
  /\ "cancel" \in Also /\ MayTurn /\ Turned
  /\ UNCHANGED <<target, drv, wrk, people, hist>>

(* functions/usecases/open_case.py: a step that its Task gave up *)
OpenCase(d) == LET i == At(d) IN
  /\ Here(d, "settle") \/ (Here(d, "run") /\ i > Boundary)
  /\ IF ~Current(d) \/ HasCase(i) THEN UNCHANGED <<head, step>>
     ELSE IF Completed(i)                                \* it needs a new driver, not a person
     THEN /\ head' = IF head.out = "none" /\ head.dir # "compensating"
                     THEN [head EXCEPT !.want = "resume"] ELSE head
          /\ UNCHANGED step
     ELSE /\ step' = [step EXCEPT ![i] = [@ EXCEPT !.case = "do"]]
          /\ head' = [head EXCEPT !.att = "manual", !.want = "no"]
  /\ End(d)
  /\ UNCHANGED <<cmd, appr, target, wrk, people, hist>>

(* functions/usecases/open_case.py: an undo that its Task gave up *)
OpenUndoCase(d) == LET i == At(d) c == Undo(i) IN
  /\ Here(d, "undo") /\ Current(d) /\ ~HasCase(i) /\ ~LateWaits(i)
  /\ head.dir = "compensating" /\ ~Settled(i) /\ Unmet(i) = {}
  /\ step' = [step EXCEPT ![i] = [@ EXCEPT !.case = "undo"]]
  /\ cmd' = [cmd EXCEPT ![c] = [@ EXCEPT !.st = "blocked", !.uns = Unsettled(c)]]
  /\ head' = [head EXCEPT !.att = "blocked", !.want = "no"]
  /\ NextUndo(d, i)
  /\ UNCHANGED <<appr, target, wrk, people, hist>>

(* Settled, waiting for another undo, in a case, or left to the ledger: the chain goes on. *)
UndoGoesOn(d) ==
  /\ Here(d, "undo")
  /\ NextUndo(d, At(d))
  /\ UNCHANGED <<head, step, cmd, appr, target, wrk, people, hist>>

(* functions/usecases/finish_compensation.py *)
Finish(d) ==
  /\ Here(d, "finish")
  /\ head' = IF head.dir = "compensating" /\ head.out = "none" /\ AllSettled
             THEN [head EXCEPT !.out = "compensated", !.att = "none", !.want = "no"] ELSE head
  /\ End(d)
  /\ UNCHANGED <<step, cmd, appr, target, wrk, people, hist>>

(* functions/usecases/start_saga.py, open_case.py: an effect that arrived too late *)
LateCase == \E i \in Step :
  /\ step[i].late # "no" /\ ~HasCase(i)
  /\ step' = [step EXCEPT ![i] =
       [@ EXCEPT !.case = IF step[i].late = "late" THEN "do" ELSE "second", !.late = "no"]]
  /\ head' = [head EXCEPT !.att = "manual", !.want = "no"]
  /\ UNCHANGED <<cmd, appr, target, drv, wrk, people, hist>>

---------------------------------------------------------------------------
(* People *)

(* functions/usecases/decide_approval.py; sweep.py for what has run out of time *)
Decide ==
  /\ appr.st = "open"
  /\ \E said \in {"approved", "denied"} : appr' = [appr EXCEPT !.st = said]
  /\ UNCHANGED <<head, step, cmd, target, drv, wrk, people, hist>>

(* What would run, or the policy, is no longer what people were asked about; or their yes is too old. *)
Drift ==
  /\ "drift" \in Also /\ appr.st \in {"open", "approved"} /\ appr.match
  /\ appr' = [appr EXCEPT !.match = FALSE]
  /\ UNCHANGED <<head, step, cmd, target, drv, wrk, people, hist>>

Reopened(c, state) == [cmd[c] EXCEPT !.st = state, !.left = IF @ > 0 THEN @ + 1 ELSE 1,
                                     !.asks = Asks, !.lease = FALSE]
NothingThere(c) == target[c].eff = 0 /\ ~target[c].hand
UndoState(i) == IF cmd[Undo(i)].uns THEN "unknown" ELSE "pending"

(* What a person's answer means for the command. People look first, and say what they saw. *)
Retry(i) == LET c == Do(i) u == Undo(i) IN
  /\ UNCHANGED target
  /\ cmd' = IF step[i].case = "do"
            THEN IF Completed(i) THEN cmd
                 ELSE [cmd EXCEPT ![c] = Reopened(c, IF cmd[c].st = "refused" THEN "released" ELSE cmd[c].st)]
            ELSE IF Settled(i) THEN cmd
            ELSE [cmd EXCEPT ![u] = Reopened(u, UndoState(i)),
                             ![c] = IF Unsettled(c) THEN [@ EXCEPT !.asks = Asks, !.lease = FALSE] ELSE @]

DidNotHappen(i) == LET c == Do(i) u == Undo(i) IN
  /\ "by_hand" \in Also /\ UNCHANGED target
  /\ IF step[i].case = "do" \/ Unsettled(c)
     THEN /\ Unsettled(c) /\ ~TooEarlyToSay(c) /\ NothingThere(c)
          /\ cmd' = LET gone == [Reopened(c, "released") EXCEPT !.uns = FALSE, !.quiet = FALSE]
                    IN IF step[i].case = "do" THEN [cmd EXCEPT ![c] = gone]
                       ELSE [cmd EXCEPT ![c] = gone, ![u] = Reopened(u, UndoState(i))]
     ELSE /\ Unsettled(u) /\ ~TooEarlyToSay(u) /\ NothingThere(u) /\ cmd[u].st = "blocked"
          /\ cmd' = [cmd EXCEPT ![u] =
                       [Reopened(u, "pending") EXCEPT !.uns = FALSE, !.quiet = FALSE]]

DoneByHand(i) == LET c == Do(i) u == Undo(i) IN
  /\ "by_hand" \in Also /\ ~TooEarlyToSay(c)
  /\ i \in Compensable => ~TooEarlyToSay(u)
  /\ IF step[i].case = "do" /\ ~Completed(i)
     THEN /\ i = Boundary => head.pivot = "crossing"
          /\ cmd' = Ended(c, "completed")
          /\ target' = IF NothingThere(c) THEN [target EXCEPT ![c].hand = TRUE] ELSE target
     ELSE IF i \in Compensable /\ ~Settled(i)
     THEN /\ cmd' = [cmd EXCEPT ![u] = [@ EXCEPT !.st = "resolved", !.uns = FALSE, !.quiet = FALSE]]
          /\ target' = IF NothingThere(u) /\ ~NothingThere(c) THEN [target EXCEPT ![u].hand = TRUE] ELSE target
     ELSE UNCHANGED <<cmd, target>>

(* functions/usecases/resolve_case.py: one transaction over case, step and head, under a new fence *)
Resolve == \E i \in Step :
  /\ people > 0 /\ HasCase(i)
  /\ ~cmd[Do(i)].lease /\ (i \in Compensable => ~cmd[Undo(i)].lease)
  /\ IF step[i].case = "second" THEN UNCHANGED <<cmd, target>>  \* the known effect stays the saga's
     ELSE Retry(i) \/ DidNotHappen(i) \/ DoneByHand(i)
  /\ step' = [step EXCEPT ![i] =
       [@ EXCEPT !.case = "none",
                 !.receipt = IF cmd'[Do(i)].st = "completed" /\ ~Completed(i) THEN "hand" ELSE @]]
  /\ wrk' = [w \in Workers |-> IF wrk[w].on \in {Do(i), Undo(i)} THEN Outdated(wrk[w].on)[w] ELSE wrk[w]]
  /\ people' = people - 1
  /\ head' =
       LET free == IF \E j \in Step : j # i /\ HasCase(j) THEN head ELSE [head EXCEPT !.att = "none"]
           over == IF i = Boundary /\ cmd'[Do(i)].st = "completed" /\ head.pivot = "crossing"
                   THEN Crossed(free, FALSE) ELSE free
           done == \A j \in Step : cmd'[Do(j)].st = "completed"
           owes == over.dir = "compensating" /\ \E j \in Compensable : cmd'[Undo(j)].st \notin Over
       IN IF over.dir = "finishing" /\ done /\ over.out = "none" THEN Complete(over)
          ELSE IF over.out # "none" /\ ~owes THEN [over EXCEPT !.want = "no"]
          ELSE [over EXCEPT !.want = "resume"]
  /\ UNCHANGED <<appr, drv, hist>>

---------------------------------------------------------------------------
Still == \* nobody and nothing will move this saga by itself
  /\ \A d \in Driver : drv[d] = Off
  /\ \A w \in Workers : wrk[w] = Idle
  /\ head.saga \/ (~CanBeDriven /\ head.want # "resume")
  /\ ~\E i \in Step : step[i].late # "no" /\ ~HasCase(i)

InCase == head.saga \/ \E i \in Step : HasCase(i)
AtRest == Still /\ (head.out # "none" \/ InCase)
Rest == AtRest /\ UNCHANGED vars

(* What goes on by itself, if it is only given the time *)
Progress ==
  \/ Start \/ SagaCase \/ LateCase \/ Decide
  \/ \E w \in Workers : \/ CallApplied(w) \/ CallNegative(w) \/ CallUnknown(w) \/ Inquire(w)
                        \/ RecordApplied(w) \/ RecordNegative(w) \/ RecordFinding(w)
  \/ \E c \in Command : Lapse(c) \/ Elapse(c)
  \/ \E d \in Driver : \/ Advance(d) \/ Claim(d) \/ ApprovalRequired(d) \/ RefusedBeforeCall(d)
                       \/ AskForward(d) \/ RunGivesUp(d) \/ Gate(d)
                       \/ AskBack(d) \/ SettledBoundary(d) \/ StepBackAlone(d) \/ Turn(d) \/ OpenCase(d)
                       \/ UndoClaim(d) \/ UndoAsk(d) \/ UndoNotNeeded(d) \/ OpenUndoCase(d)
                       \/ UndoGoesOn(d) \/ Finish(d)

(* What may come in between, and need not *)
Trouble ==
  \/ Cancel \/ Drift \/ Resolve
  \/ \E c \in Command : Land(c)
  \/ \E w \in Workers : Crash(w)
  \/ \E d \in Driver : Stop(d)

Next == Progress \/ Trouble \/ Rest
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Progress)
Symmetry == {f \in [Workers -> Workers] : \A w, v \in Workers : w # v => f[w] # f[v]}

---------------------------------------------------------------------------
(* What must be true, always *)

Effects(c) == target[c].eff + (IF target[c].hand THEN 1 ELSE 0)
Undone(i) == Effects(Do(i)) = 0 \/ Effects(Undo(i)) > 0

TypeOK ==
  /\ head.dir \in {"forward", "compensating", "finishing"}
  /\ head.pivot \in {"none", "ahead", "crossing", "crossed"}
  /\ head.out \in {"none", "completed", "compensated"}
  /\ head.att \in {"none", "blocked", "manual"}
  /\ head.want \in {"no", "resume", "case"}
  /\ \A c \in Command : cmd[c].st \in
       IF c[2] = "do" THEN {"prepared", "started", "completed", "refused", "released", "unknown"}
       ELSE {"pending", "running", "unknown", "blocked"} \cup Over

(* At most one effect at the target for each step and direction. *)
AtMostOneEffect == \A c \in Command : Effects(c) <= 1

(* Not completed while a step is unfinished; and what completed is there, and was not undone. *)
CompletedIsComplete ==
  head.out = "completed" =>
    /\ \A i \in Step : Completed(i) /\ Effects(Do(i)) = 1
    /\ \A i \in Compensable : Effects(Undo(i)) = 0

(* At rest nothing is lost, and nothing turns up later. *)
CompensatedIsClean ==
  head.out = "compensated" =>
    \A i \in Step : IF i \in Compensable THEN Undone(i) ELSE Effects(Do(i)) = 0
NothingLost == Still => head.out = "completed" \/ InCase \/ \A i \in Compensable : Undone(i)

(* Once the pivot has been applied no undo starts, and there is never both. *)
NoUndoAfterPivot ==
  HasBoundary /\ Effects(Do(Boundary)) > 0 =>
    \A i \in Compensable : Effects(Undo(i)) = 0 /\ cmd[Undo(i)].st # "running"

(* No pivot without an approval that matches it, and each approval starts it once. *)
PivotApproved == ~hist.wrong /\ (HasBoundary /\ Kind(Boundary) = "pivot" => hist.starts <= appr.round)

(* Once compensating, no forward step starts. *)
Starts(i) == LET c == Do(i) IN cmd'[c].st = "started" /\ (cmd[c].st # "started" \/ cmd'[c].left # cmd[c].left)
NoForwardStart == [][head.dir = "compensating" => \A i \in Step : ~Starts(i)]_vars

(* A receipt never changes. *)
ReceiptsStay == [][\A i \in Step : step[i].receipt # "none" => step'[i].receipt = step[i].receipt]_vars

(* Direction, pivot and outcome move only along the declared graph. *)
Moves == {<<"ahead", "crossing">>, <<"crossing", "crossed">>, <<"crossing", "ahead">>, <<"ahead", "crossed">>}
OnlyDeclared == [][
  /\ head.dir # "forward" => head'.dir = head.dir
  /\ head.out # "none" => head'.out = head.out
  /\ head'.pivot # head.pivot => <<head.pivot, head'.pivot>> \in Moves]_vars

(* Attempts never exceed the budget, also when processes die. *)
AttemptsBounded == \A c \in Command : hist.calls[c] <= Budget + (Resolutions - people)

(* The order of undos respects what they wait for. *)
UndoInOrder == \A i, j \in Compensable : i < j /\ Effects(Undo(i)) > 0 => Undone(j)

(* What is not terminal has a driver, a deadline or a case. *)
NeverStuck == Still => head.out # "none" \/ InCase

(* An Applied that was reported is never discarded. *)
ReportedIsKnown == \A c \in hist.told : cmd[c].st \in {"completed", "succeeded", "resolved"}

(* What was reported is, at rest, part of a completed saga, or undone, or in a case: even of a target that lies. *)
ReportedIsNotLost ==
  Still => \A i \in Compensable : Do(i) \in hist.told => head.out = "completed" \/ InCase \/ Undone(i)

(* Every saga comes to rest. *)
ComesToRest == <>AtRest

---------------------------------------------------------------------------
(* What the models in saga.cfg and models/ are made of *)

ThreeSteps == <<"compensable", "pivot", "retriable">>
TwoUndos == <<"compensable", "compensable", "pivot">>
ToThePivot == <<"compensable", "pivot">>
NoPivot == <<"compensable", "retriable">>

Everything == Command
Nothing == {}
AllDo == {Do(i) : i \in Step}
TheFirst == {Do(0), Undo(0)}
AfterTheFirst == AllDo \ {Do(0)}
TheBoundary == {Do(Boundary)}
===========================================================================
