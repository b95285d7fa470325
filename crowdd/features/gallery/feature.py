"""The gallery: templates, examples, project folders, and drafts made of them."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.gallery.drafts import Drafts
from crowdd.features.gallery.folder_export import Unloading
from crowdd.features.gallery.folder_import import Loading
from crowdd.features.gallery.gallery import Gallery
from crowdd.features.gallery.saving import TemplateMaker
from crowdd.features.media.feature import MediaFeature
from crowdd.features.projects.feature import ProjectsFeature


@attrs.frozen
class GalleryFeature(Feature):
    """What projects begin with, and projects as folders."""

    gallery: Gallery
    template_maker: TemplateMaker
    drafts: Drafts
    loading: Loading
    unloading: Unloading

    @classmethod
    def build(
        cls,
        base: Base,
        accounts: AccountsFeature,
        media: MediaFeature,
        projects: ProjectsFeature,
        exports: ExportsFeature,
    ) -> GalleryFeature:
        gallery, loading = Gallery(base.db), Loading(base, accounts.accounts, projects.projects)
        return cls(
            gallery=gallery,
            template_maker=TemplateMaker(base.records, base.uploads, base.worker_thread.do, base.base_url),
            drafts=Drafts(attrs.evolve(loading, aside=base.worker_thread.do), gallery),
            loading=loading,
            unloading=Unloading(base, projects.projects, media.media_store, exports.resources),
        )
