# The command line in a container: non-root, no compiler in the image, nothing written outside /tmp and /data.
# Not built or run by this project's own checks.
#
#   docker build -t onefit .
#   docker run --rm --read-only --tmpfs /tmp --user "$(id -u):$(id -g)" -v "$PWD:/data" \
#       onefit select data.csv --save model.skops
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir "/source[cli]"

FROM python:3.12-slim
COPY --from=build /venv /venv
RUN useradd --create-home --uid 10001 onefit
USER onefit
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
WORKDIR /data
ENTRYPOINT ["onefit"]
CMD ["--help"]
