"""`python -m tests.words [PREFIX…]` lists faults of shown texts, of the files whose names begin so."""

import sys

from tests.words.rules import find_faults
from tests.words.texts import read_all

faults = [
    f"{shown.place}: {fault}\n    {shown.text!r}\n"
    for shown in read_all()
    if shown.place.startswith(tuple(sys.argv[1:]) or "")
    for fault in find_faults(shown.text)
]
sys.stdout.write("".join(faults) + f"{len(faults)} faults\n")
