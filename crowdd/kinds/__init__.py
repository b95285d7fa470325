"""The kinds of domain objects: each declared once, in a file of its own."""

from crowdd.kinds.announcement import ANNOUNCEMENT
from crowdd.kinds.blogpost import BLOGPOST
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.helping_material import HELPING_MATERIAL
from crowdd.kinds.kind import Kind
from crowdd.kinds.prediction import PREDICTION
from crowdd.kinds.project import PROJECT
from crowdd.kinds.project_statistics import PROJECT_STATISTICS
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.user import USER

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        PROJECT,
        TASK,
        TASK_RUN,
        RESULT,
        PREDICTION,
        CATEGORY,
        USER,
        BLOGPOST,
        ANNOUNCEMENT,
        HELPING_MATERIAL,
        PROJECT_STATISTICS,
    )
}
