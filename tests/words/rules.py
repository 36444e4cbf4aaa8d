"""What a text must not be: too long, negated twice, or put in words that its readers do not use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

LONGEST_SENTENCE: Final = 20  # words
LONGEST_LABEL: Final = 30  # characters

_SENTENCE_END: Final = re.compile(r"(?<=[.!?:;])\s+|\n+")
_WORD: Final = re.compile(r"[A-Za-z{][\w{}’'./-]*")
#: Code, names of options, and placeholders: a reader does not see their words.
_CODE: Final = re.compile(r"`[^`]*`|--[a-z][a-z-]*|\{[^}]*\}")

#: Verbs that end so in American English too.
_BRITISH_ENDING: Final = (
    r"\b(?!\w*(rais|ris|promis|compris|precis|exercis|revis|supervis|advis|nois|enterpris|surpris|premis|pois|wis|likew"
    r"|rais|televis|disguis|franchis))\w+(isations?|ising|ise|ised|ises)\b"
)
#: Patterns, and what to write in their place: in code too.
_FORBIDDEN_EVERYWHERE: Final = (
    (r"\bbeside\b", "next to, with"),
    (r"\b(whatever|whichever|whoever|wherever|thereof|therein|hence|whilst|amongst|nobody)\b", "a plain noun"),
    (r"\b(is|are|was) (to be )?had\b|\bcan be had\b|\bto be had\b", "is available"),
    (r"\b(can|could)(not| not)? be told\b|\btells? nothing\b", "unknown, undecided"),
    (r"\b(taken|takes|take) for granted\b", "assumption"),
    (r"\b(works?|worked|working) out\b(?! of)", "compute"),
    (r"\b\w+ times in (five|ten)\b", "80%"),
    (r"\bin force\b", "active, current"),
    (r"\bdear(er|est)?\b", "expensive"),
    (r"\b(hand(ed|ing|s)?|hand) (on|over)\b", "export, share"),
    (r"\btak(e|es|en|ing) (in|over|back)\b", "import, undo"),
    (r"\b(?<!there )(is|are|was|were) no\b(?! longer)", "is not a"),
    (r"\bcomes? (to|out)\b(?! the front)", "is, equals"),
    (r"\b(ours|one[’']s|our)\b", "name the owner"),
    (r"\bat the (most|least)\b", "at most, at least"),
    (r"\b(busiest|fullest)\b", "peak, max, most loaded"),
    (r"\b(anew|once more|afresh)\b", "again"),
    (r"\bper cent\b", "%"),
    (r"\bshall\b", "will, must"),
    (r"\bfolds? (in|out|the)\b", "collapse"),
    (r"\blet (go|it go|them go)\b", "release, unpin"),
    (r"\bthe (dis)?like\b|\band so (forth|on)\b|\betc\b", "name them"),
    (
        r"\b(colou?r(?<=our)\w*|behaviour|catalogue|licences?|grey|centre\w*|favour\w*|programme|metres?)\b",
        "US spelling",
    ),
    (_BRITISH_ENDING, "US spelling"),
    (r"\d\s%", "the percent sign closed up"),
)
#: Words that code needs: a chart draws, a comment says, a value stands for another.
_FORBIDDEN_TO_READERS: Final = (
    (r"\b(parts?|things?)\b(?! of\b| number)", "accelerator, or the noun itself"),
    (r"\bsa(y|ys|id)\b", "state, enter, according to"),
    (r"\bbands?\b", "80% interval"),
    (r"\bdrawn\b|\bdraws\b", "simulated, simulation"),
    (r"\b(is|are) for (buying|waiting|renting)\b", "speaks for buying"),
    (r"\bhold(s|ing)? .{0,20}\bup\b", "slow down"),
    (r"\bof (its|their|your) own\b", "name the owner"),
    (r"\bseeds?\b(?! (number|of the random))", "the document's title and publisher"),
    (r"\bstands?\b(?! by)", "is"),
    (r"\b(there )?is none\b|\bthere are none\b", "no, with the noun"),
    (r"\bas (it|they) (is|are|was|were)\b", "unchanged"),
)
#: Names that say nothing of a value: whose estimate, claims or message it is.
_PARTICIPLES: Final = frozenset(
    {"asked", "drawn", "found", "given", "got", "heard", "held", "kept", "made", "said", "seen", "shown", "stated"}
    | {"taken", "told", "wanted", "written"}
)
#: British parts of names; those of the file formats, the command line and JSON stay.
_BRITISH_NAME: Final = re.compile(
    r"(behaviour|cancell(?!ation)|catalogue|centre|colour|favour|grey|honour|labelled|licence|modelled|neighbour"
    r"|(?<![a-z])(amort|initial|local|maxim|minim|normal|optim|organ|quant|random|real|recogn|serial|summar|synchron"
    r"|util|vector|visual)is(?!t|m)[a-z]+)",
    re.IGNORECASE,
)
_PUBLIC_NAMES: Final = frozenset(
    {"favours", "licence", "organisation", "quantised_tensors", "quantise_time", "utilisation", "utilisation_cap"}
)
_RELATIVE_SUBJECT: Final = re.compile(r"^(What|Whether|That|Who|How|Where)\b[^?]*[.:]?$")
#: “Neither … nor” denies once.
_NEGATIONS: Final = re.compile(
    r"\b(not|no|never|nothing|none|neither(?!.*\bnor\b)|nor|without|cannot|unless|nowhere)\b|n[’']t\b", re.IGNORECASE
)
_QUOTATION: Final = re.compile(r"“[^”]*”|\"[^\"]*\"")


def find_faults(text: str) -> Iterator[str]:
    """Yield what is wrong with a text, each with what to write in its place."""
    prose = _CODE.sub("x", text)
    for sentence in _SENTENCE_END.split(prose):
        words = _WORD.findall(sentence)
        if len(words) > LONGEST_SENTENCE:
            yield f"{len(words)} words in a sentence, at most {LONGEST_SENTENCE}"
        if len(_NEGATIONS.findall(sentence)) > 1:
            yield "negated twice"
        if len(words) > 3 and _RELATIVE_SUBJECT.match(sentence) and "?" not in sentence:
            yield f"begins with “{words[0]}” but asks nothing: name the subject"
    yield from _find_words(prose, (*_FORBIDDEN_EVERYWHERE, *_FORBIDDEN_TO_READERS))


def find_code_faults(text: str) -> Iterator[str]:
    """Yield what is wrong with a docstring or a comment."""
    yield from _find_words(_CODE.sub("x", text), _FORBIDDEN_EVERYWHERE)


def find_participles(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of variables, arguments and functions that are named by a participle alone.

    Attributes in the body of a class are exempt: Qt names signals so, and data are read with the name of their owner.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.ClassDef) and isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                if name.strip("_") in _PARTICIPLES:
                    yield node.lineno, name
        yield from find_participles(node)


def find_british_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of variables, arguments, attributes, functions and classes with British spelling."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ) if name not in _PUBLIC_NAMES and _BRITISH_NAME.search(name):
                yield node.lineno, name


def _find_words(prose: str, forbidden: tuple[tuple[str, str], ...]) -> Iterator[str]:
    own_words = _QUOTATION.sub("“”", prose)
    for pattern, instead in forbidden:
        if match := re.search(pattern, own_words, re.IGNORECASE):
            yield f"“{match.group()}”: write {instead}"
