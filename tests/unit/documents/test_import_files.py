"""Files that someone offers: told apart by what they hold; what cannot be used is refused in plain words."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.documents.offered_files import ImportKind, open_offered_file
from gpudesk.text.messages import InputError, format_input_error

CONFIG = {"model_type": "llama", "hidden_size": 64}


def write(path: Path, contents: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents if isinstance(contents, bytes) else json.dumps(contents).encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        open_offered_file(path)
    assert caught.value.where == str(path)
    return format_input_error(caught.value)


@pytest.mark.parametrize(
    ("name", "contents", "kind"),
    [
        ("config.json", CONFIG, ImportKind.CONFIG),
        ("other name.json", {"architectures": ["X"]}, ImportKind.CONFIG),
        ("nested.json", {"text_config": CONFIG}, ImportKind.CONFIG),
        ("config.json", {"nothing": "known"}, ImportKind.CONFIG),
        ("part.json", {"id": "x", "vendor": "X", "generation": "hopper"}, ImportKind.ACCELERATOR),
        ("facts.json", {"gpudesk_pack": 1}, ImportKind.PACK),
        ("facts.gpudeskpack", {"anything": 1}, ImportKind.PACK),
        ("prices.csv", b"a,b\n1,2\n", ImportKind.PRICES),
        ("prices", b"a;b\n1;2\n", ImportKind.PRICES),
        ("model.bin", b"GGUF\x03\x00\x00\x00", ImportKind.GGUF),
        ("bom.json", b"\xef\xbb\xbf" + json.dumps(CONFIG).encode(), ImportKind.CONFIG),
    ],
)
def test_files_are_recognized_by_content(tmp_path: Path, name: str, contents: object, kind: ImportKind) -> None:
    assert open_offered_file(write(tmp_path / name, contents)).kind is kind


def test_configuration_imports_its_companion_files(tmp_path: Path) -> None:
    write(tmp_path / "m" / "config.json", CONFIG)
    write(tmp_path / "m" / "hf_quant_config.json", {"quantization": {}})
    write(tmp_path / "m" / "tokenizer.json", {})
    for place in ("m", "m/config.json", "m/hf_quant_config.json"):
        file = open_offered_file(tmp_path / place)
        assert file.path == tmp_path / "m" / "config.json"
        assert set(file.siblings) == {"hf_quant_config.json"}


def test_folder_imports_its_model(tmp_path: Path) -> None:
    write(tmp_path / "g" / "b-00001-of-00002.gguf", b"GGUF")
    write(tmp_path / "g" / "b-00002-of-00002.gguf", b"GGUF")
    assert open_offered_file(tmp_path / "g").path.name == "b-00001-of-00002.gguf"
    assert refusal(tmp_path).endswith("contains no config.json or GGUF file")


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
    return path


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("a.json", b"\x1f\x8b\x08rest", "is a gzip file; extract or export it first, then import the result"),
        ("a.json", b"", "is empty"),
        ("a.json", b'{"a": 1,\n"b" 2}', "is not valid JSON at line 2; correct it or download it again"),
        ("a.json", b'{"a": "\xff\xfe"}', "is not UTF-8 text"),
        ("a.csv", "accelerator,usd".encode("utf-16"), "is not UTF-8 text"),
        ("a.json", b'{"a": ' * 100_000, "is nested too deeply, or contains numbers that are too long"),
        ("a.json", b'{"a": ' + b"9" * 10_000 + b"}", "is nested too deeply, or contains numbers that are too long"),
        ("a.json", b"[1, 2]", "is not a supported import"),
        ("a.json", b'{"a": 1}', "is not a supported import"),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00\x00", "is not a supported import"),
        ("a.txt.md", b"words without any separators", "is not a supported import"),
        ("a.csv", b"a,b\n\x00\x00", "is not a supported import"),
    ],
)
def test_unusable_file_is_refused_with_the_reason(tmp_path: Path, name: str, contents: bytes, message: str) -> None:
    assert message in refusal(write(tmp_path / name, contents))


def test_zip_named_config_json_is_reported_as_a_zip(tmp_path: Path) -> None:
    assert "is a ZIP file" in refusal(zipped(tmp_path / "config.json"))


def test_a_file_of_a_hundred_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.write(b'{"model_type": "' + b"x" * 5000)
        file.truncate(100 << 20)
    assert "is larger than the limit of 32.0 MiB" in refusal(path)


def test_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe = tmp_path / "config.json"
    os.mkfifo(pipe)
    assert "is a pipe or device" in refusal(pipe)
    assert "is a pipe or device" in refusal(Path("/dev/zero"))
    assert "no such file or directory" in refusal(tmp_path / "gone.json")
    assert "cannot be read" in refusal(tmp_path / ("n" * 300))
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    assert "cannot be read" in refusal(loop)


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "a\0.json")


def test_unreadable_file_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "config.json", CONFIG)

    def denied(*_arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert refusal(path).endswith("cannot be read: permission denied")


def test_a_file_that_goes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "config.json", CONFIG)
    opened: list[object] = []
    real: Callable[..., int] = os.open

    def open_once(*arguments: object) -> int:
        if opened:
            path.unlink(missing_ok=True)
        opened.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(os, "open", open_once)
    assert "no such file or directory" in refusal(path)


@given(st.binary(max_size=200), st.sampled_from(["config.json", "x.csv", "x.gpudeskpack", "x.gguf", "x"]))
def test_any_bytes_are_a_file_of_some_kind_or_refused(
    tmp_path_factory: pytest.TempPathFactory, contents: bytes, name: str
) -> None:
    path = write(tmp_path_factory.mktemp("any") / name, contents)
    outcome = ""
    try:
        outcome = open_offered_file(path).kind
    except InputError as error:
        outcome = format_input_error(error)
    assert outcome


def test_a_file_of_nothing_but_brackets_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b'{"model_type": "llama", "x": [' + b"[]," * 1_000_001 + b"1]}")
    with pytest.raises(InputError, match=r"import\.nested"):
        open_offered_file(path)
