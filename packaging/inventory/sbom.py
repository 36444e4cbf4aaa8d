"""Write the bill of materials of a frozen program as CycloneDX JSON 1.6: sbom.py TREE FILE.cdx.json.

It lists exactly the components that parts.py finds. The same tree makes the same bytes: the serial number follows from
the content, and the time is that of the commit.
"""

from __future__ import annotations

import hashlib
import sys
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.contact import OrganizationalContact
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from frozen_tree import FrozenTree
from packageurl import PackageURL
from parts import Shipped, whole_inventory

from gpudesk.release import ProgramRelease, read_record
from gpudesk.third_party import ThirdPartyWork

_TYPES = {
    "program": ComponentType.APPLICATION,
    "bootloader": ComponentType.APPLICATION,
    "runtime": ComponentType.PLATFORM,
    "asset": ComponentType.DATA,
}
#: Stands for the serial number while that is computed from everything else.
_NAMELESS = uuid.UUID(int=0)


def main() -> int:
    """Write the bill of a tree, if it conforms to the schema."""
    if len(sys.argv) != 3 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    tree, target = FrozenTree(Path(sys.argv[1])), Path(sys.argv[2])
    parts_inventory = whole_inventory(tree)
    if parts_inventory is None:
        return 1
    document = sbom_json(parts_inventory.shipped, read_record(tree.bundle / "build.json"))
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(document)
    if fault is not None:
        print(f"the schema of CycloneDX 1.6 does not take this: {fault}", file=sys.stderr)
        return 1
    target.write_text(document, encoding="utf-8", newline="\n")
    print(f"{target}: {len(parts_inventory.shipped)} parts")
    return 0


def sbom_json(parts: Sequence[Shipped], release: ProgramRelease) -> str:
    """Return the bill of materials; the first component is the program itself."""
    program, *others = parts
    bom = Bom(serial_number=_NAMELESS, version=1)
    bom.metadata.timestamp = _moment(release)
    own = _component(program)
    own.properties.update(_facts(release))
    bom.metadata.component = own
    components = {each.part: _component(each) for each in others}
    bom.components.update(components.values())
    # A component compiled into another depends on it, the rest on the program.
    for holder in parts:
        name = "" if holder is program else holder.part.name
        inner = [component for part, component in components.items() if part.within == name]
        bom.register_dependency(components.get(holder.part, own), inner)
    digest = hashlib.sha256(_as_json(bom).encode()).digest()
    bom.serial_number = uuid.UUID(bytes=digest[:16], version=4)
    return _as_json(bom)


def _as_json(bom: Bom) -> str:
    document: str = JsonV1Dot6(bom).output_as_string(indent=1)
    return document + "\n"


def _component(entry: Shipped) -> Component:
    part = entry.part
    return Component(
        type=_TYPES.get(part.kind, ComponentType.LIBRARY),
        name=part.name,
        bom_ref="/".join(each for each in (part.within, part.name, part.version) if each),
        version=part.version or None,
        authors=[OrganizationalContact(name=part.author)] if part.author else [],
        copyright="\n".join(part.copyright) or None,
        licenses=[LicenseFactory().make_from_string(part.license)],
        purl=PackageURL.from_string(part.purl) if part.purl else None,
        hashes=_hashes(entry.files),
        external_references=_references(part),
    )


def _hashes(files: Sequence[Path]) -> Iterator[HashType]:
    """Yield the digest of a single-file component."""
    if len(files) == 1:
        with files[0].open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        yield HashType(alg=HashAlgorithm.SHA_256, content=digest)


def _references(part: ThirdPartyWork) -> Iterator[ExternalReference]:
    if part.home:
        yield ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(part.home))


def _facts(release: ProgramRelease) -> Iterator[Property]:
    if release.commit:
        yield Property(name="gpudesk:commit", value=release.commit)
        yield Property(name="gpudesk:modified", value=str(release.modified).lower())


def _moment(release: ProgramRelease) -> datetime:
    """Return the time of the commit; the Unix epoch if unknown."""
    return datetime.fromisoformat(release.committed or "1970-01-01T00:00:00Z")


if __name__ == "__main__":
    sys.exit(main())
