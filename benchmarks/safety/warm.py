"""What a worker process has loaded before it is forked: everything, and the SDK's descriptions of the services."""

from __future__ import annotations

import boto3

from benchmarks.safety import ours, stock_powertools, with_dbos, with_temporal
from functions.handlers import open_case, run_step

CONTESTANTS = (ours, stock_powertools, with_dbos, with_temporal)
HANDLERS = (run_step, open_case)
# The default session keeps what it has read; a client of a service that is described already costs a forked process
# a few milliseconds instead of some hundred.
CLIENTS = [boto3.client("dynamodb"), boto3.client("sqs")]
