"""`python -m tests.words [PREFIX…]` lists faults of shown texts, of the files whose names begin so."""

import sys

from tests.words.rules import find_faults
from tests.words.texts import read_all

faults = [
    f"{shown_text.place}: {fault}\n    {shown_text.text!r}\n"
    for shown_text in read_all()
    if shown_text.place.startswith(tuple(sys.argv[1:]) or "")
    for fault in find_faults(shown_text.text)
]
sys.stdout.write("".join(faults) + f"{len(faults)} faults\n")
