"""The source of the program, each file parsed once for all tests that read it."""

import ast
from functools import cache


@cache
def parse_source(text: str) -> ast.Module:
    return ast.parse(text)
