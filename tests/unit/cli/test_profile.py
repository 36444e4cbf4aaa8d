"""`gpudesk profile`: the verdict first, the parts below it, JSON, and what is refused."""

import json

import pytest

from gpudesk.cli import main as entry

Capture = pytest.CaptureFixture[str]


def test_the_verdict_comes_first(capsys: Capture) -> None:
    assert entry.main(["profile", "mi325x"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Instinct MI325X fits ")
    assert "models and runs" in lines[0]
    for title in (
        "Strengths",
        "Considerations",
        "Capabilities: 64 in flight, 4,000 + 1,000 tokens, FP16 KV cache",
        "Resource use: Llama 3.3 70B Instruct",
        "Models for each job: score out of 100, all factors weighted equally",
        "Several accelerators: Llama 3.3 70B Instruct",
        "Just out of reach",
        "Upgrades: by cost per unlocked model",
        "Memory",
        "Unlocked models",
        "Before you buy",
        "Notes",
    ):
        assert title in lines
    assert any(line.startswith("Compared with its peers: mean of ") for line in lines)


def test_json_has_all_parts(capsys: Capture) -> None:
    assert entry.main(["profile", "mi325x", "--mode", "quality", "--budget", "30000", "--json"]) == 0
    profile = json.loads(capsys.readouterr().out)
    assert {
        *("question", "headline", "accelerator", "tags", "strengths", "considerations", "capabilities", "limits"),
        *("scale", "out_of_reach", "upgrades", "recommendations", "peers", "advice", "notes"),
    } <= set(profile)
    bandwidth = next(each for each in profile["specifications"] if each["attribute"] == "memory_bandwidth")
    assert bandwidth["value"] == 6e12
    assert bandwidth["disputed"]
    assert bandwidth["source"]["title"]
    assert profile["question"]["mode"] == "quality"
    assert profile["question"]["weights"]["tier"] == 4.0
    assert set(profile["capabilities"][0]["figure"]) == {"value", "low", "high"}
    assert profile["capabilities"][0]["request"]["model"] == "llama-3.1-8b"
    assert profile["strengths"][0]["standing"]["members"] >= 3
    assert any(each["within_budget"] for each in profile["upgrades"])
    assert profile["advice"]["models"] > profile["advice"]["fits"] > profile["advice"]["runs_well"]
    assert profile["limits"][-1] == {
        "resource": "power",
        "headroom": None,
        "used": "At most 1,000 W of board power",
        "remedy": None,
        "reason": "Not modeled",
    }


def test_single_accelerators_have_their_own_price(capsys: Capture) -> None:
    assert entry.main(["profile", "mi325x", "--single"]) == 0
    assert "For servers that take OAM, at $22,000 each." in capsys.readouterr().out


def test_weights_and_the_load_are_taken(capsys: Capture) -> None:
    options = [
        "--weights-of-mode",
        "fit=0,tier=5",
        "--tiers",
        "qwen3-8b=9",
        "--concurrency",
        "2",
        "--input-tokens",
        "100",
    ]
    assert entry.main(["profile", "h200-sxm", *options, "--json"]) == 0
    profile = json.loads(capsys.readouterr().out)
    assert profile["question"]["weights"] | {"fit": 0.0, "tier": 5.0} == profile["question"]["weights"]
    assert profile["question"]["tiers"] == {"qwen3-8b": 9.0}
    assert profile["capabilities"][0]["request"]["concurrency"] == 2
    assert profile["capabilities"][0]["request"]["input_tokens"] == 100


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["mi32"], "unknown accelerator 'mi32'; did you mean mi325x"),
        (["mi325x", "--model", "lama-3.1-8b"], "unknown model 'lama-3.1-8b'; did you mean llama-3.1-8b"),
        (["mi325x", "--weights-of-mode", "quality=2"], "unknown factor 'quality'; use one of fit, speed"),
        (["mi325x", "--weights-of-mode", "fit=-1"], "'fit=-1' is below 0"),
        (["mi325x", "--weights-of-mode", "fit"], "'fit' has no number"),
        (["mi325x", "--mode", "fast"], "unknown value 'fast'"),
        (["mi325x", "--budget", "-5"], "--budget must be at least 0"),
        (["mi325x", "--concurrency", "0"], "--concurrency"),
        (["mi325x", "--serving-engine", "vlm"], "unknown serving engine 'vlm'"),
    ],
)
def test_impossible_values_are_refused(options: list[str], text: str, capsys: Capture) -> None:
    assert entry.main(["profile", *options]) in (1, 2)
    assert text in capsys.readouterr().err
