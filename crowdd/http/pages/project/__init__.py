"""The views below /project."""

from __future__ import annotations

from functools import partial

from crowdd.domain.projects.guides.reading import GuideReader
from crowdd.domain.projects.guides.versions import GuideVersions
from crowdd.domain.server.services import Services
from crowdd.domain.transfer.gallery.drafts import make_draft
from crowdd.domain.transfer.gallery.examples import own_example
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.auth.cookies import Cookies
from crowdd.http.html.forms import Forms
from crowdd.http.html.rendering import Templates
from crowdd.http.pages.omitted_pictures import LeftOut
from crowdd.http.pages.project.audit_log import ProjectAuditPages
from crowdd.http.pages.project.background_tasks import WorkPages
from crowdd.http.pages.project.blog import BlogPages
from crowdd.http.pages.project.card import CardPages
from crowdd.http.pages.project.creation import NewProjectPages
from crowdd.http.pages.project.data.analyses import AnalysisPages
from crowdd.http.pages.project.data.answer_fields import AnswerFieldPages
from crowdd.http.pages.project.data.answer_selection import AnswerSelectionPages
from crowdd.http.pages.project.data.columns import ColumnPages
from crowdd.http.pages.project.data.comments import CommentPages
from crowdd.http.pages.project.data.exports import ExportPages
from crowdd.http.pages.project.data.gold import GoldPages
from crowdd.http.pages.project.data.imports import ImportPages
from crowdd.http.pages.project.data.media import MediaPages
from crowdd.http.pages.project.data.media_files import MediaFiles
from crowdd.http.pages.project.data.source_pages import SourcePages
from crowdd.http.pages.project.data.task_changes import ChangePages
from crowdd.http.pages.project.data.task_history import TaskHistoryPages
from crowdd.http.pages.project.data.tasks import TaskPages
from crowdd.http.pages.project.data.volunteers import VolunteerPages
from crowdd.http.pages.project.deletion import DeletingPages
from crowdd.http.pages.project.details import UpdatePages
from crowdd.http.pages.project.gallery.gallery_pages import GalleryPages
from crowdd.http.pages.project.gallery.saving_pages import SavingPages
from crowdd.http.pages.project.guides.editors import GuideEditorPages
from crowdd.http.pages.project.guides.field_guide import FieldGuidePages
from crowdd.http.pages.project.overview import OverviewPages
from crowdd.http.pages.project.owners import InvitationPages, OwnersPages
from crowdd.http.pages.project.password import PasswordPages
from crowdd.http.pages.project.pictures import PicturePages
from crowdd.http.pages.project.presenters.builder import Builder, QuestionCheckPages
from crowdd.http.pages.project.presenters.contexts import PresenterContexts
from crowdd.http.pages.project.presenters.editor import EditorPages
from crowdd.http.pages.project.presenters.frames import PresenterFrames
from crowdd.http.pages.project.presenters.pages import PresentingPages
from crowdd.http.pages.project.presenters.previews import Previews
from crowdd.http.pages.project.presenters.questions_editor import QuestionsEditor
from crowdd.http.pages.project.project_lists import ProjectListPages
from crowdd.http.pages.project.publication import PublishingPages
from crowdd.http.pages.project.review.adaptive_pages import AdaptivePages
from crowdd.http.pages.project.review.review_pages import ReviewPages
from crowdd.http.pages.project.review.reviewer_pages import ReviewerPages
from crowdd.http.pages.project.settings import ProjectSettingsPages
from crowdd.http.pages.project.sharing import SharingPages
from crowdd.http.pages.project.snapshots.deposit_pages import DepositPages
from crowdd.http.pages.project.snapshots.difference_pages import DifferencePages
from crowdd.http.pages.project.snapshots.snapshot_pages import SnapshotPages
from crowdd.http.pages.project.statistics import ProjectStatisticsPages
from crowdd.http.pages.project.views import ProjectViews
from crowdd.http.pages.project.webhooks import WebhookPages
from crowdd.http.routing import View


def pages(services: Services, forms: Forms, cookies: Cookies, templates: Templates, left_out: LeftOut) -> list[View]:
    """The views that list, create, show and change projects in the browser."""
    base_url = services.settings.base_url
    views = ProjectViews(
        services.records, services.accounts, services.prose, services.project_pictures, left_out, base_url
    )
    guides = GuideReader(services.prose)
    frames = PresenterFrames(services.projects, services.file_access, guides, templates, base_url)
    contexts = PresenterContexts(services.records, services.contributions, services.file_access, services.accounts)
    previews = Previews(services.records, services.file_access)
    builder = Builder(services.question_reviews, services.languages)
    questions = QuestionsEditor(services.projects, previews, builder, forms, views)
    confirm = Confirm(forms.csrf)
    return [
        CardPages(services.projects, services.records, templates),
        OverviewPages(services.projects, services.project_overviews, views, cookies),
        PublishingPages(services.projects, services.publishing_checks, services.sample_tasks, forms, views),
        SharingPages(services.projects, services.posters, services.languages, views),
        PasswordPages(services.projects, forms, cookies),
        WebhookPages(services.projects, services.webhooks, services.records, forms, views),
        PresentingPages(
            services.projects, services.contributions, services.finished_tasks, contexts, frames, confirm, views
        ),
        ProjectStatisticsPages(services.projects, services.statistics, views),
        TaskPages(services.projects, services.browsing, services.leases, services.comments, forms, views),
        TaskHistoryPages(services.projects, services.history, views),
        AnswerSelectionPages(services.projects, services.browsing, services.changes, services.barring, forms, views),
        ExportPages(services.projects, services.exports, views),
        ImportPages(services.projects, services.imports, services.sources, services.sample_tasks, forms, views),
        MediaPages(services.projects, services.media_batches, services.sample_tasks, forms, views),
        MediaFiles(services.projects, services.media_batches, services.languages),
        SourcePages(services.projects, services.sources),
        ColumnPages(services.projects, services.browsing, forms, views),
        ChangePages(services.projects, services.changes, forms, views),
        GoldPages(services.projects, services.gold, forms, views),
        WorkPages(services.projects, services.queue, forms.csrf, views),
        ProjectListPages(services.project_lists),
        NewProjectPages(services.records, services.gallery, forms, partial(own_example, services)),
        SavingPages(services.projects, services.gallery, services.template_maker, services.sample_tasks, forms, views),
        GalleryPages(services.gallery, services.projects, frames, forms, partial(make_draft, services)),
        ProjectSettingsPages(services.projects, services.ownership, services.settings_overview, forms, views),
        VolunteerPages(services.projects, services.volunteers, services.records, services.barring, forms, views),
        ReviewPages(services.projects, services.reviews, previews, frames, forms.csrf, views),
        AdaptivePages(services.projects, services.adaptive, services.trust_overview, services.reviews, forms, views),
        ReviewerPages(services.projects, services.reviewers, base_url, forms, views),
        CommentPages(services.projects, services.comments, forms, views),
        AnalysisPages(services.projects, services.analyses, forms.csrf, views),
        SnapshotPages(services.projects, services.snapshots, forms.csrf, views),
        DifferencePages(services.projects, services.snapshots, views),
        DepositPages(services.projects, services.snapshots, services.deposits, forms.csrf, views),
        AnswerFieldPages(services.projects, services.answer_fields, forms, views),
        UpdatePages(services.projects, services.thumbnails, services.webhooks, services.records, forms, views),
        PicturePages(services.projects, services.project_pictures, forms, views),
        FieldGuidePages(services.projects, guides, views),
        GuideEditorPages(services.projects, GuideVersions(services.db), guides, previews, forms, views),
        EditorPages(services.projects, previews, questions, frames, forms, views),
        QuestionCheckPages(services.projects, builder),
        InvitationPages(services.project_invitations, services.ownership, services.reviewers, forms),
        OwnersPages(services.projects, services.ownership, base_url, forms, views),
        BlogPages(services.projects, services.records, forms, views),
        DeletingPages(services.projects, services.records, forms, views),
        ProjectAuditPages(services.projects, views),
    ]
