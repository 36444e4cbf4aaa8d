"""The manual in the terminal, and what the manual shows of the command line: all of it is what the program prints."""

import io
import re
import shlex

import pytest

from gpudesk import paths
from gpudesk.cli import main as entry
from gpudesk.cli.output import UsageError
from gpudesk.cli.parser import make_parser
from gpudesk.report.manual import CodeBlock, list_page_names, read_page
from tests.packaging.scripts import load

Capture = pytest.CaptureFixture[str]

MANUAL = paths.get_resources_dir() / "manual"
ROOT = MANUAL.parents[1]
#: Pages with output of the program, and the numbers that their text may have.
SHOWING = [name for name in list_page_names() if "```console" in (text := (MANUAL / f"{name}.md").read_text())
           or "```worked" in text]  # fmt: skip
_BLOCK = re.compile(r"^```(console|worked)\n\$ (.+)\n((?:.*\n)*?)```$", re.MULTILINE)
_MORE = "…\n"
_SOURCE = re.compile(r"  \[[^\]]*\]$")


def run(command: str, capsys: Capture, columns: int = 100) -> str:
    """Return what a command prints in a terminal."""
    program, *arguments = shlex.split(command)
    assert program == "gpudesk"
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        assert entry.main(arguments) == 0, command
    return capsys.readouterr().out


def shorten_working(output: str) -> str:
    """Return the first two levels of a tree, with formulas and without sources."""
    lines = []
    for line in output.splitlines():
        cells = re.match(r"(?:[│├└ ] )*", line)
        depth = len(cells[0]) // 2 if cells else 0
        if line and (depth < 2 or (depth == 2 and line[cells.end() :].startswith("= "))):  # type: ignore[union-attr]
            lines.append(_SOURCE.sub("", line))
        elif not line:
            break
    return "".join(f"{line}\n" for line in lines)


def renew(text: str, capsys: Capture) -> str:
    """Return a page with all output as the program prints it now; where … ends a block, as many lines as it has."""

    def show(block: re.Match[str]) -> str:
        kind, command, printed_output = block.groups()
        # Sources that are left out must not wrap.
        output = run(command, capsys, 300 if kind == "worked" else 100)
        if kind == "worked":
            output = shorten_working(output)
        if printed_output.endswith(_MORE):
            line_count = max(printed_output.count("\n") - 1, 12 if printed_output == _MORE else 0)
            output = "".join(output.splitlines(keepends=True)[:line_count]) + _MORE
        return f"```{kind}\n$ {command}\n{output}```"

    return _BLOCK.sub(show, text)


@pytest.mark.parametrize("name", SHOWING)
def test_output_in_the_manual_is_what_the_program_prints(
    name: str, capsys: Capture, request: pytest.FixtureRequest
) -> None:
    """`--update-golden` writes it again."""
    file = MANUAL / f"{name}.md"
    text = file.read_text(encoding="utf-8")
    renewed = renew(text, capsys)
    if request.config.getoption("--update-golden"):
        file.write_text(renewed, encoding="utf-8")
        return
    assert renewed == text


def test_reference_of_the_command_line_comes_from_the_parser(request: pytest.FixtureRequest) -> None:
    """`--update-golden` writes it again."""
    script = load(ROOT / "packaging/command_reference.py")
    if request.config.getoption("--update-golden"):
        script.MANUAL_PAGE.write_text(script.make_manual_page(), encoding="utf-8")
    assert script.MANUAL_PAGE.read_text(encoding="utf-8") == script.make_manual_page()


def test_commands_of_the_manual_are_valid() -> None:
    for name in list_page_names():
        for block in read_page(name).blocks:
            if isinstance(block, CodeBlock) and block.kind == "sh":
                for line in block.lines:
                    _, *arguments = shlex.split(line.rpartition("| ")[2])
                    try:
                        make_parser(arguments).parse_args(arguments)
                    except UsageError as error:
                        pytest.fail(f"{name}: {line}: {error}")


def test_input_of_a_batch_is_answered(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = [line for line in (MANUAL / "files.md").read_text(encoding="utf-8").splitlines() if line[:5] == "echo "]
    _, fields, *_ = shlex.split(line)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(fields.encode())))
    assert entry.main(["estimate", "--batch", "-"]) == 0
    assert '"output_tokens_per_s"' in capsys.readouterr().out


def test_topics_are_listed(capsys: Capture) -> None:
    output = run("gpudesk help", capsys)
    assert all(name in output for name in list_page_names() if name != "contents")


@pytest.mark.parametrize(
    ("topic", "heading"),
    [
        ("memory", "MEMORY AND FIT"),
        ("memory#fit", "Current fit"),
        ("Rent or buy", "payback"),
        ("ttft", "time_to_first_token_seconds"),
        ("Time to first token", "waiting time included"),
    ],
)
def test_topic_is_found_by_page_section_and_term(topic: str, heading: str, capsys: Capture) -> None:
    output = run(f"gpudesk help '{topic}'", capsys)
    assert heading in " ".join(output.split())
    assert "**" not in output
    assert "](" not in output


def test_lines_fit_the_terminal(capsys: Capture) -> None:
    lines = run("gpudesk help glossary", capsys, 60).splitlines()
    assert max(map(len, lines)) <= 60


def test_unknown_topic_suggests_the_nearest(capsys: Capture) -> None:
    assert entry.main(["help", "kv", "cach"]) == 1
    assert capsys.readouterr().err == "gpudesk: kv cach: unknown topic; did you mean KV cache?\n"
    assert entry.main(["help", "xyzzy"]) == 1
    assert "gpudesk help" in capsys.readouterr().err


def test_search_lists_sections_with_their_commands(capsys: Capture) -> None:
    output = run("gpudesk help --search break even", capsys)
    assert "gpudesk help glossary#break-even" in output
    assert entry.main(["help", "--search", "xyzzy"]) == 1
