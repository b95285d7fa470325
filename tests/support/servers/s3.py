"""An S3-compatible service of its own process for tests: moto, which checks signatures."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import attrs
import boto3

from support.servers.live import free_port

REGION = "eu-central-1"
LISTED = 20  # keys of a page of a list; 1000 elsewhere
_NUMBERS = itertools.count(1)
_RIGHTS = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
_SECONDS = 60


@attrs.frozen
class Service:
    """A running service, the keys of an account that may use it, and a bucket once there is one."""

    url: str
    access_key: str
    secret_key: str
    region: str = REGION
    bucket: str = ""

    def with_bucket(self) -> Service:
        """The same with a new bucket."""
        made = attrs.evolve(self, bucket=f"media-{next(_NUMBERS)}")
        where = {"LocationConstraint": self.region}
        made.client().create_bucket(Bucket=made.bucket, CreateBucketConfiguration=where)
        return made

    def client(self) -> Any:
        """Somebody else's client for it."""
        keys = {"aws_access_key_id": self.access_key, "aws_secret_access_key": self.secret_key}
        return boto3.client("s3", endpoint_url=self.url, region_name=self.region, **keys)

    def settings(self, **more: str) -> dict[str, str]:
        """The settings of a server that uses it."""
        options = {
            "store": "s3",
            "s3_endpoint": self.url,
            "s3_bucket": self.bucket,
            "s3_region": self.region,
            "s3_access_key": self.access_key,
            "s3_secret_key": self.secret_key,
        }
        return options | more

    def environment(self) -> dict[str, str]:
        """The same as variables."""
        return {f"CROWDD_MEDIA_{name.upper()}": value for name, value in self.settings().items()}


@contextlib.contextmanager
def running() -> Iterator[Service]:
    """A service that refuses requests without a valid signature."""
    url = f"http://127.0.0.1:{free_port()}"
    words = ["-m", "moto.server", "-H", "127.0.0.1", "-p", url.rpartition(":")[2]]
    environment = {
        **os.environ,
        "INITIAL_NO_AUTH_ACTION_COUNT": "1000",
        "MOTO_IAM_LOAD_MANAGED_POLICIES": "false",
        "MOTO_S3_DEFAULT_MAX_KEYS": str(LISTED),
    }
    process = subprocess.Popen(
        [sys.executable, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait(process, url)
        yield _locked(url)
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/moto-api/", timeout=5):
            return
        time.sleep(0.05)
    raise AssertionError(f"moto does not answer at {url}")


def _locked(url: str) -> Service:
    options = {"endpoint_url": url, "region_name": REGION, "aws_access_key_id": "any", "aws_secret_access_key": "any"}
    iam = boto3.client("iam", **options)
    iam.create_user(UserName="crowdd")
    iam.put_user_policy(UserName="crowdd", PolicyName="all", PolicyDocument=json.dumps(_RIGHTS))
    key = iam.create_access_key(UserName="crowdd")["AccessKey"]
    kind = {"Content-Type": "application/octet-stream"}
    urllib.request.urlopen(urllib.request.Request(f"{url}/moto-api/reset-auth", b"0", kind), timeout=5).close()
    return Service(url, key["AccessKeyId"], key["SecretAccessKey"])
