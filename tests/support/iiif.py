"""IIIF documents of the tests."""

from __future__ import annotations

from typing import Any


def manifest(at: str, pictures: list[str], **more: Any) -> dict[str, Any]:
    """A manifest of version 3 with a canvas for each picture."""
    return {
        "@context": "http://iiif.io/api/presentation/3/context.json", "id": at, "type": "Manifest",
        "label": {"en": ["Letters"]},
        "items": [canvas(f"{at}/canvas/{n}", {"id": each, "type": "Image"}) for n, each in enumerate(pictures, 1)],
        **more,
    }  # fmt: skip


def canvas(at: str, body: Any, **more: Any) -> dict[str, Any]:
    """A canvas of version 3."""
    annotation = {"id": f"{at}/a", "type": "Annotation", "motivation": "painting", "body": body, "target": at}
    page = {"id": f"{at}/page", "type": "AnnotationPage", "items": [annotation]}
    return {"id": at, "type": "Canvas", "label": {"none": ["p. 1"]}, "items": [page], **more}


def collection(at: str, *items: tuple[str, str]) -> dict[str, Any]:
    """A collection of version 3 with references: pairs of a type and an address."""
    listed = [{"id": each, "type": type_, "label": {"en": ["x"]}} for type_, each in items]
    context = "http://iiif.io/api/presentation/3/context.json"
    return {"@context": context, "id": at, "type": "Collection", "label": {"en": ["All"]}, "items": listed}


def manifest_2(at: str, resource: Any, **more: Any) -> dict[str, Any]:
    """A manifest of version 2 with one canvas."""
    image = {"@type": "oa:Annotation", "motivation": "sc:painting", "resource": resource, "on": f"{at}/c"}
    page = {"@id": f"{at}/c", "@type": "sc:Canvas", "label": "f. 1r", "width": 3000, "height": 4000, "images": [image]}
    context = "http://iiif.io/api/presentation/2/context.json"
    sequences = [{"@type": "sc:Sequence", "canvases": [page]}]
    return {"@context": context, "@id": at, "@type": "sc:Manifest", "label": "Atlas", "sequences": sequences, **more}
