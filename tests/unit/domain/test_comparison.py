"""Places in the palette: kept by those who have one, the lowest free for the others, one for each part."""

from gpudesk.domain.answer import AcceleratorChoice, assign_palette_indexes, find_free_palette_index, find_variants


def test_slots_are_kept_and_the_lowest_free_is_taken() -> None:
    choices = (
        AcceleratorChoice("b200-hgx", slot=2),
        AcceleratorChoice("mi325x"),
        AcceleratorChoice("h200-sxm", slot=5),
        AcceleratorChoice("mi355x"),
    )
    assert assign_palette_indexes(choices) == (2, 1, 5, 3)


def test_accelerator_has_one_color_and_its_second_column_a_variant() -> None:
    choices = (
        AcceleratorChoice("mi325x", count=1),
        AcceleratorChoice("h200-sxm"),
        AcceleratorChoice("mi325x", count=2, slot=4),
    )
    assert assign_palette_indexes(choices) == (4, 1, 4)
    assert find_variants(choices) == (False, False, True)


def test_a_slot_that_two_parts_claim_stays_with_the_first() -> None:
    choices = (AcceleratorChoice("mi325x", slot=1), AcceleratorChoice("h200-sxm", slot=1))
    assert assign_palette_indexes(choices) == (1, 2)
    assert find_free_palette_index([1, 2, 4]) == 3
