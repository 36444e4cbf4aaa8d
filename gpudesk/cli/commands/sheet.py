"""`gpudesk sheet`: the comparison as a file to share."""

from __future__ import annotations

import argparse
from typing import Any, Final

from gpudesk.cli.commands import compare
from gpudesk.cli.options import add_options, add_scenario_options, finish_command, split_list
from gpudesk.domain.claim import StalenessLimits
from gpudesk.text.translation import LANGUAGE_NAMES, get_language, list_available_languages, tr, use_language

#: Paper sizes.
PAPERS: Final = ("a4", "letter")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    description = tr("Save the comparison sheet: figures, differences, sources and disputes.")
    usual = StalenessLimits()
    ages = tr(
        "Prices older than {prices} days and other values older than {facts} days are marked as old. "
        "Age limits set in the window replace these.",
        prices=usual.prices,
        facts=usual.facts,
    )
    parser = commands.add_parser("sheet", help=description, description=f"{description} {ages}")
    add_scenario_options(parser)
    text = tr("output file: .pdf, .html, .md, .csv, .xlsx or .json; .gpudesk for the scenario")
    add_options(parser, ("-o --output", tr("FILE"), str, text), required=True)
    parser.add_argument("--paper", choices=PAPERS, help=tr("PDF paper size: a4 or letter (default: by your country)"))
    parser.add_argument("--rules", action="store_true", help=tr("append all recommendation rules"))
    text = tr("append the profiles of accelerators to a .pdf, .html or .md file")
    add_options(parser, ("--profile", "ID[,ID…]", split_list, text))
    parser.add_argument(
        "--language",
        choices=[code for code in list_available_languages() if code in LANGUAGE_NAMES],
        help=tr("language of the sheet (default: language of the terminal)"),
    )
    compare.add_ranking(parser)
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    with use_language(options.language or get_language()):
        return compare.run(options)
