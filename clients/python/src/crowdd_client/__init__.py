"""A client of crowdd, a crowdsourcing server: read answers, add tasks.

with Client("https://crowdd.example", key) as client:
    for answer in client.project("birds").answers():
        print(answer["task_id"], answer["info"])
"""

from crowdd_client.asynchronous import AsyncClient, AsyncExport, AsyncProject, AsyncTable
from crowdd_client.client import Client
from crowdd_client.errors import (
    ApiError,
    ConflictError,
    ConnectionLostError,
    CrowddError,
    ForbiddenError,
    IncompleteError,
    InvalidValueError,
    NotFoundError,
    NotKeptError,
    OutdatedError,
    RateLimitError,
    ResumeError,
    ServerError,
    TooManyRefusedError,
)
from crowdd_client.export import Changes, Export
from crowdd_client.project import Project
from crowdd_client.retries import Retries
from crowdd_client.rows import Rows
from crowdd_client.upload_report import Refused, UploadReport
from crowdd_client.version import __version__

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncExport",
    "AsyncProject",
    "AsyncTable",
    "Changes",
    "Client",
    "ConflictError",
    "ConnectionLostError",
    "CrowddError",
    "Export",
    "ForbiddenError",
    "IncompleteError",
    "InvalidValueError",
    "NotFoundError",
    "NotKeptError",
    "OutdatedError",
    "Project",
    "RateLimitError",
    "Refused",
    "ResumeError",
    "Retries",
    "Rows",
    "ServerError",
    "TooManyRefusedError",
    "UploadReport",
    "__version__",
]
