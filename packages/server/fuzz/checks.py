"""What no answer of the service may hold: a stack trace, or what the sender wrote."""

import json
import re

import schemathesis

TRACE = re.compile(r"\bat .{0,200}\.[cm]?[jt]s:\d+|node_modules|node:internal")
LEAST = 8


def texts(value):
    """All strings in a value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from texts(part)


@schemathesis.check
def no_stack_trace(ctx, response, case):
    if TRACE.search(response.text):
        raise AssertionError("the answer has a stack trace")


@schemathesis.check
def no_echo(ctx, response, case):
    """Errors repeat nothing that was sent. Words of the OpenAPI document are the service's own."""
    if response.status_code < 400:
        return
    own = json.dumps(case.operation.schema.raw_schema)
    error = json.loads(response.text)["error"]
    for text in texts([case.body, dict(case.query or {}), dict(case.path_parameters or {})]):
        if len(text) >= LEAST and text not in own and text in error:
            raise AssertionError("the error repeats what was sent")
