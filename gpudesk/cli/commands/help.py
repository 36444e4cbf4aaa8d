"""`gpudesk help`: pages of the manual in the terminal, and a search through them."""

from __future__ import annotations

import argparse
from typing import Any

from gpudesk.cli import output
from gpudesk.cli.output import EXIT_DONE
from gpudesk.text.messages import input_error
from gpudesk.text.translation import tr


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    purpose = tr("Show a page of the manual, or search the manual.")
    parser = commands.add_parser("help", help=purpose, description=purpose)
    parser.add_argument("topic", nargs="*", metavar=tr("TOPIC"), help=tr("page, page#section or glossary term"))
    parser.add_argument("--search", nargs="+", metavar=tr("WORD"), help=tr("list sections that contain all words"))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a page, a section or the list of topics; raises `InputError` for an unknown topic."""
    from gpudesk.report import manual

    width = output.get_terminal_width()
    if options.search:
        hits = manual.search_manual(" ".join(options.search))
        if not hits:
            raise input_error("help.no_hit", "no section contains all these words", " ".join(options.search))
        output.print_lines(manual.list_hit_lines(hits, width, output.make_bold))
    elif options.topic:
        name, _, anchor = _find_topic(" ".join(options.topic)).partition("#")
        output.print_lines(manual.list_page_lines(manual.read_page(name), anchor, width, output.make_bold))
    else:
        output.print_lines(manual.list_topic_lines(manual.list_topics(), width))
        output.print_line()
        output.print_line(tr("Show a topic: gpudesk help TOPIC. Search: gpudesk help --search WORDS."))
    return EXIT_DONE


def _find_topic(words: str) -> str:
    from gpudesk.report.manual import find_topic, suggest_topics

    topic = find_topic(words)
    if topic is not None:
        return topic
    near = suggest_topics(words)
    if not near:
        raise input_error("help.unknown_topic", "unknown topic; list all with `gpudesk help`", words)
    raise input_error(
        "help.unknown_topic_suggested", "unknown topic; did you mean {names}?", words, names=", ".join(near)
    )
