"""Make the program's own font family from Inter's static TrueType files; run by hand, its result is kept.

    make_fonts.py FOLDER [TARGET]

FOLDER is searched for Inter_400Regular.ttf, Inter_500Medium.ttf and Inter_600SemiBold.ttf, as the npm
package `@expo-google-fonts/inter` 0.4.2 has them, and for the license LICENSE_FONT. Needs the PyPI package
`fonttools`, which the program itself does not.

- Digits, plus, minus and plus-minus become their tabular forms in the character map itself. Asked for as a
  feature of the font, the same forms would be missing from the text of a PDF. Hyphen, comma and full stop
  stay proportional.
- Features that put other glyphs in the place of characters on their own are left out for the same reason.
- The family gets a name of its own, so that an installed Inter of another version is never mixed in.
"""

import shutil
import sys
from pathlib import Path

from fontTools import subset  # type: ignore[import-not-found]
from fontTools.ttLib import TTFont  # type: ignore[import-not-found]

FAMILY = "Desk Sans"
FILES = {"Inter_400Regular.ttf": "Regular", "Inter_500Medium.ttf": "Medium", "Inter_600SemiBold.ttf": "SemiBold"}
TABULAR = "0123456789+−±"
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl"]
RANGES = (
    (0x20, 0x17F),  # Latin
    (0x18F, 0x18F),
    (0x192, 0x192),
    (0x1E0, 0x21B),
    (0x259, 0x259),
    (0x2BB, 0x2DD),  # accents
    (0x300, 0x328),
    (0x370, 0x3FF),  # Greek
    (0x400, 0x45F),  # Cyrillic
    (0x490, 0x491),
    (0x1E80, 0x1E9E),
    (0x2000, 0x206F),  # spaces and punctuation
    (0x2070, 0x209C),  # raised and lowered digits
    (0x20A0, 0x20BF),  # currencies
    (0x2100, 0x215F),  # letterlike, fractions
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x25A0, 0x25FF),  # shapes
    (0x2713, 0x2717),
    (0xFB01, 0xFB02),
    (0xFEFF, 0xFEFF),
    (0xFFFD, 0xFFFD),
)


def freeze_tabular(font: TTFont) -> None:
    """Map the tabular characters to their tabular glyphs, which Inter names with `.tf`."""
    for table in font["cmap"].tables:
        for character in TABULAR:
            glyph = table.cmap.get(ord(character))
            if glyph is not None and not glyph.endswith(".tf"):  # tables can share one map
                table.cmap[ord(character)] = f"{glyph}.tf"


def rename(font: TTFont, style: str) -> None:
    """Give the family the name of the program; copyright, trademark, designer and license stay."""
    full = FAMILY if style == "Regular" else f"{FAMILY} {style}"
    basic = style in ("Regular", "Bold")
    names = {
        1: FAMILY if basic else full,
        2: style if basic else "Regular",
        3: f"{font['name'].getDebugName(3)};{FAMILY}",
        4: full,
        6: f"{FAMILY.replace(' ', '')}-{style}",
        16: None if basic else FAMILY,
        17: None if basic else style,
    }
    for identity, text in names.items():
        font["name"].removeNames(nameID=identity)
        if text is not None:
            font["name"].setName(text, identity, 3, 1, 0x409)


def characters(font: TTFont) -> list[int]:
    """Return the available characters to keep."""
    glyphs = font.getBestCmap()
    return [code for first, last in RANGES for code in range(first, last + 1) if code in glyphs]


def make(source: Path, style: str, target: Path) -> None:
    """Write one weight."""
    font = TTFont(source)
    freeze_tabular(font)
    rename(font, style)
    options = subset.Options()
    options.layout_features = FEATURES
    options.name_IDs = ["*"]
    options.hinting = False
    options.notdef_outline = True
    options.drop_tables = [*options.drop_tables, "STAT"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters(font))
    subsetter.subset(font)
    font.save(target)


def main() -> int:
    """Make all weights and copy the license."""
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    default = Path(__file__).resolve().parents[1] / "resources" / "fonts"
    target = Path(sys.argv[2]) if len(sys.argv) == 3 else default
    target.mkdir(parents=True, exist_ok=True)
    for name, style in FILES.items():
        file = target / f"DeskSans-{style}.ttf"
        make(next(folder.rglob(name)), style, file)
        print(f"{file}  {file.stat().st_size / 1000:.0f} kB")
    shutil.copyfile(next(folder.rglob("LICENSE_FONT")), target / "LICENSE")
    return 0


if __name__ == "__main__":
    sys.exit(main())
