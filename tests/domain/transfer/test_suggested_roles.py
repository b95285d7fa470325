"""What the columns of real files are for: exports of programs and portals, and tables of people in several languages."""

from __future__ import annotations

import pytest

from crowdd.features.imports.suggested_roles import suggest_roles
from crowdd.kinds.column_roles import ROLES

JPG, PAGE = "https://museum.example/a/1.jpg", "https://museum.example/objects/1"


@pytest.mark.parametrize(
    ("row", "roles"),
    [
        # Zooniverse's and PyBossa's usual tables
        ({"url": JPG, "question": "Is it?"}, {"url": "picture"}),
        ({"link": "https://flickr.example/p/1", "url_m": JPG, "url_b": JPG, "question": "x"}, {"link": "link", "url_m": "picture", "url_b": "picture"}),
        # iNaturalist's export of observations
        (
            {"id": "12", "observed_on": "2024-05-01", "url": "https://www.inaturalist.org/observations/12", "image_url": "https://static.example/photos/1/medium.jpeg",
             "sound_url": "https://static.example/sounds/1.wav", "description": "On a stone", "license": "CC-BY", "latitude": "48.1", "longitude": "11.5",
             "place_guess": "Munich", "scientific_name": "Lacerta agilis", "common_name": "Sand lizard"},
            {"id": "identifier", "observed_on": "date", "url": "link", "image_url": "picture", "sound_url": "sound", "description": "caption", "latitude": "latitude",
             "longitude": "longitude", "place_guess": "place", "scientific_name": "title"},
        ),
        # GBIF
        (
            {"gbifID": "4", "occurrenceID": "x:1", "decimalLatitude": "1.5", "decimalLongitude": "-70.25", "eventDate": "1999-01", "scientificName": "Vulpes vulpes", "locality": "Leticia"},
            {"gbifID": "identifier", "occurrenceID": "identifier", "decimalLatitude": "latitude", "decimalLongitude": "longitude", "eventDate": "date", "scientificName": "title", "locality": "place"},
        ),
        # German, with accents and a comma in numbers
        (
            {"Inventarnummer": "A 12", "Bild": JPG, "Bildunterschrift": "Ein Haus", "Titel": "Haus", "Breitengrad": "48,137", "Längengrad": "11,575", "Fundort": "München", "Aufnahmedatum": "01.05.1932"},
            {"Inventarnummer": "identifier", "Bild": "picture", "Bildunterschrift": "caption", "Titel": "title", "Breitengrad": "latitude", "Längengrad": "longitude", "Fundort": "place", "Aufnahmedatum": "date"},
        ),
        # A width, and a width and a length, are no place
        ({"Breite": "61,5", "Material": "Holz"}, {}), ({"Breite (mm)": "61,5", "Länge (mm)": "12"}, {}),
        # Spanish, French
        ({"Título": "Casa", "Descripción": "Una casa", "Fecha": "1932", "Latitud": "-3.7", "Longitud": "40.4", "Foto": JPG},
         {"Título": "title", "Descripción": "caption", "Fecha": "date", "Latitud": "latitude", "Longitud": "longitude", "Foto": "picture"}),
        ({"Cote": "AN/1", "Titre": "Maison", "Légende": "Une maison", "Lieu": "Paris", "Enregistrement": "https://x.example/1.mp3"},
         {"Cote": "identifier", "Titre": "title", "Légende": "caption", "Lieu": "place", "Enregistrement": "sound"}),
        # Columns of crowdd's own imports
        ({"picture": "https://iiif.example/full/1000,/0/default.jpg", "service": "https://iiif.example/iiif/1", "title": "Letters", "label": "p. 1", "manifest": "https://iiif.example/manifest.json"},
         {"picture": "picture", "service": "iiif", "title": "title", "manifest": "iiif"}),
        # Values tell more than names
        ({"a": "https://x.example/1.mp4?size=2", "b": "/uploads/4/2.png", "c": "48.1, 11.5", "d": "word " * 40}, {"a": "video", "b": "picture", "c": "place", "d": "text"}),
        ({"solution": "fox", "owner_email": "a@example.org"}, {"solution": "hidden", "owner_email": "hidden"}),
        # Numbers that are no degrees, names that mean nothing, no rows
        ({"x": "512", "y": "333", "lat": "not known", "n": "4"}, {}),
        ({"picture": None, "caption": ""}, {"caption": "caption"}),
    ],
)  # fmt: skip
def test_roles_are_suggested_by_names_and_values(row, roles):
    suggestions = suggest_roles([*row], [row, row])
    assert suggestions == roles and set(suggestions.values()) <= set(ROLES)


def test_a_single_role_is_suggested_once_and_odd_values_raise_nothing():
    columns = ["name", "title", "latitude", "lat", "lon"]
    roles = suggest_roles(columns, [{"name": "a", "title": "b", "latitude": 1, "lat": 2.5, "lon": 3}])
    assert roles == {"name": "title", "latitude": "latitude", "lon": "longitude"}
    assert suggest_roles(["a", "", "é" * 300, "url"], [{"a": [1], "": {"b": 1}, "url": 10**30}, {}]) == {}
    assert suggest_roles([], []) == {}
