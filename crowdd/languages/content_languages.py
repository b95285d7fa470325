"""Languages that the texts of a project may be in, each by its own name; the pages themselves are in fewer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

CONTENT_LANGUAGES: Final[Mapping[str, str]] = {
    "id": "Bahasa Indonesia", "ca": "Català", "cs": "Čeština", "cy": "Cymraeg", "da": "Dansk", "de": "Deutsch",
    "et": "Eesti", "en": "English", "es": "Español", "eu": "Euskara", "fr": "Français", "ga": "Gaeilge",
    "gl": "Galego", "hr": "Hrvatski", "it": "Italiano", "sw": "Kiswahili", "lv": "Latviešu", "lt": "Lietuvių",
    "hu": "Magyar", "nl": "Nederlands", "nb": "Norsk bokmål", "pl": "Polski", "pt": "Português",
    "pt-BR": "Português (Brasil)", "ro": "Română", "sq": "Shqip", "sk": "Slovenčina", "sl": "Slovenščina",
    "fi": "Suomi", "sv": "Svenska", "vi": "Tiếng Việt", "tr": "Türkçe", "el": "Ελληνικά", "bg": "Български",
    "ru": "Русский", "sr": "Српски", "uk": "Українська", "he": "עברית", "ar": "العربية", "fa": "فارسی",
    "ur": "اردو", "hi": "हिन्दी", "bn": "বাংলা", "ta": "தமிழ்", "th": "ไทย", "ko": "한국어", "ja": "日本語",
    "zh-Hans": "简体中文", "zh-Hant": "繁體中文",
}  # fmt: skip
_TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_FROM_THE_RIGHT = frozenset({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})


def is_tag(value: Any) -> bool:
    """Whether it names a language as HTML does (BCP 47): en, pt-BR, zh-Hant."""
    return isinstance(value, str) and _TAG.fullmatch(value) is not None


def language_of(info: Any) -> str:
    """The language that a project's ``info`` names; "" when it names none."""
    said = info.get("language") if isinstance(info, dict) else None
    return str(said) if is_tag(said) else ""


def direction_of(tag: str) -> str:
    """``rtl`` or ``ltr``."""
    return "rtl" if tag.split("-", maxsplit=1)[0] in _FROM_THE_RIGHT else "ltr"
