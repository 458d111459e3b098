# The images of a platform, for the classic builder as well as for BuildKit:
#
#   docker build --target server -t grader-server .   web and the operator's command line
#   docker build --target box    -t grader-box .      what submissions run in: Python, torch, Triton, gcc, nvcc; nothing of ours
#   docker build --target worker -t grader-worker .   a worker, which starts boxes beside itself; made over the box's toolchain
#
# BASE is a Debian with Python 3.11 or newer; scripts/base_image makes one where no registry is reachable. WHEELS is a folder of
# wheels behind an address, for a build that reaches no package index (docs/deploying.md). Versions are those of images/*.txt.
# The classic builder makes every stage above the wanted one: hence their order.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS base
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 LANG=C.UTF-8
# By this mark everything that was made here is found again, also what has no name.
LABEL org.opencontainers.image.vendor="kernel-grader" org.opencontainers.image.licenses="Apache-2.0"
# A base that has Python already stays as it is.
RUN python3 -c 'import ensurepip, ssl' 2>/dev/null || { apt-get update -q \
    && apt-get install -y -q --no-install-recommends python3 python3-venv ca-certificates \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*; }

FROM base AS platform
ARG WHEELS=
COPY images/install images/platform.txt /images/
RUN /images/install platform

# Our own code, as a wheel, with the emulated GPU's engine, which zig compiles. It comes last everywhere, so that a change of it installs nothing else again. The editor comes
# as scripts/build_client made it in this checkout (`make setup`); where it was not made, pages have a plain text area.
FROM base AS code
ARG WHEELS=
COPY images/install images/build.txt /images/
RUN /images/install build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY grader ./grader
COPY sandbox ./sandbox
COPY web ./web
COPY challenges ./challenges
COPY reference ./reference
COPY docs ./docs
# More flags for the engine's compiler, after ours.
ARG CFLAGS=
RUN /opt/build/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir /dist .

FROM platform AS server
RUN useradd --no-create-home --home-dir /data --uid 10001 grader && mkdir /data && chown grader /data
COPY images/healthy.py /images/
# The catalogue is copied whole, because the package itself carries no staff folder (hidden cases count, unseen).
COPY challenges /catalogue/challenges
COPY reference /catalogue/reference
COPY --from=code /dist /dist
RUN /opt/platform/bin/python -m pip install --quiet --no-deps --no-index /dist/*.whl
ENV PATH=/opt/platform/bin:/usr/local/bin:/usr/bin:/bin
ENV GRADER_DATA_DIR=/data GRADER_CHALLENGES=/catalogue GRADER_HOST=0.0.0.0 GRADER_PORT=8000 GRADER_BOX=docker
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="grader server" \
      org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"
USER grader
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=10s --start-period=120s --retries=3 CMD ["python3", "/images/healthy.py"]
CMD ["python3", "-m", "grader.web.server"]

# What untrusted code sees: nothing of the platform, and no secret, may ever be put in here.
FROM base AS box
RUN apt-get update -q && apt-get install -y -q --no-install-recommends g++ libpython3-dev \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* && mkdir /runner /sock /driver
# TORCH=2.13.0+cpu, where pip finds that build, is a tenth of the size and has no GPU. CUDA=0 leaves nvcc out.
ARG TORCH=2.13.0
ARG CUDA=1
ARG WHEELS=
COPY images/install images/toolchain.txt images/headers.txt /images/
RUN /images/install toolchain
# What of it a CUDA submission shall not see (it is to write its kernels): workers read the list and hide those files.
COPY sandbox/compute_libraries.py /images/
RUN cd /images && python3 -c "import compute_libraries as it; print(*it.found(('/usr', '/opt')), sep='\n')" \
    > compute_libraries.txt && rm compute_libraries.py
ENV PATH=/opt/toolchain/bin:/opt/toolchain/cuda/bin:/usr/local/bin:/usr/bin:/bin
ENV CUDA_HOME=/opt/toolchain/cuda CUDA_VERSION=13.0.88
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="grader box" \
      org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"
USER 65534:65534
WORKDIR /tmp
CMD ["python3", "--version"]

FROM box AS worker
USER root
RUN /usr/sbin/useradd --no-create-home --home-dir /data --uid 10001 grader && mkdir /data && chown grader /data
# Fetches courses' catalogues.
RUN apt-get update -q && apt-get install -y -q --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=platform /opt/platform /opt/platform
# The judge computes with the box's torch.
RUN echo /opt/toolchain/lib/python3*/site-packages > "$(echo /opt/platform/lib/python3*/site-packages)/toolchain.pth"
COPY challenges /catalogue/challenges
COPY reference /catalogue/reference
COPY --from=code /dist /dist
RUN /opt/platform/bin/python -m pip install --quiet --no-deps --no-index /dist/*.whl
ENV PATH=/opt/platform/bin:/opt/toolchain/cuda/bin:/usr/local/bin:/usr/bin:/bin
ENV GRADER_DATA_DIR=/data GRADER_CHALLENGES=/catalogue GRADER_BOX=docker GRADER_BOX_IMAGE=grader-box
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="grader worker" \
      org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"
USER grader
WORKDIR /data
CMD ["grader", "worker"]
