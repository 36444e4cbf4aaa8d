"""Cases: damaged files of every kind with the commands that read them, and command lines that no one means."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from gpudesk.cli.parser import make_parser
from tests.fuzz.damage import damage_bytes, damage_database, damage_json, damage_json_lines

DATA: Final = Path(__file__).parents[1] / "data"
HOSTILE: Final = DATA / "hostile"
SHIPPED: Final = Path(__file__).parents[2] / "build" / "catalog.sqlite"
#: Stands for the folder of a case in its commands; files whose names begin with HOME go to the user's folder.
FOLDER: Final = "{folder}"
HOME: Final = "home/"
#: Where a case has a shipped catalog of its own.
CATALOG: Final = "shipped.sqlite"

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FuzzCase:
    """Files by their names in the folder of the case, and command lines that are run one after the other."""

    seed: str
    commands: tuple[Command, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)


_PLACE: Final = ("--accelerators", "h200-sxm,mi325x", "--model", "llama-3.1-70b", "--input-tokens", "900")
_LOADED: Final = (*_PLACE, "--output-tokens", "90", "--concurrency", "8")
#: Commands that use all facts of the user.
_AFTERWARDS: Final[tuple[Command, ...]] = (
    ("catalog", "list"),
    ("catalog", "list", "prices"),
    ("catalog", "show", "h200-sxm"),
    ("catalog", "show", "lab-card"),
    ("catalog", "show", "house-model"),
    ("catalog", "signers"),
    ("catalog", "backups"),
    ("catalog", "export", "own", "-o", f"{FOLDER}/own.csv"),
    ("catalog", "pack", "-o", f"{FOLDER}/again.gpudeskpack"),
    ("estimate", *_LOADED),
    ("estimate", *_LOADED, "--accelerators", "lab-card", "--model", "house-model"),
    ("cost", *_LOADED, "--accelerators", "lab-card,h200-sxm", "--draws", "500"),
    ("cost", *_LOADED, "--draws", "500"),
    ("fit", "--accelerators", "lab-card,mi325x", "--models", "house-model"),
    ("import", str(HOSTILE / "plain.csv")),
    ("catalog", "restore", str(HOSTILE / "user.sqlite")),
)
# What would change a decision is looked for in seconds: few cases ask.
_OF_SCENARIO: Final = (*5 * ("estimate", "compare", "cost", "size", "launch", "explain ttft_ms"), "sheet", "decide")


def make_case(seed: str) -> FuzzCase:
    """Return the case of a seed, which is `KIND:NUMBER:DRAW`, always the same one."""
    kind = seed.partition(":")[0]
    draw = Random(seed)
    return _make_command_line(seed, draw) if kind == "line" else _MAKERS[kind](seed, draw)


def _import(seed: str, name: str, raw: bytes, draw: Random) -> FuzzCase:
    """Take a file in, for a look or truly, and then use what it brought."""
    command = ("import", f"{FOLDER}/{name}", "--trust")
    if draw.random() < 0.6:
        return FuzzCase(seed, ((*command, "--dry-run"),), {name: raw})
    name_options = ("--as", draw.choice(("lab-card", "house-model"))) if name.endswith(("json", "gguf")) else ()
    return FuzzCase(seed, ((*command, *name_options), *draw.sample(_AFTERWARDS, 2)), {name: raw})


def _make_config(seed: str, draw: Random) -> FuzzCase:
    config_path = draw.choice(_list_configs())
    return _import(seed, "config.json", damage_json(config_path.read_bytes(), draw), draw)


@cache
def _list_configs() -> tuple[Path, ...]:
    return tuple(sorted((DATA / "hf").glob("*.json")))


def _make_gguf(seed: str, draw: Random) -> FuzzCase:
    return _import(seed, "model.gguf", damage_bytes((HOSTILE / "mixtral.gguf").read_bytes(), draw), draw)


def _make_prices(seed: str, draw: Random) -> FuzzCase:
    name = draw.choice(("plain.csv", "skypilot.csv", "gpuhunt.csv"))
    return _import(seed, name, damage_bytes((HOSTILE / name).read_bytes(), draw), draw)


def _make_accelerator(seed: str, draw: Random) -> FuzzCase:
    return _import(seed, "accelerator.json", damage_json((HOSTILE / "accelerator.json").read_bytes(), draw), draw)


def _make_pack(seed: str, draw: Random) -> FuzzCase:
    from gpudesk.documents.pack_file import compute_digest, parse_pack_file, write_pack_bytes

    name = draw.choice(("signed.gpudeskpack", "unsigned.gpudeskpack"))
    raw = damage_json((HOSTILE / name).read_bytes(), draw)
    if draw.random() < 0.7:
        # Edited and hashed again, as a forger does.
        content = parse_pack_file((HOSTILE / "unsigned.gpudeskpack").read_bytes()).content
        raw = damage_json(write_pack_bytes(content, compute_digest(content), None), draw)
        raw = _hash_again(raw)
    return _import(seed, name, raw, draw)


def _hash_again(raw: bytes) -> bytes:
    import json

    from gpudesk.documents.pack_file import compute_digest, write_pack_bytes

    try:
        content = json.loads(raw)["content"]
        return write_pack_bytes(content, compute_digest(content), None)
    except (ValueError, KeyError, TypeError, RecursionError):
        return raw


def _make_scenario(seed: str, draw: Random) -> FuzzCase:
    name = draw.choice(("full.gpudesk", "template.gpudesk", "carried.gpudesk"))
    return _open_scenario(seed, "scenario.gpudesk", damage_json((HOSTILE / name).read_bytes(), draw), draw)


def _open_scenario(seed: str, name: str, raw: bytes, draw: Random) -> FuzzCase:
    path = f"{FOLDER}/{name}"
    if draw.random() < 0.2:
        return _import(seed, name, raw, draw)
    command = tuple(draw.choice(_OF_SCENARIO).split())
    rest: Command = ("-o", f"{FOLDER}/sheet{draw.choice(('.html', '.csv', '.md', '.json', '.xlsx', '.gpudesk'))}")
    if command[0] != "sheet":
        rest = draw.choice(((), ("--json",)))
    if command[0] == "cost":
        rest += ("--draws", "500")
    return FuzzCase(seed, ((*command, "--scenario", path, *rest),), {name: raw})


def _make_pdf(seed: str, draw: Random) -> FuzzCase:
    name = draw.choice(("sheet.pdf", "sheet.pdf", "bomb.pdf", "endless.pdf"))
    return _open_scenario(seed, "sheet.pdf", damage_bytes((HOSTILE / name).read_bytes(), draw), draw)


def _make_user_file(seed: str, draw: Random) -> FuzzCase:
    raw = damage_database((HOSTILE / "user.sqlite").read_bytes(), draw)
    return FuzzCase(seed, tuple(draw.sample(_AFTERWARDS, 2)), {f"{HOME}catalog.sqlite": raw})


def _make_shipped(seed: str, draw: Random) -> FuzzCase:
    return FuzzCase(seed, tuple(draw.sample(_AFTERWARDS, 2)), {CATALOG: damage_bytes(SHIPPED.read_bytes(), draw)})


def _make_settings(seed: str, draw: Random) -> FuzzCase:
    raw = damage_json((HOSTILE / "settings.json").read_bytes(), draw)
    command = ("sheet", *_LOADED, "-o", f"{FOLDER}/sheet{draw.choice(('.html', '.md'))}")
    return FuzzCase(seed, (command,), {f"{HOME}settings.json": raw})


def _make_lines(seed: str, draw: Random) -> FuzzCase:
    raw = damage_json_lines((HOSTILE / "batch.jsonl").read_bytes(), draw)
    return FuzzCase(seed, (("estimate", "--batch", f"{FOLDER}/batch.jsonl"),), {"batch.jsonl": raw})


_MAKERS: Final[Mapping[str, Callable[[str, Random], FuzzCase]]] = {
    "config": _make_config,
    "gguf": _make_gguf,
    "prices": _make_prices,
    "accelerator": _make_accelerator,
    "pack": _make_pack,
    "scenario": _make_scenario,
    "pdf": _make_pdf,
    "user": _make_user_file,
    "shipped": _make_shipped,
    "settings": _make_settings,
    "batch": _make_lines,
}
FILE_KINDS: Final = tuple(_MAKERS)


# Command lines

_WORDS: Final = (
    "h200-sxm", "mi325x", "mi325x:4", "h200-sxm,b200-hgx:8", "all", "llama-3.1-70b", "deepseek-r1", "gpt-oss-120b",
    "fp8", "bf16", "fp4", "int4", "vllm", "sglang", "llama.cpp", "fixed", "varied", "p99", "mean", "2026-01", "2024-02",
    "mi325x-or-h200-70b", "70b-chat-on-four", "prefill=8:tp4,decode=16:tp8", "decode=1:tp1", "prefill=:,decode=",
    "h200-sxm.price_usd=22000", "energy_usd_per_kwh=0.1:0.2:0.3", "pue=1e999", "years=0", "priority=cost",
    "ttft_limit_ms=2000", "budget_usd=none", "D000-03=2", "EUR=0.92@2026-11-01", "EUR=0@2026-02-30",
    "XXX=1e-9@2026-01-01", "spot", "reserved", "CUDA", "ROCm", "ttft_ms", "tpot_ms", "memory", "max_concurrency",
    "prices", "sources",
    "own", "accelerators", "models", "disputes", "1,2,8", "1..64+8", "1..16*2", "8..1", ",", ":", "=", "a=b",
)  # fmt: skip
_NUMBERS: Final = (
    "0", "1", "2", "3", "8", "16", "64", "100", "1000", "4096", "131072", "1000000", "1000000000", "-1", "-0", "1_000",
    "0.5", "1.0", "0.9", "1e-9", "5e-324", "1e308", "1e999", "nan", "inf", "10" * 40, "0x10", "٣", "1,5", "1e3", "1.5",
)  # fmt: skip
_ODD: Final = (
    "",
    " ",
    "-",
    "--",
    "\x00",
    "\x1b[31m",
    "\ud800",
    "\u202e",
    "'",
    "*",
    "a" * 3000,
    "/",
    ".",
    "/dev/null",
    "~",
)
#: Options that write where a fuzzed command line must not, or take all of the catalog.
_LEFT_OUT: Final = frozenset({"-h", "--help", "--version", "--self-test"})
#: What makes a question that can be answered, so that single options are tried on top of it.
_BASES: Final[Mapping[str, tuple[Command, ...]]] = {
    **dict.fromkeys(
        ("estimate", "compare", "cost", "decide", "launch"),
        (_LOADED, ("--template", "70b-chat-on-four"), _PLACE, ()),
    ),
    "explain": (("ttft_ms", *_LOADED), ("memory", "--template", "405b-one-node"), ("tpot_ms",)),
    "size": ((*_PLACE, "--output-tokens", "1", "--users", "100"), ("--template", "70b-chat-on-four", "--users", "9")),
    "fit": (("--accelerators", "h200-sxm,mi325x", "--models", "llama-3.1-70b,gpt-oss-120b"),),
    "sheet": ((*_LOADED, "-o", f"{FOLDER}/sheet.md"), ("--template", "405b-one-node", "-o", f"{FOLDER}/sheet.csv")),
    "sweep": (
        ("--accelerators", "h200-sxm", "--models", "llama-3.1-70b", "--weights", "fp8", "--input-tokens", "1..9",
         "--output-tokens", "1,9", "--concurrency", "1,8", "-o", f"{FOLDER}/sweep.csv"),
    ),
    "catalog": (("list",), ("list", "prices"), ("show", "mi325x"), ("backups",), ("signers",), ("restore", "1"),
                ("export", "own", "-o", f"{FOLDER}/own.json"), ("verify",)),
    "import": ((str(HOSTILE / "accelerator.json"), "--dry-run"), (str(HOSTILE / "plain.csv"),)),
}  # fmt: skip


@cache
def _list_options(command: str) -> tuple[tuple[str, bool], ...]:
    """Return the options of a command and whether each takes a value, as the parser itself has them."""
    (commands,) = (each for each in make_parser([])._actions if isinstance(each, argparse._SubParsersAction))
    parsers = [commands.choices[command]]
    if command == "catalog":
        (parts,) = (each for each in parsers[0]._actions if isinstance(each, argparse._SubParsersAction))
        parsers = list(parts.choices.values())
    actions = [action for parser in parsers for action in parser._actions]
    options = [(name, action.nargs != 0) for action in actions for name in action.option_strings]
    return tuple(dict.fromkeys(each for each in options if each[0] not in _LEFT_OUT))


def _make_command_line(seed: str, draw: Random) -> FuzzCase:
    command = draw.choice((*5 * tuple(sorted(_BASES.keys() - {"decide", "sheet"})), "decide", "sheet"))
    arguments = list(draw.choice(_BASES[command]))
    for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 5))):
        name, takes_value = draw.choice(_list_options(command))
        value = draw.choice(draw.choice((_WORDS, _NUMBERS, _NUMBERS, _ODD)))
        if name in ("-o", "--output"):
            value = f"{FOLDER}/{draw.choice(('a.html', 'a.csv', 'a.xlsx', 'a', 'no/such/a.md', 'a.npz', ''))}"
        elif name in ("--scenario", "--answers", "--batch"):
            value = str(draw.choice((HOSTILE / "full.gpudesk", HOSTILE / "batch.jsonl", HOSTILE, "/dev/null", value)))
        arguments += [name, value] if takes_value and draw.random() < 0.95 else [name]
    if draw.random() < 0.1:
        arguments.insert(draw.randint(0, len(arguments)), draw.choice(_ODD + _WORDS))
    return FuzzCase(seed, ((command, *arguments),))
