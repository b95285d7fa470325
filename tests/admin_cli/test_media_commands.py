"""``crowdctl media`` and what other commands make of a bucket: nothing is lost on the way, and sums add up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.servers import s3

FILES = {f"images/{number}.jpg": b"picture %d" % number * (number + 1) for number in range(3)}


@pytest.fixture
def bucket(s3_service: s3.Service) -> s3.Service:
    return s3_service


@pytest.fixture
def loaded(crowdctl, tmp_path: Path) -> Path:
    """A project whose tasks name pictures in the data folder; returns the folder of uploads."""
    folder = tmp_path / "birds"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "tasks.csv").write_text("\n".join(["image", *FILES]) + "\n")
    about = {"name": "Birds", "short_name": "birds", "description": "Which birds?"}
    (folder / "project.json").write_text(json.dumps(about))
    crowdctl.json("project", "load", folder)
    return Path(crowdctl.environment["CROWDD_DATA_DIR"]) / "uploads"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def objects_of(service: s3.Service) -> dict[str, bytes]:
    client = service.client()
    listed = client.list_objects_v2(Bucket=service.bucket).get("Contents", ())
    return {
        each["Key"]: client.get_object(Bucket=service.bucket, Key=each["Key"])["Body"].read()
        for each in listed
        if each["Key"].startswith("project-")
    }


def test_media_move_to_a_bucket_and_are_exported_from_there(crowdctl, bucket, loaded: Path, tmp_path: Path) -> None:
    (loaded / "site").mkdir(exist_ok=True)
    (loaded / "site" / "logo.png").write_bytes(b"a logo")
    before, total = files_of(loaded), sum(map(len, FILES.values()))
    settings = {**bucket.environment(), "CROWDD_MEDIA_STORE": "folder"}
    done = crowdctl.json("media", "copy", **settings)
    assert done == {"files": 3, "bytes": total, "copied": 3, "copied_bytes": total, "removed": 0}
    media = {name: content for name, content in before.items() if name.startswith("project-")}
    assert objects_of(bucket) == media and sorted(media.values()) == sorted(FILES.values())
    lost, changed, *_rest = media
    bucket.client().delete_object(Bucket=bucket.bucket, Key=lost)
    again = crowdctl("media", "copy", **settings)
    assert again.output.startswith("1 of 3 files copied (0.0 MB of 0.0 MB).") and files_of(loaded) == before
    assert "Confirm with --yes" in crowdctl.refused("media", "copy", "--remove", status=2, **bucket.environment())
    assert "store is folder" in crowdctl.refused("media", "copy", "--remove", "--yes", **settings)
    same_size = media[changed][::-1]
    bucket.client().put_object(Bucket=bucket.bucket, Key=changed, Body=same_size)
    assert f"{changed} differs" in crowdctl.refused("media", "copy", "--remove", "--yes", **bucket.environment())
    assert changed in files_of(loaded)
    bucket.client().put_object(Bucket=bucket.bucket, Key=changed, Body=media[changed])
    left = len([name for name in files_of(loaded) if name.startswith("project-")])
    assert crowdctl.json("media", "copy", "--remove", "--yes", **bucket.environment())["removed"] == left
    assert files_of(loaded) == {"site/logo.png": b"a logo"} and objects_of(bucket) == media
    crowdctl.json("project", "export", "birds", "--to", tmp_path / "out", **bucket.environment())
    assert sorted(files_of(tmp_path / "out" / "files").values()) == sorted(FILES.values())


def test_copying_says_what_is_wrong(crowdctl, bucket, loaded: Path) -> None:
    assert "[media] s3_endpoint is missing" in crowdctl.refused("media", "copy")
    wrong = {**bucket.environment(), "CROWDD_MEDIA_S3_BUCKET": "missing"}
    assert "The bucket does not exist. Create it" in crowdctl.refused("media", "copy", **wrong)


def test_doctor_tries_the_bucket(crowdctl, bucket, loaded: Path) -> None:
    def found(**more: str) -> list[str]:
        findings = crowdctl("doctor", "--json", **{**bucket.environment(), **more}).json
        return [each["what"] for each in findings if "Media files" in each["what"]]

    assert found() == [] and objects_of(bucket) == {}
    (error,) = found(CROWDD_MEDIA_S3_SECRET_KEY="wrong")
    assert error.startswith("Media files cannot be stored. S3 at http") and "Check [media] s3_secret_key." in error
    (error,) = found(CROWDD_MEDIA_S3_SECRET_KEY="")
    assert "[media] s3_secret_key is missing" in error and bucket.secret_key not in error
