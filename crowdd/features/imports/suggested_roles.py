"""What the columns of a file are for, by their names and first values. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|tiff?|svg|bmp|avif|heic)(?:[?#].*)?$", re.IGNORECASE)
_SOUND = re.compile(r"\.(?:mp3|wav|ogg|oga|opus|flac|m4a|aac)(?:[?#].*)?$", re.IGNORECASE)
_VIDEO = re.compile(r"\.(?:mp4|webm|mov|m4v|avi|mkv|ogv)(?:[?#].*)?$", re.IGNORECASE)
_IIIF = re.compile(r"/(?:info|manifest)(?:\.json)?$|/full/[^/]+/\d+/\w+\.\w+$|/iiif/", re.IGNORECASE)
_IIIF_PICTURE = re.compile(r"/full/[^/]+/!?\d+/\w+\.(?:jpe?g|png|webp)$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?://|/uploads/|/static/)\S+$", re.IGNORECASE)
_DATE = re.compile(
    r"[12]\d{3}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?:[T ].*)?$|\d{1,2}[./]\d{1,2}[./](?:\d{2}|\d{4})$"
)
_DEGREES = re.compile(r"-?\d{1,3}(?:[.,]\d+)?$")
_POINT = re.compile(r"-?\d{1,2}\.\d+\s*[,;]\s*-?\d{1,3}\.\d+$")
LONG_TEXT: Final = 80  # characters: a text of that length is read, not glanced at

# Names as people write them in English, German, Spanish, French, Italian, Portuguese, Dutch, Arabic, and in data
# standards. Plain letters and digits: _plain() takes everything else away.
_NAMES: Final[Mapping[str, frozenset[str]]] = {
    role: frozenset(names.split())
    for role, names in {
        "picture": "picture pic image img imageurl imgurl pictureurl photo photos photourl foto fotos photolink"
        " imagelink imagem imagen immagine afbeelding bild bilder bilddatei bildurl bildlink scan scans thumbnail thumb"
        " jpg jpeg filename dateiname accessuri mediaurl associatedmedia صورة",
        "iiif": "iiif iiifmanifest manifest manifesturi infojson iiifinfo imageservice service",
        "sound": "sound audio audiourl recording soundurl ton tonaufnahme aufnahme klang sonido grabacion son"
        " enregistrement suono registrazione som geluid mp3 wav صوت",
        "video": "video videourl videolink film clip movie filmdatei vidéo pelicula فيديو",
        "text": "text texte texto testo tekst volltext fulltext ocr ocrtext transcription transkription transcript"
        " message tweet comment abstract body inhalt contenu contenido نص",
        "caption": "caption description desc legend beschreibung bildunterschrift legende descripcion leyenda pie"
        " pied didascalia descrizione descricao bijschrift remarks occurrenceremarks وصف",
        "title": "title name label titel titre titulo titolo bezeichnung nombre nom nome species art especie espece"
        " scientificname commonname speciesname taxonname speciesguess عنوان",
        "latitude": "latitude lat y decimallatitude gpslatitude gpslat breite breitengrad latitud latitudine"
        " geobreite ylat",
        "longitude": "longitude lon lng long x decimallongitude gpslongitude gpslon gpslong lange laenge langengrad"
        " laengengrad longitud longitudine geolange xlon",
        "place": "place location locality site ort fundort standort ortsname lugar localidad lieu localite luogo"
        " local plaats city town region country stadt land placeguess geometry geojson point coordinates"
        " koordinaten coordenadas مكان",
        "date": "date datum fecha data day eventdate taken recorded observed observedon timestamp datetime created"
        " createdat year jahr ano annee anno jaar aufnahmedatum timeobservedat dateidentified تاريخ",
        "link": "link url href uri source webpage website homepage page occurrencereference references quelle enlace"
        " fuente lien pagina رابط",
        "identifier": "id ident identifier uuid guid key code nr no nummer number numero num signatur"
        " signature shelfmark inventarnummer inventorynumber catalognumber occurrenceid gbifid"
        " observationid photoid observationuuid photouuid accession accessionnumber cote inv معرف",
        "hidden": "solution answer truth groundtruth goldanswer gold expected losung loesung solucion correct"
        " correctanswer email mail phone telefon owner",
    }.items()
}


def suggest_roles(columns: Sequence[str], sample: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """The likely roles of columns (``kinds.column_roles``), for a file with these first rows; most have none.

    A role of which a task has one only (a title, a latitude) is suggested once, for the first column that fits best.
    """
    roles: dict[str, str] = {}
    taken: set[str] = set()
    for by_values in (True, False):
        for name in columns:
            if name in roles:
                continue
            values = [str(row[name]).strip() for row in sample if row.get(name) not in (None, "")]
            role = (_by_both if by_values else _by_name)(name, values)
            if role and not (role in _SINGLE and role in taken):
                roles[name] = role
                taken.add(role)
    lone = frozenset[str]() if taken >= _PLACE else _PLACE  # one of them alone is another measure
    return {name: roles[name] for name in columns if name in roles and roles[name] not in lone}


_PLACE: Final = frozenset({"latitude", "longitude"})
_LENGTHS: Final = frozenset({"mm", "cm", "dm", "m", "km", "inch", "ft", "px"})
_SINGLE = frozenset({"latitude", "longitude", "title", "date"})


def _plain(name: str) -> str:
    """A name without case, accents, blanks and signs."""
    text = unicodedata.normalize("NFKD", name).casefold().replace("ß", "ss")
    return "".join(c for c in text if c.isalnum())


def _words(name: str) -> list[str]:
    """The words of a name: of ``photo_url`` and ``photoUrl`` photo and url."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFC", name))
    return [plain for word in re.split(r"[\W_]+", spaced) if (plain := _plain(word))]


def _named(name: str, role: str) -> bool:
    plain, words = _plain(name), _words(name)
    return plain in _NAMES[role] or any(word in _NAMES[role] for word in words if len(word) > 1)


def _measures(name: str) -> bool:
    """Whether a name says in what a length is measured: ``Breite (mm)`` is a width."""
    return bool(_LENGTHS.intersection(_words(name)))


def _all(values: Sequence[str], pattern: re.Pattern[str]) -> bool:
    return bool(values) and all(pattern.match(value) for value in values)


def _majority(values: Sequence[str], pattern: re.Pattern[str]) -> bool:
    return bool(values) and 2 * sum(bool(pattern.search(value)) for value in values) > len(values)


def _by_both(name: str, values: Sequence[str]) -> str:
    """What the values show beyond doubt, and names whose values fit."""
    if _all(values, _ADDRESS) and _majority(values, _IIIF) and not _majority(values, _IIIF_PICTURE):
        return "iiif"
    for role, pattern in (("picture", _PICTURE), ("sound", _SOUND), ("video", _VIDEO)):
        if _majority(values, pattern):
            return role
    if _all(values, _ADDRESS):
        return _of_address(name)
    for role, maximum in (("latitude", 90), ("longitude", 180)):
        if _named(name, role) and _all(values, _DEGREES) and _within(values, maximum) and not _measures(name):
            return role
    if _all(values, _POINT):
        return "place"
    if _named(name, "date") and (_all(values, _DATE) or not values):
        return "date"
    return "hidden" if _named(name, "hidden") else ""


def _of_address(name: str) -> str:
    """Addresses whose end says nothing: the name tells."""
    return next((role for role in ("iiif", "picture", "sound", "video") if _named(name, role)), "link")


def _within(values: Sequence[str], maximum: int) -> bool:
    return all(abs(float(value.replace(",", "."))) <= maximum for value in values)


def _by_name(name: str, values: Sequence[str]) -> str:
    """What the name says, where the values do not contradict it."""
    if _all(values, _ADDRESS):
        return "link"
    if _named(name, "identifier") and all(len(value) <= LONG_TEXT for value in values):
        return "identifier"
    for role in ("caption", "title", "place", "text"):
        if _named(name, role):
            return "text" if role == "title" and _long(values) else role
    return "date" if _all(values, _DATE) and not _all(values, _DEGREES) else "text" if _long(values) else ""


def _long(values: Sequence[str]) -> bool:
    return bool(values) and sum(map(len, values)) > LONG_TEXT * len(values)
