# The web of a platform: pages and API, no torch, no compiler. Workers are not run from an image: they start boxes over the
# toolchain of their own host (see compose.yaml).
FROM python:3.13-slim

RUN useradd --create-home --uid 10001 grader
WORKDIR /src
COPY . .
# The course is copied whole, because the package itself carries no staff folder (hidden cases count, unseen).
RUN pip install --no-cache-dir '.[server,postgres]' \
    && mkdir /course && cp -r challenges reference /course/ \
    && mkdir /data && chown grader /data \
    && rm -rf /src/*

USER grader
WORKDIR /home/grader
ENV GRADER_DATA_DIR=/data GRADER_CHALLENGES=/course GRADER_HOST=0.0.0.0 GRADER_PORT=8000 GRADER_BOX=docker
VOLUME /data
EXPOSE 8000
CMD ["python", "-m", "grader.web.server"]
