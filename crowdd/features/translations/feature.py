"""Translations of the texts of projects."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.translations.translations import TextTranslations


@attrs.frozen
class TranslationsFeature(Feature):
    """What owners and translators do with the texts of a project in other languages."""

    translations: TextTranslations

    @classmethod
    def build(cls, base: Base) -> TranslationsFeature:
        return cls(TextTranslations(base.db, base.quota))
