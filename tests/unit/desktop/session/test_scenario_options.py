"""Labels of the options of scenario fields."""

from gpudesk.desktop.session.scenario_options import list_model_options
from gpudesk.service import GpuDeskService


def test_long_contexts_are_named_in_millions(service: GpuDeskService) -> None:
    notes = {option.key: option.notes for option in list_model_options(service)}
    assert notes["llama-4-scout"] == ("10M context",)
    assert notes["llama-3.1-70b"] == ("128k context",)
