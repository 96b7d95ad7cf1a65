------------------------------ MODULE breaks ------------------------------
(* The rules of saga.tla, each taken away: check.py puts one of these in a rule's place, and TLC has to object. *)
EXTENDS saga

No == FALSE
NobodyLooks == FALSE
OnlyUnderFence(w) == wrk[w].cur
StartsAnyway(i) == FALSE
RefusalSettles(c) == FALSE
NotThereAtOnce(c) == TRUE
OnlyAsks(c) == "ask"
TurnsWhileCrossing == head.out = "none" /\ head.dir = "forward" /\ head.pivot # "crossed"
PermitsAnything(a) == a.st = "approved"
StaysApproved(a) == a
WithoutSettling(i) == TRUE
Overwritten(i) == FALSE
AtOnce(c) == FALSE
AnyOrder(i) == TRUE
UndoneAtOnce(i) == FALSE
===========================================================================
